//! Keeping up: pages by cursor, what changed since, one order by its number, and the
//! stream of events.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::dropshipping::Trade;
use crate::support::hooked::{Receiver, make, near};
use crate::support::shop::Shop;
use crate::support::sync::wait_until_worked;
use crate::support::wait::until;
use crate::support::world::LOJA;

const BASE: &str = "/api/v1/partner";

#[track_caller]
pub fn read(actor: &Actor<'_>, target: &str) -> Value {
    actor.get(&format!("{BASE}{target}")).expect(200).json()
}

/// The fields at fault of a refused call.
#[track_caller]
fn faults(actor: &Actor<'_>, target: &str) -> Vec<String> {
    let refused = actor.get(&format!("{BASE}{target}")).expect(400).json();
    let fields = refused["error"]["fields"].as_object().unwrap_or_else(|| panic!("{refused}"));
    fields.keys().cloned().collect()
}

pub fn entries(page: &Value) -> Vec<Value> {
    page["data"].as_array().unwrap().clone()
}

fn ids(entries: &[Value], name: &str) -> Vec<String> {
    entries.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

/// All entries of a list, page by page; `between` runs after each page.
#[track_caller]
pub fn walk(actor: &Actor<'_>, target: &str, mut between: impl FnMut()) -> Vec<Value> {
    let (mut all, mut page) = (Vec::new(), read(actor, target));
    loop {
        all.extend(entries(&page));
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { return all };
        between();
        let join = if target.contains('?') { '&' } else { '?' };
        page = read(actor, &format!("{target}{join}cursor={cursor}"));
    }
}

/// A shop of Ana with some sales, and her program.
fn shop_with_sales(count: usize) -> Shop {
    let shop = Shop::open();
    drop(shop.site.seller("ana").plan("scale"));
    drop(shop.site.seller("rui").plan("scale"));
    for _ in 0..count {
        shop.world.sale_with(LOJA, &json!({ "notify": true }));
    }
    wait_until_worked(&shop.world, &shop.site);
    shop
}

#[test]
fn pages_neither_repeat_nor_skip_while_sales_come() {
    let shop = shop_with_sales(9);
    let ana = shop.site.seller("ana");
    let before = ids(&entries(&read(&ana, "/orders?limit=200")), "order_id");
    assert_eq!(before.len(), 9);
    let item = read(&ana, "/orders")["data"][0]["ml_id"].as_str().unwrap().to_owned();
    for filters in [
        String::new(),
        "&status=paid,payment_required".to_owned(),
        format!("&store={LOJA}"),
        format!("&ml_id={item}"),
        format!("&ml_id={item}&status=paid&from=2026-01-01"),
    ] {
        let seen = walk(&ana, &format!("/orders?limit=2{filters}"), || {
            shop.world.sale_with(LOJA, &json!({ "notify": true }));
            wait_until_worked(&shop.world, &shop.site);
        });
        let now = ids(&entries(&read(&ana, "/orders?limit=200")), "order_id");
        let seen = ids(&seen, "order_id");
        assert_eq!(seen, now[now.len() - seen.len()..], "{filters}");
        assert!(seen.ends_with(&before), "{filters}");
    }
    let page = read(&ana, "/orders?limit=2");
    let total = page["pagination"]["total"].clone();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let next = read(&ana, &format!("/orders?limit=1&cursor={cursor}"));
    assert_eq!((&next["pagination"]["total"], &next["pagination"]["offset"]), (&total, &json!(0)));
    assert_eq!(next["data"].as_array().unwrap().len(), 1, "the limit may be another one");
    for wrong in [
        format!("cursor={cursor}&status=paid"),
        format!("cursor={cursor}A"),
        format!("cursor={}", &cursor[1..]),
        "cursor=50".to_owned(),
        "cursor=".to_owned(),
    ] {
        assert_eq!(faults(&ana, &format!("/orders?{wrong}")), ["cursor"], "{wrong}");
    }
    assert_eq!(faults(&ana, &format!("/stock?cursor={cursor}")), ["cursor"]);
    assert_eq!(faults(&shop.site.seller("rui"), &format!("/orders?cursor={cursor}")), ["cursor"]);
    assert_eq!(faults(&ana, &format!("/orders?cursor={cursor}&offset=2")), ["offset"]);
}

#[test]
fn orders_are_narrowed_by_states_parcels_and_changes() {
    let shop = shop_with_sales(4);
    let ana = shop.site.seller("ana");
    let orders = ids(&entries(&read(&ana, "/orders")), "order_id");
    let change = |at: usize, fields: Value| {
        shop.site.clock().advance_s(60);
        shop.world.control(&format!("/_sandbox/orders/{}", orders[at]), &fields);
        wait_until_worked(&shop.world, &shop.site);
        read(&ana, &format!("/orders/{}", orders[at]))["updated_at"].as_str().unwrap().to_owned()
    };
    let first = change(2, json!({ "shipping_status": "shipped", "notify": true }));
    let second = change(0, json!({ "status": "cancelled", "notify": true }));
    let last = change(3, json!({ "shipping_status": "delivered", "notify": true }));
    assert!(first < second && second < last, "{first} {second} {last}");

    let of = |query: &str| ids(&entries(&read(&ana, &format!("/orders?{query}"))), "order_id");
    let pick = |places: &[usize]| places.iter().map(|at| orders[*at].clone()).collect::<Vec<_>>();
    assert_eq!(of("status=cancelled,invalid"), pick(&[0]));
    assert_eq!(of("status=paid,cancelled"), orders);
    assert_eq!(of("shipping_status=shipped,delivered"), pick(&[2, 3]));
    assert_eq!(of("shipping_status=delivered,shipped&limit=1&offset=1"), pick(&[3]));
    assert_eq!(of("shipping_status=delivered&status=cancelled"), pick(&[]));
    assert_eq!(of(&format!("updated_since={first}")), pick(&[2, 0, 3]), "in their order");
    assert_eq!(of(&format!("updated_since={second}&status=paid")), pick(&[3]));
    assert_eq!(of(&format!("updated_since={second}&shipping_status=delivered")), pick(&[3]));
    assert_eq!(of(&format!("updated_since={last}-03:00")), pick(&[3]));
    let page = read(&ana, &format!("/orders?updated_since={first}&limit=2"));
    assert_eq!(page["pagination"]["total"], 3);
    let rest = walk(&ana, &format!("/orders?updated_since={first}&limit=1"), || {});
    assert_eq!(ids(&rest, "order_id"), pick(&[2, 0, 3]));
    let parcels = walk(&ana, "/orders?shipping_status=shipped,delivered&limit=1", || {});
    assert_eq!(ids(&parcels, "order_id"), pick(&[2, 3]));

    for (query, field) in [
        ("status=activ", "status"),
        ("status=paid,", "status"),
        ("status=paid;cancelled", "status"),
        ("shipping_status=sent", "shipping_status"),
        ("from=2026-11-21&to=2026-11-20", "from"),
        ("updated_since=ontem", "updated_since"),
        ("updated_since=2026-11-20", "updated_since"),
    ] {
        assert_eq!(faults(&ana, &format!("/orders?{query}")), [field], "{query}");
    }
}

#[test]
fn one_order_is_as_in_the_list_and_its_owners_alone() {
    let shop = shop_with_sales(1);
    let (ana, rui) = (shop.site.seller("ana"), shop.site.seller("rui"));
    let listed = read(&ana, "/orders")["data"][0].clone();
    let path = format!("{BASE}/orders/{}", listed["order_id"].as_str().unwrap());
    let reply = ana.get(&path).expect(200);
    assert_eq!(reply.json(), listed);
    assert!(reply.header("etag").is_some());
    assert_eq!(rui.get(&path).expect(404).code(), "not_found");
    ana.get(&format!("{BASE}/orders/1")).expect(404);
    ana.get(&format!("{BASE}/orders/x")).expect(400);
    ana.get(&format!("{path}?fields=all")).expect(400);
}

#[test]
fn stock_and_notifications_are_walked_while_they_change() {
    let shop = shop_with_sales(0);
    let (ana, panel) = (shop.site.seller("ana"), shop.ana());
    let product = |sku: &str| {
        let entry = json!({ "sku": sku, "titulo": "Copo", "preco": 20, "estoque": 1 });
        panel.post("/painel/produtos", &entry).expect(201);
    };
    for sku in ["B", "D", "F", "H"] {
        product(sku);
    }
    let mut more = ["A", "C", "Z"].into_iter();
    let seen = walk(&ana, "/stock?limit=2", || more.by_ref().take(3).for_each(product));
    assert_eq!(ids(&seen, "sku"), ["B", "D", "F", "H", "Z"]);

    let notice = |title: &str| {
        let asked = json!({ "channel": "email", "event": "custom", "title": title, "body": "x" });
        ana.post(&format!("{BASE}/notify"), &asked)
    };
    if notice("1").status == 200 {
        for title in ["2", "3", "4", "5"] {
            notice(title).expect(200);
        }
        let seen = walk(&ana, "/notifications?limit=2", || {
            notice("new").expect(200);
        });
        assert_eq!(ids(&seen, "title"), ["5", "4", "3", "2", "1"]);
    }
}

#[test]
fn drop_orders_are_walked_while_they_come() {
    let trade = Trade::open();
    trade.link_and_sell(&[1, 2, 3]);
    let sol = trade.sol();
    let before = ids(&entries(&read(&sol, "/drop/orders")), "drop_order_id");
    assert_eq!(before.len(), 3);
    for filter in ["", "&status=pending"] {
        let seen = walk(&sol, &format!("/drop/orders?limit=1{filter}"), || {
            trade.shop.site.clock().advance_s(5);
            trade.sell(1);
        });
        assert!(ids(&seen, "drop_order_id").ends_with(&before), "{filter}");
        let twice = ids(&seen, "drop_order_id");
        assert!(twice.iter().all(|id| twice.iter().filter(|one| *one == id).count() == 1));
    }
    let cursor = read(&sol, "/drop/orders?limit=1")["pagination"]["next_cursor"].clone();
    let other = format!("/drop/orders?status=paid&cursor={}", cursor.as_str().unwrap());
    assert_eq!(faults(&sol, &other), ["cursor"]);
    let events = read(&sol, "/drop/events?type=drop_order.created");
    assert_eq!(
        ids(&entries(&events), "type").first().map(String::as_str),
        Some("drop_order.created")
    );
    assert_eq!(faults(&sol, "/drop/events?type=order.paid"), ["type"]);
}

/// The events of an account once those of all changes so far are there.
#[track_caller]
pub fn settled(shop: &Shop) {
    until("the events are there", Duration::from_secs(20), || {
        let waiting = shop.site.stored("SELECT count(*) || '' FROM webhook_event");
        (waiting == ["0"]).then_some(())
    });
}

#[test]
fn events_are_pulled_as_webhooks_send_them() {
    let shop = Shop::open_with(near);
    let (receiver, panel) = (Receiver::start(), shop.ana());
    make(&shop.site, &panel, &receiver.url("/"), &["order.created", "order.paid"]);
    let ana = shop.site.seller("ana").plan("scale");
    let rui = shop.site.seller("rui").plan("scale");
    let start = until("the plan is known", Duration::from_secs(20), || {
        let reply = ana.get(&format!("{BASE}/events?after=latest"));
        (reply.status == 200).then(|| reply.json())
    });
    assert_eq!(start["data"], json!([]));
    assert_eq!(start["pagination"], json!({ "limit": 50, "next_after": null, "has_more": false }));
    let order = shop.world.sale_with(LOJA, &json!({ "notify": true }))["id"].to_string();
    wait_until_worked(&shop.world, &shop.site);
    let hits = receiver.wait_for(2);
    let path = format!("/_sandbox/orders/{order}");
    shop.world.control(&path, &json!({ "status": "cancelled", "notify": true }));
    wait_until_worked(&shop.world, &shop.site);
    settled(&shop);

    let page = read(&ana, "/events");
    // The sale also changes its listing.
    let kinds = ids(&entries(&page), "type").into_iter().filter(|kind| kind.starts_with("order."));
    let told = ["order.created", "order.paid", "order.cancelled", "order.updated"];
    assert!(kinds.eq(told), "{page}");
    for (hit, event) in hits.iter().zip(entries(&page)) {
        assert_eq!((hit.json(), json!(hit.id)), (event.clone(), event["id"].clone()));
    }
    let all = ids(&entries(&page), "id");
    let last = all.last().unwrap();
    let after = |id: &str| read(&ana, &format!("/events?after={id}"));
    assert_eq!(ids(&entries(&after(&all[1])), "id"), all[2..]);
    assert_eq!(after(last)["data"], json!([]));
    assert_eq!(after("latest")["pagination"]["next_after"], json!(last));
    let typed = read(&ana, "/events?type=order.paid,order.created&limit=1");
    assert_eq!(ids(&entries(&typed), "type"), ["order.created"]);
    assert_eq!(typed["pagination"]["has_more"], true);
    let next = typed["pagination"]["next_after"].as_str().unwrap();
    let rest = read(&ana, &format!("/events?type=order.paid,order.created&after={next}"));
    assert_eq!(ids(&entries(&rest), "type"), ["order.paid"]);
    assert_eq!(rest["pagination"]["next_after"], json!(last), "past what it does not want");

    assert_eq!(read(&rui, "/events")["data"], json!([]));
    assert_eq!(faults(&rui, &format!("/events?after={}", all[0])), ["after"]);
    for (query, field) in [
        ("after=1", "after"),
        ("after=msg_00000000000000000000000000000001", "after"),
        ("type=order.lost", "type"),
        ("type=drop_order.paid", "type"),
        ("limit=0", "limit"),
    ] {
        assert_eq!(faults(&ana, &format!("/events?{query}")), [field], "{query}");
    }
}
