//! The books against a model that shares no code with them: whatever documents of some
//! orders come in whatever order, stock, debts, sums and lines end as the newest document
//! of each alone says. The model reads the JSON by itself.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::orders::one;
use crate::base::{Cents, DAY_S, Instant, OrderId, UserId};
use crate::marketplace::books::document::{OrderDocument, Shipment};
use crate::marketplace::books::orders::left;
use crate::marketplace::books::orders::list::{self, Filter};
use crate::marketplace::books::orders::sums;
use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World};

/// Listings that are sold, with their SKU, what a unit costs in centavos as the model knows
/// it, and what its supplier gets for one; `None` for none.
type Thing = (i64, &'static str, Option<i64>, Option<(i64, i64)>);
const THINGS: [Thing; 5] = [
    (1, "CAB-1", Some(1_000), None),
    (2, "CAP-2", Some(250), Some((9_001, 500))),
    (3, "", Some(700), None),
    (4, "NADA", Some(300), Some((9_002, 300))),
    (5, "SEM-CUSTO", None, None),
];
const STATES: [&str; 6] =
    ["paid", "cancelled", "partially_refunded", "payment_required", "invalid", "confirmed"];
const STEPS: [(&str, &str); 7] = [
    ("ready_to_ship", "invoice_pending"),
    ("ready_to_ship", "ready_to_print"),
    ("ready_to_ship", "printed"),
    ("ready_to_ship", "dropped_off"),
    ("shipped", ""),
    ("delivered", ""),
    ("not_delivered", "returned"),
];

/// One document: the order's JSON and its shipment's.
type Said = (Value, Value);

fn line() -> impl Strategy<Value = Value> {
    (0_usize..5, 1_i64..5, 100_i64..9_000, 0_u32..2_000, any::<bool>(), 0_i64..2).prop_map(
        |(thing, units, cents, fee, is_float, variation)| {
            let (item, sku, ..) = THINGS[thing];
            let quantity = if is_float { json!(format!("{units}.0")) } else { json!(units) };
            json!({
                "item": { "id": format!("MLB{item}"), "title": format!("Coisa {item}"), "seller_sku": sku,
                    "variation_id": (variation > 0).then_some(variation) },
                "quantity": quantity, "unit_price": f64::from(i32::try_from(cents).unwrap_or(1)) / 100.0,
                "sale_fee": f64::from(fee) / 1_000.0,
            })
        },
    )
}

/// Documents of an order, oldest first.
fn life(id: i64) -> impl Strategy<Value = Vec<Said>> {
    let currency = prop_oneof![9 => Just("BRL"), 1 => Just("USD")];
    let logistic = select(vec!["drop_off", "cross_docking", "fulfillment"]);
    let document = (
        select(STATES.to_vec()),
        select(STEPS.to_vec()),
        proptest::collection::vec(line(), 1..6),
        proptest::option::of(0_i64..500),
        0_i64..3,
    );
    // What an order's parcel and goods cost is told of all its documents or of none: what was
    // told once stays.
    let of_order =
        (currency, logistic, 0_i64..20 * DAY_S, proptest::option::of(1_i64..1_000), any::<bool>());
    (of_order, proptest::collection::vec(document, 1..5)).prop_map(
        move |((currency, logistic, ago, cost, tells_fee), documents)| {
            let documents = documents.into_iter().zip(0_i64..);
            let said = documents.map(|((status, step, mut lines, refund, pack), age)| {
                if !tells_fee {
                    for line in &mut lines {
                        line["sale_fee"] = Value::Null;
                    }
                }
                let total: i64 = lines.iter().map(|line| cents(&line["unit_price"]) * units(line)).sum();
                let at = |at: i64| Instant(at).rfc3339();
                let refund = refund.filter(|_| status == "partially_refunded").unwrap_or(0).min(total);
                let order = json!({
                    "id": id, "status": status, "seller": { "id": SELLER.0 }, "currency_id": currency,
                    "date_created": at(NOW - ago), "date_closed": at(NOW - ago + 9),
                    "last_updated": at(NOW - 1_000 + age), "order_items": lines,
                    "total_amount": real(total), "pack_id": (pack > 0).then_some(900 + pack),
                    "payments": [{ "id": id * 10, "transaction_amount_refunded": real(refund) }],
                    "shipping": { "id": 70_000 + id }, "tags": ["paid"],
                });
                let shipment = json!({
                    "status": step.0, "substatus": step.1, "logistic": { "type": logistic },
                    "last_updated": at(NOW - 1_000 + age), "cost": cost,
                });
                (order, shipment)
            });
            said.collect()
        },
    )
}

fn real(cents: i64) -> Value {
    json!(format!("{}.{:02}", cents / 100, cents % 100))
}

/// Centavos of an amount, as the model reads it.
#[expect(clippy::cast_possible_truncation, reason = "small amounts")]
fn cents(amount: &Value) -> i64 {
    let number = amount.as_f64().or_else(|| amount.as_str()?.parse().ok()).unwrap_or(0.0);
    (number * 100.0).round() as i64
}

fn units(line: &Value) -> i64 {
    let quantity = &line["quantity"];
    quantity
        .as_i64()
        .or_else(|| quantity.as_str()?.trim_end_matches(".0").parse().ok())
        .unwrap_or(0)
}

/// The document that the books read.
fn document((order, shipment): &Said) -> OrderDocument {
    let mut read = OrderDocument::read(order).unwrap();
    let cost = shipment["cost"].as_i64().map(Cents);
    read.shipment = Some(Shipment { cost, ..Shipment::read(shipment) });
    read
}

/// Listing, variation, units and price of a line.
type Line = (String, Option<String>, i64, i64);

/// What the newest documents alone say.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    stock: BTreeMap<String, i64>,
    /// By supplier.
    owed: BTreeMap<i64, i64>,
    sales: i64,
    gross: i64,
    units: i64,
    known: i64,
    left: i64,
    /// Labels to be printed.
    to_print: i64,
    orders: BTreeMap<String, i64>,
    /// By order: listing, variation, units and price of each line, as programs see it.
    lines: BTreeMap<i64, Vec<Line>>,
}

fn said_by(newest: &[Said]) -> Outcome {
    let mut out = Outcome::default();
    for (sku, counted) in [("CAB-1", 50), ("CAP-2", 50)] {
        out.stock.insert(sku.to_owned(), counted);
    }
    for (order, shipment) in newest {
        let status = order["status"].as_str().unwrap_or_default();
        *out.orders.entry(status.to_owned()).or_default() += 1;
        let is_sale = matches!(status, "paid" | "partially_refunded");
        let in_reais = order["currency_id"] == "BRL";
        let lines = order["order_items"].as_array().unwrap();
        let of = |line: &Value| {
            let id = line["item"]["id"].as_str().unwrap_or_default();
            THINGS.into_iter().find(|(item, ..)| id == format!("MLB{item}")).unwrap()
        };
        let own_house = shipment["logistic"]["type"] != "fulfillment";
        let sub = shipment["substatus"].as_str().unwrap_or_default();
        let state = shipment["status"].as_str().unwrap_or_default();
        let left = sub == "dropped_off" || state == "shipped" || state == "delivered";
        let called_off = matches!(status, "cancelled" | "invalid");
        let is_out = own_house && (is_sale || called_off && left);
        let total = cents(&order["total_amount"]);
        let refunded = cents(&order["payments"][0]["transaction_amount_refunded"]);
        let mut cost = Some(0);
        let mut fee = Some(0);
        for line in lines {
            let (_, sku, unit, supplier) = of(line);
            if is_out && let Some(stock) = out.stock.get_mut(sku) {
                *stock -= units(line);
            }
            if is_sale && let Some((supplier, price)) = supplier {
                *out.owed.entry(supplier).or_default() += price * units(line);
            }
            cost = cost.zip(unit).map(|(sum, unit)| sum + unit * units(line));
            let said = line["sale_fee"].as_f64();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "small"
            )]
            let whole = said.map(|fee| (fee * units(line) as f64 * 100.0).round() as i64);
            fee = fee.zip(whole).map(|(sum, fee)| sum + fee);
        }
        if is_sale {
            out.sales += 1;
            out.units += lines.iter().map(units).sum::<i64>();
            if in_reais {
                out.gross += total;
                if let (Some(cost), Some(fee), Some(freight)) =
                    (cost, fee, shipment["cost"].as_i64())
                {
                    out.known += 1;
                    out.left += total - refunded - fee - freight - cost;
                }
            }
            out.to_print += i64::from(own_house && sub == "ready_to_print");
        }
        let shown = lines.iter().map(|line| {
            let variation = line["item"]["variation_id"].as_i64();
            let id = line["item"]["id"].as_str().unwrap_or_default().to_owned();
            (id, variation.map(|id| id.to_string()), units(line), cents(&line["unit_price"]))
        });
        out.lines.insert(order["id"].as_i64().unwrap_or(0), shown.collect());
    }
    out.owed.retain(|_, sum| *sum != 0);
    out
}

fn in_books(world: &World, owner: UserId, ids: &[i64]) -> Outcome {
    let mut out = Outcome::default();
    let words = &world.context.words;
    world.read(|tx| {
        out.stock = tx
            .tuples::<(String, i64)>(
                "SELECT sku, stock FROM product WHERE owner_id = ?1 AND sku LIKE 'CA%'",
                [owner],
            )?
            .into_iter()
            .collect();
        let owed = "SELECT supplier_id, sum(amount_cents) FROM drop_order
                    WHERE seller_id = ?1 AND state = 1 GROUP BY supplier_id";
        out.owed = tx.tuples::<(i64, i64)>(owed, [owner])?.into_iter().collect();
        let filter = Filter::all(world.context.zone, 10);
        let sum = sums::of(tx, words, owner, &filter, 0.0)?;
        (out.sales, out.gross, out.known, out.left) =
            (sum.sales, sum.gross.0, sum.known, sum.left.0);
        let listed = list::read_page(tx, words, owner, &filter)?;
        let earned = listed.earned(tx, words, owner, 0.0)?;
        // The list and its sum tell the same.
        let left: i64 =
            earned.iter().flatten().filter_map(left::Earned::left).map(|left| left.0).sum();
        assert_eq!(left, sum.left.0);
        out.units =
            tx.value("SELECT coalesce(sum(units), 0) FROM sales_day WHERE owner_id = ?1", [owner])?;
        let (labels, _) = crate::marketplace::tools::labels::count_to_print(tx, owner, SELLER)?;
        out.to_print = labels.cast_signed();
        let counted =
            "SELECT w.text, sum(orders) FROM order_count c JOIN word w ON w.word_id = c.status
                       WHERE owner_id = ?1 AND day = -1 GROUP BY 1";
        out.orders = tx.tuples::<(String, i64)>(counted, [owner])?.into_iter().collect();
        for id in ids {
            let shown = one(tx, words, owner, OrderId(*id), world.context.zone)?;
            let shown: Value = serde_json::from_str(&shown.unwrap_or_default()).unwrap();
            assert_eq!(shown["ml_id"], shown["items"][0]["ml_id"]);
            let items = shown["items"].as_array().unwrap().iter().map(|item| {
                let text = |name: &str| item[name].as_str().map(str::to_owned);
                (
                    text("ml_id").unwrap_or_default(),
                    text("variation_id"),
                    item["quantity"].as_i64().unwrap_or(0),
                    cents(&item["unit_price"]),
                )
            });
            out.lines.insert(*id, items.collect());
        }
        Ok(())
    });
    out
}

/// A person with products, costs and suppliers as the model has them.
fn furnish(world: &World, owner: UserId) {
    world.write(move |tx| {
        tx.execute(
            "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, ?1 || '@x.com', 'Ana', 'pro', 0)",
            [owner],
        )?;
        let product = "INSERT INTO product (owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
             VALUES (?1, ?2, '', ?2, ?3, ?4, ?5, 0, 0, ?2)";
        for (sku, cost, stock) in [("CAB-1", 1_000, 50), ("CAP-2", 250, 50)] {
            tx.execute(product, (owner, sku, cost, 1, stock))?;
        }
        tx.execute("INSERT INTO listing_cost (owner_id, item_id, cost_cents, updated_at) VALUES (?1, 3, 700, 0)", [owner])?;
        for (item, _, _, supplier) in THINGS {
            let Some((supplier, price)) = supplier else { continue };
            tx.execute(
                "INSERT OR IGNORE INTO user (user_id, email, name, role, created_at)
                 VALUES (?1, ?1 || '@f.com', 'Fornecedor', 'drop', 0)",
                [supplier],
            )?;
            let of_supplier = tx.insert(product, (supplier, format!("F-{item}-{}", owner.0), 1, price, 0))?;
            tx.execute(
                "INSERT INTO drop_relation (supplier_id, seller_id, email, state, invited_at, since)
                 VALUES (?1, ?2, ?2 || '@x.com', 2, 0, 0)",
                (supplier, owner),
            )?;
            tx.execute(
                "INSERT INTO drop_link (supplier_id, seller_id, item_id, product_id, created_at, site)
                 VALUES (?1, ?2, ?3, ?4, 0, 'MLB')",
                (supplier, owner, item, of_supplier),
            )?;
        }
        Ok(())
    });
}

#[test]
fn books_end_as_the_newest_documents_alone_say() {
    let world = World::new();
    let case = std::cell::Cell::new(0);
    let config =
        ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    let lives = (life(1), life(2), life(3), any::<u64>());
    proptest!(config, |((one, two, three, seed) in lives)| {
        let owner = UserId(case.get() + 1);
        case.set(case.get() + 1);
        furnish(&world, owner);
        // Numbers are the marketplace's: no two people have the same.
        let own = |mut said: Said| {
            let id = said.0["id"].as_i64().unwrap_or(0) + owner.0 * 10;
            said.0["id"] = json!(id);
            said.0["payments"][0]["id"] = json!(id * 10);
            said.0["shipping"]["id"] = json!(7_000_000 + id);
            said
        };
        let [one, two, three] = [one, two, three].map(|life| life.into_iter().map(own).collect::<Vec<_>>());
        let ids = [1, 2, 3].map(|id| id + owner.0 * 10);
        let newest: Vec<Said> = [&one, &two, &three].map(|life| life[life.len() - 1].clone()).into();
        let mut course: Vec<Said> = [one, two, three].concat();
        course.extend(course.clone());
        // Any order, from the seed.
        let mut state = seed | 1;
        for place in (1..course.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            course.swap(place, usize::try_from(state >> 33).unwrap_or(0) % (place + 1));
        }
        world.apply(owner, course.iter().map(document).collect(), NEVER);
        let (said, booked) = (said_by(&newest), in_books(&world, owner, &ids));
        // What is owed of an order that is neither paid nor called off stays as it was.
        let is_open = |(order, _): &Said| matches!(order["status"].as_str(), Some("payment_required" | "confirmed"));
        if newest.iter().any(is_open) {
            let owed = booked.owed.clone();
            prop_assert_eq!(Outcome { owed, ..said }, booked);
        } else {
            prop_assert_eq!(said, booked);
        }
    });
}
