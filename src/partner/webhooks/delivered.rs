//! The deliveries of an endpoint with all attempts, for programs.

use super::operations::{Asker, BegunAct, HookAct};
use super::store::{self, Delivery, DeliveryQuery};
use super::wire::WebhookDelivery;
use super::{DeliveryState, attempts};
use crate::app::App;
use crate::events::{Audience, EventType};
use crate::http::{Check, Problem, RowNumber};
use crate::list_arguments;
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{DEFAULT_LIMIT, Window, reading};

/// The states by which the list is narrowed.
const STATES: [(&str, DeliveryState); 3] = [
    ("waiting", DeliveryState::Waiting),
    ("delivered", DeliveryState::Delivered),
    ("failed", DeliveryState::GivenUp),
];
const STATE_NAMES: [&str; 3] = [STATES[0].0, STATES[1].0, STATES[2].0];

/// The names of the types of which an endpoint of an audience is told; tests, too.
pub fn types(audience: Audience) -> Vec<&'static str> {
    EventType::of(audience).chain([EventType::Test]).map(EventType::name).collect()
}

list_arguments! {
    /// Which deliveries are asked for.
    pub struct ListWebhookDeliveries {
        /// Number of the address.
        #[schemars(!default, extend("examples" = ["7"]))]
        webhook_id: RowNumber,
        /// What became of them.
        #[schemars(extend("enum" = STATE_NAMES))]
        status: String,
        /// Types of events with commas between.
        #[serde(rename = "type")]
        kinds: String,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

impl HookAct for ListWebhookDeliveries {
    type Reply = CursorListOf<WebhookDelivery>;

    fn begin(self, app: &App, by: Asker<'_>, mut check: Check) -> BegunAct<Self> {
        let RowNumber(endpoint) = check.required("webhook_id", self.webhook_id);
        let state = check.one_of("status", self.status, &STATES);
        let kinds = check.words("type", self.kinds, &types(by.audience));
        let kinds: Vec<EventType> = kinds.into_iter().filter_map(EventType::from_name).collect();
        let window = Window::read(&mut check, self.limit, self.offset);
        let owner = by.caller.account.user_id;
        let filters = format!("{endpoint} {state:?} {kinds:?}");
        let scope = ListScope::of(app, owner, "webhook_deliveries", &filters);
        let walk: Walk<i64> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        let wanted =
            DeliveryQuery { endpoint, state, kind: None, newest_first: true, window: walk.rows() };
        // Each row has its attempts read, and of a type all are looked at for those of a state.
        let is_narrow = state.is_some() && !kinds.is_empty();
        let is_slow = window.is_far() || window.limit > DEFAULT_LIMIT || is_narrow;
        reading(app, is_slow, move |app, lane| {
            let read = app.db.read(lane, |tx| {
                store::one(tx, owner, endpoint)?.ok_or_else(Problem::not_found)?;
                let (found, total) = store::deliveries_of(tx, &wanted, &kinds, walk.after)?;
                let all = found.into_iter().map(|one| {
                    let attempts = attempts::of_delivery(tx, endpoint, one.number)?;
                    Ok((one, attempts))
                });
                Ok::<_, Problem>((all.collect::<Result<Vec<_>, Problem>>()?, total))
            })?;
            let number = |(one, _): &(Delivery, _)| one.number;
            Ok(walk.page(read, number, |found| WebhookDelivery::of(found, app.zone())))
        })
    }
}
