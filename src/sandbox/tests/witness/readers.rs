//! How the platform reads each kind of answer, by its own client.

use serde_json::{Value, json};

use super::Desk;
use crate::base::{Cents, Instant, OrderId, Secret};
use crate::fixture::ZONE;
use crate::marketplace::books::document::ItemId;
use crate::marketplace::books::parcel::ParcelKnown;
use crate::marketplace::client::{
    Caller, ClaimSearch, Client, Failure, FeeQuestion, OrderSearch, Span, TokenPair,
};
use crate::marketplace::inbox::notification::Notification;

impl Desk<'_> {
    /// The result of a call whose address contains `part`.
    fn call<T: std::fmt::Debug>(
        &self,
        part: &'static str,
        call: impl FnOnce(&Client, &Caller<'_>) -> Result<T, Failure>,
    ) -> String {
        let client = self.replay.client(vec![(part, 200, self.shown.clone())]);
        format!("{:?}", call(&client, &self.replay.caller()))
    }

    /// A number of the documented sample.
    fn number(&self, field: &str) -> i64 {
        self.whole[field].as_i64().unwrap()
    }
}

fn item(value: &Value) -> ItemId {
    ItemId::parse(value.as_str().unwrap()).unwrap()
}

pub fn order(desk: &Desk<'_>) -> String {
    let id = OrderId(desk.number("id"));
    desk.call("/orders/", |client, caller| client.order(caller, id))
}

pub fn orders(desk: &Desk<'_>) -> String {
    let span = Span::Updated(Instant(0), Instant(3600));
    let search = OrderSearch { span, left_out: false, newest_first: false };
    desk.call("/orders/search", |client, caller| client.orders(caller, &search, 0))
}

pub fn shipment(desk: &Desk<'_>) -> String {
    let id = desk.number("id");
    desk.call("/shipments/", |client, caller| {
        let known = ParcelKnown::nothing(Instant(0)).without_cost();
        Ok((client.parcel(caller, id, &known, ZONE)?, client.sender_of(caller, id)?))
    })
}

/// A parcel in a state, of which another address tells more.
fn parcel(desk: &Desk<'_>, part: &'static str, state: &Value) -> String {
    let client = desk.replay.client(vec![
        (part, 200, desk.shown.clone()),
        ("/sla", 404, json!({})),
        ("/history", 404, json!([])),
        ("/costs", 404, json!({})),
        ("/shipments/", 200, state.clone()),
    ]);
    let known = ParcelKnown::nothing(Instant(0));
    format!("{:?}", client.parcel(&desk.replay.caller(), 1, &known, ZONE))
}

pub fn deadline(desk: &Desk<'_>) -> String {
    let ready = json!({ "status": "ready_to_ship", "substatus": "ready_to_print" });
    parcel(desk, "/sla", &ready)
}

pub fn history(desk: &Desk<'_>) -> String {
    parcel(desk, "/history", &json!({ "status": "delivered" }))
}

pub fn hours(desk: &Desk<'_>) -> String {
    let ready = json!({ "status": "ready_to_ship", "logistic": { "type": "cross_docking" } });
    parcel(desk, "/shipping/schedule/", &ready)
}

pub fn returned(desk: &Desk<'_>) -> String {
    let claim = json!({ "id": 1, "status": "opened", "type": "return",
        "date_created": "2026-11-18T09:00:00.000-04:00",
        "players": [{ "role": "respondent", "user_id": 777 }] });
    let client =
        desk.replay.client(vec![("/returns", 200, desk.shown.clone()), ("/claims/", 200, claim)]);
    format!("{:?}", client.claim(&desk.replay.caller(), 1))
}

pub fn sale_price(desk: &Desk<'_>) -> String {
    desk.call("/sale_price", |client, caller| {
        client.sale_price(caller, &ItemId::parse("MLB1").unwrap())
    })
}

pub fn shipment_orders(desk: &Desk<'_>) -> String {
    desk.call("/orders", |client, caller| client.orders_of_shipment(caller, 1))
}

pub fn costs(desk: &Desk<'_>) -> String {
    parcel(desk, "/costs", &json!({ "status": "shipped" }))
}

/// The labels that a refusal names.
pub fn refused_labels(desk: &Desk<'_>) -> String {
    let client = desk.replay.client(vec![("/shipment_labels", 400, desk.shown.clone())]);
    format!("{:?}", client.labels(&desk.replay.caller(), &[1]).unwrap_err())
}

fn note(desk: &Desk<'_>, part: &'static str) -> String {
    let client = desk.replay.client(vec![(part, 200, desk.shown.clone())]);
    let found = client.invoice(&desk.replay.caller(), OrderId(1), None);
    format!("{:?}", found.map(|file| (file.kind, file.bytes)))
}

pub fn issued_note(desk: &Desk<'_>) -> String {
    note(desk, "/invoices/orders/")
}

pub fn attached_note(desk: &Desk<'_>) -> String {
    note(desk, "/fiscal_documents")
}

pub fn me(desk: &Desk<'_>) -> String {
    desk.call("/users/me", Client::me)
}

pub fn nickname(desk: &Desk<'_>) -> String {
    desk.call("/users/", |client, caller| client.nickname(caller, 1))
}

pub fn listing(desk: &Desk<'_>) -> String {
    let id = item(&desk.whole["id"]);
    desk.call("/items/", |client, caller| client.item(caller, &id))
}

pub fn listings(desk: &Desk<'_>) -> String {
    let id = item(&desk.whole[0]["id"]);
    desk.call("/items/bulk", |client, caller| client.items(caller, &[id]))
}

pub fn listing_ids(desk: &Desk<'_>) -> String {
    desk.call("/items/search", |client, caller| {
        Ok((client.items_page(caller, None)?, client.listings(caller)?))
    })
}

pub fn fees(desk: &Desk<'_>) -> String {
    let question = FeeQuestion {
        price: Cents(10_000),
        category: "MLB5672".to_owned(),
        logistic: "drop_off".to_owned(),
    };
    desk.call("/listing_prices", |client, caller| client.fees(caller, &question))
}

pub fn questions(desk: &Desk<'_>) -> String {
    desk.call("/questions/search", |client, caller| client.questions_scan(caller, "ANY", None))
}

pub fn question(desk: &Desk<'_>) -> String {
    let id = desk.number("id");
    desk.call("/questions/", |client, caller| client.question(caller, id))
}

pub fn answer(desk: &Desk<'_>) -> String {
    desk.call("/answers", |client, caller| client.answer(caller, 1, "Serve sim"))
}

pub fn claims(desk: &Desk<'_>) -> String {
    desk.call("/claims/search", |client, caller| client.claims_page(caller, ClaimSearch::Open, 0))
}

pub fn claim(desk: &Desk<'_>) -> String {
    let id = desk.number("id");
    desk.call("/claims/", |client, caller| client.claim(caller, id))
}

pub fn notice(desk: &Desk<'_>) -> String {
    notified(desk.shown)
}

fn notified(body: &Value) -> String {
    let read = Notification::parse(body.to_string().as_bytes());
    let read = read.map(|notice| {
        (notice.resource, notice.topic, notice.account.0, notice.application, notice.event_key)
    });
    format!("{:?}", read.map_err(|_| "no notification"))
}

pub fn missed(desk: &Desk<'_>) -> String {
    desk.call("/missed_feeds", |client, caller| {
        let missed = client.missed_feeds(caller, "orders_v2", 0)?;
        Ok(missed.iter().map(notified).collect::<Vec<_>>())
    })
}

fn pair(answer: Result<TokenPair, Failure>) -> Result<(i64, String, Option<String>, i64), Failure> {
    let text = |secret: &Secret| secret.reveal().to_owned();
    answer.map(|pair| {
        (pair.ml_user_id.0, text(&pair.access), pair.refresh.as_ref().map(text), pair.expires_in_s)
    })
}

pub fn tokens(desk: &Desk<'_>) -> String {
    desk.call("/oauth/token", |client, _| pair(client.refresh(&Secret::new("TG-1"))))
}

/// What a refusal of the token's address says.
pub fn refused_tokens(desk: &Desk<'_>) -> String {
    let client = desk.replay.client(vec![("/oauth/token", 400, desk.shown.clone())]);
    format!("{:?}", pair(client.refresh(&Secret::new("TG-1"))).unwrap_err())
}
