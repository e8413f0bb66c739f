import { ApiError, PartnerApi, verifyWebhook } from "./seller-platform.ts";

const baseUrl = ADDRESS;

async function check(id: string, expected: number[], token: string, call: (api: PartnerApi) => Promise<unknown>) {
  const api = new PartnerApi(token, { baseUrl });
  let value: unknown;
  try {
    value = await call(api);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    value = error.code;
  }
  if (!expected.includes(api.status) || (value === undefined && api.status !== 204))
    throw new Error(`${id}: ${api.status} ${JSON.stringify(value)}`);
}

function must(is: boolean, what: string) {
  if (!is) throw new Error(what);
}

/** Pages, memory, keys, patience and signatures. */
async function tryAll(token: string) {
  const api = new PartnerApi(token, { baseUrl });
  const first = await api.listOrders();
  must((await api.listOrders()) === first && api.status === 304, "nothing changed");
  let count = 0;
  for await (const order of api.allOrders({ limit: 1 })) count += order.order_id ? 1 : 0;
  must(count === first.data.length, `${count} orders`);
  for await (const store of api.allStores({ limit: 1 })) must(store.nickname !== "", "a store");
  const notice = { channel: "email", event: "custom", title: "Oi", body: "Tudo bem?" } as const;
  for (const replayed of [null, "true"]) {
    await api.notifySeller(notice, { idempotencyKey: "ready-ts" });
    must(api.headers.get("idempotency-replayed") === replayed, "a key");
  }
  const refused = await api.listOrders({ limit: 1000 }).catch((error: unknown) => error);
  must(refused instanceof ApiError && refused.code === "validation_failed" && "limit" in refused.fields, "an error");
  await tryPatience();
  await trySignature();
}

async function tryPatience() {
  const real = globalThis.fetch;
  const keys: unknown[] = [];
  let moods: (number | "break")[] = [];
  globalThis.fetch = async (_, init) => {
    keys.push((init?.headers as Record<string, string>)["Idempotency-Key"]);
    const mood = moods.shift() ?? 200;
    if (mood === "break") throw new TypeError("no network");
    return new Response('{"data":1}', { status: mood, headers: { "Retry-After": "0" } });
  };
  const api = new PartnerApi("t", { baseUrl, tries: 3 });
  moods = [503, 429, 200];
  await api.health();
  moods = ["break", 200];
  await api.dropRemindAll();
  must(keys.at(-1) !== undefined && keys.at(-1) === keys.at(-2), "a POST is repeated with its key");
  moods = [503, 503, 503, 200];
  const gave = await api.health().catch((error: unknown) => error);
  must(gave instanceof ApiError && gave.status === 503, "it never gave up");
  globalThis.fetch = real;
}

async function trySignature() {
  const bytes = new TextEncoder();
  const base64 = (some: ArrayBuffer | Uint8Array) => btoa(String.fromCharCode(...new Uint8Array(some)));
  const raw = bytes.encode("k".repeat(32));
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const [at, body] = [String(Math.floor(Date.now() / 1000)), '{"type":"order.paid","data":{}}'];
  const good = base64(await crypto.subtle.sign("HMAC", key, bytes.encode(`msg_1.${at}.${body}`)));
  const secret = `whsec_${base64(raw)}`;
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": at, "webhook-signature": `v1,AA== v1,${good}` };
  must((await verifyWebhook(secret, headers, body)).type === "order.paid", "a message");
  must((await verifyWebhook(secret, new Headers(headers), body)).type === "order.paid", "a message");
  for (const wrong of [{}, { ...headers, "webhook-timestamp": "7" }, { ...headers, "webhook-signature": "v1,AAAA v2,!" }]) {
    const said = await verifyWebhook(secret, wrong, body).catch(() => "refused");
    must(said === "refused", `taken: ${JSON.stringify(wrong)}`);
  }
}

