//! Tests of the marketplace against the sandbox, over real HTTP. They call the
//! workers' rounds directly, so nothing waits.

mod arriving;
mod calling;
mod linking;
mod turns;

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::accounts::store::{self as accounts, NewSession};
use crate::base::{DAY_S, Instant, MlUserId, Secret, TokenHash, UserId};
use crate::db::{DbError, Lane};
use crate::fixture::{self, NOW, TestApp, TestDir};
use crate::http::{Family, Problem, Reply, Request};
use crate::identity::{Person, guard};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::sandbox::{self, CLIENT_ID, CLIENT_SECRET, Running};

const ANA: UserId = UserId(1);
const RUI: UserId = UserId(2);
const SHOP: MlUserId = MlUserId(777);

/// The service beside the sandbox, on one clock.
struct World {
    test: TestApp,
    app: Arc<App>,
    sandbox: Running,
}

impl World {
    /// Two people, a seller with a listing at the marketplace, nothing linked.
    fn new() -> Self {
        let dir = TestDir::new();
        let sandbox = sandbox::start(sandbox::Options {
            listen: ([127, 0, 0, 1], 0).into(),
            clock: dir.clock(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Secret::new(CLIENT_SECRET),
            redirect_uris: Vec::new(),
            notify_url: None,
        })
        .unwrap();
        let test = TestApp::at(dir, config_for(&sandbox.url()));
        let world = Self { app: Arc::clone(&test.app), test, sandbox };
        world.write(|tx| {
            tx.execute(
                "INSERT INTO user (user_id, email, name, role, created_at)
                 VALUES (1, 'ana@x.com', 'Ana', 'pro', 0), (2, 'rui@x.com', 'Rui', 'pro', 0)",
                [],
            )
        });
        world.control("sellers", &json!({ "nickname": "LOJA_X", "ml_user_id": SHOP.0 }));
        world.control(
            "items",
            &json!({ "ml_user_id": SHOP.0, "title": "Cabo USB-C", "price": 59.9 }),
        );
        world
    }

    /// The same with the shop linked to Ana and its history read.
    fn linked() -> Self {
        let world = Self::new();
        assert_eq!(world.link(ANA), "/painel/ml: vinculada");
        world.read_history();
        world
    }

    fn control(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}/_sandbox/{path}", self.sandbox.url());
        ureq::post(url).send_json(body).unwrap().body_mut().read_json().unwrap()
    }

    fn log(&self, path: &str) -> Value {
        ureq::get(format!("{}/_sandbox/{path}", self.sandbox.url()))
            .call()
            .unwrap()
            .body_mut()
            .read_json()
            .unwrap()
    }

    /// How many calls with a path that begins so the marketplace has received.
    fn calls(&self, path: &str) -> usize {
        let log = self.log("requests");
        let seen = log["requests"].as_array().unwrap().iter();
        seen.filter(|call| call["path"].as_str().unwrap().starts_with(path)).count()
    }

    fn sell(&self, extra: &Value) -> i64 {
        let mut sale = json!({ "ml_user_id": SHOP.0, "quantity": 2, "notify": false });
        sale.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.control("sales", &sale)["order"]["id"].as_i64().unwrap()
    }

    /// Moves the clock of both sides.
    fn advance(&self, seconds: i64) {
        let later = self.app.clock.now().plus(seconds);
        self.test.dir.now_is(later);
    }

    fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&crate::db::WriteTx<'_>) -> crate::db::Result<T> + Send + 'static,
    ) -> T {
        self.test.write(job)
    }

    /// The columns of all rows of a query, one line each.
    fn rows(&self, sql: &str) -> Vec<String> {
        let show = |row: &rusqlite::Row<'_>| {
            let columns = 0..row.as_ref().column_count();
            let cells =
                columns.map(|column| row.get::<_, rusqlite::types::Value>(column).map(show_cell));
            Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
        };
        self.test.ask(sql, show)
    }

    fn begin(&self, person: UserId) -> Reply {
        let request = self.request("/painel/ml/conectar", b"");
        let job = account::pages::begin(&self.app, &person_of(self, person), &request).unwrap();
        self.app.db.write(job).unwrap()
    }

    fn link(&self, person: UserId) -> String {
        let begun = self.begin(person);
        let consent =
            self.control("authorize", &json!({ "query": location(&begun), "ml_user_id": SHOP.0 }));
        self.finish_link(person, consent["location"].as_str().unwrap())
    }

    fn finish_link(&self, person: UserId, address: &str) -> String {
        let path = address.strip_prefix("http://127.0.0.1:8080").unwrap();
        let callback = account::link::LinkCallback::of(&self.request(path, b"")).unwrap();
        let outcome = account::link::finish_link(&self.app, person, &callback).unwrap();
        location(&outcome.redirect().unwrap())
    }

    fn read_history(&self) {
        while sync::work_one(&self.app, &Stop::default()).unwrap_or(false) {}
    }

    fn work_inbox(&self) {
        while inbox::work_one(&self.app, &KeyedSemaphore::leases(), &Stop::default())
            .unwrap_or(false)
        {}
    }

    fn request(&self, path: &str, body: &[u8]) -> Request {
        let (head, ()) = http::Request::builder().uri(path).body(()).unwrap().into_parts();
        Request {
            head,
            body: body.to_vec().into(),
            variables: vec![("ml_user_id".to_owned(), SHOP.to_string())],
            client: [127, 0, 0, 1].into(),
            id: http::HeaderValue::from_static("req"),
            now: self.app.clock.now(),
            lane: Lane::Slow,
            family: Family::Page,
            notice: None,
        }
    }

    /// Delivers a notification signed as the sandbox signs.
    fn notify(&self, body: &Value, request_id: &str) -> Result<Reply, Problem> {
        use hmac::{Hmac, KeyInit as _, Mac as _};
        let data_id = body["resource"].as_str().unwrap().rsplit('/').next().unwrap();
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(CLIENT_SECRET.as_bytes()).unwrap();
        mac.update(format!("id:{data_id};request-id:{request_id};ts:1;").as_bytes());
        let signature = format!("ts=1;v1={}", crate::base::text::hex(&mac.finalize().into_bytes()));
        self.deliver(body, Some(signature), request_id)
    }

    fn deliver(
        &self,
        body: &Value,
        signature: Option<String>,
        request_id: &str,
    ) -> Result<Reply, Problem> {
        let mut request = self.request("/ml/notificacoes", body.to_string().as_bytes());
        let headers = &mut request.head.headers;
        headers.insert("x-request-id", request_id.parse().unwrap());
        if let Some(signature) = signature {
            headers.insert("x-signature", signature.parse().unwrap());
        }
        let claim = guard::notification(&self.app, &request).outcome?;
        self.app.db.write(inbox::api::receive(&self.app, &claim, &request)?)
    }
}

fn show_cell(value: rusqlite::types::Value) -> String {
    use rusqlite::types::Value::{Blob, Integer, Null, Real, Text};
    match value {
        Null => "-".to_owned(),
        Integer(number) => number.to_string(),
        Real(number) => number.to_string(),
        Text(text) => text,
        Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

fn config_for(url: &str) -> config::Config {
    fixture::config(&[
        ("MARKETPLACE__API_BASE", url),
        ("MARKETPLACE__AUTH_BASE", url),
        ("MARKETPLACE__CLIENT_ID", CLIENT_ID),
        ("MARKETPLACE__CLIENT_SECRET", CLIENT_SECRET),
        ("SERVER__TIMEZONE", "America/Sao_Paulo"),
    ])
}

/// A student who is signed in.
fn person_of(world: &World, user: UserId) -> Person {
    let secret = format!("sessao-de-{user}");
    let hash = TokenHash::of(&secret);
    world.write(move |tx| {
        if accounts::session(tx, &hash)?.1 == Instant(i64::MIN) {
            let (address, user_agent) = (String::new(), String::new());
            accounts::insert_session(tx, user, &NewSession { hash, address, user_agent })?;
        }
        Ok(())
    });
    let mut request = world.request("/painel", b"");
    let cookie = format!("{}={secret}", guard::session_cookie_name(&world.app));
    request.head.headers.insert(http::header::COOKIE, cookie.parse().unwrap());
    guard::student(&world.app, &request).unwrap_or_else(|_| panic!("{user} is not signed in"))
}

/// The address that a reply redirects to, and the word of its notice.
fn location(reply: &Reply) -> String {
    let (_, value) = reply.headers.iter().find(|(name, _)| name == http::header::LOCATION).unwrap();
    let page = value.to_str().unwrap();
    match reply.notice.as_deref() {
        Some((_, word)) => format!("{page}: {word}"),
        None => page.to_owned(),
    }
}

fn order_notice(order: i64, sent: &str) -> Value {
    json!({ "resource": format!("/orders/{order}"), "topic": "orders_v2", "user_id": SHOP.0, "sent": sent })
}
