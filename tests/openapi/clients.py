"""Clients that others' generators make of the document call every operation, and so do the two
that the developer pages offer.

`run` in this folder has the server. Python: openapi-python-client and OpenAPI Generator.
TypeScript: openapi-typescript with openapi-fetch, and OpenAPI Generator's `typescript-fetch`;
there each call is written out, so that the compiler holds its arguments against the
generated types. What is called follows from the document.
"""

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target/clients"
NODE = HERE.parent.parent / "target/redocly/node_modules/.bin/node"
DAY = "2026-11-20"

# What is linked can be unlinked; what is paid is not reminded of; what is taken away comes last.
ORDER = ["drop_link_listing", "drop_link_listings_bulk", "drop_unlink_listing", "drop_mark_paid", "drop_mark_unpaid",
         "drop_mark_paid_bulk", "drop_mark_unpaid_bulk"]


def is_id(name):
    return name == "id" or name.endswith(("_id", "_ids"))


def calls_of(document, env):
    """Every operation with arguments: examples of the document, or what `run` made."""
    seller, order = env["SELLER"], env["DROP_ORDER"]
    known = {"ml_id": "MLB1", "sku": "COPO", "seller_id": seller, "order_id": order, "ship_id": "1",
             "question_id": env["QUESTION"]}
    known["csv"] = f"seller_id,ml_id,sku\n{seller},MLB1,COPO\n"
    in_path = {**known, "ml_id": env["STORE"], "order_id": env["ORDER"], "claim_id": env["CLAIM"]}
    return sorted(
        (call_of(document, path, method, operation, known, in_path, env)
         for path, item in document["paths"].items() for method, operation in item.items()),
        key=lambda call: (call["method"] == "delete", ORDER.index(call["id"]) if call["id"] in ORDER else -1),
    )


def call_of(document, path, method, operation, known, in_path, env):
    call = {"id": operation["operationId"], "method": method, "path": path, "in": {"path": {}, "query": {}}, "dates": []}
    unsure = False
    order = env["DROP_ORDER" if path.startswith("/drop/") else "ORDER"]
    hook = "DROP_WEBHOOK" if path.startswith("/drop/") else "WEBHOOK"
    hook = {"webhook_id": env[f"REMOVED_{hook}" if path.endswith("/webhooks/remove") else hook]}
    known, in_path = {**known, **hook}, {**in_path, **hook}
    for one in operation.get("parameters", []):
        name, schema = one.get("name"), one.get("schema", {})
        if one.get("required"):
            values = in_path if one["in"] == "path" else {**known, "order_ids": order}
            unsure |= is_id(name) and name not in values
            call["in"][one["in"]][name] = values.get(name, one.get("example", schema.get("example")))
        elif name == "limit":
            call["in"]["query"]["limit"] = 5
        elif schema.get("format") == "date":
            call["in"]["query"][name] = DAY
            call["dates"].append(name)
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if sent:
        body = dict(sent["example"])
        # Of several ways to name a thing the one that is known.
        if call["id"] == "drop_unlink_listing":
            body = {"seller_id": "", "ml_id": ""}
        if "order_ids" in body or "batch_id" in body:
            body = {"order_ids": []}
        if "sku" in body:
            body.pop("product_id", None)
        unsure |= any(is_id(name) and name not in known and name != "order_ids" for name in body)
        call["body"] = {name: {**known, "order_ids": [order]}.get(name, value) for name, value in body.items()}
        name = sent["schema"]["$ref"].rsplit("/", 1)[1]
        # An object of any fields has no type of its own.
        call["model"] = name if "properties" in document["components"]["schemas"][name] else "body"
    good = {status: one for status, one in operation["responses"].items() if status.startswith("2")}
    media = {media for one in good.values() for media in one.get("content", {})}
    call["file"] = bool(media) and "application/json" not in media
    call["expected"] = [int(status) for status in good]
    if call["file"]:
        # No marketplace stands behind this.
        call["expected"] += [400, 404, 502]
    elif unsure:
        # It names something that `run` did not make.
        call["expected"] += [400, 404, 409, 410]
    elif path.endswith("/webhooks/remove"):
        # The client before has removed it.
        call["expected"] += [404]
    kind = "TEST_TOKEN" if "/sandbox/" in path else "TOKEN"
    call["token"] = env[("SUPPLIER_" if path.startswith("/drop/") else "PARTNER_") + kind]
    return call


def openapi_fetch(calls, address):
    """A program that calls each operation by openapi-fetch."""
    lines = [
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.ts";',
        "type Answer = { data?: unknown; error?: unknown; response: Response };",
        "async function check(id: string, expected: number[], call: Promise<Answer>): Promise<void> {",
        "  const { data, error, response } = await call;",
        "  if (!expected.includes(response.status) || (response.status === 200 && data === undefined))",
        "    throw new Error(`${id}: ${response.status} ${JSON.stringify(error)}`);",
        "}",
        "const client = (token: string) => createClient<paths>({",
        f"  baseUrl: {json.dumps(address)}, headers: {{ Authorization: `Bearer ${{token}}` }},",
        "});",
    ]
    for call in calls:
        options = {"params": {place: given for place, given in call["in"].items() if given}}
        if "body" in call:
            options["body"] = call["body"]
        if call["file"]:
            options["parseAs"] = "arrayBuffer"
        lines.append(
            f'await check("{call["id"]}", {call["expected"]}, '
            f'client({json.dumps(call["token"])}).{call["method"].upper()}({json.dumps(call["path"])}, {text(options)}));'
        )
    lines.append(f'console.log("{len(calls)} operations called by openapi-fetch");')
    return "\n".join(lines) + "\n"


def text(value):
    return json.dumps(value, ensure_ascii=False)


def camel(value):
    """A name, or the names of fields, as TypeScript writes them."""
    if isinstance(value, str):
        return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), value)
    if isinstance(value, dict):
        return {camel(name): camel(one) if isinstance(one, (dict, list)) else one for name, one in value.items()}
    return [camel(one) if isinstance(one, (dict, list)) else one for one in value]


def typescript_fetch(calls, address):
    """A program that calls each operation by the client of OpenAPI Generator."""
    lines = [
        'import { Configuration, PartnerAPIApi, ResponseError } from "./fetch";',
        "type Answer = { raw: Response; value(): Promise<unknown> };",
        "async function check(id: string, expected: number[], call: Promise<Answer>): Promise<void> {",
        "  const answer = await call.catch((error) => {",
        "    if (error instanceof ResponseError) return { raw: error.response, value: () => error.response.text() };",
        "    throw error;",
        "  });",
        "  const value = await answer.value();",
        "  if (!expected.includes(answer.raw.status) || (answer.raw.status === 200 && value === undefined))",
        "    throw new Error(`${id}: ${answer.raw.status} ${JSON.stringify(value)}`);",
        "}",
        "const client = (accessToken: string) =>",
        f"  new PartnerAPIApi(new Configuration({{ basePath: {json.dumps(address)}, accessToken }}));",
        "async function main() {",
    ]
    for call in calls:
        given = {camel(name): text(value) for place in call["in"].values() for name, value in place.items()}
        given |= {camel(name): f'new Date("{DAY}")' for name in call["dates"]}
        if "body" in call:
            given[call["model"][0].lower() + call["model"][1:]] = text(camel(call["body"]))
        written = ", ".join(f"{name}: {value}" for name, value in given.items())
        lines.append(
            f'  await check("{call["id"]}", {call["expected"]}, '
            f'client({json.dumps(call["token"])}).{camel(call["id"])}Raw({{ {written} }}));'
        )
    lines += [f'  console.log("{len(calls)} operations called by OpenAPI Generator\'s TypeScript client");', "}",
              "main().catch((error) => { console.error(error); process.exit(1); });",
              "declare const process: { exit(code: number): never };"]
    return "\n".join(lines) + "\n"


def ready_typescript(calls, address):
    """A program that calls each operation by our own client, and tries what that does by itself."""
    lines = [(HERE / "ready.ts").read_text().replace("ADDRESS", json.dumps(address))]
    for call in calls:
        given = [text(value) for value in call["in"]["path"].values()]
        given += [text(part) for part in (call.get("body"), call["in"]["query"]) if part]
        lines.append(
            f'await check("{call["id"]}", {call["expected"]}, {json.dumps(call["token"])}, '
            f'(api) => api.{camel(call["id"])}({", ".join(given)}));'
        )
    token = next(call["token"] for call in calls if call["id"] == "list_orders")
    lines.append(f"await tryAll({json.dumps(token)});")
    lines.append(f'console.log("{len(calls)} operations called by our own TypeScript client");')
    return "\n".join(lines) + "\n"


def call_all(folder, document, address, env):
    """Generates all clients and lets each call every operation; 0 when all is well."""
    calls = calls_of(json.loads(document.read_text()), env)
    python, here = TARGET / "python/bin", TARGET / "ts"
    outside = {**os.environ, "PATH": f"{NODE.parent}:{TARGET}/node_modules/.bin:{os.environ['PATH']}"}

    def run(*command, **more):
        done = subprocess.run([str(part) for part in command], env=outside, text=True, **more)
        if done.returncode != 0:
            print(done.stdout or "", f"failed: {command[0]}")
        return done.returncode

    here.mkdir(exist_ok=True)
    (here / "package.json").write_text('{"type": "module"}')
    (here / "api.ts").unlink(missing_ok=True)
    (here / "client.ts").write_text(openapi_fetch(calls, address))
    (folder / "calls.ts").write_text(typescript_fetch(calls, address))
    (folder / "calls.json").write_text(json.dumps(calls))
    origin = address.removesuffix("/api/v1/partner")
    for name, path in (("py", folder / "seller_platform.py"), ("ts", here / "seller-platform.ts")):
        with urllib.request.urlopen(f"{origin}/desenvolvedores/cliente.{name}") as ready:
            path.write_bytes(ready.read())
    (here / "ready.ts").write_text(ready_typescript(calls, address))
    # The sample of the guide, with a token and the address of this server.
    sample = (HERE.parent.parent / "assets/api/samples/cliente-typescript.ts").read_text()
    filled = f"PartnerApi({json.dumps(env['PARTNER_TOKEN'])}, {{ baseUrl: {json.dumps(address)} }})"
    (here / "sample.ts").write_text(sample.replace('PartnerApi("ptk_…")', filled))
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}

    def generator(language, output, *more):
        return [python / "openapi-generator-cli", "generate", "--generator-name", language, "--input-spec", document,
                "--output", output, *more]

    strict = ["--strict", "--skipLibCheck", "--target", "es2022"]
    steps = [
        ([python / "openapi-python-client", "generate", "--path", document, "--output-path", folder / "generated",
          "--meta", "none", "--config", HERE / "client.yaml", "--fail-on-warning"], quiet),
        ([python / "python", HERE / "client.py", folder, address], {}),
        (generator("python", folder / "generator", "--additional-properties=packageName=partner_api"), quiet),
        ([python / "python", HERE / "generator.py", folder, address], {}),
        (["openapi-typescript", document, "-o", here / "api.ts"], quiet),
        (["tsc", "--noEmit", *strict, "--module", "nodenext", "--allowImportingTsExtensions", here / "client.ts"], quiet),
        ([NODE, "--no-warnings", here / "client.ts"], {}),
        (generator("typescript-fetch", folder / "fetch"), quiet),
        (["tsc", *strict, "--module", "commonjs", "--outDir", folder / "compiled", folder / "calls.ts"], quiet),
        ([NODE, folder / "compiled/calls.js"], {}),
        ([python / "mypy", "--strict", "--cache-dir", folder / "mypy", folder / "seller_platform.py"], quiet),
        ([python / "python", HERE / "ready.py", folder, address], {}),
        (["tsc", "--noEmit", *strict, "--noUncheckedIndexedAccess", "--module", "nodenext",
          "--allowImportingTsExtensions", here / "ready.ts", here / "sample.ts"], quiet),
        ([NODE, "--no-warnings", here / "ready.ts"], {}),
        ([NODE, "--no-warnings", here / "sample.ts"], {}),
    ]
    return max(run(*step, **how) for step, how in steps)
