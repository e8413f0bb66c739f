// The clients that assistants are made of, each with a partner token.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { outputOf } from "./programs.mjs";

const SELLERS_TOOLS = 33;
const SUPPLIERS_TOOLS = 26;

/** Lists and calls with a client that is connected, and checks what comes. */
async function use(client, tools) {
  const listed = await client.listTools();
  assert.equal(listed.tools.length, tools);
  const list = tools === SELLERS_TOOLS ? "list_orders" : "drop_list_orders";
  // The clients compare the answer with the tool's output schema themselves.
  const page = await client.callTool({ name: list, arguments: { limit: 3 } });
  assert.equal(page.isError, false);
  assert.equal(page.structuredContent.data.length, 3);
  assert.equal(JSON.parse(page.content[0].text).data.rows.length, 3);
  const wrong = await client.callTool({ name: list, arguments: { limit: "three" } });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /must be a whole number/);
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }));
  await client.close();
}

const identity = { name: "tests", version: "1" };

/** The TypeScript SDK of the first generation. */
export async function oldSdk(url, token, tools) {
  const client = new OldClient(identity);
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new OldTransport(new URL(url), { requestInit: { headers } }));
  await use(client, tools);
}

/** The one of the second, in each era and where it chooses. */
export async function newSdk(url, token, tools) {
  for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
    const client = new Client(identity, { versionNegotiation: { mode } });
    const headers = { Authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    await use(client, tools);
  }
}

/** Inspector's command line, strict about schemas. */
export async function inspector(url, token) {
  const common = ["--cli", url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
  const run = (...more) => outputOf("mcp-inspector", [...common, ...more]);
  const listed = JSON.parse(await run("--method", "tools/list", "--strict", "--format", "json"));
  assert.ok(JSON.stringify(listed).includes("list_orders"));
  const call = ["--method", "tools/call", "--tool-name", "list_orders", "--tool-arg", "limit=2"];
  assert.match(await run(...call), /order_id/);
  assert.match(await run(...call, "--protocol-era", "modern"), /order_id/);
}

/** mcp-remote between a client on standard input and the server. */
export async function remote(url, token) {
  const header = `Authorization: Bearer ${token}`;
  const child = spawn("mcp-remote", [url, "--transport", "http-only", "--header", header], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (message) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    if (message.id === undefined) return undefined;
    return JSON.parse((await lines.next()).value);
  };
  const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: identity };
  const begun = await ask({ id: 1, method: "initialize", params: client });
  assert.equal(begun.result.serverInfo.name, "seller-platform");
  await ask({ method: "notifications/initialized" });
  const call = { name: "list_orders", arguments: { limit: 1 } };
  const called = await ask({ id: 2, method: "tools/call", params: call });
  assert.equal(called.result.structuredContent.data.length, 1);
  child.kill();
}

/** All of them, for both roles where that differs. */
export async function all(server) {
  const url = `${server.origin}/mcp`;
  await oldSdk(url, server.partner, SELLERS_TOOLS);
  await oldSdk(url, server.drop, SUPPLIERS_TOOLS);
  await newSdk(url, server.partner, SELLERS_TOOLS);
  await newSdk(url, server.drop, SUPPLIERS_TOOLS);
  await inspector(url, server.partner);
  await remote(url, server.partner);
}
