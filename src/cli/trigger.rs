//! `trigger`: makes something happen in the test shop of a token.

use anyhow::anyhow;
use serde_json::{Value, json};

use super::api_client::{Access, ApiClient};
use super::{Context, say};
use crate::events::{Audience, EventType};

#[derive(clap::Args)]
pub struct Trigger {
    /// Type of the event, such as order.paid.
    #[arg(value_name = "TYPE", value_parser = parse_type)]
    kind: EventType,
    #[command(flatten)]
    access: Access,
}

/// A type that programs can subscribe to.
fn parse_type(text: &str) -> Result<EventType, String> {
    EventType::from_name(text).filter(|kind| kind.audience().is_some()).ok_or_else(|| {
        let all = EventType::ALL.into_iter().filter(|kind| kind.audience().is_some());
        format!("must be one of {}", all.map(EventType::name).collect::<Vec<_>>().join(", "))
    })
}

pub fn run(context: &Context, wanted: Trigger) -> anyhow::Result<()> {
    let target = match wanted.kind.audience() {
        Some(Audience::Supplier) => "/drop/sandbox/events",
        _ => "/sandbox/events",
    };
    let api = ApiClient::new(context, wanted.access)?;
    let answer = api.post(target, &json!({ "type": wanted.kind.name() }));
    let answer = answer.map_err(|error| api.unreachable(&error))?;
    if answer.status != 200 {
        return Err(answer.refusal());
    }
    let body: Value = serde_json::from_str(&answer.body)?;
    let id = body["data"]["id"].as_str().ok_or_else(|| anyhow!("the answer has no id"))?;
    say(format_args!("{} {id}", wanted.kind.name()))
}
