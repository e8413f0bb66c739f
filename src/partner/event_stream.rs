//! The events that webhooks tell, to be pulled: `list_events` of sellers and
//! `drop_list_events` of suppliers, whose arguments are beside their other operations.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::list::{DEFAULT_LIMIT, MAX_LIMIT, reading};
use super::webhooks::{self, LoggedEvent, MessageId};
use crate::app::App;
use crate::base::UserId;
use crate::db::{DbError, ReadTx, Result};
use crate::dropshipping::relations;
use crate::edge::route::Todo;
use crate::events::{Audience, EventType};
use crate::http::{Check, Code, Field, Problem};

/// In place of an id: begin with what happens from now on.
const LATEST: &str = "latest";
/// What `after` can be.
pub const AFTER: &str = "^(latest|msg_[0-9a-f]{32})$";

const EXPIRED: &str = "events after this one are no longer kept: call with after=latest, read the lists anew, \
                       then go on with the next_after of that call";

/// Arguments of the operation, as they were sent.
pub struct Asked {
    pub after: Field<String>,
    pub kinds: Field<String>,
    pub limit: Field<i64>,
}

/// Events in the order in which they happened, and where to go on.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EventList")]
pub struct EventPage {
    /// The events, the oldest first.
    #[schemars(with = "Vec<EventShape>")]
    data: Vec<Box<RawValue>>,
    /// Where to go on.
    pagination: EventPagination,
}

impl EventPage {
    /// Whether nothing happened after the event that the call named.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

/// An event as webhooks send it.
#[derive(JsonSchema)]
#[schemars(rename = "Event")]
#[expect(dead_code, reason = "bodies are stored as text; this is what they look like")]
struct EventShape {
    /// What happened, such as `order.paid`.
    #[schemars(rename = "type")]
    kind: String,
    /// Its id, as `webhook-id` has it.
    #[schemars(regex(pattern = "^msg_[0-9a-f]{32}$"))]
    id: String,
    /// When it happened, in UTC.
    #[schemars(extend("format" = "date-time"))]
    timestamp: String,
    /// The order, the stock or whatever it is about, as it was then.
    data: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
struct EventPagination {
    /// Most entries of this page, as asked for.
    limit: i64,
    /// The `after` of the next call, also when nothing is new; null while the account has no event.
    next_after: Option<String>,
    /// Whether there are more events already.
    has_more: bool,
}

/// The names of the types of an audience.
pub fn names(audience: Audience) -> Vec<&'static str> {
    EventType::of(audience).map(EventType::name).collect()
}

/// Begins to read the events of an account.
pub fn begin(
    app: &App,
    owner: UserId,
    asked: Asked,
    audience: Audience,
    mut check: Check,
) -> std::result::Result<Todo<EventPage>, Problem> {
    let after: Option<String> = check.optional("after", asked.after);
    let from = match after.as_deref() {
        None => Some(webhooks::Position::Oldest),
        Some(LATEST) => Some(webhooks::Position::Newest),
        Some(id) => MessageId::read(&app.sealer, owner, id).map(webhooks::Position::After),
    };
    if from.is_none() {
        check.fail("after", "must be the id of an event of this account, or latest");
    }
    let kinds = check.words("type", asked.kinds, &names(audience));
    let limit = check.number("limit", asked.limit, 1..=MAX_LIMIT).unwrap_or(DEFAULT_LIMIT);
    check.finish()?;
    let from = from.unwrap_or(webhooks::Position::Oldest);
    let kinds: Vec<EventType> = kinds.into_iter().filter_map(EventType::from_name).collect();
    reading(app, false, move |app, lane| {
        let most = usize::try_from(limit).unwrap_or(0);
        let read = app.db.read(lane, |tx| {
            let mut read = webhooks::stretch(tx, owner, from, &kinds, most)?;
            if let (Some(read), Audience::Supplier) = (&mut read, audience) {
                read.events = of_sellers(tx, owner, std::mem::take(&mut read.events))?;
            }
            Ok::<_, DbError>(read)
        })?;
        let Some(read) = read else { return Err(Problem::new(Code::EventsExpired, EXPIRED)) };
        let next_after = read.last.map(|id| id.to_string());
        let pagination = EventPagination { limit, next_after, has_more: read.has_more };
        Ok(EventPage {
            data: read.events.into_iter().map(|event| event.body).collect(),
            pagination,
        })
    })
}

/// The part of an event's body that names the seller of a drop order.
#[derive(Deserialize)]
struct OfSeller {
    data: SellerNumber,
}

#[derive(Deserialize)]
struct SellerNumber {
    seller_id: String,
}

/// Without those of sellers who have left the supplier, who are in no list either.
fn of_sellers(
    tx: &ReadTx<'_>,
    supplier: UserId,
    events: Vec<LoggedEvent>,
) -> Result<Vec<LoggedEvent>> {
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut shown = Vec::with_capacity(events.len());
    for event in events {
        let seller = serde_json::from_str(event.body.get()).map(|OfSeller { data }| data.seller_id);
        let seller = seller.unwrap_or_default();
        let is_active = if let Some(is_active) = known.get(&seller) {
            *is_active
        } else {
            let number = seller.parse().map(UserId).unwrap_or_default();
            relations::is_active(tx, supplier, number)?
        };
        known.insert(seller, is_active);
        if is_active {
            shown.push(event);
        }
    }
    Ok(shown)
}
