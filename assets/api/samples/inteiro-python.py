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
        cells = {**value.get("same", {}), **dict(zip(value["columns"], row))}
        cells.update({name: cells[other] for name, other in value.get("equal", {}).items()})
        made = {}
        for name, cell in cells.items():
            *outer, last = name.split(".")
            place = made
            for part, below in zip(outer, [*outer[1:], last]):
                # The only object of a list stands as number 0.
                empty = [{}] if below == "0" else {}
                place = place[0] if part == "0" else place.setdefault(part, empty)
            (place[0] if isinstance(place, list) else place)[last] = whole(cell)
        objects.append(made)
    return objects
