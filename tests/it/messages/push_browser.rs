//! Web push in a real Chromium, from the button to the notification.
//!
//! The real browser subscribes, decrypts and shows.
//! `tests/samples/push_service.py` replaces the service of its maker. Only the
//! way between them is changed: the page sees an address at the sandbox instead
//! of the maker's, so that the test can read the platform's request. Then the
//! test passes the encrypted body on to the maker's service. No test can press
//! a notification: that belongs to the system.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::support::client::{Client, Request};
use crate::support::cron::{json_of, meet, run_at};
use crate::support::receiver::with_push;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::webdriver::Browser;
use crate::support::world::World;

const PAGE: &str = "/perfil/avisos";
/// How long the browser may take to show something.
const PATIENCE: Duration = Duration::from_mins(1);

/// The replacement for the maker's service; it ends with the test.
struct Maker {
    process: Child,
    service: SocketAddr,
    connection: u16,
}

impl Maker {
    #[track_caller]
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/push_service.py");
        let mut process = Command::new("/usr/bin/python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tests/run installs python3");
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (service, connection) = line.trim().split_once(' ').expect("two ports");
        Self {
            process,
            service: SocketAddr::from(([127, 0, 0, 1], service.parse().unwrap())),
            connection: connection.parse().unwrap(),
        }
    }

    /// A browser that uses this service as its maker's.
    fn browser(&self) -> Browser {
        let (service, connection) = (self.service, self.connection);
        Browser::start_with(&[
            format!("--gcm-checkin-url=http://{service}/checkin"),
            format!("--gcm-registration-url=http://{service}/register"),
            format!("--gcm-mcs-endpoint=https://127.0.0.1:{connection}"),
            "--ignore-certificate-errors".to_owned(),
        ])
    }

    /// Passes a message of the sandbox on to the browser.
    #[track_caller]
    fn deliver(&self, pushed: &Value) {
        let body = URL_SAFE_NO_PAD.decode(pushed["body"].as_str().unwrap());
        let asked = json!({ "token": pushed["device"], "body": STANDARD.encode(body.unwrap()) });
        let reply = Client::default()
            .send(self.service, &Request::new("POST", "/deliver").json(&asked))
            .unwrap();
        assert_eq!(reply.status, 200, "{reply}");
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.process.stdin.take();
        let _ = self.process.wait();
    }
}

/// Makes pages see subscriptions at the sandbox instead of the maker's service.
fn bend(browser: &Browser, world: &World) {
    let script = "
        const kept = Object.getOwnPropertyDescriptor(PushSubscription.prototype, 'endpoint').get;
        const bent = (endpoint) => endpoint.replace(/^https:.*\\/fcm\\/send\\//, 'SANDBOX/push/');
        Object.defineProperty(PushSubscription.prototype, 'endpoint', { get() { return bent(kept.call(this)); } });
        const json = PushSubscription.prototype.toJSON;
        PushSubscription.prototype.toJSON = function () {
          const plain = json.call(this);
          return { ...plain, endpoint: bent(plain.endpoint) };
        };";
    browser.prepare(&script.replace("SANDBOX", &format!("http://{}", world.address())));
}

/// Ana's page of messages, in a browser that may show notifications.
#[track_caller]
fn page_of_ana(world: &World, site: &Site, maker: &Maker) -> Browser {
    let ana = site.make_person("ana", "vip");
    let browser = maker.browser();
    bend(&browser, world);
    browser.let_notify(&site.url(""), true);
    site.sign_in(&browser, &ana, "/painel");
    browser.go(&site.url(PAGE));
    browser
}

/// The notifications that the browser shows.
#[track_caller]
fn shown(browser: &Browser) -> Vec<Value> {
    let notifications = browser.script_async(
        "navigator.serviceWorker.ready.then((here) => here.getNotifications()).then((all) =>
           all.map(({ title, body, timestamp, data }) => ({ title, body, timestamp, url: data.url })))",
    );
    notifications.as_array().cloned().unwrap_or_default()
}

/// Waits until the browser shows a notification with this title; returns it.
#[track_caller]
fn see_notification(browser: &Browser, title: &str) -> Value {
    until(title, PATIENCE, || {
        let mut all = shown(browser).into_iter();
        all.find(|one| one["title"] == title)
    })
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_reminder_is_shown_by_a_browser_with_no_page_of_ours_open() {
    let world = World::start();
    let site = with_push(&world).start();
    let maker = Maker::start();
    let browser = page_of_ana(&world, &site, &maker);
    browser.see("Nenhum navegador ligado");
    browser.press("Ligar neste navegador");
    browser.see("Navegador ligado");
    browser.see("Este navegador está ligado.");
    browser.see("(este)");
    assert!(!browser.text().contains("Ligar neste navegador"));
    browser.expect_no_complaints();

    meet(&site, "2026-11-21 15:00:00");
    browser.go("about:blank");
    run_at(&site, "2026-11-20T18:00:00Z");
    let pushed = |count: usize| {
        until("the reminders have left", PATIENCE, || {
            let pushed = world.pushed();
            (pushed.len() == count).then_some(pushed)
        })
    };
    maker.deliver(&pushed(1)[0]);
    browser.go(&site.url("/entrar"));
    let notification = see_notification(&browser, "Lembrete: Tira-dúvidas");
    let told = "Olá, ana! O encontro Tira-dúvidas começa em 21/11/2026 15:00.";
    assert_eq!(
        (&notification["body"], &notification["url"]),
        (&json!(told), &json!("/painel/meets"))
    );
    // The later reminder replaces the earlier one.
    run_at(&site, "2026-11-21T17:55:00Z");
    maker.deliver(&pushed(2)[1]);
    until("the newer one is shown alone", PATIENCE, || {
        let all = shown(&browser);
        (all.len() == 1 && all[0]["timestamp"] != notification["timestamp"]).then_some(())
    });
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn a_browser_is_switched_off_there_and_from_elsewhere() {
    let world = World::start();
    let site = with_push(&world).start();
    let maker = Maker::start();
    let browser = page_of_ana(&world, &site, &maker);
    browser.press("Ligar neste navegador");
    browser.see("Navegador ligado");
    let subscribed = "navigator.serviceWorker.ready.then((here) => here.pushManager.getSubscription()).then(Boolean)";
    assert_eq!(browser.script_async(subscribed), true);
    browser.click("[data-mark] button");
    browser.see("Navegador desligado");
    assert_eq!(browser.script_async(subscribed), false);
    browser.press("Ligar neste navegador");
    browser.see("Navegador ligado");
    // It is switched off from elsewhere: the page does not switch it on again.
    let elsewhere = site.person("ana");
    let devices = json_of(&elsewhere, PAGE)["push"]["aparelhos"].clone();
    let off = format!("/perfil/push/aparelhos/{}/excluir", devices[0]["id"].as_str().unwrap());
    elsewhere.post(&off, &json!({})).ok();
    browser.go(&site.url(PAGE));
    browser.see("Ligar neste navegador");
    assert_eq!(json_of(&elsewhere, PAGE)["push"]["aparelhos"], json!([]), "it stays off");
    // When the browser replaces its subscription, the page reports the new one.
    browser.press("Ligar neste navegador");
    browser.see("Navegador ligado");
    browser.script_async(
        "navigator.serviceWorker.ready.then(async ({ pushManager }) => {
           const old = await pushManager.getSubscription();
           const key = old.options.applicationServerKey;
           await old.unsubscribe();
           await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
         })",
    );
    browser.go(&site.url(PAGE));
    browser.see("Este navegador está ligado.");
    assert_eq!(
        json_of(&elsewhere, PAGE)["push"]["aparelhos"].as_array().unwrap().len(),
        2,
        "the old one goes when its service says so"
    );
    browser.expect_no_complaints();
}

#[test]
#[ignore = "needs Chromium; tests/run runs it"]
fn whoever_forbade_notifications_is_told_how_to_allow_them() {
    let world = World::start();
    let site = with_push(&world).start();
    let ana = site.make_person("ana", "vip");
    let browser = Browser::start();
    browser.let_notify(&site.url(""), false);
    site.sign_in(&browser, &ana, "/painel");
    browser.go(&site.url(PAGE));
    browser.see("O navegador bloqueia os avisos deste site.");
    assert!(!browser.text().contains("Ligar neste navegador"));
    browser.expect_no_complaints();
}
