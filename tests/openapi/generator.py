"""Every operation by the Python client that OpenAPI Generator made.

    generator.py FOLDER ADDRESS

FOLDER has the client in `generator` and `calls.json`. Each answer must be what the client
knows how to read, with a status that the call may have.
"""

import datetime
import json
import sys
import typing
from pathlib import Path

FOLDER, ADDRESS = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(FOLDER / "generator"))

import partner_api  # noqa: E402


def call(given):
    client = partner_api.ApiClient(partner_api.Configuration(host=ADDRESS, access_token=given["token"]))
    function = getattr(partner_api.PartnerAPIApi(client), given["id"] + "_with_http_info")
    hints = typing.get_type_hints(function)
    arguments = {**given["in"]["path"], **given["in"]["query"]}
    for name in given["dates"]:
        arguments[name] = datetime.date.fromisoformat(arguments[name])
    arguments = {name if name in hints else f"var_{name}": value for name, value in arguments.items()}
    if "body" in given:
        model = getattr(partner_api, given["model"], None)
        name = next((name for name, kind in hints.items() if kind is model), "body")
        arguments[name] = model.from_dict(given["body"]) if model else given["body"]
    try:
        answer = function(**arguments)
        return answer.status_code, answer.data
    except partner_api.ApiException as error:
        return error.status, error.data


def main():
    calls = json.loads((FOLDER / "calls.json").read_text())
    for one in calls:
        status, data = call(one)
        if status not in one["expected"] or (data is None and status != 204):
            sys.exit(f"{one['id']}: {status} {data!r}")
    print(f"{len(calls)} operations called by OpenAPI Generator's Python client")


main()
