//! Strangers who register programs, ask people and name documents that hang:
//! honest callers go on, and the tables stay small.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::oauth::{Program, REDIRECT, decide, number, page, said};
use crate::support::site::Site;

/// A site behind a proxy, so that callers can come from many addresses.
fn proxied() -> Site {
    Site::builder().unlimited().config("server.trusted_proxies", vec!["127.0.0.1"]).start()
}

fn from(actor: &Actor<'_>, address: &str, request: Request) -> Reply {
    actor.send(request.header("X-Forwarded-For", address))
}

/// The address of stranger `number`.
fn stranger(number: usize) -> String {
    format!("203.0.{}.{}", number / 250, number % 250 + 1)
}

/// Calls for each of `callers` strangers, by several threads.
fn each(callers: usize, call: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for first in 0..8 {
            let call = &call;
            scope.spawn(move || (first..callers).step_by(8).for_each(call));
        }
    });
}

#[test]
fn registrations_of_strangers_lock_nobody_out() {
    let site = proxied();
    let body = json!({ "client_name": "App", "redirect_uris": [REDIRECT] });
    let register = |nobody: &Actor<'_>, address: &str| {
        from(nobody, address, Request::new("POST", "/oauth/register").json(&body))
    };
    each(26, |number| {
        let nobody = site.anonymous();
        for _ in 0..20 {
            register(&nobody, &stranger(number)).expect(201);
        }
    });
    register(&site.anonymous(), &stranger(0)).expect(429);
    let honest = register(&site.anonymous(), "198.51.100.7").expect(201).json();
    let program = Program {
        id: honest["client_id"].as_str().unwrap().to_owned(),
        redirect: REDIRECT.to_owned(),
    };
    let ana = site.person("ana");
    let reply = decide(&ana, &program.asks(&ana, &[]), "negar", None);
    assert_eq!(said(&reply, "error"), "access_denied");
}

#[test]
fn requests_of_strangers_lock_nobody_out() {
    let site = proxied();
    let program = Program::registered(&site, "App", REDIRECT);
    let address = program.address(&[]);
    let ask = |nobody: &Actor<'_>, from_address: &str| {
        from(nobody, from_address, Request::new("GET", &address))
    };
    let (ana, early) = (site.person("ana"), site.anonymous());
    // Ana has signed in from there before; Rui has only just come.
    let familiar = number(&ask(&early, "127.0.0.1").expect(303));
    let unknown = number(&ask(&early, "198.51.100.9").expect(303));
    let seen = program.asks(&ana, &[]);
    // The oldest is known by the second.
    site.clock().advance_s(1);
    each(51, |number| {
        let nobody = site.anonymous();
        for _ in 0..60 {
            ask(&nobody, &stranger(number)).expect(303);
        }
    });
    ask(&site.anonymous(), &stranger(0)).expect(429);
    ask(&site.anonymous(), "198.51.100.7").expect(303);
    // The oldest of strangers gave way; those of known people did not.
    let ana_sees = |number: &str| ana.get(&page(number)).status;
    assert_eq!((ana_sees(&familiar), ana_sees(&seen), ana_sees(&unknown)), (200, 200, 404));
    let waiting = "SELECT known || ' ' || count(*) FROM oauth_request GROUP BY known ORDER BY 1";
    assert_eq!(site.stored(waiting), ["0 3000", "1 2"]);
    // A person with a session is counted as that person, not by address.
    for _ in 0..58 {
        from(&ana, &stranger(0), Request::new("GET", &address)).expect(303);
    }
}

/// A document whose server takes connections and never answers.
struct Hanging {
    host: String,
    /// A message for each connection.
    came: mpsc::Receiver<()>,
}

impl Hanging {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (tell, came) = mpsc::channel();
        thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming() {
                held.push(stream);
                if tell.send(()).is_err() {
                    return;
                }
            }
        });
        Self { host, came }
    }

    fn address(&self, number: usize) -> String {
        let id = format!("http://{}/{number}.json", self.host);
        Program { id, redirect: REDIRECT.to_owned() }.address(&[])
    }
}

#[test]
fn a_document_that_hangs_delays_nobody_elses_work() {
    let hanging = Hanging::start();
    let site = Site::builder()
        .unlimited()
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .config("agents.document_hosts", vec![hanging.host.clone()])
        .start();
    let ana = site.person("ana");
    // What people do with other services. The marketplace of this site refuses
    // connections, so this fails at once.
    let calls_outside = || {
        let began = Instant::now();
        let path = "/painel/ml/calculadora/taxas-json?categoria=MLB1055&conta=1";
        let reply = ana.send(Request::new("GET", path).header("Accept", "application/json"));
        assert_ne!(reply.status, 503, "{reply}");
        began.elapsed()
    };
    let before = calls_outside();
    thread::scope(|scope| {
        // Each stranger sends two at once: one runs, one waits.
        let asked: Vec<_> = (0..32)
            .map(|number| {
                let (site, target) = (&site, hanging.address(number));
                scope.spawn(move || {
                    let nobody = site.anonymous();
                    let request = Request::new("GET", &target);
                    from(&nobody, &stranger(number / 2), request).status
                })
            })
            .collect();
        let few = 4;
        for _ in 0..few {
            hanging.came.recv_timeout(Duration::from_secs(20)).unwrap();
        }
        // It has places of its own.
        let took = calls_outside();
        assert!(took < before * 10 + Duration::from_secs(3), "{before:?}, then {took:?}");
        // And a person with a session has a document read beside them.
        let target = hanging.address(99);
        let (site, known) = (&site, &ana);
        let own = scope.spawn(move || known.get(&target).status);
        hanging.came.recv_timeout(Duration::from_secs(20)).expect("it is read");
        assert_eq!(own.join().unwrap(), 400);
        let statuses: Vec<u16> = asked.into_iter().map(|one| one.join().unwrap()).collect();
        assert!(statuses.iter().all(|status| [400, 503].contains(status)), "{statuses:?}");
        assert!(statuses.contains(&503), "few have a place: {statuses:?}");
        assert_eq!(site.stored("SELECT count(*) || '' FROM oauth_client"), ["0"]);
    });
}
