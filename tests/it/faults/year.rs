//! Days of a small school with a shop, one after the other, by the clock file: sales with
//! notifications, students, logins, check-ins, and the periodic tasks. Some days with all
//! other tests; `tests/run --year` makes it a year.

use serde_json::json;

use super::figures::table;
use super::state::{HEAD, State};
use crate::support::client::Request;
use crate::support::cron;
use crate::support::site::Site;
use crate::support::sync::{PATIENCE, mirrored, orders, shop, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Hours of a day at which something happens, as seconds since the one before.
const PAUSES_S: [i64; 4] = [6 * 3_600; 4];
/// Sales at each of them.
const SALES: i64 = 2;
/// Memory that may come later than the first third of the days.
const MORE_MEMORY: u64 = 24 << 20;

#[test]
fn day_after_day_nothing_is_lost_and_only_data_grows() {
    let days = super::setting("PROOF_YEAR_DAYS").map_or(6, |text| text.parse().expect("days"));
    let world = shop();
    let site = mirrored(&world);
    let had = orders(&site);
    // Enough for years of sales.
    let item = world.control(
        "/_sandbox/items",
        &json!({
            "ml_user_id": LOJA, "title": "Cabo", "price": 19.9, "stock": 100_000,
        }),
    );
    let item = item["id"].as_str().unwrap();
    let mut states = vec![State::of(&site)];
    let each = (days / 12).max(1);
    for day in 1..=days {
        pass((&world, &site), item, day);
        if day % each == 0 {
            states.push(State::of(&site));
        }
    }
    let made = days * i64::try_from(PAUSES_S.len()).unwrap() * SALES;
    wait_until_worked(&world, &site);
    until("every sale is there", PATIENCE, || {
        site.clock().advance_s(60);
        (orders(&site) == had + made).then_some(())
    });
    world.no_violations();
    site.anonymous().get("/readyz").expect(200);
    let (settled, end) = (states[states.len() / 3], states.last().unwrap());
    assert!(end.memory < settled.memory + MORE_MEMORY, "{settled:?} became {end:?}");
    assert!(end.handles <= settled.handles + 16, "{settled:?} became {end:?}");
    let mut lines = HEAD.map(|head| head.replace("| when", "| day")).to_vec();
    lines.extend((0..).zip(&states).map(|(look, state)| state.row(&(look * each).to_string())));
    lines.extend([String::new(), format!("{made} sales in {days} days, all read.")]);
    if days > 30 {
        table("year", &lines);
    }
}

/// One day.
fn pass((world, site): (&World, &Site), item: &str, day: i64) {
    for pause in PAUSES_S {
        site.clock().advance_s(pause);
        for _ in 0..SALES {
            world.sale_with(LOJA, &json!({ "item": item, "notify": true }));
        }
        world.deliveries();
        let ana = site.person("ana");
        for page in ["/painel", "/painel/ml"] {
            ana.get(page).expect(200);
        }
        cron::run(site);
    }
    let ana = site.person("ana");
    ana.send(Request::new("POST", "/painel/checkin").form(&[]));
    if day % 3 == 0 {
        let student = json!({
            "nome": format!("Aluna {day}"), "email": format!("aluna{day}@example.com"),
        });
        site.key(&["write"]).post("/api/v1/alunos/criar", &student).expect(201);
    }
}
