//! Orders of several lines, and parcels on their way: states, deadlines, divisions,
//! ways back.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Site;
use crate::sandbox::parcels::way_of;
use crate::sandbox::shipment_statuses::is_listed;

/// All kinds of logistics.
const KINDS: [&str; 8] = [
    "drop_off",
    "xd_drop_off",
    "cross_docking",
    "self_service",
    "turbo",
    "fulfillment",
    "default",
    "not_specified",
];

impl Site {
    /// A sale as its control shows it.
    fn sold(&self, more: &Value) -> Value {
        let id = self.sell(more);
        self.control(&format!("orders/{id}"), &json!({}))["order"].take()
    }

    /// The number of a sale's shipment.
    fn parcel(&self, more: &Value) -> i64 {
        self.sold(more)["shipment"]["id"].as_i64().unwrap()
    }

    fn next(&self, parcel: i64) -> Value {
        self.control(&format!("shipments/{parcel}/next"), &json!({}))["shipment"].take()
    }

    #[track_caller]
    fn refuses(&self, control: &str, body: &Value) -> String {
        let url = format!("{}/_sandbox/{control}", self.running.url());
        let mut answer = self.agent.post(url).send(body.to_string()).unwrap();
        assert_eq!(answer.status(), 400);
        answer.body_mut().read_to_string().unwrap()
    }
}

#[test]
fn an_order_may_have_several_lines() {
    let (site, token) = Site::linked();
    let pot = json!({ "ml_user_id": 777, "title": "Pote", "price": 10, "stock": 5 });
    let pot = site.control("items", &pot)["id"].as_str().unwrap().to_owned();
    let id = site.sell(&json!({ "currency": "USD", "items": [
        { "item": site.item, "quantity": 2 },
        { "item": pot, "quantity": 3, "unit_price": 9.5, "sku": "POTE-ANTIGO" },
    ] }));
    let order = site.get(&format!("/orders/{id}"), &token).json();
    let lines = order["order_items"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!((&order["total_amount"], &order["currency_id"]), (&json!(148.3), &json!("USD")));
    assert_eq!(lines[1]["item"]["seller_sku"], "POTE-ANTIGO");
    // The fee is told for one unit, the payment's for all.
    assert_eq!((&lines[0]["sale_fee"], &lines[1]["sale_fee"]), (&json!(7.18), &json!(1.14)));
    assert_eq!(order["payments"][0]["marketplace_fee"], 17.78);
    let stock = |item: &str| {
        let item = site.get(&format!("/items/{item}"), &token).json();
        (item["available_quantity"].clone(), item["sold_quantity"].clone())
    };
    assert_eq!((stock(&site.item), stock(&pot)), ((json!(8), json!(2)), (json!(2), json!(3))));
    let parcel = order["shipping"]["id"].as_i64().unwrap();
    let rows = site.get_as(&format!("/shipments/{parcel}/items"), &token).unwrap().json();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    site.control(&format!("orders/{id}"), &json!({ "status": "cancelled" }));
    assert_eq!((stock(&site.item), stock(&pot)), ((json!(10), json!(0)), (json!(5), json!(0))));

    site.control("config", &json!({ "decimal_quantities": true }));
    let text = site.get(&format!("/orders/{id}"), &token).text;
    assert!(text.contains("\"quantity\":2.0"), "{text}");
    for (wrong, why) in [
        (json!({ "items": [{ "item": "MLB1" }] }), "no listing MLB1"),
        (json!({ "items": [{ "quantity": 0 }] }), "quantity"),
        (json!({ "currency": "real" }), "currency"),
        (json!({ "shipping_substatus": "não" }), "status must be a word"),
    ] {
        let mut sale = wrong;
        sale["ml_user_id"] = json!(777);
        assert!(site.refuses("sales", &sale).contains(why), "{why}");
    }
}

#[test]
fn tags_and_the_reason_of_a_cancellation_can_be_set() {
    let (site, token) = Site::linked();
    let id = site.sell(&json!({}));
    let order = || site.get(&format!("/orders/{id}"), &token).json();
    let tagged = || order()["tags"].as_array().unwrap().contains(&json!("fraud_risk_detected"));
    let change = |body: Value| site.control(&format!("orders/{id}"), &body);
    change(json!({ "add_tags": ["fraud_risk_detected"] }));
    assert!(tagged());
    change(json!({ "remove_tags": ["fraud_risk_detected"] }));
    assert!(!tagged());
    change(json!({ "status": "cancelled", "cancel_code": "pack_splitted" }));
    assert_eq!(order()["cancel_detail"]["code"], "pack_splitted");
}

#[test]
fn a_search_shows_a_later_change_in_universal_time() {
    let (site, token) = Site::linked();
    let id = site.sell(&json!({}));
    let page = site.get("/orders/search?seller=777", &token).json();
    let found = &page["results"][0];
    assert_eq!(found["last_updated"], "2026-11-20T08:30:00.000-04:00");
    assert_eq!(found["date_last_updated"], "2026-11-20T12:30:01.000Z");
    let order = site.get(&format!("/orders/{id}"), &token).json();
    assert!(order.get("date_last_updated").is_none());
}

#[test]
fn every_way_leads_through_states_that_the_marketplace_lists() {
    for kind in KINDS {
        let way = way_of(kind);
        assert!(way.iter().all(|(status, finer)| is_listed(status, finer)), "{kind}: {way:?}");
        assert_eq!(way.iter().collect::<BTreeSet<_>>().len(), way.len(), "{kind}: {way:?}");
        assert_eq!(way.last(), Some(&("delivered", "")), "{kind}");
    }
}

#[test]
fn a_parcel_walks_the_way_of_its_kind() {
    let (site, token) = Site::linked();
    site.control("config", &json!({ "topics": ["shipments"], "hold": true }));
    for kind in KINDS {
        let way = way_of(kind);
        let begin = json!({ "logistic": kind, "shipping_status": "pending",
            "shipping_substatus": "buffered" });
        let parcel = site.parcel(&begin);
        let waiting = site.log("state")["waiting"].as_i64().unwrap();
        for (count, (status, finer)) in (1..).zip(&way) {
            let finer = if finer.is_empty() { Value::Null } else { json!(finer) };
            let now = site.next(parcel);
            assert_eq!((&now["status"], &now["substatus"]), (&json!(status), &finer), "{kind}");
            let told = site.log("state")["waiting"].as_i64().unwrap() - waiting;
            assert_eq!(told, count, "each step is told, {kind}");
        }
        assert!(site.refuses(&format!("shipments/{parcel}/next"), &json!({})).contains("no next"));
        let history = site.get(&format!("/shipments/{parcel}/history"), &token).json();
        let history = history.as_array().unwrap();
        assert_eq!(history[0]["status"], "delivered", "the latest first");
        assert_eq!(history.len(), way.len() + 2, "{history:?}");
        assert_eq!(history.last().unwrap()["status"], "pending");
    }
}

#[test]
fn the_tracking_number_comes_with_the_label() {
    let (site, token) = Site::linked();
    let parcel = site.parcel(&json!({}));
    let number =
        || site.get(&format!("/shipments/{parcel}"), &token).json()["tracking_number"].take();
    assert_eq!(number(), Value::Null);
    site.set_clock("2026-11-20T12:40:00Z");
    site.get(&format!("/shipment_labels?shipment_ids={parcel}&response_type=pdf"), &token);
    assert_eq!(number(), json!(format!("BR{parcel}")));
    let history = site.get(&format!("/shipments/{parcel}/history"), &token).json();
    assert_eq!(
        history[0],
        json!({ "status": "ready_to_ship", "substatus": "printed", "date": "2026-11-20T12:40:00.000Z" })
    );
    let shown = site.get(&format!("/shipments/{parcel}"), &token);
    assert!(!shown.text.contains("handling_limit") && !shown.text.contains("status_history"));
}

#[test]
fn a_note_of_the_biller_unlocks_the_label() {
    let site = Site::start();
    let order = site.sold(&json!({ "shipping_substatus": "invoice_pending" }));
    let change = |invoice: &str| {
        let body = json!({ "invoice": invoice });
        let changed = site.control(&format!("orders/{}", order["id"]), &body);
        changed["order"]["shipment"]["substatus"].clone()
    };
    assert_eq!(change("attached"), "invoice_pending", "an attached file is no reason");
    assert_eq!(change("issued"), "ready_to_print");
}

#[test]
fn the_deadline_is_told_apart_and_moves() {
    let (site, token) = Site::linked();
    let parcel = site.parcel(&json!({}));
    let sla = |parcel: i64| site.get(&format!("/shipments/{parcel}/sla"), &token);
    assert_eq!(
        sla(parcel).json(),
        json!({ "status": "on_time", "service": null, "expected_date": "2026-11-21T18:00:00-03:00",
            "last_updated": "2026-11-20T12:30:00Z" })
    );
    let change = |parcel: i64, body: Value| site.control(&format!("shipments/{parcel}"), &body);
    change(
        parcel,
        json!({ "expected_date": "2026-11-20T15:00:00-03:00", "service": "xd_same_day" }),
    );
    let moved = sla(parcel).json();
    assert_eq!(moved["expected_date"], "2026-11-20T15:00:00-03:00");
    assert_eq!(moved["service"], "xd_same_day");
    assert_eq!(site.get(&format!("/shipments/{parcel}/delays"), &token).status, 404);
    site.set_clock("2026-11-20T18:20:00Z");
    assert_eq!(sla(parcel).json()["status"], "delayed");
    assert_eq!(site.get(&format!("/shipments/{parcel}/delays"), &token).status, 200);

    let near = site.parcel(&json!({ "shipping_tags": ["proximity"] }));
    let shown = sla(near).json();
    assert_eq!((&shown["service"], &shown["status"]), (&json!("instant_gm"), &json!("on_time")));
    assert_eq!(shown["expected_date"], "2026-11-20T15:45:00-03:00");
    change(near, json!({ "status": "cancelled", "substatus": "closed_by_user" }));
    let theirs = site.parcel(&json!({ "logistic": "fulfillment" }));
    for without in [near, theirs, 1] {
        let refused = sla(without);
        assert_eq!(refused.status, 404);
        assert_eq!(refused.json()["message"], "failed to retrieve data");
    }
    assert!(
        site.refuses(&format!("shipments/{parcel}"), &json!({ "expected_date": "hoje" }))
            .contains("RFC 3339")
    );
    let schedule = |kind: &str| site.get(&format!("/users/777/shipping/schedule/{kind}"), &token);
    assert_eq!(
        schedule("cross_docking").json()["schedule"]["monday"]["detail"][0]["cutoff"],
        "12:00"
    );
    assert_eq!(schedule("cross_docking").json()["schedule"]["sunday"]["work"], false);
    assert_eq!(schedule("drop_off").status, 404);
    let lead = site.get(&format!("/shipments/{parcel}/lead_time"), &token).json();
    assert_eq!(lead["delay"], json!(["handling_delayed"]));
    assert_eq!(site.rules(), [""; 0]);
}

#[test]
fn a_cancelled_shipment_names_no_orders() {
    let (site, token) = Site::linked();
    let parcel = site.parcel(&json!({}));
    let orders = || site.get(&format!("/shipments/{parcel}/orders"), &token);
    assert_eq!(orders().status, 200);
    site.control(&format!("shipments/{parcel}"), &json!({ "status": "cancelled" }));
    assert_eq!((orders().status, &*orders().text), (204, ""));
}

#[test]
fn a_divided_cart_is_cancelled_and_there_again() {
    let (site, token) = Site::linked();
    let first = site.sell(&json!({ "pack_id": 2_000_900 }));
    let parcel = site.parcel(&json!({ "pack_id": 2_000_900 }));
    let stock =
        || site.get(&format!("/items/{}", site.item), &token).json()["available_quantity"].take();
    assert_eq!(stock(), 8);
    let made = site.control(&format!("shipments/{parcel}/split"), &json!({ "reason": "FRAGILE" }));
    let (orders, parcels) =
        (made["orders"].as_array().unwrap(), made["shipments"].as_array().unwrap());
    assert_eq!((orders.len(), parcels.len(), stock()), (2, 2, json!(8)));
    let old = site.get(&format!("/orders/{first}"), &token).json();
    assert_eq!(
        (&old["status"], &old["cancel_detail"]["code"]),
        (&json!("cancelled"), &json!("pack_splitted"))
    );
    let pack = site.get("/packs/2000900", &token).json();
    assert_eq!(
        (&pack["status"], &pack["status_detail"]),
        (&json!("cancelled"), &json!("splitted"))
    );
    let old = site.get(&format!("/shipments/{parcel}"), &token).json();
    assert_eq!((&old["status"], &old["substatus"]), (&json!("cancelled"), &json!("pack_splitted")));
    let new = site.get(&format!("/shipments/{}", parcels[0]), &token).json();
    assert_eq!(
        (&new["sibling"]["sibling_id"], &new["sibling"]["reason"]),
        (&json!(parcel), &json!("FRAGILE"))
    );
    let of = site.get(&format!("/orders/{}", orders[0]), &token).json();
    assert_eq!((&of["shipping"]["id"], &of["status"]), (&parcels[0], &json!("paid")));
    for (wrong, why) in [(parcel, "once"), (parcels[0].as_i64().unwrap(), "once")] {
        assert!(site.refuses(&format!("shipments/{wrong}/split"), &json!({})).contains(why));
    }
    let single = site.parcel(&json!({}));
    assert!(site.refuses(&format!("shipments/{single}/split"), &json!({})).contains("one unit"));
    let double = site.parcel(&json!({ "quantity": 3 }));
    let made = site.control(&format!("shipments/{double}/split"), &json!({}));
    let units: Vec<i64> = made["orders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|order| {
            let order = site.get(&format!("/orders/{order}"), &token).json();
            order["order_items"][0]["quantity"].as_i64().unwrap()
        })
        .collect();
    assert_eq!(units, [1, 2]);
}

#[test]
fn claims_may_be_about_carts_and_payments_and_bring_goods_back() {
    let (site, token) = Site::linked();
    let order = site.sell(&json!({ "pack_id": 2_000_900, "quantity": 2 }));
    let open = |more: Value| {
        let mut claim = json!({ "ml_user_id": 777, "order": order });
        claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        site.control("claims", &claim)["id"].as_i64().unwrap()
    };
    let shown = |id: i64| site.get(&format!("/post-purchase/v1/claims/{id}"), &token).json();
    let cart = open(json!({ "resource": "purchase" }));
    assert_eq!(shown(cart)["resource_id"], 2_000_900);
    let payment = site.get(&format!("/orders/{order}"), &token).json()["payments"][0]["id"].take();
    assert_eq!(shown(open(json!({ "resource": "payment" })))["resource_id"], payment);
    let mine = "players.user_id=777&players.role=respondent&pack_id=2000900";
    let page = site.get(&format!("/post-purchase/v1/claims/search?{mine}"), &token).json();
    assert_eq!(page["paging"]["total"], 2);

    let back = |id: i64| site.get(&format!("/post-purchase/v2/claims/{id}/returns"), &token);
    assert_eq!(back(cart).status, 404);
    let id = open(json!({ "type": "return" }));
    assert_eq!(shown(id)["related_entities"], json!(["return"]));
    site.control(
        &format!("claims/{id}"),
        &json!({ "return_status": "delivered", "return_quantity": 1 }),
    );
    let told = back(id).json();
    assert_eq!(
        (&told["status"], &told["subtype"]),
        (&json!("delivered"), &json!("return_partial"))
    );
    let line = &told["orders"][0];
    assert_eq!((&line["total_quantity"], &line["return_quantity"]), (&json!("2.0"), &json!("1.0")));
    assert_eq!(told["shipments"][0]["destination"]["name"], "seller_address");
    let wrong = json!({ "return_destination": "casa" });
    assert!(site.refuses(&format!("claims/{id}"), &wrong).contains("seller_address or warehouse"));
    assert!(
        site.refuses(&format!("claims/{cart}"), &json!({ "return_quantity": 1 }))
            .contains("return_status")
    );
}
