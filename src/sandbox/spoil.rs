//! Records that are served unreadable, so that a test can see what one bad
//! record does to a page of good ones.

use serde_json::{Value, json};

use super::state::World;

/// Records that may be spoiled at a time.
const SPOILED_MAX: usize = 1_000;

/// A record, or what is left of it when it was spoiled.
pub fn unless_whole(world: &World, name: &str, mut record: Value) -> Value {
    if world.spoiled.contains(name) {
        for (field, value) in [
            ("date_created", json!("ontem à tarde")),
            ("last_updated", json!("há pouco")),
            ("date_last_updated", json!(["hoje"])),
            ("total_amount", json!("muito")),
            ("price", json!({ "value": [] })),
            ("status", json!(7)),
        ] {
            if let Some(there) = record.get_mut(field) {
                *there = value;
            }
        }
    }
    record
}

/// Spoils a record such as `orders/2000001`, or makes it whole again.
pub fn set(world: &mut World, name: &str, spoiled: bool) -> Result<(), String> {
    let name = name.trim_start_matches('/');
    if !spoiled {
        world.spoiled.remove(name);
        return Ok(());
    }
    let (kind, id) = name.split_once('/').unwrap_or_default();
    if !matches!(kind, "orders" | "items" | "questions" | "claims") || id.is_empty() {
        return Err("record must be orders/, items/, questions/ or claims/ and an id".to_owned());
    }
    if world.spoiled.len() >= SPOILED_MAX {
        return Err(format!("at most {SPOILED_MAX} records are spoiled"));
    }
    world.spoiled.insert(name.to_owned());
    Ok(())
}
