//! What answers mean: refusals, pauses and paths, and the documented samples of
//! `tests/witness/`.

use serde_json::json;

use super::items::read_elements;
use super::*;
use crate::base::Cents;
use crate::fixture::witness;
use crate::marketplace::books::document::{
    ListingDocument, QuestionDocument, QuestionState, SellerRecord, sale_price,
};
use crate::marketplace::inbox::notification::Notification;
use crate::marketplace::inbox::subject::Subject;
use crate::marketplace::kinds::RecordKind;

const IMAGES: &str = "https://http2.mlstatic.com";

#[test]
fn the_code_of_a_refusal_stands_in_several_places() {
    for (answer, code) in [
        (json!({ "error": "not_found", "status": 404 }), "not_found"),
        (json!({ "code": "unauthorized", "message": "invalid access token" }), "unauthorized"),
        (json!({ "failed_shipments": [] }), ""),
        (json!(null), ""),
    ] {
        assert_eq!(code_of(&answer), code);
    }
}

#[test]
fn a_pause_is_asked_for_in_seconds_or_until_a_date() {
    let date = Some("Fri, 20 Nov 2026 12:00:00 GMT");
    for (value, expected) in [
        (" 120 ", Some(120)),
        ("Fri, 20 Nov 2026 12:02:30 GMT", Some(150)),
        ("Fri, 20 Nov 2026 11:00:00 GMT", Some(0)),
        ("soon", None),
    ] {
        assert_eq!(seconds_until(value, date), expected, "{value}");
    }
    assert_eq!(seconds_until("Fri, 20 Nov 2026 12:02:30 GMT", None), None);
}

#[test]
fn files_are_fetched_from_paths_only() {
    for path in ["/shipment_labels", "/users/7/invoices/documents/xml/1/authorized", "/a/b_c-d.xml"]
    {
        assert!(is_path(path), "{path}");
    }
    for other in [
        "",
        "x",
        "//evil.example/x",
        "/a/../b",
        "/a/./b",
        "https://evil.example/",
        "/a?b=c",
        "/a#b",
        "/a b",
        "/a%2e",
        "/@evil.example",
        "/a\\b",
    ] {
        assert!(!is_path(other), "{other}");
    }
}

#[test]
fn the_documented_token_is_read() {
    let pair = TokenPair::read(&witness("token")).unwrap();
    assert_eq!((pair.ml_user_id, pair.expires_in_s), (MlUserId(424_242), 21_600));
    assert!(pair.refresh.is_some());
    let mut online = witness("token");
    online.as_object_mut().unwrap().remove("refresh_token");
    assert!(TokenPair::read(&online).unwrap().refresh.is_none());
    assert_eq!(code_of(&witness("token_error")), "invalid_grant");
}

#[test]
fn the_documented_account_is_read() {
    let me = SellerRecord::read(&witness("users_me")).unwrap();
    assert_eq!((me.id, &*me.nickname), (MlUserId(424_242), "LOJA_MODELO"));
    let reputation = me.reputation.unwrap();
    assert_eq!(reputation.level, "4_light_green");
    assert_eq!(reputation.claims_rate, Some(15_600));
    assert_eq!((reputation.late_rate, reputation.cancel_rate), (Some(31_250), Some(0)));
}

#[test]
fn the_documented_listings_are_read() {
    let page = ItemIds::read(&witness("items_search"), false, MlUserId(424_242)).unwrap();
    assert_eq!((page.ids.len(), page.total, page.scroll.is_some()), (2, 2, true));
    let alone = ListingDocument::read(&witness("items_id"), IMAGES).unwrap();
    assert_eq!((&*alone.id.to_string(), alone.price), ("MLB4100200300", Some(Cents(13_990))));
    assert_eq!((&*alone.sku, &*alone.ean), ("LUM-01-P", "7891000000012"));
    assert_eq!((&*alone.status, &*alone.sub_status), ("paused", "out_of_stock"));
    assert_eq!((&*alone.logistic_type, alone.available, alone.sold), ("cross_docking", 31, 9));
    assert!(!alone.thumbnail.is_empty() && !alone.hides_codes);
    let elements = read_elements(&witness("items_bulk"), IMAGES).unwrap();
    let [Ok(bulk), Err(missing)] = &*elements else { panic!("{elements:?}") };
    assert_eq!(*bulk, alone);
    assert!(missing.why.is_not_found());
    assert_eq!(sale_price(&witness("items_sale_price")), Some(Cents(11_990)));
}

#[test]
fn the_documented_questions_are_read() {
    let page = Page::read(&witness("questions_search"), "questions", QuestionDocument::read);
    let page = page.unwrap();
    assert_eq!((page.total, page.records.len(), page.scroll.is_some()), (1, 1, true));
    let listed = page.records[0].as_ref().unwrap();
    let alone = QuestionDocument::read(&witness("questions_id")).unwrap();
    assert_eq!((listed.row.updated_at, alone.row.updated_at.is_some()), (None, true));
    assert_eq!(listed.row.asker_id, Some(991_122));
    assert_eq!(
        (alone.row.id, alone.row.asked_at, alone.row.asker_id, alone.row.state),
        (listed.row.id, listed.row.asked_at, listed.row.asker_id, QuestionState::Open)
    );
    let answered = QuestionDocument::read(&witness("answers")).unwrap();
    assert_eq!(answered.row.answer.as_deref(), Some("Gira, sim: 180 graus."));
    assert!(answered.is_answered() && answered.row.answered_at.is_some());
    assert_eq!(code_of(&witness("answers_refused")), "not_unanswered_question");
}

#[test]
fn the_documented_notices_lead_to_a_reading() {
    let missed = witness("missed_feeds")["messages"][0].clone();
    for (notice, kind) in [
        (missed, RecordKind::Listing),
        (witness("notice_created_orders"), RecordKind::Order),
        (witness("notice_items_prices"), RecordKind::Listing),
        (witness("notice_stock_locations"), RecordKind::Listing),
    ] {
        let read = Notification::parse(notice.to_string().as_bytes()).unwrap();
        assert_eq!(read.account, MlUserId(424_242), "{notice}");
        let subject = Subject::of(&read.topic, &read.resource).unwrap();
        assert_eq!(subject.kind, kind, "{notice}");
    }
}
