//! How the sandbox comes to answer as each sample does.

use serde_json::{Value, json};

use super::{Case, Reader, readers};
use crate::sandbox::CLIENT_ID;
use crate::sandbox::tests::{Site, VERIFIER, deliver::receiver};

const fn case(
    file: &'static str,
    sample: &'static str,
    answer: fn(&Site, &str) -> Value,
    read: Option<Reader>,
) -> Case {
    Case { file, sample, answer, read }
}

#[rustfmt::skip] // A table.
pub const CASES: &[Case] = &[
    case("orders_id", "paid", |s, t| s.order(t, &json!({})), Some(readers::order)),
    case("orders_id", "lines", |s, t| s.order(t, &json!({ "items": [{ "item": s.varied(), "variation_id": VARIATION, "sku": "A" }, { "quantity": 2 }] })), Some(readers::order)),
    case("orders_id", "cancelled", cancelled_order, Some(readers::order)),
    case("orders_id", "unpaid", |s, t| s.order(t, &json!({ "status": "payment_in_process", "shipping": "later" })), Some(readers::order)),
    case("orders_search", "page", |s, t| { s.kept(&json!({})); s.asked("/orders/search?seller=777", t) }, Some(readers::orders)),
    case("orders_id_shipments", "one", |s, t| s.of_order(t, "shipments"), None),
    case("orders_id_discounts", "none", |s, t| s.of_order(t, "discounts"), None),
    case("orders_id_discounts", "some", |s, t| s.of_order(t, "discounts"), None),

    case("shipments_id", "printed", |s, t| s.parcel_in(t, &json!({ "shipping_substatus": "printed" }), ""), Some(readers::shipment)),
    case("shipments_id", "nearby", |s, t| s.parcel_in(t, &json!({ "shipping_tags": ["proximity"] }), ""), Some(readers::shipment)),
    case("shipments_id", "held", |s, t| s.parcel_in(t, &json!({ "shipping_status": "pending", "shipping_substatus": "buffered" }), ""), Some(readers::shipment)),
    case("shipments_id", "divided", divided, Some(readers::shipment)),
    case("shipments_id", "shipped", |s, t| s.parcel_in(t, &json!({ "shipping_status": "shipped" }), ""), Some(readers::shipment)),
    case("shipments_id", "delivered", |s, t| s.parcel_in(t, &json!({ "shipping_status": "delivered" }), ""), Some(readers::shipment)),
    case("shipments_id_orders", "one", |s, t| s.parcel_in(t, &json!({}), "/orders"), Some(readers::shipment_orders)),
    case("shipments_id_items", "one", |s, t| s.parcel_in(t, &json!({}), "/items"), None),
    case("shipments_id_costs", "shared", |s, t| s.parcel_in(t, &json!({ "quantity": 2 }), "/costs"), Some(readers::costs)),
    case("shipments_id_sla", "usual", |s, t| s.parcel_in(t, &json!({}), "/sla"), Some(readers::deadline)),
    case("shipments_id_sla", "nearby", |s, t| s.parcel_in(t, &json!({ "shipping_tags": ["proximity"] }), "/sla"), Some(readers::deadline)),
    case("shipments_id_history", "some", |s, t| s.parcel_in(t, &json!({ "shipping_substatus": "printed" }), "/history"), Some(readers::history)),
    case("shipments_id_lead_time", "late", |s, t| s.parcel_in(t, &LATE.value(), "/lead_time"), None),
    case("shipments_id_delays", "late", |s, t| s.parcel_in(t, &LATE.value(), "/delays"), None),
    case("shipment_statuses", "some", |s, t| s.asked("/shipment_statuses", t), None),
    case("shipment_labels_refused", "some", refused_labels, Some(readers::refused_labels)),
    case("users_id_shipping_schedule", "week", |s, t| s.asked("/users/777/shipping/schedule/cross_docking", t), Some(readers::hours)),
    case("packs_id", "released", |s, t| s.of_pack(t, ""), None),
    case("packs_id_fiscal_documents", "pdf", |s, t| s.of_pack(t, "/fiscal_documents"), Some(readers::attached_note)),
    case("users_id_invoices_orders", "issued", issued_note, Some(readers::issued_note)),

    case("users_me", "own", protected, Some(readers::me)),
    case("users_id", "buyer", buyer, Some(readers::nickname)),
    case("users_id", "seller", |s, t| { s.other_shop(); s.asked("/users/888", t) }, Some(readers::nickname)),
    case("users_bulk", "both", |s, t| s.asked("/users/bulk?ids=777,1", t), None),
    case("users_test_user", "made", |s, t| s.sent("/users/test_user", &json!({ "site_id": "MLB" }), t), None),
    case("items_id", "variations", |s, t| { let id = s.varied(); s.asked(&format!("/items/{id}?include_attributes=all"), t) }, Some(readers::listing)),
    case("items_id", "plain", |s, t| s.asked(&format!("/items/{}?include_attributes=all", s.varied_plain()), t), Some(readers::listing)),
    case("items_bulk", "both", |s, t| { let id = s.varied(); s.asked(&format!("/items/bulk?ids={id},MLB1&include_attributes=all"), t) }, Some(readers::listings)),
    case("items_id_sale_price", "standard", |s, t| s.asked(&format!("/items/{}/sale_price?context=channel_marketplace", s.item), t), Some(readers::sale_price)),
    case("users_id_items_search", "page", |s, t| s.asked("/users/777/items/search", t), Some(readers::listing_ids)),
    case("users_id_items_search", "scan", |s, t| s.asked("/users/777/items/search?search_type=scan", t), Some(readers::listing_ids)),
    case("listing_prices", "kinds", |s, t| s.asked("/sites/MLB/listing_prices?price=50&logistic_type=self_service&shipping_mode=me2", t), Some(readers::fees)),

    case("questions_search", "open", |s, t| { s.questioned(&json!({})); s.asked("/questions/search?seller_id=777&api_version=4", t) }, Some(readers::questions)),
    case("questions_search", "scan", |s, t| { s.questioned(&ANSWER.value()); s.asked("/questions/search?seller_id=777&api_version=4&search_type=scan", t) }, Some(readers::questions)),
    case("questions_id", "open", |s, t| { let id = s.questioned(&json!({})); s.asked(&format!("/questions/{id}?api_version=4"), t) }, Some(readers::question)),
    case("questions_id", "answered", |s, t| { let id = s.questioned(&ANSWER.value()); s.asked(&format!("/questions/{id}?api_version=4"), t) }, Some(readers::question)),
    case("answers", "given", |s, t| { let id = s.questioned(&json!({})); s.sent("/answers", &json!({ "question_id": id, "text": "Serve sim" }), t) }, Some(readers::answer)),
    case("questions_response_time", "some", |s, t| { s.questioned(&ANSWER.value()); s.asked("/users/777/questions/response_time", t) }, None),

    case("claims_search", "open", |s, t| s.claims_page(t, &json!({})), Some(readers::claims)),
    case("claims_search", "closed", |s, t| s.claims_page(t, &json!({ "status": "closed" })), Some(readers::claims)),
    case("claims_id", "open", |s, t| s.claim_in(t, &json!({}), &json!({}), ""), Some(readers::claim)),
    case("claims_id", "closed", |s, t| s.claim_in(t, &json!({}), &json!({ "status": "closed" }), ""), Some(readers::claim)),
    case("claims_id", "return", |s, t| s.claim_in(t, &json!({ "type": "returns" }), &json!({}), ""), Some(readers::claim)),
    case("claims_id", "cart", |s, t| s.claim_in(t, &json!({ "resource": "purchase" }), &json!({}), ""), Some(readers::claim)),
    case("claims_id", "payment", |s, t| s.claim_in(t, &json!({ "resource": "payment" }), &json!({}), ""), Some(readers::claim)),
    case("claims_id", "parcel", |s, t| s.claim_in(t, &json!({ "resource": "shipment" }), &json!({}), ""), Some(readers::claim)),
    case("claims_id_detail", "open", |s, t| s.claim_in(t, &json!({}), &json!({}), "/detail"), None),
    case("claims_id_returns", "back", returned, Some(readers::returned)),
    case("claims_refused", "search", |s, t| s.asked("/post-purchase/v1/claims/search", t), None),

    case("notice", "orders_v2", |s, _| s.noticed("orders_v2", |s| { s.kept(&json!({})); }), Some(readers::notice)),
    case("notice", "items", |s, _| s.noticed("items", |s| { s.kept(&json!({})); }), Some(readers::notice)),
    case("notice", "questions", |s, _| s.noticed("questions", |s| { s.questioned(&json!({})); }), Some(readers::notice)),
    case("notice", "shipments", |s, _| s.noticed("shipments", |s| { let parcel = s.parcel_of(&json!({})); s.control(&format!("shipments/{parcel}/next"), &json!({})); }), Some(readers::notice)),
    case("notice", "post_purchase", |s, _| s.noticed("post_purchase", |s| { s.kept(&json!({})); s.control("claims", &json!({ "ml_user_id": 777 })); }), Some(readers::notice)),
    case("missed_feeds", "page", missed, Some(readers::missed)),

    case("oauth_token", "pair", |s, _| { let code = s.code(777); s.redeem(&code, VERIFIER).json() }, Some(readers::tokens)),
    case("oauth_token_refused", "used", |s, _| s.refresh("TG-0").json(), Some(readers::refused_tokens)),
    case("oauth_token_refused", "older", |s, _| { s.control("config", &json!({ "old_errors": true })); s.refresh("TG-0").json() }, Some(readers::refused_tokens)),
    case("applications_id", "own", |s, t| s.asked(&format!("/applications/{CLIENT_ID}"), t), None),
    case("applications_id_grants", "page", |s, t| s.asked(&format!("/applications/{CLIENT_ID}/grants"), t), None),
    case("users_id_applications", "one", |s, t| s.asked("/users/777/applications", t), None),
    case("refused", "missing", |s, t| s.asked("/orders/1", t), None),
    case("token_refused", "edge", |s, _| s.asked("/users/me", "none"), None),
    case("token_refused", "older", |s, _| { s.control("config", &json!({ "old_errors": true })); s.asked("/users/me", "none") }, None),
];

/// A JSON text in a table.
struct Body(&'static str);

impl Body {
    fn value(&self) -> Value {
        serde_json::from_str(self.0).unwrap()
    }
}

const ANSWER: Body = Body(r#"{ "answer": "Serve sim" }"#);
const LATE: Body = Body(r#"{ "date_created": "2026-11-17T12:00:00Z" }"#);

impl Site {
    fn asked(&self, path: &str, token: &str) -> Value {
        self.get(path, token).json()
    }

    fn sent(&self, path: &str, body: &Value, token: &str) -> Value {
        let url = format!("{}{path}", self.running.url());
        let request = self.agent.post(url).header("authorization", format!("Bearer {token}"));
        request.send(body.to_string()).unwrap().body_mut().read_json().unwrap()
    }

    /// A sale of a variation in a cart, by a buyer with a name; its number.
    fn kept(&self, more: &Value) -> i64 {
        let mut sale = json!({
            "ml_user_id": 777, "item": self.varied(), "variation_id": VARIATION,
            "buyer_nickname": "COMPRADOR_A", "pack_id": 2_000_900,
        });
        sale.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.control("sales", &sale)["order"]["id"].as_i64().unwrap()
    }

    fn order(&self, token: &str, more: &Value) -> Value {
        let id = self.kept(more);
        self.asked(&format!("/orders/{id}"), token)
    }

    fn of_order(&self, token: &str, what: &str) -> Value {
        let id = self.kept(&json!({}));
        self.asked(&format!("/orders/{id}/{what}"), token)
    }

    fn parcel_of(&self, more: &Value) -> i64 {
        let id = self.kept(more);
        let order = self.control(&format!("orders/{id}"), &json!({ "notify": false }));
        order["order"]["shipment"]["id"].as_i64().unwrap()
    }

    fn parcel_in(&self, token: &str, more: &Value, what: &str) -> Value {
        let id = self.parcel_of(more);
        self.asked(&format!("/shipments/{id}{what}"), token)
    }

    fn of_pack(&self, token: &str, what: &str) -> Value {
        self.kept(&json!({ "invoice": "attached" }));
        self.asked(&format!("/packs/2000900{what}"), token)
    }

    fn other_shop(&self) {
        self.control("sellers", &json!({ "nickname": "OUTRA", "ml_user_id": 888 }));
    }

    /// A paused listing with a variation; its id.
    fn varied(&self) -> String {
        self.published(&json!([{ "id": VARIATION, "value": "Azul", "stock": 9, "sku": "CAN-AZ" }]))
    }

    fn varied_plain(&self) -> String {
        self.published(&json!([]))
    }

    fn published(&self, variations: &Value) -> String {
        let item = json!({
            "ml_user_id": 777, "title": "Caneca", "price": 59.9, "stock": 9, "sku": "CAN",
            "ean": "7890000000017", "catalog_product": "MLB9", "variations": variations,
        });
        let id = self.control("items", &item)["id"].as_str().unwrap().to_owned();
        let paused = json!({ "status": "paused", "notify": false });
        self.control(&format!("items/{id}"), &paused);
        id
    }

    fn questioned(&self, change: &Value) -> i64 {
        let id = self.control("questions", &json!({ "ml_user_id": 777 }))["id"].as_i64().unwrap();
        if change.get("answer").is_some() {
            self.control(&format!("questions/{id}"), change);
        }
        id
    }

    fn claimed(&self, more: &Value, change: &Value) -> i64 {
        let order = self.kept(&json!({ "notify": false }));
        let mut claim = json!({ "ml_user_id": 777, "order": order });
        claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let id = self.control("claims", &claim)["id"].as_i64().unwrap();
        self.control(&format!("claims/{id}"), change);
        id
    }

    fn claim_in(&self, token: &str, more: &Value, change: &Value, what: &str) -> Value {
        let id = self.claimed(more, change);
        self.asked(&format!("/post-purchase/v1/claims/{id}{what}"), token)
    }

    fn claims_page(&self, token: &str, change: &Value) -> Value {
        self.claimed(&json!({}), change);
        let mine = "players.user_id=777&players.role=respondent";
        self.asked(&format!("/post-purchase/v1/claims/search?{mine}"), token)
    }

    /// The notice of a topic that something causes.
    fn noticed(&self, topic: &str, cause: fn(&Self)) -> Value {
        let (url, calls) = receiver(vec![200]);
        self.control("config", &json!({ "hold": true, "topics": [topic] }));
        cause(self);
        let open = json!({ "hold": false, "notify_url": url, "answer_within_ms": 20_000 });
        self.control("config", &open);
        calls.join().unwrap().remove(0).1
    }
}

/// The variation of the listings here.
const VARIATION: i64 = 174_000_000_021;

fn cancelled_order(site: &Site, token: &str) -> Value {
    let id = site.kept(&json!({}));
    site.control("claims", &json!({ "ml_user_id": 777, "order": id }));
    site.control(&format!("orders/{id}"), &json!({ "status": "cancelled" }));
    site.asked(&format!("/orders/{id}"), token)
}

fn divided(site: &Site, token: &str) -> Value {
    let parcel = site.parcel_of(&json!({ "quantity": 2 }));
    let made = site.control(&format!("shipments/{parcel}/split"), &json!({}));
    site.asked(&format!("/shipments/{}", made["shipments"][0]), token)
}

fn refused_labels(site: &Site, token: &str) -> Value {
    let id = site.parcel_of(&json!({ "shipping_status": "delivered" }));
    site.asked(&format!("/shipment_labels?shipment_ids={id}&response_type=pdf"), token)
}

/// A seller with medals whom the marketplace protects for a time.
fn protected(site: &Site, _: &str) -> Value {
    let reputation = json!({ "power_seller": "gold", "real_level": "orange" });
    let seller = json!({ "nickname": "MEDALHA", "ml_user_id": 888, "reputation": reputation });
    site.control("sellers", &seller);
    let (token, _) = site.connect(888);
    site.asked("/users/me", &token)
}

fn issued_note(site: &Site, token: &str) -> Value {
    let id = site.kept(&json!({ "invoice": "issued" }));
    site.asked(&format!("/users/777/invoices/orders/{id}"), token)
}

fn buyer(site: &Site, token: &str) -> Value {
    let order = site.order(token, &json!({}));
    site.asked(&format!("/users/{}", order["buyer"]["id"]), token)
}

fn returned(site: &Site, token: &str) -> Value {
    let id = site.claimed(&json!({}), &json!({ "return_status": "delivered" }));
    site.asked(&format!("/post-purchase/v2/claims/{id}/returns"), token)
}

fn missed(site: &Site, token: &str) -> Value {
    let (url, calls) = receiver(vec![500]);
    let strict = json!({
        "attempts": 1, "topics": ["orders_v2"], "notify_url": url, "answer_within_ms": 20_000,
    });
    site.control("config", &strict);
    site.kept(&json!({}));
    calls.join().unwrap();
    site.log("deliveries?settle_ms=20000");
    site.asked(&format!("/missed_feeds?app_id={CLIENT_ID}&topic=orders_v2"), token)
}
