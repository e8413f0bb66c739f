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

const IMAGES: &str = "https://imagens.invalid";

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
fn the_documented_tokens_are_read() {
    let pair = TokenPair::read(&witness("marketplace/oauth_token", "pair")).unwrap();
    assert_eq!((pair.ml_user_id, pair.expires_in_s), (MlUserId(777), 21_600));
    assert!(pair.refresh.is_some());
    let online = TokenPair::read(&witness("readers/oauth_token", "online")).unwrap();
    assert!(online.refresh.is_none());
    for (file, sample, code) in [
        ("marketplace/oauth_token_refused", "used", "invalid_grant"),
        ("marketplace/oauth_token_refused", "older", "invalid_grant"),
        ("readers/oauth_token_refused", "collaborator", "invalid_operator_user_id"),
        ("readers/oauth_token_refused", "application", "unauthorized_application"),
    ] {
        assert_eq!(code_of(&witness(file, sample)), code);
    }
}

#[test]
fn the_documented_account_is_read() {
    let me = SellerRecord::read(&witness("marketplace/users_me", "own")).unwrap();
    assert_eq!((me.id, &*me.nickname), (MlUserId(777), "LOJA_X"));
    let reputation = me.reputation.unwrap();
    assert_eq!((&*reputation.level, &*reputation.power_seller), ("5_green", "gold"));
    assert_eq!(reputation.claims_rate, Some(12_500));
    assert_eq!((reputation.late_rate, reputation.cancel_rate), (Some(40_000), Some(20_000)));
}

#[test]
fn the_documented_listings_are_read() {
    let page = |state| witness("marketplace/users_id_items_search", state);
    let scan = ItemIds::read(&page("scan"), true, MlUserId(777)).unwrap();
    assert_eq!((scan.ids.len(), scan.total, scan.scroll.is_some()), (2, 2, true));
    assert!(ItemIds::read(&page("page"), true, MlUserId(777)).unwrap().scroll.is_none());
    let alone = ListingDocument::read(&witness("marketplace/items_id", "variations"), IMAGES);
    let alone = alone.unwrap();
    assert_eq!((&*alone.id.to_string(), alone.price), ("MLB4100000001", Some(Cents(5_990))));
    assert_eq!((&*alone.sku, &*alone.ean), ("SUP-GRA", "7890000000017"));
    assert_eq!((&*alone.status, &*alone.sub_status), ("paused", "out_of_stock"));
    assert_eq!((&*alone.logistic_type, alone.available, alone.sold), ("drop_off", 7, 3));
    assert!(!alone.thumbnail.is_empty() && !alone.hides_codes);
    let elements = read_elements(&witness("marketplace/items_bulk", "both"), IMAGES).unwrap();
    let [Ok(bulk), Err(missing)] = &*elements else { panic!("{elements:?}") };
    assert_eq!(*bulk, alone);
    assert!(missing.why.is_not_found());
    let price = witness("marketplace/items_id_sale_price", "standard");
    assert_eq!(sale_price(&price), Some(Cents(5_990)));
}

#[test]
fn the_documented_questions_are_read() {
    let page = witness("marketplace/questions_search", "open");
    let page = Page::read(&page, "questions", QuestionDocument::read).unwrap();
    assert_eq!((page.total, page.records.len(), page.scroll), (1, 1, None));
    let listed = page.records[0].as_ref().unwrap();
    let alone =
        |state| QuestionDocument::read(&witness("marketplace/questions_id", state)).unwrap();
    let open = alone("open");
    assert_eq!((listed.row.updated_at, open.row.updated_at.is_some()), (None, true));
    assert_eq!(listed.row.asker_id, Some(5_550_001));
    assert_eq!(
        (open.row.id, open.row.asker_id, open.row.state),
        (listed.row.id, listed.row.asker_id, QuestionState::Open)
    );
    let given = QuestionDocument::read(&witness("marketplace/answers", "given")).unwrap();
    for answered in [alone("answered"), given] {
        assert_eq!(answered.row.answer.as_deref(), Some("Serve sim"));
        assert!(answered.is_answered() && answered.row.answered_at.is_some());
    }
    for (sample, code) in [
        ("answered_or_blocked", "not_unanswered_question"),
        ("paused", "not_active_item"),
        ("banned", "user_banned"),
        ("unknown", "invalid_question"),
        ("not_allowed", "PA_UNAUTHORIZED_RESULT_FROM_POLICIES"),
    ] {
        assert_eq!(code_of(&witness("readers/answers_refused", sample)), code);
    }
}

#[test]
fn the_documented_notices_lead_to_a_reading() {
    let missed = witness("marketplace/missed_feeds", "page")["messages"][0].clone();
    let notice = |topic| witness("readers/notice", topic);
    for (notice, kind) in [
        (missed, RecordKind::Order),
        (notice("created_orders"), RecordKind::Order),
        (notice("orders"), RecordKind::Order),
        (notice("items_prices"), RecordKind::Listing),
        (notice("stock_locations"), RecordKind::Listing),
        (notice("stock_location"), RecordKind::Listing),
    ] {
        let read = Notification::parse(notice.to_string().as_bytes()).unwrap();
        assert_eq!(read.account, MlUserId(777), "{notice}");
        let subject = Subject::of(&read.topic, &read.resource).unwrap();
        assert_eq!(subject.kind, kind, "{notice}");
    }
}
