//! Reads what the official API posts: `entry[].changes[].value.statuses[]`. All else in it,
//! such as what people write to our number, is passed over and not kept.

use serde_json::Value;

use crate::base::Instant;
use crate::http::Problem;
use crate::messages::delivery::SendOutcome;
use crate::messages::delivery::chat::cloud::{self, Tracking};
use crate::outbox::Receipt;

/// Most statuses of one body, as the vendor promises.
const MOST: usize = 1_000;
/// Longest id of a message; what is longer was not given by the API.
const LONGEST_ID: usize = 300;

/// What was told of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The API's id for it.
    pub id: String,
    /// Ours, where it is repeated.
    pub tracking: Option<Tracking>,
    /// The number it went to, as the network writes it; may be empty.
    pub to: String,
    pub at: Option<Instant>,
    pub told: Told,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Arrived(Receipt),
    /// It failed; what follows is the same as if the answer had said so.
    Failed(SendOutcome),
}

/// The statuses in a body, in their order; what is none is left out.
pub fn read(body: &Value) -> Result<Vec<Status>, Problem> {
    let changes = list(&body["entry"]).flat_map(|entry| list(&entry["changes"]));
    let all = changes.flat_map(|change| list(&change["value"]["statuses"]));
    let statuses: Vec<Status> = all.filter_map(one).take(MOST + 1).collect();
    if statuses.len() > MOST {
        return Err(Problem::field("entry", "must have at most 1000 statuses"));
    }
    Ok(statuses)
}

fn one(status: &Value) -> Option<Status> {
    let text = |name: &str| status[name].as_str().unwrap_or_default();
    let told = match text("status") {
        "sent" => Told::Arrived(Receipt::SentOn),
        "delivered" => Told::Arrived(Receipt::Delivered),
        "read" | "played" => Told::Arrived(Receipt::Read),
        "failed" => Told::Failed(cloud::told_later(&status["errors"][0])),
        _ => return None,
    };
    let id = text("id");
    if id.is_empty() || id.len() > LONGEST_ID {
        return None;
    }
    // Seconds, as text.
    let at = text("timestamp").parse().ok().or_else(|| status["timestamp"].as_i64());
    Some(Status {
        id: id.to_owned(),
        tracking: Tracking::read(text("biz_opaque_callback_data")),
        to: text("recipient_id").to_owned(),
        at: at.filter(|at| *at > 0).map(Instant),
        told,
    })
}

/// The entries of a list; none of what is no list.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
