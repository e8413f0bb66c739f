//! What each purchase event does to a student, through the receiver.

use serde_json::{Value, json};

use crate::checkout::receiving::{account, accounts};
use crate::support::actors::Actor;
use crate::support::checkout::{Event, ms};
use crate::support::client::Request;
use crate::support::random::Random;
use crate::support::site::Site;
use crate::support::wait::until;

const LIA: &str = "lia@exemplo.test";

/// Sends `event` of a transaction on a day.
fn tell(platform: &Actor<'_>, event: &str, transaction: &str, day: i64) {
    let id = format!("{event}-{transaction}-{day}");
    Event::new(&id, event, LIA, transaction, day)
        .next_charge(day + 60)
        .renewal(2)
        .send(platform)
        .ok();
}

fn approve(platform: &Actor<'_>, transaction: &str, day: i64) {
    let id = format!("aprovada-{transaction}-{day}");
    Event::approved(&id, LIA, transaction, day).send(platform).ok();
}

#[track_caller]
fn lia(site: &Site, expected: &str) {
    assert_eq!(account(site, LIA).as_deref(), Some(&*format!("{LIA} {expected}")));
}

/// The newest event in the inbox.
#[track_caller]
fn newest(site: &Site) -> Value {
    let admin = site.administrator();
    let list = Request::new("GET", "/admin/compras").header("Accept", "application/json");
    admin.send(list).ok()["dados"][0].take()
}

#[test]
fn an_approval_makes_a_student_and_greets_once() {
    let site = Site::builder().unlimited().config("email.smtp_url", "smtp://127.0.0.1:9").start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    lia(&site, "pro pago 2026-12-20");
    let user = "SELECT name || ' ' || chat_number || ' ' || (password_hash IS NULL) FROM user WHERE role = 'pro'";
    assert_eq!(site.stored(user), ["Lia Prado 5511987650000 1"]);
    let queued = "SELECT channel || ' ' || kind || ' ' || state FROM outbox ORDER BY channel";
    let greeting = ["chat boas_vindas 0", "email boas_vindas 0"];
    assert_eq!(site.stored(queued), greeting);
    // The same event, the same approval under another id, and a renewal.
    approve(&platform, "HP1", 0);
    Event::approved("outro-id", LIA, "HP1", 0).send(&platform).ok();
    Event::approved("renova", " LIA@Exemplo.Test ", "HP2", 30).renewal(2).send(&platform).ok();
    lia(&site, "pro pago 2027-01-19");
    assert_eq!(site.stored(queued), greeting);
    assert_eq!(site.stored("SELECT count(*) || '' FROM checkout_event"), ["3"]);
    // The audit log names the purchase that caused each change.
    let acts =
        "SELECT actor_kind || ' ' || actor_name || ' ' || action FROM audit ORDER BY audit_id";
    assert_eq!(site.stored(acts), ["compra HP1 aluno.criar", "compra HP2 aluno.alterar"]);
}

#[test]
fn the_plan_goes_by_offer_then_plan_then_product_then_the_default() {
    let site = Site::builder()
        .unlimited()
        .config("checkout.plans.oferta1", "vip")
        .config("checkout.plans.502", "podio")
        .config("checkout.plans.77002", "piloto_pro")
        .config("checkout.default_plan", "free")
        .start();
    let platform = site.anonymous();
    for (number, offer, plan, product, role) in [
        (1, "oferta1", "502", "77002", "vip"),
        (2, "outra", "502", "77002", "podio"),
        (3, "outra", "501", "77002", "piloto_pro"),
        (4, "outra", "501", "77001", "free"),
    ] {
        let email = format!("a{number}@exemplo.test");
        Event::approved(&format!("e-{number}"), &email, &format!("HP{number}"), 0)
            .with("/data/purchase/offer/code", offer)
            .with("/data/subscription/plan/id", plan.parse::<i64>().unwrap())
            .with("/data/product/id", product)
            .send(&platform)
            .ok();
        assert_eq!(account(&site, &email), Some(format!("{email} {role} pago 2026-12-20")));
    }
    // A test event of the checkout platform.
    Event::approved("teste", LIA, "HP9", 0).with("/data/product/id", 0).send(&platform).ok();
    assert_eq!(account(&site, LIA), None);
    assert_eq!(newest(&site)["resultado"], "guardado");
}

#[test]
fn a_product_without_a_plan_is_kept_and_can_be_processed_later() {
    let site = Site::builder().unlimited().config("checkout.default_plan", "").start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    tell(&platform, "PURCHASE_REFUNDED", "HP0", 0);
    assert_eq!(account(&site, LIA), None);
    let kept = newest(&site);
    assert_eq!(kept["resultado"], "sem-plano", "{kept}");
    site.stop();
    let file = site.folder().join("seller-platform.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + "\ncheckout.plans.abc12345 = \"vip\"\n").unwrap();
    site.start_again();
    let admin = site.administrator();
    let again = admin.post("/admin/compras/1/processar", &json!({})).ok();
    assert_eq!(again["resultado"], "aplicado", "{again}");
    lia(&site, "vip pago 2026-12-20");
    let again = admin.post("/admin/compras/1/processar", &json!({})).ok();
    assert_eq!(again["resultado"], "sem-efeito", "{again}");
    lia(&site, "vip pago 2026-12-20");
    let acts = "SELECT actor_kind || ' ' || action FROM audit ORDER BY audit_id";
    let acts = site.stored(acts);
    let count = |act: &str| acts.iter().filter(|one| *one == act).count();
    assert_eq!(count("pessoa compra.processar"), 2, "{acts:?}");
    assert_eq!(count("pessoa aluno.criar"), 1, "{acts:?}");
}

#[test]
fn money_that_went_back_ends_every_way_in_at_once() {
    for (event, again) in [("PURCHASE_REFUNDED", "HP2"), ("PURCHASE_CHARGEBACK", "HP3")] {
        let site = Site::builder().unlimited().start();
        let platform = site.anonymous();
        let extension = site.extension("ana");
        let ana = extension.person().email.clone();
        let send = |id: &str, event: &str, transaction: &str, day| {
            let event = Event::new(id, event, &ana, transaction, day).next_charge(day + 30);
            event.send(&platform).ok();
        };
        send("1", "PURCHASE_APPROVED", "HP1", 0);
        extension.get("/api/ext/me").ok();
        send("2", event, "HP1", 2);
        let refused = extension.get("/api/ext/me").expect(401);
        assert_eq!(refused.code(), "account_suspended", "{refused}");
        assert_eq!(account(&site, &ana), Some(format!("{ana} pro suspenso")));
        // A new purchase gives access again; the old token stays ended.
        send("3", "PURCHASE_APPROVED", again, 3);
        assert_eq!(account(&site, &ana), Some(format!("{ana} pro pago 2026-12-23")));
        extension.get("/api/ext/me").expect(401);
        site.extension("ana").get("/api/ext/me").ok();
    }
}

#[test]
fn the_refund_of_an_older_payment_changes_nothing() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    approve(&platform, "HP1", -30);
    approve(&platform, "HP2", 0);
    tell(&platform, "PURCHASE_REFUNDED", "HP1", 1);
    lia(&site, "pro pago 2026-12-20");
    assert_eq!(newest(&site)["resultado"], "sem-efeito");
    tell(&platform, "PURCHASE_REFUNDED", "HP2", 1);
    lia(&site, "pro suspenso");
}

#[test]
fn stale_events_change_nothing() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    // The refund arrives before the older approval.
    tell(&platform, "PURCHASE_REFUNDED", "HP1", 2);
    assert_eq!(account(&site, LIA), None);
    assert_eq!(newest(&site)["resultado"], "sem-aluno");
    approve(&platform, "HP1", 0);
    lia(&site, "pro suspenso");
    let waiting = "SELECT state || ' ' || coalesce(outcome, '') FROM outbox";
    assert_eq!(site.stored(waiting), ["2 a pessoa está suspensa"]);
    // Events of the current transaction that are older than its approval.
    approve(&platform, "HP2", 10);
    for event in ["PURCHASE_REFUNDED", "PURCHASE_CANCELED", "PURCHASE_DELAYED", "PURCHASE_EXPIRED"]
    {
        tell(&platform, event, "HP2", 9);
        lia(&site, "pro pago 2026-12-30");
    }
    // A person who gets access again gets a welcome message: the first was dropped.
    assert_eq!(site.stored("SELECT state || '' FROM outbox ORDER BY message_id"), ["2", "0"]);
}

#[test]
fn a_settled_sale_stands_in_for_a_lost_approval() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let settled = Event::approved("c-1", LIA, "HP1", -8).with("/event", "PURCHASE_COMPLETE");
    settled.send(&platform).ok();
    lia(&site, "pro pago 2026-12-12");
    approve(&platform, "HP2", 0);
    tell(&platform, "PURCHASE_COMPLETE", "HP2", 8);
    lia(&site, "pro pago 2026-12-20");
    assert_eq!(newest(&site)["resultado"], "sem-efeito");
}

#[test]
fn a_cancelled_purchase_and_a_refused_attempt() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let attempt = |id: &str, transaction: &str, day| {
        let event = Event::new(id, "PURCHASE_CANCELED", LIA, transaction, day);
        event.with("/data/purchase/status", "CANCELLED").renewal(1).send(&platform).ok();
    };
    attempt("1", "HP0", -2);
    assert_eq!(account(&site, LIA), None);
    approve(&platform, "HP1", -1);
    attempt("2", "HP2", 0);
    lia(&site, "pro pago 2026-12-19");
    tell(&platform, "PURCHASE_CANCELED", "HP3", 1);
    lia(&site, "pro pago 2026-12-19 atrasado 2026-11-21");
    tell(&platform, "PURCHASE_CANCELED", "HP1", 2);
    lia(&site, "pro suspenso");
    approve(&platform, "HP4", 3);
    lia(&site, "pro pago 2026-12-23");
    // Without a transaction the event is about the whole subscription.
    Event::new("9", "PURCHASE_CANCELED", LIA, "", 4)
        .without("/data/purchase/transaction")
        .send(&platform)
        .ok();
    lia(&site, "pro suspenso pago 2026-12-23");
}

#[test]
fn a_late_renewal_is_flagged_reminded_and_ends_after_the_grace() {
    let site = Site::builder().unlimited().config("cron.enabled", true).start();
    let platform = site.anonymous();
    approve(&platform, "HP1", -30);
    lia(&site, "pro pago 2026-11-20");
    for (event, day) in [("PURCHASE_DELAYED", 0), ("PURCHASE_EXPIRED", 1)] {
        tell(&platform, event, &format!("HP2-{day}"), day);
        lia(&site, "pro pago 2026-11-20 atrasado 2026-11-20");
    }
    let reminders = "SELECT channel || ' ' || params FROM outbox WHERE kind = 'pagamento_atrasado'";
    let reminder = format!("chat {}", json!({ "grace_days": 7, "paid_until": ms(0) / 1000 }));
    assert_eq!(site.stored(reminders), [reminder]);
    // Access ends exactly when the grace period is over.
    site.clock().advance_s(7 * 86_400 - 1);
    site.clock().advance_s(-1);
    lia(&site, "pro pago 2026-11-20 atrasado 2026-11-20");
    site.clock().advance_s(2 * 3600);
    until("the grace is over", std::time::Duration::from_secs(30), || {
        site.clock().advance_s(300);
        account(&site, LIA)?.contains("suspenso").then_some(())
    });
    approve(&platform, "HP3", 9);
    lia(&site, "pro pago 2026-12-29");
}

#[test]
fn the_first_charge_is_never_late() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let ana = site.make_person("ana", "free").email;
    for (id, event) in
        [("1", "PURCHASE_EXPIRED"), ("2", "PURCHASE_BILLET_PRINTED"), ("3", "PURCHASE_DELAYED")]
    {
        Event::new(id, event, &ana, "HP1", 0).renewal(1).send(&platform).ok();
    }
    assert_eq!(account(&site, &ana), Some(format!("{ana} free")));
}

#[test]
fn a_cancelled_subscription_lasts_until_it_is_paid() {
    let site = Site::builder().unlimited().config("cron.enabled", true).start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    let cancel = |id: &str, email: &str, code: &str, day: i64| {
        let event = json!({
            "id": id, "creation_date": ms(day), "event": "SUBSCRIPTION_CANCELLATION",
            "data": {
                "date_next_charge": ms(day + 90), "cancellation_date": ms(day),
                "product": { "id": 77001 },
                "subscriber": { "code": code, "email": email, "name": "Lia Prado" },
                "subscription": { "id": 1, "plan": { "id": 501 } },
            },
        });
        Event(event).send(&platform).ok();
    };
    cancel("c-1", LIA, &format!("S-{LIA}"), 1);
    lia(&site, "pro pago 2026-12-20 termina 2026-12-20");
    site.clock().advance_s(30 * 86_400 + 3601);
    until("the paid time is over", std::time::Duration::from_secs(30), || {
        site.clock().advance_s(300);
        account(&site, LIA)?.contains("suspenso").then_some(())
    });
    // The end of this paid period is not known.
    let ana = site.make_person("ana", "pro").email;
    cancel("c-2", &ana, "S-ana", 2);
    assert_eq!(account(&site, &ana), Some(format!("{ana} pro suspenso")));
}

#[test]
fn a_dispute_is_flagged_and_the_access_stays() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    tell(&platform, "PURCHASE_PROTEST", "HP1", 1);
    lia(&site, "pro pago 2026-12-20 disputa");
    tell(&platform, "PURCHASE_REFUNDED", "HP1", 3);
    lia(&site, "pro suspenso");
}

#[test]
fn a_switched_plan_is_the_current_one() {
    let site = Site::builder().unlimited().config("checkout.plans.502", "vip").start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    let switch = json!({
        "id": "t-1", "creation_date": ms(1), "event": "SWITCH_PLAN",
        "data": {
            "switch_plan_date": ms(1),
            "subscription": {
                "subscriber_code": format!("S-{LIA}"), "status": "ACTIVE",
                "date_next_charge": ms(90), "product": { "id": 77001 }, "user": { "email": LIA },
            },
            "plans": [
                { "id": 501, "name": "Pro", "current": false },
                { "id": 502, "name": "VIP", "current": true },
            ],
        },
    });
    Event(switch).send(&platform).ok();
    lia(&site, "vip pago 2026-12-20");
}

#[test]
fn suppliers_and_staff_are_left_alone() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    for (name, role) in [("rui", "drop"), ("administradora", "admin")] {
        let email = site.make_person(name, role).email;
        for event in ["PURCHASE_APPROVED", "PURCHASE_REFUNDED", "SUBSCRIPTION_CANCELLATION"] {
            let id = format!("{name}-{event}");
            Event::new(&id, event, &email, "HP1", 0).send(&platform).ok();
        }
        assert_eq!(account(&site, &email), Some(format!("{email} {role}")));
    }
    let states = "SELECT DISTINCT state || '' FROM checkout_event";
    assert_eq!(site.stored(states), ["6"]);
}

#[test]
fn a_purchase_is_found_although_its_buyer_changed_the_address() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    approve(&platform, "HP1", 0);
    let moved = "lia.prado@exemplo.test";
    Event::new("c-1", "PURCHASE_COMPLETE", moved, "HP1", 8).send(&platform).ok();
    Event::new("r-1", "PURCHASE_REFUNDED", moved, "HP1", 9).send(&platform).ok();
    assert_eq!(accounts(&site), [format!("{LIA} pro suspenso")]);
}

#[test]
fn an_event_without_an_id_is_known_by_transaction_and_name() {
    let site = Site::builder().unlimited().start();
    let platform = site.anonymous();
    let event = Event::approved("x", LIA, "HP1", 0).without("/id");
    for _ in 0..2 {
        event.send(&platform).ok();
    }
    event.with("/event", "PURCHASE_COMPLETE").send(&platform).ok();
    let nameless = json!({ "event": "COISA", "data": { "a": 1 } });
    for _ in 0..2 {
        Event(nameless.clone()).send(&platform).ok();
    }
    let stored = "SELECT event FROM checkout_event ORDER BY event_id";
    assert_eq!(site.stored(stored), ["PURCHASE_APPROVED", "PURCHASE_COMPLETE", "COISA"]);
}

/// The sixty events of the unit test, through the receiver.
#[test]
fn sixty_events_in_a_few_orders_end_in_the_same_accounts() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/checkout/sessenta.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ends: Vec<Vec<String>> = Vec::new();
    for seed in 0..4 {
        let site = Site::builder()
            .unlimited()
            .config("checkout.plans.vip12345", "vip")
            .config("checkout.plans.503", "podio")
            .config("checkout.plans.77002", "podio")
            .start();
        site.make_person("fornecedor", "drop");
        let mut random = Random::new(seed);
        let mut order: Vec<&Value> = events.iter().chain(&events).collect();
        if seed > 0 {
            for last in (1..order.len()).rev() {
                let other = usize::try_from(random.below(last as u64 + 1)).unwrap();
                order.swap(last, other);
            }
        }
        // Four connections at once, so that the writer gets yet another order.
        std::thread::scope(|scope| {
            for part in order.chunks(order.len() / 4) {
                let site = &site;
                scope.spawn(move || {
                    let platform = site.anonymous();
                    for event in part {
                        Event((*event).clone()).send(&platform).ok();
                    }
                });
            }
        });
        let end = accounts(&site);
        assert!(end.len() > 14, "{end:?}");
        ends.push(end);
    }
    for end in &ends {
        assert_eq!(*end, ends[0]);
    }
}
