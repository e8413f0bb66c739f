/**
 * The Partner API in TypeScript: one file, without packages. It runs where `fetch` does: Node 20
 * or newer, Deno, Bun, workers and browsers.
 *
 *     import { PartnerApi } from "./seller-platform.ts";
 *
 *     const api = new PartnerApi("ptk_…");
 *     for await (const order of api.allOrders({ status: "paid" })) {
 *       console.log(order.order_id, order.total_amount);
 *     }
 *
 * Each operation is a method with its name, and answers what the reference shows. Lists also
 * have a method that begins with `all` and reads page after page. The client repeats what is
 * safe to repeat, keeps to `Retry-After`, gives each POST an `Idempotency-Key`, and asks with
 * the `ETag` that it has, so that what did not change costs no quota.
 *
 * Made by {address}/desenvolvedores/cliente.ts
 */

export const BASE_URL = "{base_url}";

// A type for each object of the API.

{types}

/** An answer that is an error, or none at all: then `status` is 0. Branch on `code`. */
export class ApiError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string = "";
  readonly fields: Record<string, string> = {};
  readonly requestId: string;

  constructor(status: number, body: string, headers: Headers) {
    let said: { code?: string; message?: string; fields?: Record<string, string> } = {};
    try {
      said = JSON.parse(body).error ?? {};
    } catch {
      // Of files errors are plain text.
    }
    super(`${status} ${said.code ?? ""}: ${said.message ?? body.slice(0, 200)}`);
    this.status = status;
    this.headers = headers;
    this.code = said.code ?? (status === 0 ? "no_answer" : "");
    this.fields = said.fields ?? {};
    this.requestId = headers.get("x-request-id") ?? "";
  }
}

type Values = Record<string, unknown>;
type Asked = { query?: Values; body?: Values; key?: string; isFile?: boolean };
type Page<T> = {
  data: T[];
  pagination: { next_cursor?: string | null; next_after?: string | null; has_more?: boolean; offset?: number; total?: number };
};

/** Of a POST: the key that makes it safe to repeat beyond this call, such as after a restart. */
export type Repeatable = { idempotencyKey?: string };

/** The operations that a token opens. */
export class PartnerApi {
  /** The status of the last answer; 304 says that it came from memory. */
  status = 0;
  /** The headers of the last answer. */
  headers = new Headers();
  private readonly token: string;
  private readonly baseUrl: string;
  private readonly timeoutMs: number;
  private readonly tries: number;
  private readonly kept = new Map<string, { etag: string; value: unknown }>();

  constructor(token: string, options: { baseUrl?: string; timeoutMs?: number; tries?: number } = {}) {
    this.token = token;
    this.baseUrl = (options.baseUrl ?? BASE_URL).replace(/\/+$/, "");
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.tries = options.tries ?? 5;
  }

  /** Calls an address; for operations that are newer than this file. */
  async call<T>(method: string, path: string, { query, body, key, isFile }: Asked = {}): Promise<T> {
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) asked.set(name, String(value));
    const url = `${this.baseUrl}${path}${asked.size ? `?${asked}` : ""}`;
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}`, Accept: "*/*" };
    if (body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const kept = method === "GET" ? this.kept.get(url) : undefined;
    if (kept) headers["If-None-Match"] = kept.etag;
    const init: RequestInit = { method, headers, body: body ? JSON.stringify(body) : undefined, cache: "no-store" };
    const answer = await this.send(url, init, method === "GET" || key !== undefined);
    if (answer.status === 304 && kept) return kept.value as T;
    if (isFile) return (await answer.arrayBuffer()) as T;
    const text = await answer.text();
    const value: unknown = text ? JSON.parse(text) : undefined;
    const etag = answer.headers.get("etag");
    if (method === "GET" && etag) {
      this.kept.delete(url);
      this.kept.set(url, { etag, value });
      const [oldest] = this.kept.keys();
      if (this.kept.size > 64 && oldest !== undefined) this.kept.delete(oldest);
    }
    return value as T;
  }

  private async send(url: string, init: RequestInit, isRepeatable: boolean): Promise<Response> {
    for (let turn = 1; ; turn++) {
      let pause = Math.min(2 ** (turn - 1), 60) * (0.5 + Math.random() / 2);
      try {
        const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(this.timeoutMs) });
        this.status = answer.status;
        this.headers = answer.headers;
        if (answer.ok || answer.status === 304) return answer;
        // Of 429 and 503 nothing was done.
        const isRefused = answer.status === 429 || answer.status === 503;
        if (isRefused) pause = Number(answer.headers.get("retry-after") ?? pause);
        // What is open again in more than a minute is the caller's to wait for.
        const goesOn = isRefused || (answer.status === 500 && isRepeatable);
        if (!goesOn || turn === this.tries || pause > 60)
          throw new ApiError(answer.status, await answer.text(), answer.headers);
        await answer.body?.cancel();
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (turn === this.tries || !isRepeatable) throw new ApiError(0, String(error), new Headers());
      }
      await new Promise((done) => setTimeout(done, pause * 1000));
    }
  }

  private async *all<T>(path: string, query: Values): AsyncGenerator<T> {
    for (;;) {
      const { data, pagination: at } = await this.call<Page<T>>("GET", path, { query });
      yield* data;
      if (at.next_after !== undefined) {
        query.after = at.next_after ?? undefined;
        if (!at.has_more) return;
      } else if (at.next_cursor !== undefined) {
        query.cursor = at.next_cursor;
        if (at.next_cursor === null) return;
      } else {
        const offset = (at.offset ?? 0) + data.length;
        query.offset = offset;
        if (data.length === 0 || offset >= (at.total ?? 0)) return;
      }
    }
  }

{operations}
}

/** The event of a message that came; throws unless it is ours and fresh. `body` as it came. */
export async function verifyWebhook(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string,
): Promise<Event> {
  const told = (name: string) =>
    String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? "");
  const [id, at] = [told("webhook-id"), told("webhook-timestamp")];
  const bytes = Uint8Array.from(atob(secret.replace("whsec_", "")), (one) => one.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${at}.${body}`);
  const isGood = (one: string) => {
    const given = Uint8Array.from(atob(one), (letter) => letter.charCodeAt(0));
    return crypto.subtle.verify("HMAC", key, given, signed);
  };
  const given = told("webhook-signature").split(" ").filter((one) => /^v1,[0-9A-Za-z+/]+=*$/.test(one));
  const checked = await Promise.all(given.map((one) => isGood(one.slice(3))));
  // Not a number is not fresh.
  const isFresh = Math.abs(Date.now() / 1000 - Number(at || NaN)) <= 300;
  if (!isFresh || !checked.includes(true)) throw new Error("not from the platform");
  return JSON.parse(body);
}
