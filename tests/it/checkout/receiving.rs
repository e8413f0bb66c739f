//! The checkout receiver: who may send, what is accepted, what is stored.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::checkout::{DAY_S, Event, RECEIVER, with_token};
use crate::support::client::{Connection, Request};
use crate::support::site::{CHECKOUT_TOKEN, Site};

/// An account in the shape of [`ACCOUNT`], read from a copy of the database.
#[track_caller]
pub fn account(site: &Site, email: &str) -> Option<String> {
    accounts(site).into_iter().find(|line| line.starts_with(&format!("{email} ")))
}

/// Every account with an e-mail address, its plan and what purchases say.
const ACCOUNT: &str = "
    SELECT email || ' ' || role
         || iif(suspended_at IS NULL, '', ' suspenso')
         || iif(paid_until IS NULL, '', ' pago ' || date(paid_until, 'unixepoch'))
         || iif(late_since IS NULL, '', ' atrasado ' || date(late_since, 'unixepoch'))
         || iif(ends_at IS NULL, '', ' termina ' || date(ends_at, 'unixepoch'))
         || iif(disputed_at IS NULL, '', ' disputa')
    FROM user ORDER BY email";

#[track_caller]
pub fn accounts(site: &Site) -> Vec<String> {
    site.stored(ACCOUNT)
}

#[test]
fn the_token_comes_in_the_header_or_in_the_body() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0);
    let answer = event.send(&platform).ok();
    assert_eq!(
        answer,
        json!({ "success": true, "message": "event received", "data": { "event": "PURCHASE_APPROVED" } })
    );
    let in_body = event.clone().with("/id", "e-2").with("/hottok", CHECKOUT_TOKEN);
    platform.post(RECEIVER, &in_body.0).ok();
    let form = [
        ("hottok", CHECKOUT_TOKEN),
        ("status", "approved"),
        ("email", "rui@exemplo.test"),
        ("name", "Rui Prado"),
        ("transaction", "HP2"),
        ("prod", "77001"),
    ];
    let answer = platform.send(Request::new("POST", RECEIVER).form(&form)).ok();
    assert_eq!(answer["data"]["event"], "PURCHASE_APPROVED");
    for refused in [
        Request::new("POST", RECEIVER).json(&event.0),
        Request::new("POST", RECEIVER).json(&event.clone().with("/hottok", "outro").0),
        Request::new("POST", RECEIVER)
            .json(&event.clone().with("/hottok", json!([CHECKOUT_TOKEN])).0),
        Request::new("POST", RECEIVER).form(&form[1..]),
        Request::new("POST", RECEIVER).body("application/json", b"{\"a\": "),
        with_token("outro").json(&event.0),
        with_token("").json(&event.0),
        with_token("outro").json(&in_body.0),
        with_token(CHECKOUT_TOKEN).header("X-HOTMART-HOTTOK", "outro").json(&event.0),
        Request::new("POST", &format!("{RECEIVER}?hottok={CHECKOUT_TOKEN}")).json(&event.0),
        Request::new("POST", RECEIVER)
            .header("Authorization", &format!("Bearer {CHECKOUT_TOKEN}"))
            .json(&event.0),
    ] {
        let reply = platform.send(refused).expect(401);
        assert_eq!(reply.code(), "unauthorized", "{reply}");
    }
    assert_eq!(site.stored("SELECT count(*) || '' FROM checkout_event"), ["3"]);
}

#[test]
fn a_wrong_header_is_refused_before_the_body_is_read() {
    let site = Site::builder().unlimited().start();
    let mut connection = Connection::open(site.address()).unwrap();
    let head = format!(
        "POST {RECEIVER} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         X-Hotmart-Hottok: outro\r\nContent-Length: 200000\r\n\r\n",
        site.address()
    );
    connection.write(head.as_bytes());
    let reply = connection.read_reply("POST").unwrap().expect("an answer").expect(401);
    assert_eq!(reply.header("connection"), Some("close"), "{reply}");
    // The token may be in the body, which then has up to 16 KiB; with a token
    // in the header the body has up to 256 KiB.
    let platform = site.anonymous();
    for (kib, is_proven) in [(14, false), (250, true)] {
        let padding = "x".repeat(kib * 1024);
        let event = Event::approved(&format!("e-{kib}"), "lia@exemplo.test", "HP1", 0);
        let (request, event) = if is_proven {
            (Request::new("POST", RECEIVER).header("X-Hotmart-Hottok", CHECKOUT_TOKEN), event)
        } else {
            (Request::new("POST", RECEIVER), event.with("/hottok", CHECKOUT_TOKEN))
        };
        let send = |event: Event| platform.send(request.clone().json(&event.0));
        send(event.clone().with("/data/padding", padding.clone())).expect(200);
        send(event.with("/data/padding", padding + &"x".repeat(8 * 1024))).expect(413);
    }
}

#[test]
fn several_tokens_are_good_while_one_is_replaced() {
    let tokens = vec!["token-velho-0123456789", "token-novo-0123456789"];
    let site = Site::builder()
        .config("checkout.tokens", tokens.clone())
        .config("checkout.token_header", "X-Prova")
        .start();
    let platform = site.anonymous();
    for (index, token) in tokens.iter().enumerate() {
        site.keep_secret("checkout token", token);
        let event = Event::approved(&format!("e-{index}"), "lia@exemplo.test", "HP1", 0);
        let request = Request::new("POST", RECEIVER).header("x-prova", token);
        platform.send(request.json(&event.0)).ok();
        platform.send(with_token(token).json(&event.0)).expect(401);
        let in_body = event.with("/id", format!("b-{index}")).with("/hottok", *token);
        platform.post(RECEIVER, &in_body.0).ok();
    }
}

#[test]
fn without_a_configured_token_one_is_made() {
    let none: Vec<&str> = Vec::new();
    let site = Site::builder().config("checkout.tokens", none).start();
    let token = site.command(&["secret", "show", "checkout"]).ok().trim().to_owned();
    site.keep_secret("generated token", &token);
    let platform = site.anonymous();
    let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0);
    platform.send(with_token(&token).json(&event.0)).ok();
    let in_body = event.clone().with("/id", "e-2").with("/hottok", token);
    platform.post(RECEIVER, &in_body.0).ok();
    platform.send(with_token(CHECKOUT_TOKEN).json(&event.0)).expect(401);
    platform.send(with_token("").json(&event.0)).expect(401);
    platform.post(RECEIVER, &event.with("/hottok", "").0).expect(401);
}

#[test]
fn wrong_tokens_count_against_the_address_and_right_ones_against_nothing() {
    let site = Site::builder().config("limits.requests", 3).start();
    let platform = site.anonymous();
    for number in 0..10 {
        let event = Event::approved(&format!("e-{number}"), "lia@exemplo.test", "HP1", 0);
        let reply = event.send(&platform).expect(200);
        assert_eq!(reply.header("x-ratelimit-limit"), None, "{reply}");
    }
    let event = Event::approved("e-0", "lia@exemplo.test", "HP1", 0);
    platform.send(with_token("outro").json(&event.0)).expect(401);
    platform.post(RECEIVER, &event.0).expect(401);
    platform.send(with_token("outro").json(&event.0)).expect(401);
    platform.send(with_token("outro").json(&event.0)).expect(429);
    platform.post(RECEIVER, &event.0).expect(429);
    event.send(&platform).expect(200);
}

#[test]
fn the_token_is_in_no_file() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0)
        .with("/hottok", CHECKOUT_TOKEN)
        .with("/data/hottok", CHECKOUT_TOKEN);
    event.send(&platform).ok();
    platform.post(RECEIVER, &event.with("/id", "e-2").0).ok();
    let form = [("hottok", CHECKOUT_TOKEN), ("status", "blocked"), ("email", "a@exemplo.test")];
    platform.send(Request::new("POST", RECEIVER).form(&form)).ok();
    site.stop();
    for path in site.data_files() {
        let bytes = std::fs::read(&path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!holds(CHECKOUT_TOKEN), "{} holds the token", path.display());
    }
    site.start_again();
    let bodies = site.stored("SELECT body FROM checkout_body ORDER BY event_id");
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| !body.contains("hottok")), "{bodies:?}");
    let form: Value = serde_json::from_str(&bodies[2]).unwrap();
    assert_eq!(form, json!({ "status": "blocked", "email": "a@exemplo.test" }));
}

#[test]
fn events_are_named_as_they_came_or_by_their_status() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let mut number = 0;
    let mut named = |name: &str, expected: &str| {
        number += 1;
        let transaction = format!("HP{number}");
        let event = Event::new(&transaction, name, "lia@exemplo.test", &transaction, 0);
        let answer = event.send(&platform).ok();
        assert_eq!(answer["data"]["event"], expected);
        number += 1;
        let status = event
            .without("/event")
            .with("/id", format!("s-{number}"))
            .with("/data/purchase/status", name);
        let answer = status.send(&platform).ok();
        assert_eq!(answer["success"], true);
        answer["data"]["event"].clone()
    };
    for (status, event) in [
        ("APPROVED", "PURCHASE_APPROVED"),
        ("Complete", "PURCHASE_COMPLETE"),
        ("COMPLETED", "PURCHASE_COMPLETE"),
        ("canceled", "PURCHASE_CANCELED"),
        ("CANCELLED", "PURCHASE_CANCELED"),
        ("PRINTED_BILLET", "PURCHASE_BILLET_PRINTED"),
        ("BILLET_PRINTED", "PURCHASE_BILLET_PRINTED"),
        ("OVERDUE", "PURCHASE_DELAYED"),
        ("DELAYED", "PURCHASE_DELAYED"),
        ("DISPUTE", "PURCHASE_PROTEST"),
        ("REFUNDED", "PURCHASE_REFUNDED"),
        ("CHARGEBACK", "PURCHASE_CHARGEBACK"),
        ("EXPIRED", "PURCHASE_EXPIRED"),
    ] {
        assert_eq!(named(status, status), event, "{status}");
    }
    for name in ["CLUB_FIRST_ACCESS", "ORDER_FULFILLMENT", "coisa_nova"] {
        named(name, name);
    }
}

#[test]
fn what_cannot_be_an_event_is_refused_and_not_stored() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let send =
        |body: &[u8]| platform.send(with_token(CHECKOUT_TOKEN).body("application/json", body));
    for body in [&b""[..], b"{", b"[]", b"\"texto\"", b"null", b"{}", b"{\"event\":5,\"data\":7}"] {
        let reply = send(body);
        // A number is accepted as a name of an event, too.
        let expected = if body.starts_with(b"{\"event\"") { 200 } else { 422 };
        assert_eq!(reply.status, expected, "{reply}");
    }
    let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0);
    for name in [
        "PURCHASE_APPROVED",
        "PURCHASE_COMPLETE",
        "PURCHASE_REFUNDED",
        "PURCHASE_CHARGEBACK",
        "PURCHASE_CANCELED",
        "PURCHASE_PROTEST",
        "PURCHASE_DELAYED",
        "PURCHASE_EXPIRED",
        "SUBSCRIPTION_CANCELLATION",
        "SWITCH_PLAN",
    ] {
        let named = event.clone().with("/event", name);
        for nobody in [
            named.clone().without("/data/buyer/email"),
            named.clone().without("/data/buyer"),
            named.clone().with("/data/buyer/email", json!(null)),
            named.clone().with("/data/buyer/email", "lia"),
            named.without("/data"),
        ] {
            let reply = nobody.send(&platform).expect(422);
            assert_eq!(reply.code(), "validation_failed", "{reply}");
            assert!(reply.json()["fields"]["data.buyer.email"].is_string(), "{reply}");
        }
    }
    let flat = [("status", "approved"), ("transaction", "HP9")];
    let reply = platform.send(with_token(CHECKOUT_TOKEN).form(&flat)).expect(422);
    assert!(reply.json()["fields"]["email"].is_string(), "{reply}");
    event.without("/data/buyer").with("/event", "CLUB_FIRST_ACCESS").send(&platform).ok();
    assert_eq!(
        site.stored("SELECT event FROM checkout_event ORDER BY 1"),
        ["5", "CLUB_FIRST_ACCESS"]
    );
    assert_eq!(accounts(&site), [""; 0]);
}

#[test]
fn what_was_answered_has_had_its_effect() {
    let site = Site::builder().unlimited().start();
    for cycle in 0..8 {
        let email = format!("aluno{cycle}@exemplo.test");
        let platform = site.anonymous();
        Event::approved(&format!("a-{cycle}"), &email, &format!("HP{cycle}"), 0)
            .send(&platform)
            .ok();
        if cycle % 2 == 1 {
            let refund = Event::new(
                &format!("r-{cycle}"),
                "PURCHASE_REFUNDED",
                &email,
                &format!("HP{cycle}"),
                1,
            );
            refund.send(&platform).ok();
        }
        site.kill();
        site.start_again();
        let expected = if cycle % 2 == 1 { "suspenso" } else { "pago 2026-12-20" };
        assert_eq!(account(&site, &email), Some(format!("{email} pro {expected}")));
    }
    site.anonymous().get("/readyz").expect(200);
}

#[test]
fn bodies_go_after_thirty_days_and_what_they_did_stays() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    Event::approved("e-1", "lia@exemplo.test", "HP1", 0).send(&site.anonymous()).ok();
    let page = "/admin/compras/1";
    let shown = |admin: &Actor<'_>| {
        admin.send(Request::new("GET", page).header("Accept", "application/json")).ok()
    };
    assert_eq!(shown(&admin)["corpo"]["event"], "PURCHASE_APPROVED");
    assert!(admin.get(page).expect(200).text().contains("não informado"), "no amount was sent");
    site.clock().advance_s(31 * DAY_S);
    let admin = site.administrator();
    crate::support::wait::until("the body is gone", Duration::from_secs(20), || {
        shown(&admin)["corpo"].is_null().then_some(())
    });
    assert_eq!(shown(&admin)["resultado"], "aplicado");
    assert!(admin.get(page).expect(200).text().contains("apagado depois de 30 dias"));
    let again = format!("{page}/processar");
    admin.post(&again, &json!({})).expect(409);
}

#[test]
fn a_purchase_says_who_bought_what_for_how_much_and_what_it_did() {
    let site = Site::builder().unlimited().start();
    let admin = site.administrator();
    let event = Event::approved("e-1", "lia@exemplo.test", "HP1", 0)
        .with("/data/product/name", "Formação completa")
        .with("/data/purchase/price", json!({ "value": 1497.9, "currency_value": "BRL" }));
    event.send(&site.anonymous()).ok();
    let lia = site.stored("SELECT name FROM user WHERE email = 'lia@exemplo.test'")[0].clone();
    for target in ["/admin/compras", "/admin/compras/1"] {
        let page = admin.get(target).expect(200).text();
        for words in [&*lia, "Formação completa", "1.497,90", "Criou a conta no plano"] {
            assert!(page.contains(words), "{target}: {words}: {page}");
        }
    }
    let list = admin.get("/admin/compras").expect(200).text();
    assert!(list.contains("1 evento de compra"), "{list}");
    let csv = admin.get("/admin/compras?formato=csv").expect(200).text();
    assert!(csv.lines().next().unwrap().ends_with("produto_nome,valor,moeda,aluno_nome"), "{csv}");
    assert!(csv.contains("Formação completa,1497.9"), "{csv}");
}
