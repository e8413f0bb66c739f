// A person with a browser: signs in, reads what an app asks for, and allows it.
import assert from "node:assert/strict";

/** What a form's hidden field holds. */
function hidden(page, name) {
  const field = new RegExp(`name="${name}" value="([^"]*)"`).exec(page);
  assert.ok(field, `the page has no ${name}`);
  return field[1];
}

/** Signs in; returns a function that allows what an address asks for and
 * resolves to where the browser is sent back. */
export async function person(origin, email, password) {
  const form = (fields) => ({
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
    headers: { Origin: origin, "Sec-Fetch-Site": "same-origin" },
  });
  const login = await fetch(`${origin}/entrar`, form({ email, senha: password }));
  assert.equal(login.status, 303, "the login was refused");
  const cookie = login.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
  const visit = async (address) => {
    const reply = await fetch(address, { redirect: "manual", headers: { Cookie: cookie, Accept: "text/html" } });
    if (reply.status !== 303) return reply;
    return visit(new URL(reply.headers.get("location"), origin));
  };
  return async function allow(address) {
    const reply = await visit(address);
    const page = await reply.text();
    assert.equal(reply.status, 200, page);
    const sent = form({ pedido: hidden(page, "pedido"), decisao: "permitir" });
    sent.headers.Cookie = cookie;
    const decided = await fetch(`${origin}/oauth/authorize`, sent);
    assert.equal(decided.status, 303, await decided.text());
    return new URL(decided.headers.get("location"));
  };
}
