//! Orders and their shipments.

use serde_json::Value;

use super::{Unreadable, amount, elements, instant, number, positive, text};
use crate::base::{Cents, Instant, MlUserId, OrderId};
use crate::marketplace::books::order_status::OrderStatus;

/// Most units of one order; a larger number is an error.
const MOST_UNITS: i64 = 1_000_000;
/// Most lines of one order; more are an error.
const MOST_LINES: usize = 100;

/// An order as the marketplace has it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderDocument {
    pub id: OrderId,
    /// The selling account.
    pub seller: MlUserId,
    /// One of [`super::super::order_status::ORDER_STATES`], or a new one.
    pub status: String,
    pub created_at: Instant,
    /// When it was paid or confirmed, `None` before.
    pub closed_at: Option<Instant>,
    /// When the marketplace last changed it.
    pub updated_at: Instant,
    /// Without shipping.
    pub total: Cents,
    /// What of it the buyer got back.
    pub refunded: Cents,
    pub currency: String,
    /// What was sold; at least one line.
    pub lines: Vec<SoldLine>,
    /// The cart that it belongs to.
    pub pack_id: Option<i64>,
    /// Numbers of its payments.
    pub payments: Vec<i64>,
    pub buyer_id: Option<i64>,
    /// Empty when the marketplace does not say.
    pub buyer_nickname: String,
    pub shipping_id: Option<i64>,
    /// Whether seller and buyer agree on the delivery, so that there is no parcel.
    pub is_to_agree: bool,
    /// Whether the marketplace says that its goods must not be sent.
    pub is_fraud_risk: bool,
    /// Whether it was cancelled only because its parcel was divided: its goods are sold in
    /// other orders.
    pub is_split: bool,
    /// State and kind of the shipment, when it was fetched.
    pub shipment: Option<Shipment>,
    /// When the last payment was approved, when it says so.
    pub paid_at: Option<Instant>,
}

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoldLine {
    pub item: SoldItem,
    pub units: i64,
    /// For one unit, after discounts.
    pub unit_price: Cents,
    /// The marketplace's commission for all units, once it tells it.
    pub fee: Option<Cents>,
}

/// What was sold: a listing, or one variation of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoldItem {
    /// Such as `MLB`.
    pub site: String,
    /// Number of the listing id, without the site.
    pub number: i64,
    /// 0 without variations.
    pub variation: i64,
    pub title: String,
    /// Empty when the listing has none.
    pub sku: String,
}

/// A shipment, as far as orders show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shipment {
    /// Such as `ready_to_ship`; empty when not said.
    pub status: String,
    /// Such as `ready_to_print`; empty when not said.
    pub substatus: String,
    /// Such as `drop_off`; empty when not said.
    pub logistic_type: String,
    /// Whether it is to leave within minutes of the sale.
    pub is_same_day: bool,
    /// Whether it is one of those that another shipment was divided into: nothing new was sold.
    pub is_sibling: bool,
    /// When the marketplace last changed it, when it says so.
    pub updated_at: Option<Instant>,
    /// When its label was printed, when it left and when it arrived; `None` where
    /// the marketplace does not say so.
    pub printed_at: Option<Instant>,
    pub sent_at: Option<Instant>,
    pub delivered_at: Option<Instant>,
    /// What it costs its sender, when that was asked and told.
    pub cost: Option<Cents>,
    /// Until when its parcel is to be handed over, when the marketplace says so.
    pub dispatch_by: Option<Instant>,
    /// When it was asked until when, when it was.
    pub deadline_asked_at: Option<Instant>,
}

impl OrderDocument {
    /// Reads an order of `/orders/{id}` or of a search.
    pub fn read(order: &Value) -> Result<Self, Unreadable> {
        // Dates may be missing; then the next one in the list is used.
        let (created, closed) = ("date_created", "date_closed");
        let (changed, found) = ("last_updated", "date_last_updated");
        let created_at = first_date(order, [created, closed, changed, found]);
        let updated_at = first_date(order, [changed, found, closed, created]);
        let id = OrderId(positive(&order["id"]).ok_or(Unreadable("id"))?);
        let created_at = created_at.ok_or(Unreadable("date_created"))?;
        let updated_at = updated_at.ok_or(Unreadable("last_updated"))?;
        let status = text(&order["status"]).ok_or(Unreadable("status"))?;
        let is_sale = OrderStatus::from_name(&status).is_some_and(OrderStatus::is_sale);
        let total = amount(&order["total_amount"]).ok_or(Unreadable("total_amount"))?;
        let currency = text(&order["currency_id"])
            .or_else(|| text(&order["order_items"][0]["currency_id"]))
            .ok_or(Unreadable("currency_id"))?;
        let payments = elements(&order["payments"]);
        let refunded =
            payments.iter().filter_map(|one| amount(&one["transaction_amount_refunded"]));
        let refunded = refunded.fold(0_i64, |sum, one| sum.saturating_add(one.0));
        let has_tag = |tag: &str| elements(&order["tags"]).iter().any(|one| one == tag);
        let shipping_id = positive(&order["shipping"]["id"]);
        Ok(Self {
            id,
            seller: MlUserId(positive(&order["seller"]["id"]).ok_or(Unreadable("seller.id"))?),
            lines: lines(order, total, is_sale)?,
            status,
            created_at,
            closed_at: instant(&order["date_closed"]),
            updated_at,
            total,
            refunded: Cents(refunded).min(total),
            currency,
            pack_id: positive(&order["pack_id"]),
            payments: payments.iter().filter_map(|one| positive(&one["id"])).collect(),
            buyer_id: positive(&order["buyer"]["id"]),
            buyer_nickname: text(&order["buyer"]["nickname"]).unwrap_or_default(),
            shipping_id,
            is_to_agree: shipping_id.is_none() && has_tag("no_shipping"),
            is_fraud_risk: has_tag("fraud_risk_detected"),
            is_split: order["cancel_detail"]["code"] == "pack_splitted",
            shipment: None,
            paid_at: payments.iter().filter_map(|one| instant(&one["date_approved"])).max(),
        })
    }

    /// The line that stands for the order where there is room for one.
    pub fn first(&self) -> &SoldLine {
        &self.lines[0]
    }

    /// Units over all lines.
    pub fn units(&self) -> i64 {
        self.lines.iter().map(|line| line.units).sum()
    }

    /// Whether the order counts as a sale, with its full amount (docs/contract.md, "Sales").
    pub fn is_sale(&self) -> bool {
        OrderStatus::from_name(&self.status).is_some_and(OrderStatus::is_sale)
    }

    /// The instant whose civil day a sale counts on.
    pub fn sold_at(&self) -> Instant {
        self.closed_at.unwrap_or(self.created_at)
    }
}

impl SoldItem {
    fn read(item: &Value) -> Result<Self, Unreadable> {
        let id = text(&item["id"]).ok_or(Unreadable("item.id"))?;
        let site_ends = id.find(|c: char| c.is_ascii_digit()).ok_or(Unreadable("item.id"))?;
        let (site, number) = id.split_at(site_ends);
        let sku = text(&item["seller_sku"]).or_else(|| text(&item["seller_custom_field"]));
        Ok(Self {
            site: site.to_owned(),
            number: number.parse().map_err(|_| Unreadable("item.id"))?,
            variation: positive(&item["variation_id"]).unwrap_or(0),
            title: text(&item["title"]).unwrap_or_default(),
            sku: sku.unwrap_or_default(),
        })
    }
}

impl Shipment {
    /// Reads a shipment in the format of 2025 (`logistic.type`) or an older one. What only
    /// other calls tell (dates, cost, deadline) is added by the client.
    pub fn read(shipment: &Value) -> Self {
        let kind = text(&shipment["logistic"]["type"]).or_else(|| text(&shipment["logistic_type"]));
        // The older format has the dates of each state; the present one has `/history`.
        let since = |name: &str| instant(&shipment["status_history"][name]);
        // Gone from answers since May 2025, when `/sla` came.
        let limit = |part: &str| instant(&shipment[part]["estimated_handling_limit"]["date"]);
        Self {
            printed_at: since("date_first_printed"),
            sent_at: since("date_shipped"),
            delivered_at: since("date_delivered"),
            status: text(&shipment["status"]).unwrap_or_default(),
            substatus: text(&shipment["substatus"]).unwrap_or_default(),
            logistic_type: kind.unwrap_or_default(),
            is_same_day: elements(&shipment["tags"]).iter().any(|tag| tag == "proximity"),
            is_sibling: positive(&shipment["sibling"]["sibling_id"]).is_some(),
            updated_at: instant(&shipment["last_updated"]),
            cost: None,
            dispatch_by: limit("lead_time").or_else(|| limit("shipping_option")),
            deadline_asked_at: None,
        }
    }

    /// Adds what the answer of `/shipments/{id}/history` tells: when the label was first
    /// printed, when the parcel first left the seller, and when it arrived.
    pub fn add_history(&mut self, history: &Value) {
        let steps = elements(history).iter().chain(elements(&history["history"]));
        let mut steps: Vec<(Instant, String, String)> = steps
            .filter_map(|step| {
                let word = |name: &str| text(&step[name]).unwrap_or_default();
                Some((instant(&step["date"])?, word("status"), word("substatus")))
            })
            .collect();
        steps.sort();
        let first = |is_it: fn(&str, &str) -> bool| {
            steps.iter().find(|(_, status, sub)| is_it(status, sub)).map(|(at, ..)| *at)
        };
        self.printed_at = first(|_, sub| sub == "printed").or(self.printed_at);
        self.sent_at = first(has_left).or(self.sent_at);
        self.delivered_at = first(|status, _| status == "delivered").or(self.delivered_at);
    }
}

/// The first date that is not null; `None` when it cannot be parsed.
fn first_date(order: &Value, names: [&str; 4]) -> Option<Instant> {
    let given = names.into_iter().find(|name| !order[*name].is_null());
    given.and_then(|name| instant(&order[name]))
}

/// The lines of an order with this total.
fn lines(order: &Value, total: Cents, is_sale: bool) -> Result<Vec<SoldLine>, Unreadable> {
    let lines = elements(&order["order_items"]);
    match lines.len() {
        0 => return Err(Unreadable("order_items")),
        1..=MOST_LINES => {}
        _ => return Err(Unreadable("order_items.length")),
    }
    let is_alone = lines.len() == 1;
    let mut sold = lines
        .iter()
        .map(|line| {
            let units = positive(&line["quantity"]).filter(|units| *units <= MOST_UNITS);
            let units = units.ok_or(Unreadable("order_items.quantity"))?;
            // What one line costs follows from the total.
            let alone = is_alone.then(|| Cents(total.0 / units));
            let unit_price = amount(&line["unit_price"]).or(alone);
            Ok(SoldLine {
                item: SoldItem::read(&line["item"])?,
                units,
                unit_price: unit_price.ok_or(Unreadable("order_items.unit_price"))?,
                fee: fee(&line["sale_fee"], units),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let units = sold.iter().try_fold(0_i64, |sum, line| sum.checked_add(line.units));
    units.filter(|units| *units <= MOST_UNITS).ok_or(Unreadable("order_items.quantity"))?;
    // Computed when the payment is credited; before, 0 says nothing.
    if !is_sale && sold.iter().all(|line| line.fee == Some(Cents(0))) {
        for line in &mut sold {
            line.fee = None;
        }
    }
    Ok(sold)
}

/// The commission of some units, told for one: it is rounded once, when it is multiplied.
fn fee(of_unit: &Value, units: i64) -> Option<Cents> {
    #[expect(clippy::cast_precision_loss, reason = "at most a million units")]
    let fee = number(of_unit)? * units as f64;
    Cents::from_reais(fee).filter(|fee| fee.0 >= 0)
}

/// Whether a state of a shipment means that the seller has handed the parcel over.
fn has_left(status: &str, substatus: &str) -> bool {
    use crate::marketplace::books::parcel::ParcelStage;
    let stage = ParcelStage::of(status, substatus, "");
    matches!(stage, ParcelStage::HandedOver | ParcelStage::Sent | ParcelStage::Arrived)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({
            "id": 2_000_001, "status": "paid", "date_created": "2026-11-19T22:10:00.000-04:00",
            "date_closed": "2026-11-20T02:10:04.129Z", "last_updated": "2026-11-19T22:11:00.000-0400",
            "total_amount": 119.800_000_000_000_01, "currency_id": "BRL",
            "buyer": { "id": "555" }, "seller": { "id": 777 }, "shipping": { "id": null },
            "payments": [{ "date_approved": null }, { "date_approved": "2026-11-19T22:10:03.000-04:00" }],
            "order_items": [{ "quantity": 2, "sale_fee": 7.8, "item": {
                "id": "MLB123", "title": " Cabo ", "variation_id": null,
                "seller_sku": null, "seller_custom_field": "CAB-1" } }],
        })
    }

    #[test]
    fn an_order_reads_in_every_form_it_comes_in() {
        let order = OrderDocument::read(&sample()).unwrap();
        assert_eq!(
            (order.id, order.seller, order.buyer_id),
            (OrderId(2_000_001), MlUserId(777), Some(555))
        );
        assert_eq!(order.created_at, Instant(1_795_140_600));
        assert_eq!(order.closed_at, Some(Instant(1_795_140_604)));
        assert_eq!(order.updated_at, Instant(1_795_140_660));
        assert_eq!((order.total, order.units(), order.shipping_id), (Cents(11_980), 2, None));
        let item = &order.first().item;
        assert_eq!((&*item.site, item.number, &*item.sku), ("MLB", 123, "CAB-1"));
        assert_eq!((&*item.title, &*order.buyer_nickname), ("Cabo", ""));
        assert_eq!(
            (order.first().fee, order.paid_at),
            (Some(Cents(1_560)), Some(Instant(1_795_140_603)))
        );

        let mut other = sample();
        other["id"] = json!("2000001");
        other["seller"]["id"] = json!("777");
        other["total_amount"] = json!("119.8");
        other["last_updated"] = json!(null);
        other["date_last_updated"] = json!("2026-11-20T02:11:00Z");
        assert_eq!(OrderDocument::read(&other).unwrap(), order);
    }

    #[test]
    fn what_cannot_be_booked_is_refused_by_name() {
        for (field, value) in [
            ("id", json!("abc")),
            ("id", json!(-1)),
            ("status", json!(null)),
            ("total_amount", json!(-0.01)),
            ("total_amount", json!(1e300)),
            ("date_created", json!("yesterday")),
            ("last_updated", json!(17)),
            ("order_items", json!([])),
        ] {
            let mut order = sample();
            order[field] = value.clone();
            assert_eq!(OrderDocument::read(&order), Err(Unreadable(field)), "{value}");
        }
        let mut undated = sample();
        undated["last_updated"] = json!(null);
        undated["date_closed"] = json!(null);
        let undated = OrderDocument::read(&undated).unwrap();
        assert_eq!(undated.updated_at, undated.created_at);
        let mut unopened = sample();
        unopened["date_created"] = json!(null);
        let unopened = OrderDocument::read(&unopened).unwrap();
        assert_eq!(Some(unopened.created_at), unopened.closed_at);
        let mut many = sample();
        many["order_items"][0]["quantity"] = json!(i64::MAX);
        assert_eq!(OrderDocument::read(&many), Err(Unreadable("order_items.quantity")));
        for nothing in [json!(null), json!([]), json!("x"), json!({})] {
            assert!(OrderDocument::read(&nothing).is_err());
        }
    }

    #[test]
    fn what_is_not_told_is_not_zero() {
        let fee = |change: fn(&mut Value)| {
            let mut order = sample();
            change(&mut order);
            OrderDocument::read(&order).unwrap().first().fee
        };
        assert_eq!(fee(|order| order["order_items"][0]["sale_fee"] = json!(null)), None);
        assert_eq!(fee(|order| order["order_items"][0]["sale_fee"] = json!(0)), Some(Cents(0)));
        let unpaid = fee(|order| {
            order["order_items"][0]["sale_fee"] = json!(0);
            order["status"] = json!("payment_required");
        });
        assert_eq!(unpaid, None);
    }

    #[test]
    fn an_order_has_all_its_lines() {
        let mut order = sample();
        order["order_items"] = json!([
            { "quantity": 1.0, "unit_price": 59.9, "sale_fee": 7.805, "item": { "id": "MLB1", "seller_sku": "CAB-1" } },
            { "quantity": "3", "unit_price": 10, "sale_fee": 1.114, "item": { "id": "MLB2", "variation_id": 7 } },
        ]);
        let read = OrderDocument::read(&order).unwrap();
        let lines: Vec<_> = read
            .lines
            .iter()
            .map(|line| (line.item.number, line.item.variation, line.units, line.unit_price.0))
            .collect();
        assert_eq!(lines, [(1, 0, 1, 5_990), (2, 7, 3, 1_000)]);
        // What is told for a unit is rounded once it is multiplied: 3.342, not three times 1.11.
        assert_eq!(read.lines[1].fee, Some(Cents(334)));
        assert_eq!((read.units(), read.first().fee), (4, Some(Cents(781))));

        for (line, field, value, refused) in [
            (1, "item", json!({ "title": "sem anúncio" }), "item.id"),
            (1, "quantity", json!(-1), "order_items.quantity"),
            (1, "quantity", json!(1.5), "order_items.quantity"),
            (0, "quantity", json!(1_000_000), "order_items.quantity"),
            (1, "unit_price", json!(null), "order_items.unit_price"),
        ] {
            let mut bad = order.clone();
            bad["order_items"][line][field] = value;
            assert_eq!(OrderDocument::read(&bad), Err(Unreadable(refused)), "{field}");
        }
        let mut bad = order.clone();
        bad["currency_id"] = json!(null);
        assert_eq!(OrderDocument::read(&bad), Err(Unreadable("currency_id")));
        let line = order["order_items"][0].clone();
        bad = order;
        bad["order_items"] = Value::from(vec![line; 101]);
        assert!(OrderDocument::read(&bad).is_err());
    }

    #[test]
    fn what_was_given_back_and_what_is_wrong_is_told() {
        let mut order = sample();
        order["payments"] = json!([
            { "id": 91, "transaction_amount_refunded": 50 },
            { "id": 92, "transaction_amount_refunded": 5.5 },
        ]);
        order["pack_id"] = json!(2_000_900);
        order["tags"] = json!(["paid", "fraud_risk_detected", "no_shipping"]);
        order["cancel_detail"] = json!({ "code": "pack_splitted" });
        let read = OrderDocument::read(&order).unwrap();
        assert_eq!((read.refunded, read.pack_id), (Cents(5_550), Some(2_000_900)));
        assert_eq!(read.payments, [91, 92]);
        assert!(read.is_fraud_risk && read.is_to_agree && read.is_split);
        order["shipping"]["id"] = json!(44);
        assert!(!OrderDocument::read(&order).unwrap().is_to_agree);
    }

    #[test]
    fn what_happened_to_a_parcel_stands_in_its_history() {
        let at = "2026-11-20T02:00:00Z";
        let now = json!({ "status": "delivered", "substatus": null, "last_updated": at });
        let mut read = Shipment::read(&now);
        // The last change of a state is not when it began.
        assert_eq!((read.printed_at, read.sent_at, read.delivered_at), (None, None, None));
        read.add_history(&json!([
            { "status": "delivered", "substatus": null, "date": "2026-11-19T09:00:00.000-03:00" },
            { "status": "ready_to_ship", "substatus": "printed", "date": "2026-11-16T09:00:00.000-03:00" },
            { "status": "ready_to_ship", "substatus": "picked_up", "date": "2026-11-17T09:00:00.000-03:00" },
            { "status": "shipped", "substatus": null, "date": "2026-11-18T09:00:00.000-03:00" },
        ]));
        let day = |day: u8| Instant::parse(&format!("2026-11-{day}T12:00:00Z"));
        assert_eq!((read.printed_at, read.sent_at, read.delivered_at), (day(16), day(17), day(19)));
        let old = Shipment::read(&json!({
            "status": "delivered", "last_updated": at, "tags": ["proximity"],
            "status_history": { "date_shipped": "2026-11-18T02:00:00Z", "date_delivered": null },
        }));
        assert_eq!(old.sent_at, Instant::parse("2026-11-18T02:00:00Z"));
        assert!(old.is_same_day && old.delivered_at.is_none());
    }
}
