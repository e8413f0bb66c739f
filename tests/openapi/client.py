"""Every operation by the client that openapi-python-client generated.

    client.py FOLDER ADDRESS

FOLDER has the package `generated` and `calls.json`. Each answer must be what the client
knows how to read, with a status that the call may have.
"""

import datetime
import importlib
import json
import pkgutil
import sys
import typing
from pathlib import Path

FOLDER, ADDRESS = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(FOLDER))

import generated.api  # noqa: E402
from generated.client import AuthenticatedClient  # noqa: E402


def operations():
    """The function of each operation by name."""
    found = {}
    for group in pkgutil.iter_modules(generated.api.__path__, "generated.api."):
        module = importlib.import_module(group.name)
        for one in pkgutil.iter_modules(module.__path__, group.name + "."):
            found[one.name.rsplit(".", 1)[1]] = importlib.import_module(one.name).sync_detailed
    return found


def call(function, given):
    hints = typing.get_type_hints(function)
    arguments = {**given["in"]["path"], **given["in"]["query"]}
    for name in given["dates"]:
        arguments[name] = datetime.date.fromisoformat(arguments[name])
    arguments = {name if name in hints else f"{name}_": value for name, value in arguments.items()}
    if "body" in given:
        models = typing.get_args(hints["body"]) or (hints["body"],)
        arguments["body"] = models[0].from_dict(given["body"])
    client = AuthenticatedClient(base_url=ADDRESS, token=given["token"], raise_on_unexpected_status=True)
    return function(client=client, **arguments)


def main():
    functions, calls = operations(), json.loads((FOLDER / "calls.json").read_text())
    assert sorted(functions) == sorted(one["id"] for one in calls), sorted(functions)
    for one in calls:
        answer = call(functions[one["id"]], one)
        is_read = answer.parsed is not None or answer.status_code == 204
        if answer.status_code not in one["expected"] or not is_read:
            sys.exit(f"{one['id']}: {answer.status_code} {answer.content!r}")
    print(f"{len(calls)} operations called by openapi-python-client")


main()
