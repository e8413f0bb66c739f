"""Clients that others' generators make of the document call every operation.

`run` in this folder has the server. Python: openapi-python-client. TypeScript:
openapi-typescript with openapi-fetch; there each call is written out, so that the compiler
holds its arguments against the generated types.
"""

import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target/clients"
NODE = HERE.parent.parent / "target/redocly/node_modules/.bin/node"


def calls_of(document, env):
    """Every operation with arguments: examples of the document, or what `run` made."""
    seller, order = env["SELLER"], env["DROP_ORDER"]
    known = {"ml_id": "MLB1", "sku": "COPO", "seller_id": seller, "order_id": order, "ship_id": "1"}
    known["csv"] = f"seller_id,ml_id,sku\n{seller},MLB1,COPO\n"
    calls = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            hook = "DROP_WEBHOOK" if path.startswith("/drop/") else "WEBHOOK"
            hook = env[f"REMOVED_{hook}" if path.endswith("/webhooks/remove") else hook]
            # Of two ways to name a link, the one that is known.
            unknown = ("link_id",) if operation["operationId"] == "drop_unlink_listing" else ("product_id",)
            call = {"id": operation["operationId"], "method": method, "path": path, "in": {"path": {}, "query": {}}}
            for one in operation.get("parameters", []):
                if one.get("required"):
                    value = known.get(one["name"], one.get("example"))
                    named = {"ml_id": env["STORE"], "order_id": env["ORDER"], "webhook_id": hook}
                    in_path = named.get(one["name"])
                    call["in"][one["in"]][one["name"]] = in_path if one["in"] == "path" else value
                elif one.get("name") == "limit":
                    call["in"]["query"]["limit"] = 5
            sent = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if sent:
                body = {name: known.get(name, value) for name, value in sent["example"].items()}
                if operation["operationId"] == "drop_unlink_listing":
                    body = {"seller_id": seller, "ml_id": "MLB1"}
                if "order_ids" in body or "batch_id" in body:
                    body = {"order_ids": [order]}
                if "webhook_id" in body:
                    body["webhook_id"] = hook
                call["body"] = {name: value for name, value in body.items() if name not in unknown}
            answer = operation["responses"]["200"]["content"]
            call["file"] = "application/json" not in answer
            call["token"] = env["SUPPLIER_TOKEN" if path.startswith("/drop/") else "PARTNER_TOKEN"]
            calls.append(call)
    # What is linked can be unlinked; what is paid is not reminded of.
    order = ["drop_link_listing", "drop_link_listings_bulk", "drop_unlink_listing", "drop_mark_paid", "drop_mark_unpaid",
             "drop_mark_paid_bulk", "drop_mark_unpaid_bulk"]
    calls.sort(key=lambda call: order.index(call["id"]) if call["id"] in order else -1)
    return calls


def typescript(calls, address):
    """A program with a call of each operation."""
    lines = [
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.ts";',
        "type Answer = { data?: unknown; error?: unknown; response: Response };",
        "async function check(id: string, isFile: boolean, call: Promise<Answer>): Promise<void> {",
        "  const { data, error, response } = await call;",
        "  const isKnown = isFile && [400, 404, 502].includes(response.status);",
        "  if (!isKnown && (response.status !== 200 || data === undefined))",
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
        written = json.dumps(options, ensure_ascii=False)
        lines.append(
            f'await check("{call["id"]}", {json.dumps(call["file"])}, '
            f'client({json.dumps(call["token"])}).{call["method"].upper()}({json.dumps(call["path"])}, {written}));'
        )
    lines.append(f'console.log("{len(calls)} operations called by the TypeScript client");')
    return "\n".join(lines) + "\n"


def call_all(folder, document, address, env):
    """Generates both clients and lets each call every operation; 0 when all is well."""
    calls = calls_of(json.loads(document.read_text()), env)
    outside = {**os.environ, "PATH": f"{NODE.parent}:{TARGET}/node_modules/.bin:{os.environ['PATH']}"}

    def run(*command, **more):
        done = subprocess.run([str(part) for part in command], env=outside, text=True, **more)
        if done.returncode != 0:
            print(done.stdout or "", f"failed: {command[0]}")
        return done.returncode

    python, here = TARGET / "python/bin", TARGET / "ts"
    here.mkdir(exist_ok=True)
    (here / "package.json").write_text('{"type": "module"}')
    (here / "api.ts").unlink(missing_ok=True)
    (here / "client.ts").write_text(typescript(calls, address))
    (folder / "calls.json").write_text(json.dumps(calls))
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    steps = [
        [python / "openapi-python-client", "generate", "--path", document, "--output-path", folder / "generated",
         "--meta", "none", "--config", HERE / "client.yaml", "--fail-on-warning"],
        [python / "python", HERE / "client.py", folder, address],
        ["openapi-typescript", document, "-o", here / "api.ts"],
        ["tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext",
         "--allowImportingTsExtensions", here / "client.ts"],
        [NODE, "--no-warnings", here / "client.ts"],
    ]
    shown = [quiet, {}, quiet, quiet, {}]
    return max(run(*step, **how) for step, how in zip(steps, shown, strict=True))
