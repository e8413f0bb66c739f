//! Data of the page about webhooks: the events, and code that verifies a
//! signature. The text of the page is in `webhooks_pt.html` and
//! `webhooks_en.html`. Tests take the code from the page and run it.

use super::guide::Sample;
use super::language::{Bilingual, Language, Text};
use crate::webhooks::EventType;

/// The sections in order. Both languages use the same ids.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub const SECTIONS: &[(&str, Bilingual)] = &[
    ("criar", Bilingual { portuguese: "Receber o primeiro aviso", english: "Receive the first message" }),
    ("eventos", Bilingual { portuguese: "Os eventos", english: "The events" }),
    ("mensagem", Bilingual { portuguese: "A mensagem", english: "The message" }),
    ("assinatura", Bilingual { portuguese: "Conferir a assinatura", english: "Verify the signature" }),
    ("responder", Bilingual { portuguese: "Responder, e o que se repete", english: "Answer, and what is repeated" }),
    ("ordem", Bilingual { portuguese: "Ordem e repetições", english: "Order and duplicates" }),
    ("segredo", Bilingual { portuguese: "Trocar o segredo", english: "Rotate the secret" }),
    ("testar", Bilingual { portuguese: "Testar e reenviar", english: "Test and send again" }),
];

/// What an event means.
#[rustfmt::skip] // A table: one event a row.
const fn told(event: EventType) -> Bilingual {
    match event {
        EventType::OrderCreated => Bilingual { portuguese: "Uma venda chegou. `data` é a venda, como em `list_orders`.", english: "A sale arrived. `data` is the order, as in `list_orders`." },
        EventType::OrderPaid => Bilingual { portuguese: "Uma venda foi paga.", english: "An order was paid." },
        EventType::OrderCancelled => Bilingual { portuguese: "Uma venda foi cancelada.", english: "An order was cancelled." },
        EventType::OrderShipped => Bilingual { portuguese: "O pacote de uma venda saiu.", english: "The parcel of an order is on its way." },
        EventType::QuestionReceived => Bilingual { portuguese: "Alguém perguntou em um anúncio.", english: "Somebody asked about a listing." },
        EventType::ClaimOpened => Bilingual { portuguese: "Uma reclamação foi aberta.", english: "A claim was opened." },
        EventType::StockChanged => Bilingual { portuguese: "O saldo de um produto mudou.", english: "The balance of a product changed." },
        EventType::DropOrderCreated => Bilingual { portuguese: "Para fornecedores: um pedido a repassar, como em `drop_list_orders`.", english: "For suppliers: a drop order arose, as in `drop_list_orders`." },
        EventType::DropOrderPaid => Bilingual { portuguese: "Para fornecedores: um pedido foi marcado como pago.", english: "For suppliers: a drop order was marked as paid." },
        EventType::DropOrderCancelled => Bilingual { portuguese: "Para fornecedores: um pedido foi cancelado com a venda.", english: "For suppliers: a drop order was cancelled with its sale." },
        EventType::Test => Bilingual { portuguese: "Um teste, pedido no painel. Todo endereço o recebe.", english: "A test, asked for in the panel. Every address receives it." },
    }
}

/// A message as it arrives.
pub const MESSAGE: &str = r#"POST /webhooks HTTP/1.1
content-type: application/json
webhook-id: msg_0198b7e25c1e7d40a7be1f5b2f6f1d11
webhook-timestamp: 1795176060
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"type":"order.paid","id":"msg_0198b7e25c1e7d40a7be1f5b2f6f1d11","timestamp":"2026-11-20T12:01:00Z","data":{"order_id":"2000003508419013","status":"paid","total_amount":179.8, … } }"#;

/// Data that the page shows.
pub struct Webhooks {
    pub events: Vec<EventRow>,
    pub verification: Vec<Sample>,
    pub receiver: Sample,
}

/// An event as the page shows it.
pub struct EventRow {
    pub name: &'static str,
    pub about: Text,
}

impl Webhooks {
    /// The page's data in a language.
    pub fn of(language: Language) -> Self {
        let event = |event: EventType| EventRow {
            name: event.name(),
            about: Text::own(told(event).text(language)),
        };
        let sample = |(id, title, code): (&'static str, &'static str, &str)| Sample {
            id,
            title,
            code: code.to_owned(),
        };
        Self {
            events: EventType::ALL.into_iter().map(event).collect(),
            verification: [
                ("conferir-python", "Python", PYTHON),
                ("conferir-javascript", "JavaScript (Node.js)", JAVASCRIPT),
                ("conferir-php", "PHP", PHP),
            ]
            .map(sample)
            .into(),
            receiver: sample(("receber-python", "Python, http.server", RECEIVER)),
        }
    }
}

const PYTHON: &str = r#"import base64, hashlib, hmac, json, time

def verify(secret, headers, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    good = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers["webhook-signature"].encode().split(b" ")
    age = abs(time.time() - int(headers["webhook-timestamp"]))
    if age > 300 or not any(hmac.compare_digest(good, one) for one in given):
        raise ValueError("not from the platform")
    return json.loads(body)"#;

const JAVASCRIPT: &str = r#"import { createHmac, timingSafeEqual } from "node:crypto";

export function verify(secret, headers, body) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": given } = headers;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const good = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64"));
  const isGood = (one) => one.length === good.length && timingSafeEqual(Buffer.from(one), good);
  const isFresh = Math.abs(Date.now() / 1000 - Number(at)) <= 300;
  if (!isFresh || !given.split(" ").some(isGood)) throw new Error("not from the platform");
  return JSON.parse(body);
}"#;

const PHP: &str = r#"function verify(string $secret, array $headers, string $body): array {
    $key = base64_decode(str_replace('whsec_', '', $secret));
    $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$body";
    $good = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    $given = explode(' ', $headers['webhook-signature']);
    $fresh = abs(time() - (int) $headers['webhook-timestamp']) <= 300;
    if (!$fresh || !array_filter($given, fn ($one) => hash_equals($good, $one)))
        throw new Exception('not from the platform');
    return json_decode($body, true);
}"#;

const RECEIVER: &str = r#"from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = "whsec_…"
seen = set()

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify(SECRET, self.headers, body)
        except (ValueError, TypeError):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(event["type"], event["data"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

HTTPServer(("127.0.0.1", 8000), Receiver).serve_forever()"#;
