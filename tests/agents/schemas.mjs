// Structured results of every tool against the tool's own output schema, with the
// validators of the clients and with amounts of all kinds.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { outputOf } from "./programs.mjs";

const TOOLS = 59;
/** Tools that answer with a file, which no schema describes. */
const FILES = ["drop_get_label", "drop_get_invoice", "get_label", "get_labels", "get_invoice"];
/** Results that are made of each real one or example. */
const VARIANTS = 400;

/** The result of a request to the agent endpoint. */
async function ask(server, token, method, params) {
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2025-11-25",
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const reply = await fetch(`${server.origin}/mcp`, { method: "POST", headers, body });
  const { result, error } = await reply.json();
  assert.ok(result, `${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`);
  return result;
}

/** What tools without side effects answer, by name. */
async function real(server, token, tools) {
  const found = [];
  const call = async (name, args) => {
    const { structuredContent, isError } = await ask(server, token, "tools/call", { name, arguments: args });
    assert.equal(isError, false, name);
    found.push([name, structuredContent]);
    return structuredContent;
  };
  for (const tool of tools) {
    if (!tool.annotations.readOnlyHint || FILES.includes(tool.name)) continue;
    if (tool.inputSchema.required?.length) continue;
    const most = tool.inputSchema.properties?.limit?.maximum;
    const pages = most ? { limit: most } : {};
    const answer = await call(tool.name, pages);
    if (tool.name !== "list_stores") continue;
    for (const store of answer.data) await call("get_store_metrics", { ml_id: store.ml_user_id });
  }
  return found;
}

/** The documented answer of each operation, by name. */
async function documented(server) {
  const document = await (await fetch(`${server.origin}/openapi.json`)).json();
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  return operations
    .map((one) => [one.operationId, one.responses["200"].content["application/json"]?.example])
    .filter(([, example]) => example !== undefined);
}

/** Amounts as the service writes them: whole centavos, divided by a hundred. */
function* amounts() {
  for (let cents = 0; cents < 20_000; cents += 1) yield cents / 100;
  for (let seed = 1; ; seed = (seed * 48_271) % 2_147_483_647) yield (seed * 4_099) / 100;
}

/** A copy of a value with other numbers where its schema has one. */
function varied(schema, value, next) {
  const schemas = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  if (typeof value === "number" || value === null) {
    const isNumber = schemas.some((one) => [one.type].flat().includes("number"));
    return isNumber ? next() : value;
  }
  if (Array.isArray(value)) {
    const items = schemas.find((one) => one.items)?.items ?? {};
    return value.slice(0, 20).map((item) => varied(items, item, next));
  }
  if (typeof value !== "object") return value;
  const properties = Object.assign({}, ...schemas.map((one) => one.properties ?? {}));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, varied(properties[name] ?? {}, field, next)]),
  );
}

export async function all(server) {
  const tools = new Map();
  const samples = await documented(server);
  for (const token of [server.partner, server.drop]) {
    const listed = (await ask(server, token, "tools/list", {})).tools;
    listed.forEach((tool) => tools.set(tool.name, tool));
    samples.push(...(await real(server, token, listed)));
  }
  assert.equal(tools.size, TOOLS);
  const next = ((source) => () => source.next().value)(amounts());
  const checked = {};
  for (const [name, tool] of tools) {
    if (FILES.includes(name)) {
      assert.equal(tool.outputSchema, undefined, name);
      continue;
    }
    const schema = tool.outputSchema;
    const results = samples.filter(([of]) => of === name).map(([, sample]) => sample);
    assert.ok(results.length > 0, name);
    const variants = results.flatMap((sample) => {
      const isVaried = JSON.stringify(schema).includes('"number"');
      return Array.from({ length: isVaried ? VARIANTS : 0 }, () => varied(schema, sample, next));
    });
    checked[name] = { schema, results: [...results, ...variants] };
    for (const Validator of [Ajv, Ajv2020]) {
      const ajv = addFormats.default(new Validator({ strict: false, allErrors: true }));
      const validate = ajv.compile(schema);
      for (const result of checked[name].results) {
        assert.ok(validate(result), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(result)}`);
      }
    }
  }
  const here = import.meta.dirname;
  const file = path.join(here, "results.json");
  await writeFile(file, JSON.stringify(checked));
  const env = { ...process.env, PYTHONPATH: path.join(here, "python") };
  await outputOf("/usr/bin/python3", [path.join(here, "schemas.py"), file], { env });
}
