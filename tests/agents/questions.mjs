// Fifteen everyday questions of a seller, each answered with at most two calls of
// tools. What is answered is compared with what another way gives, mostly the
// operations by HTTP.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const MOST_CALLS = 2;
/** The demonstration goes on selling: what changed while it was asked for is asked again. */
const TRIES = 5;
const MOST = 200;

/** What an operation answers by HTTP. */
async function get(server, path, token = server.partner) {
  const headers = { Authorization: `Bearer ${token}` };
  const reply = await fetch(`${server.origin}/api/v1/partner${path}`, { headers });
  assert.equal(reply.status, 200, path);
  return reply.json();
}

/** All entries of a list by HTTP. */
async function walk(server, path, token) {
  const [all, join] = [[], path.includes("?") ? "&" : "?"];
  for (let offset = 0; ; offset += MOST) {
    const page = await get(server, `${path}${join}limit=${MOST}&offset=${offset}`, token);
    all.push(...page.data);
    if (all.length >= page.pagination.total) return all;
  }
}

/** Sales from one day to another: the sum of what the accounts' own figures say. */
async function sold(server, from, to) {
  const sum = { count: 0, gross: 0 };
  for (const store of await walk(server, "/stores")) {
    const { sales } = await get(server, `/stores/${store.ml_user_id}/metrics?from=${from}&to=${to}`);
    sum.count += sales.count;
    sum.gross += Math.round(sales.gross * 100);
  }
  return { count: sum.count, gross: sum.gross / 100 };
}

const some = (object, ...names) => Object.fromEntries(names.map((name) => [name, object[name]]));
const ids = (orders) => orders.map((order) => order.order_id);
const plus = (day, days) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const monday = (day) => plus(day, -((new Date(day).getUTCDay() + 6) % 7));
/** A number that differs from run to run, so that an answer of before cannot pass. */
const fresh = () => 100 + (Date.now() % 800);

/**
 * Each question: how it is answered by tools (`answer`, where `call` calls one), and
 * what is so (`truth`, which is given the answer too). Those with `acts` change
 * something; their truth is looked up afterwards alone.
 */
const QUESTIONS = [
  {
    asks: "How much did I sell today?",
    answer: async (call) => some((await call("summary")).today, "count", "gross"),
    truth: (server) => sold(server, server.today, server.today),
  },
  {
    asks: "How is this week against the last one?",
    answer: async (call) => {
      const { this_week, last_week_so_far, last_week } = await call("summary");
      return [this_week, last_week_so_far, last_week].map((week) => some(week, "count", "gross"));
    },
    truth: async (server) => {
      const [begin, today] = [monday(server.today), server.today];
      return [
        await sold(server, begin, today),
        await sold(server, plus(begin, -7), plus(today, -7)),
        await sold(server, plus(begin, -7), plus(begin, -1)),
      ];
    },
  },
  {
    asks: "What must I send, and by when?",
    answer: async (call) => {
      const { to_send } = await call("summary");
      assert.ok(Date.parse(to_send.next_due_at) > 0, "a time until when");
      const page = await call("list_orders", { shipping_status: "ready_to_ship", limit: MOST });
      return { parcels: to_send.count, orders: ids(page.data) };
    },
    truth: async (server) => {
      const orders = await walk(server, `/orders?from=${plus(server.today, -30)}`);
      const waiting = orders.filter((order) => order.shipping.status === "ready_to_ship");
      // Some of them lack their fiscal note, were printed or are handed over already.
      const { count } = (await get(server, "/summary")).to_send;
      assert.ok(count > 0 && count <= new Set(waiting.map((order) => order.shipping.id)).size);
      return { parcels: count, orders: ids(waiting) };
    },
  },
  {
    asks: "Which sales of the last week were cancelled?",
    answer: async (call, { today }) => {
      const from = plus(today, -7);
      return ids((await call("list_orders", { status: "cancelled", from, limit: MOST })).data);
    },
    truth: async (server) => {
      const orders = await walk(server, `/orders?from=${plus(server.today, -7)}`);
      return ids(orders.filter((order) => order.status === "cancelled"));
    },
  },
  {
    asks: "What became of order N?",
    answer: async (call, { order }) => {
      const found = await call("get_order", { order_id: order.order_id });
      return some(found, "order_id", "status", "title", "total_amount", "buyer_nickname");
    },
    truth: (server) => {
      return some(server.order, "order_id", "status", "title", "total_amount", "buyer_nickname");
    },
  },
  {
    asks: "What earned most this month?",
    answer: async (call) => {
      const { data } = await call("top_products", { by: "margin", limit: 5 });
      return data.map((product) => some(product, "title", "units", "margin"));
    },
    truth: async (server) => {
      const { data, total } = await get(server, "/top-products?by=units&limit=50");
      assert.equal(data.length, total, "all products");
      const known = data.filter((product) => product.margin !== null);
      known.sort((one, other) => other.margin - one.margin);
      return known.slice(0, 5).map((product) => some(product, "title", "units", "margin"));
    },
  },
  {
    asks: "Which stock ends?",
    answer: async (call) => {
      return (await call("summary")).low_stock.next.map((product) => some(product, "sku", "balance"));
    },
    // The demonstration asks to be warned from ten units on.
    truth: async (server) => {
      const low = (await walk(server, "/stock")).filter((product) => product.balance <= 10);
      low.sort((one, other) => one.balance - other.balance);
      return low.map((product) => some(product, "sku", "balance")).slice(0, 5);
    },
  },
  {
    asks: "How many do I have of SKU X?",
    answer: async (call, { sku }) => (await call("list_products", { sku })).data[0].stock,
    truth: async (server) => {
      return (await walk(server, "/stock")).find((product) => product.sku === server.sku).balance;
    },
  },
  {
    asks: "I counted SKU X: set its stock.",
    acts: true,
    answer: async (call, { sku }) => {
      return (await call("set_stock", { sku, balance: fresh() })).data.balance;
    },
    truth: async (server) => {
      return (await walk(server, "/stock")).find((product) => product.sku === server.sku).balance;
    },
  },
  {
    asks: "Raise the price of SKU X by a tenth.",
    acts: true,
    answer: async (call, { sku }) => {
      const [before] = (await call("list_products", { sku })).data;
      const price = Math.round(before.price * 110) / 100;
      return some((await call("set_product_price", { sku, price })).data, "price", "cost");
    },
    truth: async (server, told) => {
      const [product] = (await get(server, `/products?sku=${server.sku}`)).data;
      assert.equal(told.price, Math.round(server.price * 110) / 100);
      return some(product, "price", "cost");
    },
  },
  {
    asks: "Which questions wait? Answer the newest.",
    acts: true,
    answer: async (call) => {
      const [question] = (await call("list_questions", { status: "unanswered" })).data;
      const text = `Enviamos hoje mesmo, ${fresh()}.`;
      const answered = await call("answer_question", { question_id: question.question_id, text });
      return some(answered.data, "question_id", "status", "answer");
    },
    truth: async (server, { question_id }) => {
      const question = await get(server, `/questions/${question_id}`);
      assert.equal(question.status, "answered");
      return some(question, "question_id", "status", "answer");
    },
  },
  {
    asks: "Which claims are open, by deadline?",
    answer: async (call) => {
      const { data } = await call("list_claims", { status: "opened" });
      return data.map((claim) => some(claim, "claim_id", "due_at"));
    },
    truth: async (server) => {
      const open = (await walk(server, "/claims")).filter((claim) => claim.status === "opened");
      const due = (claim) => (claim.due_at ? Date.parse(claim.due_at) : Infinity);
      assert.ok(open.every((claim, at) => at === 0 || due(open[at - 1]) <= due(claim)), "in order");
      return open.map((claim) => some(claim, "claim_id", "due_at"));
    },
  },
  {
    asks: "What do I owe my suppliers?",
    answer: async (call) => (await call("summary")).debts,
    truth: async (server) => {
      const orders = await walk(server, "/drop/orders", server.drop);
      const own = orders.filter((order) => order.seller_name === server.name);
      const sum = (status) => {
        const due = own.filter((order) => order.status === status);
        const cents = due.reduce((all, order) => all + Math.round(order.amount_due * 100), 0);
        return { orders: due.length, amount: cents / 100 };
      };
      return { pending: sum("pending"), overdue: sum("overdue") };
    },
  },
  {
    asks: "The label of the newest order that is ready.",
    answer: async (call) => {
      const asked = { shipping_status: "ready_to_ship", limit: 1 };
      const [order] = (await call("list_orders", asked)).data;
      const file = await call("get_label", { order_id: order.order_id });
      assert.equal(file.mimeType, "application/pdf");
      const pdf = Buffer.from(file.blob, "base64");
      assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
      return order.order_id;
    },
    truth: async (server) => {
      const orders = await walk(server, `/orders?from=${plus(server.today, -30)}`);
      return orders.find((order) => order.shipping.status === "ready_to_ship").order_id;
    },
  },
  {
    asks: "Where is the parcel of the buyer's order?",
    answer: async (call, { order }) => {
      return (await call("get_order", { order_id: order.order_id })).shipping;
    },
    truth: (server) => server.order.shipping,
  },
];

/** Answers a question; also what its tools said to the model, as text. */
async function answered(client, question, server) {
  let [calls, said] = [0, ""];
  const call = async (name, args = {}) => {
    calls += 1;
    assert.ok(calls <= MOST_CALLS, `more than ${MOST_CALLS} calls`);
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError ?? false, false, `${name}: ${JSON.stringify(result.content)}`);
    const [content] = result.content;
    if (content.type === "resource") return content.resource;
    said += content.text;
    return result.structuredContent;
  };
  return { told: await question.answer(call, server), said };
}

/** The values inside an answer. */
function values(answer) {
  return typeof answer === "object" && answer ? Object.values(answer).flatMap(values) : [answer];
}

async function ask(client, question, server) {
  for (let tries = 1; ; tries += 1) {
    const before = question.acts ? undefined : await question.truth(server);
    const { told, said } = await answered(client, question, server);
    const truth = await question.truth(server, told);
    const isSteady = question.acts || JSON.stringify(before) === JSON.stringify(truth);
    if (!isSteady && tries < TRIES) continue;
    assert.deepEqual(told, truth);
    const known = values(told);
    assert.ok(known.length > 0, "an answer without anything in it proves nothing");
    // A model reads the text.
    for (const value of known) assert.ok(said.includes(JSON.stringify(value)), `${value} in ${said}`);
    return;
  }
}

export async function all(server) {
  assert.equal(QUESTIONS.length, 15);
  const health = await get(server, "/health");
  const [product] = (await walk(server, "/products")).filter((one) => one.sku && one.price);
  const orders = await walk(server, `/orders?from=${plus(health.server_time.slice(0, 10), -30)}`);
  const known = {
    ...server,
    name: health.user.nome,
    today: health.server_time.slice(0, 10),
    sku: product.sku,
    price: product.price,
    order: orders.find((order) => order.shipping.status === "delivered"),
  };
  const client = new Client({ name: "tests", version: "1" });
  const headers = { Authorization: `Bearer ${server.partner}` };
  const url = new URL(`${server.origin}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const failed = [];
  for (const question of QUESTIONS) {
    await ask(client, question, known).catch((cause) => failed.push(`${question.asks} ${cause.stack}`));
  }
  await client.close();
  assert.deepEqual(failed, [], failed.join("\n"));
}
