def whole(value):
    """An answer of a tool with its tables as lists of objects, as the API has them."""
    if isinstance(value, list):
        return [whole(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "columns" not in value or "rows" not in value:
        return {name: whole(one) for name, one in value.items()}
    objects = []
    for row in value["rows"]:
        made = {}
        for name, cell in [*value.get("same", {}).items(), *zip(value["columns"], row)]:
            *outer, last = name.split(".")
            place = made
            for part in outer:
                place = place.setdefault(part, {})
            place[last] = whole(cell)
        objects.append(made)
    return objects
