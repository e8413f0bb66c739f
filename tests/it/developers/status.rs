//! The public state of the service, and its days.

use serde_json::{Value, json};

use super::pages::{STATUS, in_both};
use crate::support::client::Request;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

#[track_caller]
fn status(site: &Site) -> Value {
    let ask = Request::new("GET", STATUS).header("Accept", "application/json");
    site.anonymous().send(ask).expect(200).json()
}

/// The days of a part, each with its observed and impaired seconds.
fn days(status: &Value, name: &str) -> Vec<(String, i64, i64)> {
    let parts = status["components"].as_array().unwrap();
    let part = parts.iter().find(|part| part["name"] == name);
    let days = part.unwrap_or_else(|| panic!("no {name}: {status}"))["days"].as_array().unwrap();
    let number = |day: &Value, name: &str| day[name].as_i64().unwrap();
    days.iter()
        .map(|day| {
            let date = day["date"].as_str().unwrap().to_owned();
            (date, number(day, "observed_s"), number(day, "impaired_s"))
        })
        .collect()
}

/// Waits until a part was checked on `count` days.
#[track_caller]
fn seen(site: &Site, name: &str, count: usize) -> Vec<(String, i64, i64)> {
    until("the day is noted", PATIENCE, || {
        let days = days(&status(site), name);
        (days.len() == count).then_some(days)
    })
}

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

#[test]
fn how_the_service_was_is_kept_by_day_for_ninety_days() {
    let site = Site::builder().unlimited().start();
    let now = status(&site);
    assert_eq!(
        (&now["status"], &now["checked_at"]),
        (&json!("operational"), &json!("2026-11-20T09:00:00"))
    );
    let names: Vec<&str> = now["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(names.starts_with(&["api", "database"]), "{names:?}");
    assert_eq!(days(&now, "api"), []);
    site.clock().advance_s(61);
    assert_eq!(seen(&site, "api", 1), [("2026-11-20".to_owned(), 61, 0)]);
    // Time that was not observed is not counted: a jump counts for two minutes.
    site.clock().advance_s(86_400);
    let two = seen(&site, "database", 2);
    assert_eq!(two[1], ("2026-11-21".to_owned(), 120, 0));
    site.stop();
    site.start_again();
    assert_eq!(days(&status(&site), "database"), two, "a restart keeps it");
    site.clock().advance_s(100 * 86_400);
    until("old days are removed", PATIENCE, || {
        let left = days(&status(&site), "api");
        let stored = site.stored("SELECT DISTINCT day || '' FROM component_day");
        (left.len() == 1 && stored.len() == 1).then_some(())
    });
    let [portuguese, english] = in_both(&site, STATUS);
    for (page, good, day) in [
        (&portuguese, "Tudo funcionando", "01/03/2027"),
        (&english, "All systems operational", "1 Mar 2027"),
    ] {
        let text = &page.all(&["main"]).next().unwrap().text;
        assert!(text.contains(good), "{text}");
        // The state is shown in words, and not only as a colour.
        let told = page.all(&["li"]).filter(|line| line.text.contains(day)).count();
        assert!(told >= 2, "{text}");
    }
}

#[test]
fn a_marketplace_that_is_away_shows_in_the_state_and_in_the_day() {
    let world = World::start();
    let site = Site::builder().world(&world).unlimited().start();
    let ana = site.person("ana");
    world.seller(900_000_001, "LOJA DA ANA");
    world.link(&ana, 900_000_001);
    site.clock().advance_s(61);
    let before = seen(&site, "marketplace", 1);
    assert_eq!(before[0].2, 0, "{before:?}");
    world.configure(&json!({ "down": true }));
    let calls = || ana.get("/painel/ml/calculadora/taxas-json?conta=900000001&preco=10");
    until("the marketplace is known to be away", PATIENCE, || {
        calls();
        (status(&site)["status"] == "down").then_some(())
    });
    site.clock().advance_s(61);
    until("the minute is noted", PATIENCE, || {
        let days = days(&status(&site), "marketplace");
        (days[0].2 >= 61).then_some(())
    });
    let page = site.anonymous().get(STATUS).expect(200).text();
    assert!(page.contains("Fora do ar") && page.contains("com falhas por"), "{page}");
    let json = status(&site).to_string();
    for secret in ["secret", "127.0.0.1", "/tmp", "sandbox"] {
        assert!(!json.contains(secret), "{secret}: {json}");
    }
}
