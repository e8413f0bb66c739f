//! What the platform reads by itself: the first reading of an account, later
//! changes, and both when something goes wrong.

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;
use crate::support::sync::{
    PATIENCE, accounts, area, joined, mirrored, orders, quiet_sale, run_after, shop,
    wait_until_read,
};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

const OUTRA: u64 = 900_000_002;
/// After this time every account was read again.
const TURN_S: i64 = 1_800;

/// Makes sales of a shop for `days` days; returns how many it has.
fn history(world: &World, shop: u64, days: i64, daily: i64) -> i64 {
    let plan = json!({ "ml_user_id": shop, "days": days, "daily": daily, "seed": days });
    let made = world.control("/_sandbox/history", &plan);
    made["orders"].as_i64().unwrap()
}

/// Requires that the sums equal a recount.
#[track_caller]
fn sums_agree(site: &Site) {
    let sums = site.stored(
        "SELECT (SELECT sum(orders) FROM order_count WHERE ml_user_id = 0 AND day = -1) || ' ' ||
                (SELECT sum(orders) FROM sales_day)",
    );
    let counted = site.stored("SELECT count(*) || ' ' || sum(status IN (5, 6)) FROM sale_order");
    assert_eq!(sums, counted);
}

fn counts(accounts: i64, sales: i64, errors: i64) -> Value {
    json!({ "contas": accounts, "vendas_novas": sales, "erros": errors })
}

fn searches(world: &World) -> Vec<String> {
    let calls = world.requests().into_iter();
    let calls = calls.filter(|call| call["path"] == "/orders/search");
    calls.map(|call| call["query"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_year_of_orders_is_read_and_nobody_is_told() {
    let world = shop();
    let had = history(&world, LOJA, 360, 6);
    // The marketplace keeps twelve months.
    let old = json!({ "date_created": "2025-10-01T12:00:00Z", "notify": false });
    world.sale_with(LOJA, &old);
    let site = mirrored(&world);
    let ana = site.person("ana");
    assert_eq!(orders(&site), had);
    let read = area(&ana, "pedidos");
    assert_eq!((&read["feitos"], &read["esperados"]), (&json!(had), &json!(had)));
    assert_eq!(accounts(&ana)[0]["historico_desde"], Value::Null);
    let told = site.stored("SELECT count(*) || '' FROM notification");
    assert_eq!(told, ["0"]);
    let cancelled = "SELECT (count(*) > 0) || '' FROM sale_order WHERE status = 8";
    assert_eq!(site.stored(cancelled), ["1"]);
    sums_agree(&site);
    assert_eq!(world.violations(), [json!(null); 0]);
    // Known orders are not read again.
    world.forget_requests();
    site.stop();
    site.start_again();
    assert_eq!(searches(&world), [""; 0]);
}

#[test]
fn an_hour_with_more_orders_than_can_be_paged_is_read_from_both_ends() {
    for silent in [false, true] {
        let world = shop();
        world.configure(&json!({ "orders_reach": 1_000, "silent_reach": silent }));
        let stocked = json!({ "ml_user_id": LOJA, "title": "Copo", "price": 9.9, "stock": 5_000 });
        world.control("/_sandbox/items", &stocked);
        let in_the_hour = |number: i64| {
            let minute = number % 60;
            let at = format!("2026-11-12T15:{minute:02}:00Z");
            world.sale_with(LOJA, &json!({ "date_created": at, "notify": false }));
        };
        (0..1_050).for_each(in_the_hour);
        let before = json!({ "date_created": "2026-10-01T12:00:00Z", "notify": false });
        world.sale_with(LOJA, &before);
        let site = joined(&world).start();
        let ana = site.person("ana");
        world.link(&ana, LOJA);
        wait_until_read(&site, &ana);
        assert_eq!(orders(&site), 1_051, "silent {silent}");
        if silent {
            // Sales after the link are read as well.
            (0..1_050).for_each(|_| drop(quiet_sale(&world, LOJA)));
            // A run reads for 20 s at most; the next one continues.
            until("they are here", PATIENCE, || {
                run_after(&site, TURN_S);
                (orders(&site) == 2_101).then_some(())
            });
            wait_until_read(&site, &ana);
        }
        sums_agree(&site);
        world.no_violations();
    }
}

#[test]
fn days_with_more_orders_than_can_be_paged_are_split() {
    let world = shop();
    let had: i64 = (1..=4).map(|days| history(&world, LOJA, days, 500)).sum();
    let site = mirrored(&world);
    let busiest = site.stored(
        "SELECT max(n) || '' FROM (SELECT count(*) n FROM sale_order GROUP BY created_at / 86400)",
    );
    assert!(busiest[0].parse::<i64>().unwrap() > 1_000, "{busiest:?}");
    assert_eq!(orders(&site), had);
    sums_agree(&site);
    for search in searches(&world) {
        let offset = form_urlencoded::parse(search.as_bytes()).find(|(name, _)| name == "offset");
        let offset: i64 = offset.unwrap().1.parse().unwrap();
        assert!(offset <= 1_000, "{search}");
    }
    assert_eq!(world.violations(), [json!(null); 0]);
}

#[test]
fn a_killed_reading_goes_on_where_it_was() {
    let world = shop();
    let had = history(&world, LOJA, 300, 30);
    let site = joined(&world).start();
    let ana = site.person("ana");
    world.fault(&json!({ "path_prefix": "/orders/search", "times": 0, "kind": "slow", "ms": 500 }));
    world.link(&ana, LOJA);
    for round in 1..=3 {
        let done = || area(&ana, "pedidos")["feitos"].as_i64().unwrap();
        let before = done();
        until("some more is here", PATIENCE, || (done() > before).then_some(()));
        site.kill();
        let read_from = site.stored("SELECT position || '' FROM ml_sync WHERE area = 1");
        let read_from: i64 = read_from[0].split(' ').next().unwrap().parse().unwrap();
        world.forget_requests();
        site.start_again();
        until("it goes on", PATIENCE, || (searches(&world).len() > 2).then_some(()));
        for search in searches(&world) {
            let mut pairs = form_urlencoded::parse(search.as_bytes());
            let (_, to) = pairs.find(|(name, _)| name == "order.date_created.to").unwrap();
            let to = to.parse::<jiff::Timestamp>().unwrap().as_second();
            assert!(to <= read_from + 3600, "round {round}: {search}");
        }
    }
    world.clear_faults();
    wait_until_read(&site, &ana);
    assert_eq!(orders(&site), had);
    let read = area(&ana, "pedidos");
    assert_eq!(read["feitos"], had, "each counts once: {read}");
    sums_agree(&site);
}

#[test]
fn a_marketplace_in_trouble_delays_the_first_reading_and_loses_nothing() {
    let world = shop();
    let had = history(&world, LOJA, 200, 20);
    let site = joined(&world).start();
    let ana = site.person("ana");
    for (skip, fault) in (2..).step_by(4).zip([
        json!({ "kind": "status", "code": 500 }),
        json!({ "kind": "garbage" }),
        json!({ "kind": "truncated" }),
        json!({ "kind": "lost_response" }),
        json!({ "kind": "rate_limited", "retry_after": 7 }),
        json!({ "kind": "rate_limited" }),
        json!({ "kind": "status", "code": 401 }),
        json!({ "kind": "status", "code": 503, "body": "<html>" }),
    ]) {
        let mut fault = fault;
        fault["path_prefix"] = "/orders/search".into();
        fault["skip"] = skip.into();
        world.fault(&fault);
    }
    world.link(&ana, LOJA);
    until("a failure shows", PATIENCE, || {
        let orders = area(&ana, "pedidos");
        (orders["estado"] == "com_erro" && orders["erro"].is_string()).then_some(())
    });
    assert_eq!(accounts(&ana)[0]["token_ok"], true);
    wait_until_read(&site, &ana);
    assert_eq!(area(&ana, "pedidos")["erro"], Value::Null);
    assert_eq!(orders(&site), had);
    sums_agree(&site);
}

#[test]
fn an_account_unlinked_while_it_is_read_is_left_alone() {
    let world = shop();
    let had = history(&world, LOJA, 300, 20);
    let site = joined(&world).start();
    let ana = site.person("ana");
    // The reading cannot finish during this test.
    world.fault(&json!({
        "path_prefix": "/orders/search", "skip": 12, "times": 0, "kind": "slow", "ms": 3_000,
    }));
    world.link(&ana, LOJA);
    until("some is here", PATIENCE, || (orders(&site) > 0).then_some(()));
    let unlink = format!("/painel/ml/contas/{LOJA}/desvincular");
    ana.send(Request::new("POST", &unlink).form(&[])).expect(303);
    world.clear_faults();
    // The next person who links it gets all sales, and Ana keeps those she had.
    let rui = site.person("rui");
    world.link(&rui, LOJA);
    wait_until_read(&site, &rui);
    let of = |name: &str| {
        let counted = site.stored(&format!(
            "SELECT count(*) || '' FROM sale_order WHERE owner_id = (SELECT user_id FROM user WHERE email LIKE '{name}%')"
        ));
        counted[0].parse::<i64>().unwrap()
    };
    assert_eq!(of("rui"), had);
    assert!((1..had).contains(&of("ana")));
    assert_eq!(site.stored("SELECT count(*) || '' FROM ml_sync WHERE next_at < 0"), ["0"]);
}

#[test]
fn what_nobody_told_is_found_by_the_periodic_run() {
    let world = shop();
    let site = mirrored(&world);
    assert_eq!(run_after(&site, TURN_S), counts(1, 0, 0));
    // A requested run reads the present state, whichever account is next.
    quiet_sale(&world, LOJA);
    assert_eq!(run_after(&site, 0), counts(1, 1, 0));
    world.forget_requests();
    let first = quiet_sale(&world, LOJA);
    quiet_sale(&world, LOJA);
    assert_eq!(run_after(&site, TURN_S), counts(1, 2, 0));
    let told = "SELECT count(*) || '' FROM notification WHERE title = 'Nova venda'";
    assert_eq!(site.stored(told), ["3"], "they were made after the link");
    for search in searches(&world) {
        assert!(search.contains("order.date_last_updated.from="), "{search}");
    }
    let cancel = json!({ "status": "cancelled", "notify": false });
    world.control(&format!("/_sandbox/orders/{first}"), &cancel);
    assert_eq!(run_after(&site, TURN_S), counts(1, 0, 0));
    let state = format!("SELECT status || '' FROM sale_order WHERE order_id = {first}");
    assert_eq!(site.stored(&state), ["8"]);
    sums_agree(&site);
    // A sale with a notification is not new for the run.
    world.sale(LOJA);
    world.deliveries();
    until("it is here", PATIENCE, || (orders(&site) == 4).then_some(()));
    assert_eq!(run_after(&site, TURN_S), counts(1, 0, 0));
    assert_eq!(site.stored(told), ["4"]);
    assert_eq!(world.violations(), [json!(null); 0]);
}

#[test]
fn a_long_silence_is_made_up_in_windows() {
    let world = shop();
    let site = mirrored(&world);
    site.stop();
    site.clock().advance_s(20 * 86_400);
    let sold: i64 = (10..13).map(|days| history(&world, LOJA, days, 70)).sum();
    assert!(sold > 2_000, "{sold}");
    // Some of them change days after they were made.
    site.clock().advance_s(7 * 86_400);
    site.start_again();
    let mut found = 0;
    until("all are here", PATIENCE, || {
        found += run_after(&site, 60)["vendas_novas"].as_i64().unwrap();
        (orders(&site) == sold).then_some(())
    });
    let sales = site.stored("SELECT sum(status IN (5, 6)) || '' FROM sale_order");
    assert_eq!(sales, [found.to_string()]);
    assert_eq!(world.violations(), [json!(null); 0]);
}

#[test]
fn one_account_in_trouble_does_not_hold_up_another() {
    let world = shop();
    world.seller(OUTRA, "LOJA DO RUI");
    world.item(OUTRA, "Cabo", 19.9);
    let site = joined(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    world.link(&ana, LOJA);
    world.link(&rui, OUTRA);
    wait_until_read(&site, &ana);
    wait_until_read(&site, &rui);
    world.end_tokens(LOJA, "revoke");
    quiet_sale(&world, LOJA);
    quiet_sale(&world, OUTRA);
    assert_eq!(run_after(&site, TURN_S), counts(1, 1, 1));
    assert_eq!(accounts(&ana)[0]["token_ok"], false);
    assert_eq!(area(&ana, "pedidos")["estado"], "parada");
    // Until it is linked again nothing is requested for it, and this is no error.
    world.forget_requests();
    assert_eq!(run_after(&site, TURN_S), counts(1, 0, 0));
    let asked = world.requests();
    assert!(asked.iter().all(|call| call["ml_user_id"] == OUTRA), "{asked:?}");
    world.forget_requests();
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    assert_eq!(orders(&site), 2);
    for search in searches(&world) {
        assert!(!search.contains("date_created"), "what was here is read again: {search}");
    }
}

#[test]
fn a_part_that_is_refused_is_no_lost_link() {
    let world = shop();
    let site = mirrored(&world);
    let ana = site.person("ana");
    for code in [401, 403] {
        let fault =
            json!({ "path_prefix": "/users/me", "times": 0, "kind": "status", "code": code });
        world.fault(&fault);
        quiet_sale(&world, LOJA);
        assert_eq!(run_after(&site, TURN_S), counts(0, 1, 1), "{code}");
        let account = &accounts(&ana)[0];
        assert_eq!((&account["token_ok"], &account["erro"]), (&json!(true), &Value::Null));
        assert_eq!(area(&ana, "pedidos")["estado"], "em_dia");
        assert_eq!(area(&ana, "conta")["estado"], "com_erro");
        world.clear_faults();
        assert_eq!(run_after(&site, TURN_S), counts(1, 0, 0), "{code}");
        assert_eq!(area(&ana, "conta")["estado"], "em_dia");
    }
}

#[test]
fn a_part_that_is_out_of_order_holds_up_no_other() {
    let world = shop();
    let sale = world.sale_with(LOJA, &json!({ "notify": false }));
    world.item(LOJA, "Garrafa", 20.0);
    let site = joined(&world).start();
    for path in ["/questions/search", "/users/900000001/items/search"] {
        let fault = json!({ "path_prefix": path, "times": 0, "kind": "status", "code": 500 });
        world.fault(&fault);
    }
    let claim = json!({ "ml_user_id": LOJA, "order": sale["id"], "notify": false });
    world.control("/_sandbox/claims", &claim);
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    let good = ["pedidos", "reclamacoes", "conta", "envios"];
    until("the others are read", PATIENCE, || {
        site.clock().advance_s(20);
        let is_read = |name: &&str| area(&ana, name)["estado"] == "em_dia";
        good.iter().all(is_read).then_some(())
    });
    for name in ["perguntas", "anuncios"] {
        assert_ne!(area(&ana, name)["estado"], "em_dia", "{name}");
    }
    assert_eq!(accounts(&ana)[0]["reclamacoes"], 1);
    // Changes are found too.
    quiet_sale(&world, LOJA);
    world.control("/_sandbox/claims", &claim);
    until("they are known", PATIENCE, || {
        run_after(&site, 900);
        (orders(&site) == 2 && accounts(&site.person("ana"))[0]["reclamacoes"] == 2).then_some(())
    });
    world.clear_faults();
    // After many failures the pause is more than an hour.
    site.clock().advance_s(5_000);
    let ana = site.person("ana");
    wait_until_read(&site, &ana);
}

#[test]
fn an_owner_has_an_account_read_now_once_a_minute() {
    let world = shop();
    let site = joined(&world).start();
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let target = format!("/painel/ml/contas/{LOJA}/sincronizar");
    let ask = |person: &Actor<'_>| -> Reply { person.post(&target, &json!({})) };
    quiet_sale(&world, LOJA);
    ask(&rui).expect(404);
    ana.post("/painel/ml/contas/x/sincronizar", &json!({})).expect(404);
    assert_eq!(ask(&ana).ok(), json!({ "ok": true }));
    until("the sale is here", PATIENCE, || (orders(&site) == 1).then_some(()));
    let refused = ask(&ana).expect(429);
    assert_eq!(refused.code(), "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("60"));
    let form = || ana.send(Request::new("POST", &target).form(&[])).expect(303);
    let leads_to = |reply: Reply| reply.header("location").unwrap().to_owned();
    assert_eq!(leads_to(form()), "/painel/ml");
    let page = ana.get("/painel/ml").expect(200).text();
    assert!(page.contains("A sincronização já foi pedida"), "{page}");
    site.clock().advance_s(60);
    let led = leads_to(form());
    assert_eq!(led, "/painel/ml");
    let page = ana.get(&led).expect(200).text();
    assert!(page.contains("A sincronização começou"), "{page}");
}
