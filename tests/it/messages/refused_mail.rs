//! A mail server that rejects one address, and one that rejects everybody.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::smtp::Postman;
use crate::support::wait::until;

const QUEUE: &str = "/admin/mensagens";
const PATIENCE: Duration = Duration::from_mins(1);
/// Longer than the pause before any probe.
const PROBE_S: i64 = 61;

fn site(server: &Postman) -> Site {
    Site::builder()
        .unlimited()
        .config("cron.enabled", true)
        .config("email.smtp_url", format!("smtp://{}", server.address))
        .config("email.from", "Escola <escola@example.com>")
        .start()
}

#[track_caller]
fn welcome(site: &Site, name: &str) {
    let body =
        json!({ "nome": format!("{name} da Silva"), "email": format!("{name}@example.com") });
    site.key(&["write"]).post("/api/v1/alunos/criar", &body).expect(201);
}

#[track_caller]
fn list(admin: &Actor<'_>, state: &str) -> Value {
    let target = format!("{QUEUE}?estado={state}");
    admin.send(Request::new("GET", &target).header("Accept", "application/json")).ok()
}

/// Waits until so many messages are in a state; returns their reasons.
#[track_caller]
fn settled(admin: &Actor<'_>, state: &str, count: usize) -> Vec<String> {
    until(&format!("{count} messages are {state}"), PATIENCE, || {
        let found = list(admin, state);
        let rows = found["dados"].as_array().unwrap();
        let reasons = rows.iter().map(|row| row["motivo"].as_str().unwrap_or_default().to_owned());
        (found["total"] == count).then(|| reasons.collect())
    })
}

/// What `/status`, the operator's home and `check` say of the channel.
#[track_caller]
fn told(site: &Site, admin: &Actor<'_>) -> (Value, bool, bool) {
    let status = Request::new("GET", "/status").header("Accept", "application/json");
    let status = site.anonymous().send(status).expect(200).json();
    let parts = status["components"].as_array().unwrap();
    let messages = parts.iter().find(|part| part["name"] == "messages").unwrap();
    let home = admin.get("/admin").expect(200).text();
    let check = site.command(&["check"]).run().stdout;
    let fails =
        check.lines().any(|line| line.starts_with("FAIL  e-mail") && line.contains("out of order"));
    (messages["status"].clone(), home.contains("Canal fora do ar: E-mail"), fails)
}

#[test]
fn mail_that_is_rejected_for_everybody_waits() {
    let server = Postman::start();
    let site = site(&server);
    let admin = site.administrator();
    assert_eq!(told(&site, &admin), (json!("operational"), false, false));
    server.answers(|_| "550 5.7.1 not allowed");
    let names = ["ana", "bia", "caio", "duda", "eva"];
    for name in names {
        welcome(&site, name);
    }
    let reasons = until("the channel is out of order", PATIENCE, || {
        let reasons = settled(&admin, "pendente", names.len());
        (reasons.iter().filter(|reason| reason.contains("550")).count() >= 3).then_some(reasons)
    });
    let known: Vec<_> = reasons.iter().filter(|reason| reason.contains("550")).collect();
    assert!(known.iter().all(|reason| reason.starts_with("todos os destinatários")), "{known:?}");
    assert_eq!(list(&admin, "falhou")["total"], 0);
    let out_of_order = (json!("down"), true, true);
    assert_eq!(told(&site, &admin), out_of_order);
    // A restart forgets nothing of it, and neither does time.
    site.stop();
    let probes = || site.log().matches("a recipient was rejected").count();
    let before = probes();
    site.start_again();
    let admin = site.administrator();
    assert_eq!(told(&site, &admin), out_of_order);
    until("a first probe was rejected", PATIENCE, || (probes() > before).then_some(()));
    for _ in 0..5 {
        let before = probes();
        site.clock().advance_s(PROBE_S);
        until("the next probe was rejected", PATIENCE, || (probes() > before).then_some(()));
        assert_eq!(settled(&admin, "pendente", names.len()).len(), names.len());
    }
    assert_eq!((list(&admin, "falhou")["total"].clone(), server.taken().len()), (json!(0), 0));
    server.answers(|_| "250 ok");
    site.clock().advance_s(PROBE_S);
    settled(&admin, "enviada", names.len());
    let mut taken = server.taken();
    taken.sort();
    assert_eq!(taken, names.map(|name| format!("{name}@example.com")));
    assert_eq!(told(&site, &admin), (json!("operational"), false, false));
}

#[test]
fn an_address_that_is_rejected_fails_alone() {
    let server = Postman::start();
    let site = site(&server);
    let admin = site.administrator();
    server.answers(|recipient| match recipient {
        wrong if wrong.starts_with("nao-existe") => "550 5.1.1 no such mailbox",
        _ => "250 ok",
    });
    welcome(&site, "nao-existe");
    let reasons = settled(&admin, "falhou", 1);
    assert!(reasons[0].contains("550"), "{reasons:?}");
    for (sent, name) in (1..).zip(["ana", "bia"]) {
        welcome(&site, name);
        settled(&admin, "enviada", sent);
        welcome(&site, &format!("nao-existe-{name}"));
        settled(&admin, "falhou", sent + 1);
    }
    assert_eq!(list(&admin, "pendente")["total"], 0);
    assert_eq!(told(&site, &admin), (json!("operational"), false, false));
}

#[test]
fn a_sender_that_is_rejected_is_a_fault_of_the_channel_at_once() {
    let server = Postman::start();
    let site = site(&server);
    let admin = site.administrator();
    server.answers_senders("550 5.7.1 sender rejected");
    welcome(&site, "ana");
    until("the reason is told", PATIENCE, || {
        let reasons = settled(&admin, "pendente", 1);
        reasons[0].contains("550").then_some(())
    });
    assert_eq!(told(&site, &admin), (json!("down"), true, true));
    server.answers_senders("250 ok");
    site.clock().advance_s(PROBE_S);
    settled(&admin, "enviada", 1);
}
