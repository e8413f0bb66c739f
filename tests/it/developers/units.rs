//! Times and amounts of the Partner API say what they are in: civil times have the same
//! instant with its offset beside them, amounts a currency.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value, json};

use crate::support::openapi::{document, follow, operations};
use crate::support::site::Site;

/// The name under which a civil time has its offset.
fn with_offset(name: &str) -> String {
    format!("{name}{}", if name.ends_with("_at") { "_rfc3339" } else { "_at" })
}

/// What is wrong with the civil times of an example, and how many there are.
fn civil_times(place: &str, example: &Value, wrong: &mut Vec<String>) -> usize {
    let inside: Vec<&Value> = match example {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let deeper: usize = inside.into_iter().map(|one| civil_times(place, one, wrong)).sum();
    let Some(members) = example.as_object() else { return deeper };
    let civil = |value: &Value| value.as_str().is_some_and(is_civil);
    let times: Vec<(&String, &Value)> = members.iter().filter(|(_, value)| civil(value)).collect();
    for (name, time) in &times {
        if !fits(members, name, time) {
            wrong.push(format!("{place}: {name}"));
        }
    }
    deeper + times.len()
}

fn is_civil(text: &str) -> bool {
    text.len() == "2026-11-20T08:41:27".len() && text.parse::<DateTime>().is_ok()
}

/// Whether the same instant stands beside a civil time.
fn fits(members: &Map<String, Value>, name: &str, time: &Value) -> bool {
    let beside = members.get(&with_offset(name)).and_then(Value::as_str).unwrap_or_default();
    beside.parse::<Timestamp>().is_ok() && beside.starts_with(time.as_str().unwrap())
}

#[test]
fn civil_times_have_the_same_instant_with_its_offset_beside_them() {
    let document = document();
    let (mut wrong, mut found) = (Vec::new(), 0);
    for (path, method, operation) in operations(&document) {
        if path.starts_with("/api/v1/partner") {
            let reply = follow(&document, &operation["responses"]["200"]);
            let example = &reply["content"]["application/json"]["example"];
            found += civil_times(&format!("{method} {path}"), example, &mut wrong);
        }
    }
    assert!(found > 15, "{found}");
    assert!(wrong.is_empty(), "without an offset beside them:\n{}", wrong.join("\n"));
}

#[test]
fn health_names_the_zone_of_civil_times() {
    for (zone, offset) in [("America/Sao_Paulo", "-03:00"), ("America/Manaus", "-04:00")] {
        let site = Site::builder().unlimited().config("server.timezone", zone).start();
        let health = site.seller("ana").plan("pro").get("/api/v1/partner/health").ok();
        assert_eq!(health["time_zone"], json!(zone));
        let (civil, exact) = (&health["server_time"], &health["server_time_at"]);
        assert_eq!(*exact, json!(format!("{}{offset}", civil.as_str().unwrap())));
        let at: Timestamp = exact.as_str().unwrap().parse().unwrap();
        assert_eq!(at, site.clock().now());
        let guide = site.anonymous().get("/desenvolvedores").expect(200).text();
        assert!(guide.contains(zone), "{guide}");
    }
}

/// Amounts in a schema that say nothing of their currency.
fn amounts(document: &Value, place: &str, schema: &Value, wrong: &mut Vec<String>) -> usize {
    let mut found = 0;
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let field = follow(document, field);
        let kinds = [&field["type"], &field["type"][0]];
        if kinds.contains(&&json!("number")) && !name.ends_with("_rate") {
            found += 1;
            let said = field["description"].as_str().unwrap_or_default();
            if !said.contains("BRL") && !said.contains("`currency`") {
                wrong.push(format!("{place}.{name}: {said}"));
            }
        }
        found += amounts(document, &format!("{place}.{name}"), field, wrong);
    }
    if schema["items"].is_object() {
        found += amounts(document, place, follow(document, &schema["items"]), wrong);
    }
    found
}

#[test]
fn amounts_name_their_currency() {
    let document = document();
    let (mut wrong, mut found) = (Vec::new(), 0);
    for (path, method, operation) in operations(&document) {
        if path.starts_with("/api/v1/partner") {
            let reply = follow(&document, &operation["responses"]["200"]);
            let schema = follow(&document, &reply["content"]["application/json"]["schema"]);
            found += amounts(&document, &format!("{method} {path}"), schema, &mut wrong);
        }
    }
    assert!(found > 15, "{found}");
    assert!(wrong.is_empty(), "without a currency:\n{}", wrong.join("\n"));
}
