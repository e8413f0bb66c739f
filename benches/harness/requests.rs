//! The requests of the cases.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::load::Request;
use crate::people::{CLIENT_ID, CLIENT_SECRET, PASSWORD, Seller, hex};
use crate::random::Random;

/// A page of orders is skipped into by at most this many rows: enough that no
/// answer can come from memory, too few to cost anything.
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

/// A GET as bytes; `extra` is header lines, each ended.
pub fn get_bytes(path: &str, token: Option<&str>, extra: &str) -> Vec<u8> {
    let token = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{token}{extra}\r\n").into_bytes()
}

/// `GET /api/v1/partner/orders?limit=20` of random sellers, somewhere near
/// the start of their list.
pub fn order_pages(sellers: i64) -> Request {
    let tokens: Vec<String> = (0..sellers).map(|n| Seller(n).partner_token()).collect();
    Arc::new(move |random, buffer| {
        let token = &tokens[random.index(tokens.len())];
        let offset = 1 + random.below(OFFSETS);
        let path = format!("/api/v1/partner/orders?limit=20&offset={offset}");
        buffer.extend_from_slice(&get_bytes(&path, Some(token), ""));
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

/// Signed notifications about accounts that nobody has linked, each of its own.
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
    /// A notification that no other is like.
    pub fn new(random: &mut Random, signed_at: i64) -> Self {
        let order_id = 2_000_000_000_000_000 + random.below(1_000_000_000_000_000);
        let ml_user_id = 900_000_000 + random.below(1_000_000);
        let body = format!(
            r#"{{"_id":"{:016x}","resource":"/orders/{order_id}","user_id":{ml_user_id},"topic":"orders_v2","application_id":{CLIENT_ID},"attempts":1,"sent":"2026-09-08T16:19:20.129-04:00","received":"2026-09-08T16:19:20.106-04:00"}}"#,
            random.next()
        );
        Self {
            order_id,
            ml_user_id,
            request_id: uuid(random),
            body,
            signed_at,
        }
    }

    fn headers(&self) -> String {
        let manifest = format!(
            "id:{};request-id:{};ts:{};",
            self.order_id, self.request_id, self.signed_at
        );
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

fn post_bytes(path: &str, extra: &str, body: &[u8]) -> Vec<u8> {
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
        .map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        })
}

/// Signatures are right and ids have their form.
pub fn check() -> anyhow::Result<()> {
    // Test case 2 of RFC 4231.
    ensure!(
        signature("Jefe", "what do ya want for nothing?")
            == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "a signature is wrong"
    );
    let id = uuid(&mut Random::new(1));
    let dashes: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
    ensure!(
        id.len() == 36 && dashes == [8, 13, 18, 23],
        "an id has a wrong form: {id}"
    );
    Ok(())
}
