//! The requests of the cases.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::load::Request;
use crate::people::{CHECKOUT_TOKEN, CLIENT_ID, CLIENT_SECRET, PASSWORD, Seller, hex};
use crate::random::Random;

/// Most rows that a page of orders skips: enough that no answer can come from
/// memory, too few to cost anything.
const OFFSETS: i64 = 20;

/// The same GET every time.
pub fn get(path: &str, token: Option<&str>) -> Request {
    let bytes = get_bytes(path, token, "");
    Arc::new(move |_, buffer| buffer.extend_from_slice(&bytes))
}

/// One of several ready requests at random.
pub fn any_of(requests: Vec<Vec<u8>>) -> Request {
    Arc::new(move |random, buffer| {
        buffer.extend_from_slice(&requests[random.index(requests.len())]);
    })
}

/// Each of several ready requests in turn.
pub fn in_turns(requests: Vec<Vec<u8>>) -> Request {
    let next = AtomicUsize::new(0);
    Arc::new(move |_, buffer| {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        buffer.extend_from_slice(&requests[turn % requests.len()]);
    })
}

/// A GET as bytes; `extra` is header lines, each ended.
pub fn get_bytes(path: &str, token: Option<&str>, extra: &str) -> Vec<u8> {
    let token =
        token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{token}{extra}\r\n").into_bytes()
}

/// `GET /api/v1/partner/orders` of random sellers, with `limit` orders a page,
/// near the start of their list.
pub fn order_pages(sellers: i64, limit: i64) -> Request {
    let tokens: Vec<String> = (0..sellers).map(|n| Seller(n).partner_token()).collect();
    Arc::new(move |random, buffer| {
        let token = &tokens[random.index(tokens.len())];
        let offset = 1 + random.below(OFFSETS);
        let path = format!("/api/v1/partner/orders?limit={limit}&offset={offset}");
        buffer.extend_from_slice(&get_bytes(&path, Some(token), ""));
    })
}

/// Notifications of random sellers to themselves, each with a key of its own.
pub fn notices(sellers: i64) -> Request {
    let tokens: Vec<String> = (0..sellers).map(|n| Seller(n).partner_token()).collect();
    let body = r#"{"channel":"email","event":"custom","title":"Estoque baixo","body":"Restam 3 unidades do kit organizador de gavetas.\nReponha até sexta."}"#;
    Arc::new(move |random, buffer| {
        let token = &tokens[random.index(tokens.len())];
        let head =
            format!("Authorization: Bearer {token}\r\nIdempotency-Key: {}\r\n", uuid(random));
        buffer.extend_from_slice(&post_bytes("/api/v1/partner/notify", &head, body.as_bytes()));
    })
}

/// `GET /api/ext/ml/check` of random sellers for their first account.
pub fn account_checks(sellers: i64) -> Request {
    any_of(
        (0..sellers)
            .map(Seller)
            .map(|seller| {
                let path = format!("/api/ext/ml/check?seller_id={}", seller.first_account());
                get_bytes(&path, Some(&seller.extension_token()), "")
            })
            .collect(),
    )
}

/// Logins of the given sellers with the right password.
pub fn logins(sellers: i64) -> Request {
    any_of(
        (0..sellers)
            .map(|n| {
                let email = Seller(n).email();
                let body = format!(r#"{{"email":"{email}","senha":"{PASSWORD}"}}"#);
                post_bytes("/api/ext/auth", "", body.as_bytes())
            })
            .collect(),
    )
}

/// Signed notifications about accounts that nobody has linked, all different.
pub fn notifications() -> Request {
    Arc::new(|random, buffer| {
        let notice = Notification::new(random, unix_now());
        buffer.extend_from_slice(&post_bytes(
            "/ml/notificacoes",
            &notice.headers(),
            notice.body.as_bytes(),
        ));
    })
}

/// Purchase events of buyers and transactions that were not seen before.
pub fn purchases(event: &'static str) -> Request {
    let token = format!("X-Hotmart-Hottok: {CHECKOUT_TOKEN}\r\n");
    Arc::new(move |random, buffer| {
        let body = purchase(random, event, unix_now() * 1000);
        buffer.extend_from_slice(&post_bytes("/api/v1/webhook/checkout", &token, body.as_bytes()));
    })
}

/// A purchase event as the checkout platform would send it.
fn purchase(random: &mut Random, event: &str, now_ms: i64) -> String {
    let (id, buyer) = (uuid(random), random.next());
    let transaction = random.below(1_000_000_000_000);
    let next_charge = now_ms + 30 * 86_400_000;
    format!(
        r#"{{"id":"{id}","creation_date":{now_ms},"event":"{event}","version":"2.0.0","data":{{"product":{{"id":77001,"ucode":"{id}","name":"Programa Piloto","warranty_date":"2026-06-05T00:00:00Z","has_co_production":false,"is_physical_product":false}},"affiliates":[{{"affiliate_code":"","name":""}}],"buyer":{{"email":"comprador{buyer:x}@example.com","name":"Lia Prado","first_name":"Lia","last_name":"Prado","checkout_phone_code":"11","checkout_phone":"987650000","document":"00000000000","document_type":"CPF","address":{{"zipcode":"01001000","country":"Brasil","country_iso":"BR","state":"SP","city":"São Paulo","neighborhood":"Sé","address":"Praça da Sé","number":"1"}}}},"producer":{{"name":"Escola Exemplo","document":"00000000000000","legal_nature":"Pessoa Jurídica"}},"commissions":[{{"value":9.79,"source":"MARKETPLACE","currency_value":"BRL"}},{{"value":88.11,"source":"PRODUCER","currency_value":"BRL"}}],"purchase":{{"transaction":"HP{transaction:012}","status":"APPROVED","order_date":{now_ms},"approved_date":{now_ms},"date_next_charge":{next_charge},"recurrence_number":1,"price":{{"value":97.9,"currency_value":"BRL"}},"full_price":{{"value":97.9,"currency_value":"BRL"}},"original_offer_price":{{"value":97.9,"currency_value":"BRL"}},"offer":{{"code":"abc12345"}},"payment":{{"type":"PIX","installments_number":1}},"checkout_country":{{"name":"Brasil","iso":"BR"}},"origin":{{"src":"site","sck":"campanha"}}}},"subscription":{{"status":"ACTIVE","plan":{{"id":501,"name":"Pro mensal"}},"subscriber":{{"code":"S{transaction:012}"}}}}}}}}"#
    )
}

/// A notification as the marketplace would send it.
pub struct Notification {
    /// Number of the order it is about.
    pub order_id: i64,
    /// The account at the marketplace.
    pub ml_user_id: i64,
    /// Value of `X-Request-Id`.
    pub request_id: String,
    /// The JSON sent.
    pub body: String,
    /// Seconds since 1970 at which it was signed.
    pub signed_at: i64,
}

impl Notification {
    /// A notification that differs from all others.
    pub fn new(random: &mut Random, signed_at: i64) -> Self {
        let order_id = 2_000_000_000_000_000 + random.below(1_000_000_000_000_000);
        let ml_user_id = 900_000_000 + random.below(1_000_000);
        let body = format!(
            r#"{{"_id":"{:016x}","resource":"/orders/{order_id}","user_id":{ml_user_id},"topic":"orders_v2","application_id":{CLIENT_ID},"attempts":1,"sent":"2026-09-08T16:19:20.129-04:00","received":"2026-09-08T16:19:20.106-04:00"}}"#,
            random.next()
        );
        Self { order_id, ml_user_id, request_id: uuid(random), body, signed_at }
    }

    fn headers(&self) -> String {
        let manifest =
            format!("id:{};request-id:{};ts:{};", self.order_id, self.request_id, self.signed_at);
        format!(
            "X-Request-Id: {}\r\nX-Signature: ts={};v1={}\r\n",
            self.request_id,
            self.signed_at,
            signature(CLIENT_SECRET, &manifest)
        )
    }
}

fn signature(secret: &str, manifest: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(manifest.as_bytes());
    hex(&mac.finalize().into_bytes())
}

fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

/// A POST of JSON as bytes; `extra` is header lines, each ended.
pub fn post_bytes(path: &str, extra: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    write!(
        bytes,
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{extra}\r\n",
        body.len()
    )
    .expect("a vector takes all bytes");
    bytes.extend_from_slice(body);
    bytes
}

/// Seconds since 1970 by the machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the harness plays the outside world, which has a clock of its own"
)]
pub fn unix_now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Checks that signatures are right and ids have the right form.
pub fn check() -> anyhow::Result<()> {
    // Test case 2 of RFC 4231.
    ensure!(
        signature("Jefe", "what do ya want for nothing?")
            == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "a signature is wrong"
    );
    let body = purchase(&mut Random::new(1), "PURCHASE_APPROVED", unix_now());
    ensure!(
        serde_json::from_str::<serde_json::Value>(&body).is_ok(),
        "a purchase is no JSON: {body}"
    );
    let id = uuid(&mut Random::new(1));
    let dashes: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
    ensure!(id.len() == 36 && dashes == [8, 13, 18, 23], "an id has a wrong form: {id}");
    Ok(())
}
