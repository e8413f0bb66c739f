//! Events brought to a program at the same machine, by the commands `listen` and `trigger`.

use std::io::{BufRead as _, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::test_shops::test_token;
use crate::support::actors::Actor;
use crate::support::hooked::{Hit, Receiver, signature};
use crate::support::process::{EXECUTABLE, Outcome, run};
use crate::support::site::Site;
use crate::support::wait::until;

const LIMIT: Duration = Duration::from_secs(30);

/// A command at a machine that has no installation.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().current_dir(std::env::temp_dir()).args(arguments);
    command
}

fn trigger(site: &Site, token: &str, kind: &str) -> Outcome {
    let url = format!("http://{}", site.address());
    run(&mut command(&["trigger", kind, "--token", token, "--url", &url]), "")
}

/// A running `listen`.
struct Listening {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Listening {
    fn start(site: &Site, token: &str, more: &[&str]) -> Self {
        let url = format!("http://{}", site.address());
        let mut child = command(&["listen", "--token", token, "--url", &url])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        for source in [Box::new(out) as Box<dyn Read + Send>, Box::new(err)] {
            let lines = Arc::clone(&lines);
            std::thread::spawn(move || {
                for line in BufReader::new(source).lines().map_while(Result::ok) {
                    lines.lock().unwrap().push(line);
                }
            });
        }
        let listening = Self { child, lines };
        listening.wait_for("Ctrl-C ends it");
        listening
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        until(text, LIMIT, || {
            self.lines.lock().unwrap().iter().find(|line| line.contains(text)).cloned()
        })
    }

    #[track_caller]
    fn secret(&self) -> String {
        self.wait_for("secret whsec_").trim_start_matches("secret ").to_owned()
    }

    /// Ctrl-C.
    fn stop(&mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn tester<'s>(site: &'s Site, name: &str) -> (Actor<'s>, String) {
    let person = site.person(name);
    site.seller(name).plan("scale");
    let token = test_token(&person, "/painel/parceiro");
    let program = site.bearer(&token);
    until("the plan is known", LIMIT, || {
        (program.get("/api/v1/partner/health").status == 200).then_some(())
    });
    (program, token)
}

#[test]
fn events_reach_a_program_here_signed_and_none_is_skipped() {
    let site = Site::builder().unlimited().start();
    let (program, token) = tester(&site, "ana");
    let place = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{place}/webhooks");
    let mut listening = Listening::start(&site, &token, &["--forward-to", &url]);
    let secret = listening.secret();
    assert!(!secret.contains(&token));
    let made = trigger(&site, &token, "order.paid");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let (_, order) = made.stdout.trim().split_once(' ').unwrap();
    // Nobody is there yet.
    listening.wait_for("trying again");
    let receiver = Receiver::start_at(&place.to_string());
    let hits = receiver.wait_for(3);
    for hit in &hits {
        assert_eq!(hit.path, "/webhooks");
        assert_eq!(hit.signature, signature(&secret, &hit.id, hit.timestamp, &hit.body));
        assert_eq!(hit.json()["id"], hit.id);
        listening.wait_for(&format!("{} {} 204", hit.kind(), hit.id));
    }
    let kinds: Vec<String> = hits.iter().map(Hit::kind).collect();
    assert!(kinds.contains(&"order.paid".to_owned()), "{kinds:?}");
    assert!(hits.iter().any(|hit| hit.json()["data"]["order_id"] == order), "{order}");
    // What waits without news is not counted.
    let asked_twice = || {
        let count = || site.log().matches("status=304").count();
        let begun = count();
        until("it asks twice", LIMIT, || (count() >= begun + 2).then_some(()));
    };
    let used = || program.get("/api/v1/partner/usage").expect(200).json()["used"].clone();
    asked_twice();
    let before = used().as_u64().unwrap();
    asked_twice();
    assert_eq!(used(), json!(before + 1), "the call that asks for it");
    assert_eq!(receiver.hits().len(), 3, "each once");
    assert_eq!(listening.stop(), Some(0));
    let again = Listening::start(&site, &token, &["--forward-to", &url]);
    assert_eq!(again.secret(), secret, "the same for the same token");
}

#[test]
fn a_real_token_listens_too_and_types_are_chosen() {
    let site = Site::builder().unlimited().start();
    let (_, token) = tester(&site, "ana");
    let receiver = Receiver::start();
    let url = receiver.url("/");
    let only = ["--forward-to", &*url, "--types", "question.received"];
    let _some = Listening::start(&site, &token, &only);
    for kind in ["order.paid", "question.received"] {
        assert_eq!(trigger(&site, &token, kind).code, Some(0));
    }
    assert_eq!(receiver.wait_for(1)[0].kind(), "question.received");

    // A product's stock, which is real.
    let ana = site.person("ana");
    let made = ana.post("/painel/parceiro/tokens", &json!({ "nome": "Real" })).expect(201).json();
    let real = made["token"].as_str().unwrap().to_owned();
    site.keep_secret("token", &real);
    let _all = Listening::start(&site, &real, &["--forward-to", &url]);
    let product = json!({ "titulo": "Copo", "sku": "COPO", "estoque": 5 });
    ana.post("/painel/produtos", &product).expect(201);
    let hits = receiver.wait_for(2);
    assert_eq!(hits[1].kind(), "stock.changed");
    let refused = trigger(&site, &real, "order.paid");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("403 (test_token_required)"), "{}", refused.stderr);
}

#[test]
fn suppliers_listen_and_what_cannot_be_is_said() {
    let site = Site::builder().unlimited().start();
    let sol = site.person_as("sol", "drop");
    site.supplier("sol").plan("scale");
    let token = test_token(&sol, "/fornecedor/parceiro");
    let program = site.bearer(&token);
    until("the plan is known", LIMIT, || {
        (program.get("/api/v1/partner/drop/health").status == 200).then_some(())
    });
    let receiver = Receiver::start();
    let _all = Listening::start(&site, &token, &["--forward-to", &receiver.url("/")]);
    assert_eq!(trigger(&site, &token, "drop_order.created").code, Some(0));
    assert_eq!(receiver.wait_for(1)[0].kind(), "drop_order.created");

    let url = format!("http://{}", site.address());
    let said = |arguments: &[&str], code: i32| {
        let outcome = run(&mut command(arguments), "");
        assert_eq!(outcome.code, Some(code), "{arguments:?} {}", outcome.stderr);
        outcome.stderr
    };
    let away = ["listen", "--token", &token, "--url", &url, "--forward-to", "http://example.com/x"];
    assert!(said(&away, 1).contains("--allow-remote"));
    let unknown = ["trigger", "order.lost", "--token", &token, "--url", &url];
    assert!(said(&unknown, 2).contains("order.paid"));
    let wrong = ["trigger", "order.paid", "--token", "abc", "--url", &url];
    assert!(said(&wrong, 2).contains("ptk_test_"));
    let stranger = format!("ptk_test_{}", "0".repeat(48));
    let nobody = ["trigger", "order.paid", "--token", &stranger, "--url", &url];
    assert!(said(&nobody, 1).contains("401 (unauthorized)"));
    let nowhere = ["trigger", "order.paid", "--token", &token, "--url", "http://127.0.0.1:9"];
    assert!(said(&nowhere, 1).contains("cannot reach http://127.0.0.1:9"));
}
