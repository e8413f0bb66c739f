//! Copies of a shop's orders, each kept by one of the three ways to keep up, equal the
//! books after random histories: sales, cancellations, parcels that move, payments that
//! come back, webhooks that are lost.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::keeping_up::{entries, read, settled, walk};
use crate::support::actors::Actor;
use crate::support::hooked::{Manner, Receiver, make, near};
use crate::support::random::Random;
use crate::support::shop::Shop;
use crate::support::sync::wait_until_worked;
use crate::support::world::LOJA;

/// Orders by their number.
type Copy = BTreeMap<String, Value>;

fn store(copy: &mut Copy, orders: impl IntoIterator<Item = Value>) {
    for order in orders {
        copy.insert(order["order_id"].as_str().unwrap().to_owned(), order);
    }
}

/// A program that keeps up by what changed since.
#[derive(Default)]
struct ByChanges {
    orders: Copy,
    since: String,
}

impl ByChanges {
    fn catch_up(&mut self, ana: &Actor<'_>) {
        let since = if self.since.is_empty() { "2026-01-01T00:00:00" } else { &self.since };
        let changed = walk(ana, &format!("/orders?updated_since={since}&limit=3"), || {});
        if let Some(last) = changed.last() {
            last["updated_at"].as_str().unwrap().clone_into(&mut self.since);
        }
        store(&mut self.orders, changed);
    }
}

/// A program that keeps up by events.
#[derive(Default)]
struct ByEvents {
    orders: Copy,
    after: Option<String>,
}

impl ByEvents {
    fn catch_up(&mut self, ana: &Actor<'_>) {
        loop {
            let after = self.after.as_ref().map(|id| format!("&after={id}")).unwrap_or_default();
            let page = read(ana, &format!("/events?limit=4{after}"));
            let of_orders = entries(&page).into_iter().filter(|event| {
                event["type"].as_str().is_some_and(|kind| kind.starts_with("order."))
            });
            store(&mut self.orders, of_orders.map(|event| event["data"].clone()));
            self.after = page["pagination"]["next_after"].as_str().map(str::to_owned);
            if page["pagination"]["has_more"] == false {
                return;
            }
        }
    }
}

/// Something that happens in the shop.
pub fn happen(shop: &Shop, random: &mut Random, orders: &mut Vec<String>) {
    let changes = [
        json!({ "status": "cancelled", "notify": true }),
        json!({ "status": "paid", "notify": true }),
        json!({ "shipping_status": "ready_to_ship", "notify": true }),
        json!({ "shipping_status": "shipped", "notify": true }),
        json!({ "shipping_status": "delivered", "notify": true }),
    ];
    if orders.is_empty() || random.below(3) == 0 {
        let sale = json!({ "quantity": 1 + random.below(3), "notify": true });
        orders.push(shop.world.sale_with(LOJA, &sale)["id"].to_string());
    } else {
        let order = random.pick(orders);
        // Not every state follows on every other.
        shop.world.may_control(&format!("/_sandbox/orders/{order}"), random.pick(&changes));
    }
}

#[test]
fn copies_kept_in_three_ways_equal_the_books() {
    for seed in 0..4 {
        let shop = Shop::open_with(near);
        let (receiver, panel) = (Receiver::start(), shop.ana());
        make(&shop.site, &panel, &receiver.url("/"), &["order.created", "order.updated"]);
        let ana = shop.site.seller("ana").plan("scale");
        let (mut random, mut orders) = (Random::new(seed), Vec::new());
        let (mut changes, mut events) = (ByChanges::default(), ByEvents::default());
        wait_until_worked(&shop.world, &shop.site);
        for _ in 0..40 {
            happen(&shop, &mut random, &mut orders);
            match random.below(8) {
                0 => changes.catch_up(&ana),
                1 => events.catch_up(&ana),
                2 => wait_until_worked(&shop.world, &shop.site),
                3 => receiver.answers(Manner::HangUp),
                4 => receiver.answers(Manner::Status(204, "")),
                _ => {}
            }
        }
        wait_until_worked(&shop.world, &shop.site);
        settled(&shop);
        changes.catch_up(&ana);
        events.catch_up(&ana);
        let mut listed = Copy::new();
        store(&mut listed, walk(&ana, "/orders?limit=3", || {}));

        let books: Copy = orders
            .iter()
            .map(|order| (order.clone(), read(&ana, &format!("/orders/{order}"))))
            .collect();
        assert_eq!(listed, books, "seed {seed}: by cursor");
        assert_eq!(changes.orders, books, "seed {seed}: by updated_since");
        assert_eq!(events.orders, books, "seed {seed}: by events");
        let stored = "SELECT o.order_id || ' ' || w.text || ' ' || coalesce(p.text, '-') FROM sale_order o
                      JOIN word w ON w.word_id = o.status LEFT JOIN word p ON p.word_id = o.shipping_status
                      ORDER BY o.order_id";
        let shown = books.iter().map(|(id, order)| {
            let parcel = order["shipping"]["status"].as_str().unwrap_or("-");
            format!("{id} {} {parcel}", order["status"].as_str().unwrap())
        });
        assert_eq!(shop.site.stored(stored), shown.collect::<Vec<_>>(), "seed {seed}");
    }
}
