//! `drop_list_events`: what happened to drop orders, in order, for programs that pull it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::events::Audience;
use crate::http::schema::word_list;
use crate::http::{Check, Code, Field};
use crate::identity::Supplier;
use crate::partner::event_stream::{self, AFTER, Asked, EventPage};
use crate::partner::list::{DEFAULT_LIMIT, MAX_LIMIT};
use crate::partner::operation::{Begun, Operation};

/// Which events are asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDropEvents {
    /// The id of an event, for those after it; `latest` for none, only to learn where to go on. Without it from the oldest that is kept.
    #[serde(default)]
    #[schemars(regex(pattern = AFTER))]
    after: Field<String>,
    /// Types of events with commas between.
    #[serde(default, rename = "type")]
    #[schemars(extend("pattern" = word_list(&event_stream::names(Audience::Supplier)), "examples" = ["drop_order.created"]))]
    kinds: Field<String>,
    /// Most entries of the page.
    #[serde(default)]
    #[schemars(range(min = 1, max = MAX_LIMIT), extend("default" = DEFAULT_LIMIT))]
    limit: Field<i64>,
}

impl Operation for ListDropEvents {
    type By = Supplier;
    type Reply = EventPage;

    /// The id is too old.
    const ERRORS: &'static [Code] = &[Code::EventsExpired];

    fn begin(self, app: &App, caller: &Supplier, check: Check) -> Begun<Self> {
        let asked = Asked { after: self.after, kinds: self.kinds, limit: self.limit };
        event_stream::begin(app, caller.account.user_id, asked, Audience::Supplier, check)
    }
}
