// The same clients, each let in by a person through OAuth.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as strict from "oauth4webapi";
import { person } from "./person.mjs";
import { outputOf } from "./programs.mjs";

const CALLBACK = "http://127.0.0.1:8976/callback";
const identity = { name: "tests", version: "1" };

/** What an app of the SDKs keeps, in memory. */
class Provider {
  redirectUrl = CALLBACK;
  clientMetadata = {
    client_name: "Assistente dos testes",
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  state = () => "state-of-the-tests";
  clientInformation = () => this.registered;
  saveClientInformation = (registered) => void (this.registered = registered);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  redirectToAuthorization = (address) => void (this.address = address);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  saveDiscoveryState = (state) => void (this.discovered = state);
  discoveryState = () => this.discovered;
}

/** Connects, which is refused, is allowed by the person, and connects again. */
async function sdk(url, allow, makeClient, makeTransport, finished) {
  const authProvider = new Provider();
  await assert.rejects(makeClient().connect(makeTransport(new URL(url), { authProvider })));
  const back = await allow(authProvider.address);
  assert.equal(back.searchParams.get("state"), "state-of-the-tests");
  await makeTransport(new URL(url), { authProvider }).finishAuth(finished(back));
  const use = async () => {
    const client = makeClient();
    await client.connect(makeTransport(new URL(url), { authProvider }));
    // The SDK asks for what the challenge names, so tools that act are there too.
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "notify_seller"), "only a part of the tools");
    const page = await client.callTool({ name: "list_orders", arguments: { limit: 2 } });
    assert.equal(page.structuredContent.data.length, 2);
    await client.close();
  };
  await use();
  // An access token that opens nothing is renewed without the person.
  const first = authProvider.kept;
  authProvider.kept = { ...first, access_token: `ptk_${"0".repeat(48)}` };
  await use();
  assert.notEqual(authProvider.kept.refresh_token, first.refresh_token);
}

/** A client that checks every rule of the RFCs. */
async function rules(origin, allow) {
  const options = { [strict.allowInsecureRequests]: true };
  const resource = new URL(`${origin}/mcp`);
  const described = await strict.resourceDiscoveryRequest(resource, options);
  const { authorization_servers } = await strict.processResourceDiscoveryResponse(resource, described);
  const issuer = new URL(authorization_servers[0]);
  const discovered = await strict.discoveryRequest(issuer, { ...options, algorithm: "oauth2" });
  const server = await strict.processDiscoveryResponse(issuer, discovered);
  const wanted = { client_name: "Rigor", redirect_uris: ["http://127.0.0.1/volta"], token_endpoint_auth_method: "none" };
  const answered = await strict.dynamicClientRegistrationRequest(server, wanted, options);
  const client = await strict.processDynamicClientRegistrationResponse(answered);
  const verifier = strict.generateRandomCodeVerifier();
  const state = strict.generateRandomState();
  // A loopback redirect may come back at any port.
  const redirect = "http://127.0.0.1:51004/volta";
  const address = new URL(server.authorization_endpoint);
  address.search = new URLSearchParams({
    ...{ client_id: client.client_id, redirect_uri: redirect, response_type: "code", state },
    ...{ scope: "partner:read partner:write", resource: resource.href },
    code_challenge: await strict.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  }).toString();
  const back = await allow(address);
  const parameters = strict.validateAuthResponse(server, client, back, state);
  const none = strict.None();
  const granted = await strict.authorizationCodeGrantRequest(server, client, none, parameters, redirect, verifier, options);
  const tokens = await strict.processAuthorizationCodeResponse(server, client, granted);
  const asked = await strict.refreshTokenGrantRequest(server, client, none, tokens.refresh_token, options);
  const renewed = await strict.processRefreshTokenResponse(server, client, asked);
  const call = (token) => fetch(`${origin}/v1/partner/orders?limit=1`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await call(renewed.access_token)).status, 200);
  const ended = await strict.revocationRequest(server, client, none, renewed.refresh_token, options);
  await strict.processRevocationResponse(ended);
  assert.equal((await call(renewed.access_token)).status, 401);
}

/** Goes where the browser was sent, once somebody listens there. */
async function arrive(back, tries = 200) {
  try {
    await fetch(back);
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((later) => setTimeout(later, 50));
    await arrive(back, tries - 1);
  }
}

/** Runs a program that prints an address to visit; resolves when it ended well. */
function visited(program, args, allow, env = {}) {
  const child = spawn(program, args, { env: { ...process.env, BROWSER: "true", ...env } });
  let [said, went] = ["", false];
  const hear = (chunk) => {
    said += chunk;
    const address = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(said);
    if (!went && address && /\s/.test(said.slice(address.index + address[0].length))) {
      went = true;
      allow(new URL(address[0])).then(arrive).catch((error) => (said += error.stack));
    }
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const deadline = setTimeout(() => child.kill(), 60_000);
  return new Promise((resolve, reject) => {
    child.once("close", (code) => {
      clearTimeout(deadline);
      if (code === 0) resolve(said);
      else reject(new Error(`${program} ${args.join(" ")}: exit ${code}\n${said}`));
    });
  });
}

/** The checks of the conformance suite for authorization servers. */
async function suite(origin, allow) {
  const port = 8977;
  const registered = await fetch(`${origin}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: "Suite", redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  const { client_id } = await registered.json();
  const out = fs.mkdtempSync(path.join(os.tmpdir(), "conformance-"));
  const args = ["--url", origin, "--client-id", client_id, "--resource", `${origin}/mcp`, "--port", port, "-o", out];
  const said = await visited("conformance", ["authorization", ...args.map(String)], allow);
  assert.doesNotMatch(said, /✗/, said);
  fs.rmSync(out, { recursive: true });
}

/** mcp-remote, which lists the tools. */
async function remote(url, allow) {
  const kept = fs.mkdtempSync(path.join(os.tmpdir(), "mcp-remote-"));
  const env = { MCP_REMOTE_CONFIG_DIR: kept };
  const said = await visited("mcp-remote-client", [url, "--transport", "http-only"], allow, env);
  assert.match(said, /list_orders/);
  fs.rmSync(kept, { recursive: true });
}

/** Inspector's command line: let in by the person, and then by what it kept. */
async function inspector(url, allow) {
  const kept = fs.mkdtempSync(path.join(os.tmpdir(), "inspector-"));
  // Without a terminal it asks for a login only where it may open a browser.
  const env = { MCP_STORAGE_DIR: kept, MCP_INSPECTOR_SECRET_STORE: "file", MCP_AUTO_OPEN_ENABLED: "true" };
  const server = ["--cli", url, "--transport", "http"];
  const callback = ["--callback-url", "http://127.0.0.1:0/oauth/callback"];
  const list = ["--method", "tools/list", "--strict", "--format", "json"];
  const call = ["--method", "tools/call", "--tool-name", "list_orders", "--tool-arg", "limit=2"];
  const listed = await visited("mcp-inspector", [...server, ...callback, ...list], allow, env);
  assert.match(listed, /Authorization complete/);
  assert.match(listed, /"notify_seller"/);
  const options = { env: { ...process.env, ...env } };
  const called = await outputOf("mcp-inspector", [...server, "--stored-auth-only", ...call], options);
  assert.match(called, /order_id/);
  fs.rmSync(kept, { recursive: true });
}

export async function all(server) {
  const url = `${server.origin}/mcp`;
  const allow = await person(server.origin, "ana@exemplo.com", "demonstracao");
  const code = (back) => back.searchParams.get("code");
  await sdk(url, allow, () => new OldClient(identity), (...one) => new OldTransport(...one), code);
  for (const mode of ["legacy", "auto"]) {
    const client = () => new Client(identity, { versionNegotiation: { mode } });
    const transport = (...one) => new StreamableHTTPClientTransport(...one);
    await sdk(url, allow, client, transport, (back) => back.searchParams);
  }
  await rules(server.origin, allow);
  await suite(server.origin, allow);
  await remote(url, allow);
  await inspector(url, allow);
}
