"""Every operation by the client that openapi-python-client generated.

    client.py FOLDER ADDRESS

FOLDER has the package `generated` and `calls.json`. Each answer must be what the client
knows how to read, and 200; a file may be refused, as no marketplace stands behind this.
"""

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
        expected = {200, 400, 404, 502} if one["file"] else {200}
        if answer.status_code not in expected or answer.parsed is None:
            sys.exit(f"{one['id']}: {answer.status_code} {answer.content!r}")
    print(f"{len(calls)} operations called by the Python client")


main()
