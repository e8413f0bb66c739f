//! Calls: pages and their ends, answers that are sent once, pauses, files.

use serde_json::{Value, json};

use super::*;
use crate::marketplace::books::document::ItemId;
use crate::marketplace::client::{Caller, Failure, FileRequest};

impl World {
    /// Makes a call for the linked shop.
    fn call<T>(
        &self,
        call: impl Fn(&Client, &Caller<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match with_token(&self.app, SHOP, |caller| call(&self.app.marketplace.client, caller)) {
            Ok(answer) => Ok(answer),
            Err(CallError::Failed(failure)) => Err(failure),
            Err(other) => panic!("{other}"),
        }
    }

    fn ask(&self) -> i64 {
        let asked = json!({ "ml_user_id": SHOP.0, "notify": false });
        self.control("questions", &asked)["id"].as_i64().unwrap()
    }

    fn fault(&self, fault: &Value) {
        self.control("faults", fault);
    }

    #[track_caller]
    fn no_violations(&self) {
        assert_eq!(self.log("violations")["violations"], json!([]));
    }
}

#[test]
fn all_listings_come_by_scan_and_their_details_twenty_at_a_time() {
    let world = World::linked();
    for number in 0..230 {
        let item = json!({ "ml_user_id": SHOP.0, "title": format!("Anúncio {number}"), "price": 9.9,
            "sku": format!("SKU-{number}"), "notify": false });
        world.control("items", &item);
    }
    world.control("config", &json!({ "new_scroll_ids": true, "mixed_dates": true }));
    let (mut ids, mut scroll, mut pages) = (Vec::new(), None::<String>, 0);
    loop {
        let page =
            world.call(|client, caller| client.items_page(caller, scroll.as_deref())).unwrap();
        assert_eq!(page.total, 231);
        ids.extend(page.ids);
        pages += 1;
        match page.scroll {
            Some(next) => scroll = Some(next),
            None => break,
        }
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 231);
    assert!(pages <= 4, "{pages}");

    let mut twenty = ids[..19].to_vec();
    twenty.push(ItemId::parse("MLB1").unwrap());
    for old_elements in [false, true] {
        world.control("config", &json!({ "old_elements": old_elements }));
        let read = world.call(|client, caller| client.items(caller, &twenty)).unwrap();
        let (good, bad): (Vec<_>, Vec<_>) = read.into_iter().partition(Result::is_ok);
        assert_eq!((good.len(), bad.len()), (19, 1));
        assert!(good.iter().flatten().all(|one| one.seller == SHOP));
        assert!(bad[0].as_ref().unwrap_err().why.is_not_found());
    }
    let one = world.call(|client, caller| client.item(caller, &ids[5])).unwrap();
    assert!(one.is_whole && one.sku.starts_with("SKU-"), "{}", one.sku);
    world.no_violations();
}

#[test]
fn questions_and_claims_come_in_pages() {
    let world = World::linked();
    let mut asked: Vec<i64> = (0..120).map(|_| world.ask()).collect();
    let mut by_offset = Vec::new();
    let mut by_scan = Vec::new();
    for offset in [0, 50, 100, 150] {
        let page = world.call(|client, caller| client.questions_page(caller, None, offset));
        let page = page.unwrap();
        assert_eq!(page.total, 120);
        by_offset.extend(page.records.into_iter().map(|question| question.unwrap().row.id));
    }
    let mut scroll = None::<String>;
    loop {
        let page = world
            .call(|client, caller| client.questions_scan(caller, "UNANSWERED", scroll.as_deref()));
        let page = page.unwrap();
        by_scan.extend(page.records.into_iter().map(|question| question.unwrap().row.id));
        match page.scroll {
            Some(next) => scroll = Some(next),
            None => break,
        }
    }
    for all in [&mut asked, &mut by_offset, &mut by_scan] {
        all.sort_unstable();
    }
    assert_eq!((&by_offset, &by_scan), (&asked, &asked));

    world.sell(&json!({}));
    let opened = world.control("claims", &json!({ "ml_user_id": SHOP.0, "notify": false }));
    let page = world
        .call(|client, caller| client.claims_page(caller, client::ClaimSearch::Open, 0))
        .unwrap();
    let claims: Vec<_> = page.records.into_iter().map(Result::unwrap).collect();
    assert_eq!((page.total, claims.len()), (1, 1));
    assert_eq!(json!(claims[0].id), opened["id"]);
    let one = world.call(|client, caller| client.claim(caller, claims[0].id)).unwrap();
    assert_eq!((one.seller, one.is_open()), (SHOP, true));
    world.no_violations();
}

#[test]
fn one_spoiled_record_does_not_fail_its_page() {
    let world = World::linked();
    let (good, bad) = (world.ask(), world.ask());
    world.control("spoil", &json!({ "record": format!("questions/{bad}") }));
    let page = world.call(|client, caller| client.questions_page(caller, None, 0)).unwrap();
    let read: Vec<i64> = page.records.iter().flatten().map(|one| one.row.id).collect();
    assert_eq!((page.records.len(), read), (2, vec![good]));
}

#[test]
fn an_answer_is_sent_once_whatever_comes_back() {
    let world = World::linked();
    let answer =
        |question: i64| world.call(|client, caller| client.answer(caller, question, "Serve sim"));
    let text = |sent: Result<client::AnswerSent, Failure>| match sent.unwrap() {
        client::AnswerSent::Answered(question) => question.row.answer.unwrap(),
        refused @ client::AnswerSent::Refused { .. } => panic!("{refused:?}"),
    };
    assert_eq!(text(answer(world.ask())), "Serve sim");
    let mut sent = world.calls("/answers");
    assert_eq!(sent, 1);

    // The answer arrived, but the response was lost or unreadable.
    for kind in ["lost_response", "truncated"] {
        world.fault(&json!({ "path_prefix": "/answers", "kind": kind }));
        assert_eq!(text(answer(world.ask())), "Serve sim", "{kind}");
        sent += 1;
        assert_eq!(world.calls("/answers"), sent, "{kind}");
    }
    // The answer did not arrive: the caller gets an error, and nothing is sent
    // again.
    for fault in [json!({ "kind": "status", "code": 503 }), json!({ "kind": "garbage" })] {
        let mut fault = fault;
        fault["path_prefix"] = json!("/answers");
        world.fault(&fault);
        assert!(answer(world.ask()).is_err());
        sent += 1;
        assert_eq!(world.calls("/answers"), sent);
    }
    // Another person answered first.
    let taken = world.ask();
    world.control(&format!("questions/{taken}"), &json!({ "answer": "Já disse", "notify": false }));
    assert_eq!(text(answer(taken)), "Já disse");
    // An expired token is renewed, and the answer sent with the new one.
    world.control("tokens", &json!({ "ml_user_id": SHOP.0, "action": "expire_access" }));
    assert_eq!(text(answer(world.ask())), "Serve sim");
    // A deleted question cannot be answered, and is read again.
    let closed = world.ask();
    world.control(&format!("questions/{closed}"), &json!({ "status": "DELETED", "notify": false }));
    let sent = answer(closed).unwrap();
    assert!(
        matches!(&sent, client::AnswerSent::Refused { now: Some(now), .. } if now.row.status == "DELETED"),
        "{sent:?}"
    );
    let sent = answer(1).unwrap();
    assert!(matches!(&sent, client::AnswerSent::Refused { now: None, .. }), "{sent:?}");
    world.no_violations();
}

#[test]
fn too_many_calls_are_not_made_again_before_their_time() {
    let world = World::linked();
    let order = world.sell(&json!({}));
    let order = crate::base::ids::OrderId(order);
    let look = || world.call(|client, caller| client.order(caller, order));
    world.fault(&json!({ "path_prefix": "/orders/", "kind": "rate_limited", "retry_after": 90 }));
    let paused = |answer: Result<_, Failure>| matches!(answer, Err(Failure::RateLimited { .. }));
    let path = format!("/orders/{order}");
    assert!(paused(look().map(drop)) && paused(look().map(drop)));
    assert_eq!(world.calls(&path), 1, "the second is not made");
    world.call(Client::me).unwrap();
    world.advance(89);
    assert!(paused(look().map(drop)));
    world.advance(60);
    look().unwrap();
    assert_eq!(world.calls(&path), 2);
}

#[test]
fn an_area_that_refuses_is_asked_with_one_new_token_only() {
    let world = World::linked();
    let question = world.ask();
    let look = || world.call(|client, caller| client.question(caller, question).map(drop));
    world.fault(&json!({ "path_prefix": "/questions", "times": 0, "kind": "status", "code": 401 }));
    let refused = Err(Failure::Refused { status: 401, code: "area_refused".to_owned() });
    let tokens = world.calls("/oauth/token");
    for _ in 0..5 {
        assert_eq!(look(), refused);
    }
    assert_eq!(world.calls("/oauth/token"), tokens + 1);
    world.call(Client::me).unwrap();
    assert_eq!(world.rows("SELECT token_ok FROM ml_account"), ["1"]);
}

#[test]
fn files_are_bounded_and_never_from_elsewhere() {
    let world = World::linked();
    let order = world.sell(&json!({ "shipping": "now" }));
    let order = crate::base::ids::OrderId(order);
    let read = world.call(|client, caller| client.order(caller, order)).unwrap();
    let shipment = read.shipping_id.unwrap().to_string();
    let label = |most: u64| {
        let query = [("shipment_ids", shipment.clone()), ("response_type", "pdf".to_owned())];
        world.call(|client, caller| {
            let wanted = FileRequest {
                path: "/shipment_labels",
                query: &query,
                most,
                kind: "application/pdf",
            };
            client.bytes(caller, &wanted)
        })
    };
    let file = label(1 << 20).unwrap();
    assert_eq!(file.kind, "application/pdf");
    assert!(file.bytes.starts_with(b"%PDF"));
    let why = |answer: Result<client::File, Failure>| answer.map(|file| file.kind).unwrap_err();
    for (fault, expected) in [
        (json!({ "kind": "huge", "bytes": 70_000 }), Failure::Garbled("it is too large")),
        (
            json!({ "kind": "redirect", "location": "http://127.0.0.1:1/x" }),
            Failure::Garbled("it leads elsewhere"),
        ),
        (json!({ "kind": "garbage" }), Failure::Garbled("the type of the file")),
        (
            json!({ "kind": "status", "code": 400, "body": { "failed_shipments": [{ "cause": "NOT_PRINTABLE_STATUS" }] } }),
            Failure::Unprintable(vec![client::Unprinted {
                shipment: 0,
                cause: "not_printable_status".to_owned(),
            }]),
        ),
    ] {
        let mut fault = fault;
        fault["path_prefix"] = json!("/shipment_labels");
        world.fault(&fault);
        assert_eq!(why(label(65_536)), expected);
    }
    let away = world.call(|client, caller| {
        let wanted = FileRequest { path: "//evil.example/x", query: &[], most: 10, kind: "" };
        client.bytes(caller, &wanted)
    });
    assert_eq!(why(away), Failure::Garbled("it is no path"));
    world.no_violations();
}

#[test]
fn missed_notifications_are_given_as_they_were_sent() {
    let world = World::linked();
    // No server listens there.
    world.control("config", &json!({ "notify_url": "http://127.0.0.1:1/ml", "attempts": 1 }));
    let order = world.sell(&json!({ "notify": true }));
    let given_up = std::time::Instant::now() + Duration::from_mins(1);
    let found = loop {
        let page = world.call(|client, caller| client.missed_feeds(caller, "orders_v2", 0));
        if let Some(found) = page.unwrap().into_iter().next() {
            break found;
        }
        assert!(std::time::Instant::now() < given_up, "it is not listed");
    };
    assert_eq!(found["resource"], format!("/orders/{order}"));
    let items = world.call(|client, caller| client.missed_feeds(caller, "items", 0));
    assert!(items.is_ok(), "topic items is asked with its site");
}
