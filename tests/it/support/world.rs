//! The simulated marketplace: the `sandbox` command of the real executable,
//! controlled through its addresses under `/_sandbox/`. A test fails when the
//! platform broke the marketplace's rules in it.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::actors::Actor;
use crate::support::client::{Client, Reply, Request};
use crate::support::process::{EXECUTABLE, Process};
use crate::support::site::{Clock, lock};
use crate::support::wait::until;

/// The shop of most tests.
pub const LOJA: u64 = 900_000_001;

/// Seconds that a consent may take.
pub const CONSENT_S: i64 = 600;

/// How long the notifications of a test may take to be delivered.
const SETTLE_LIMIT: Duration = Duration::from_mins(2);

/// A marketplace that does what a test tells it.
pub struct World {
    process: Process,
    clock: Clock,
    client: Mutex<Client>,
    /// Holds the clock file; removed with the world.
    _folder: TempDir,
}

impl World {
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::new(folder.path());
        let mut command = Command::new(EXECUTABLE);
        command
            .env_clear()
            .current_dir(folder.path())
            .args(["sandbox", "--listen", "127.0.0.1:0", "--clock-file"])
            .arg(clock.path());
        let world = Self {
            process: Process::start(&mut command),
            clock,
            client: Mutex::default(),
            _folder: folder,
        };
        // On a slow machine, too, no notification must be missed.
        world.configure(&json!({ "answer_within_ms": 20_000 }));
        world
    }

    pub fn address(&self) -> SocketAddr {
        self.process.address
    }

    /// The number by which the system knows it.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The clock of the world and of every site that joins it.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Tells a sandbox where the platform receives notifications.
    #[track_caller]
    pub fn notify_to(world: SocketAddr, platform: SocketAddr) {
        let url = format!("http://{platform}/ml/notificacoes");
        let request = Request::new("POST", "/_sandbox/config").json(&json!({ "notify_url": url }));
        let reply = Client::default().send(world, &request).expect("the sandbox answers");
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Makes a seller.
    #[track_caller]
    pub fn seller(&self, ml_user_id: u64, nickname: &str) {
        self.control(
            "/_sandbox/sellers",
            &json!({ "ml_user_id": ml_user_id, "nickname": nickname }),
        );
    }

    /// Publishes a listing with a hundred in stock, and returns its id.
    #[track_caller]
    pub fn item(&self, ml_user_id: u64, title: &str, price: f64) -> String {
        let item = json!({
            "ml_user_id": ml_user_id, "title": title, "price": price, "stock": 100,
        });
        let made = self.control("/_sandbox/items", &item);
        made["id"].as_str().unwrap().to_owned()
    }

    /// Makes a paid sale at the marketplace, with its notification, and returns
    /// the order.
    #[track_caller]
    pub fn sale(&self, ml_user_id: u64) -> Value {
        self.sale_with(ml_user_id, &json!({ "notify": true }))
    }

    /// Makes a sale with fields of the control address such as `item`,
    /// `quantity`, `status`, `date_created`, `notify`.
    #[track_caller]
    pub fn sale_with(&self, ml_user_id: u64, fields: &Value) -> Value {
        let mut body = fields.clone();
        body["ml_user_id"] = ml_user_id.into();
        self.control("/_sandbox/sales", &body)["order"].take()
    }

    /// Sets a fault, such as `{"path_prefix": "/orders", "times": 2, "kind":
    /// "status", "code": 500}`; the kinds are in `src/sandbox/faults.rs`.
    #[track_caller]
    pub fn fault(&self, fault: &Value) {
        self.control("/_sandbox/faults", fault);
    }

    /// Ends a seller's tokens: `revoke`, `expire_access` or `expire_refresh`.
    #[track_caller]
    pub fn end_tokens(&self, ml_user_id: u64, action: &str) {
        self.control("/_sandbox/tokens", &json!({ "ml_user_id": ml_user_id, "action": action }));
    }

    /// The calls of the platform to the marketplace.
    #[track_caller]
    pub fn requests(&self) -> Vec<Value> {
        self.list("requests")
    }

    /// The notifications that were sent, with the platform's answers. Waits
    /// until none is being delivered.
    #[track_caller]
    pub fn deliveries(&self) -> Vec<Value> {
        until("every notification is out", SETTLE_LIMIT, || {
            let shown = self.look("deliveries");
            (shown["waiting"] == 0).then(|| items(&shown, "deliveries"))
        })
    }

    /// Calls that a real marketplace would have rejected for their form.
    #[track_caller]
    pub fn violations(&self) -> Vec<Value> {
        self.list("violations")
    }

    /// Requires that every call so far followed the marketplace's rules; every
    /// test does this at its end.
    #[track_caller]
    pub fn no_violations(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "{violations:#?}");
    }

    /// Changes switches of the sandbox, such as `duplicates` or `hold`.
    #[track_caller]
    pub fn configure(&self, switches: &Value) {
        self.control("/_sandbox/config", switches);
    }

    /// Removes every fault.
    #[track_caller]
    pub fn clear_faults(&self) {
        self.send(&Request::new("DELETE", "/_sandbox/faults")).expect(200);
    }

    /// Forgets the calls so far.
    #[track_caller]
    pub fn forget_requests(&self) {
        self.send(&Request::new("DELETE", "/_sandbox/requests")).expect(200);
    }

    #[track_caller]
    fn list(&self, log: &str) -> Vec<Value> {
        items(&self.look(log), log)
    }

    #[track_caller]
    fn look(&self, log: &str) -> Value {
        self.send(&Request::new("GET", &format!("/_sandbox/{log}"))).ok()
    }

    /// Links a seller to a logged-in person through the real consent page.
    #[track_caller]
    pub fn link(&self, person: &Actor<'_>, ml_user_id: u64) {
        let target = self.consent(person, ml_user_id);
        person.get(&target).expect(303);
    }

    /// Goes to the consent page and accepts; returns the address of the way
    /// back, which is not opened yet.
    #[track_caller]
    pub fn consent(&self, person: &Actor<'_>, ml_user_id: u64) -> String {
        let asked = person.get("/painel/ml/conectar");
        let consent =
            asked.header("location").unwrap_or_else(|| panic!("no way to the consent\n{asked}"));
        let query = consent.split_once('?').map_or("", |(_, query)| query);
        let granted = self
            .control("/_sandbox/authorize", &json!({ "ml_user_id": ml_user_id, "query": query }));
        let back = granted["location"].as_str().unwrap();
        let start = back
            .find("/painel/ml/retorno")
            .unwrap_or_else(|| panic!("the consent leads to {back}"));
        back[start..].to_owned()
    }

    /// Sends to a control address and requires that it was understood.
    #[track_caller]
    pub fn control(&self, path: &str, body: &Value) -> Value {
        let reply = self.send(&Request::new("POST", path).json(body));
        assert!((200..300).contains(&reply.status), "{reply}");
        reply.json()
    }

    /// The same, when the sandbox may refuse; returns whether it was done.
    #[track_caller]
    pub fn may_control(&self, path: &str, body: &Value) -> Option<Value> {
        let reply = self.send(&Request::new("POST", path).json(body));
        (reply.status == 200).then(|| reply.json())
    }

    /// What the marketplace has of a seller, as columns of the platform's tables.
    #[track_caller]
    pub fn truth(&self, ml_user_id: u64) -> Value {
        self.look(&format!("truth?ml_user_id={ml_user_id}"))
    }

    /// Forgets the violations so far.
    #[track_caller]
    pub fn forget_violations(&self) {
        self.send(&Request::new("DELETE", "/_sandbox/violations")).expect(200);
    }

    /// The messages that the chat gateways accepted, in their order.
    #[track_caller]
    pub fn messages(&self) -> Vec<Value> {
        let shown = self.send(&Request::new("GET", "/_sandbox/messages"));
        items(&shown.json(), "messages")
    }

    /// The messages that the push service accepted, in their order.
    #[track_caller]
    pub fn pushed(&self) -> Vec<Value> {
        self.list("pushed")
    }

    /// The chat network: the gateway's phone, and the webhook of the official API.
    #[track_caller]
    pub fn chat(&self) -> Value {
        self.look("chat")
    }

    /// Chats with the Telegram bot, and how its updates come.
    #[track_caller]
    pub fn telegram(&self) -> Value {
        self.look("telegram")
    }

    #[track_caller]
    fn send(&self, request: &Request) -> Reply {
        lock(&self.client).send(self.process.address, request).expect("the sandbox answers")
    }
}

/// The entries of a log.
#[track_caller]
fn items(shown: &Value, log: &str) -> Vec<Value> {
    shown[log].as_array().unwrap().clone()
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the sandbox's log\n{}", self.process.log());
            return;
        }
        self.no_violations();
        let status = self.process.stop(Duration::from_secs(60));
        assert!(status.success(), "the sandbox ends with 0, not {status}");
    }
}
