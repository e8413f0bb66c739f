//! `drop_trigger_event`: makes something happen in a test shop.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::events::Audience;
use crate::http::{Check, Code, Field};
use crate::identity::Supplier;
use crate::partner::event_stream::names;
use crate::partner::operation::{Begun, Operation};
use crate::partner::trial::happen::{self, Happened};

/// What is to happen.
#[derive(Deserialize, JsonSchema)]
pub struct TriggerDropEvent {
    /// A type of event, as webhooks and the list of events name it.
    #[serde(default, rename = "type")]
    #[schemars(!default, extend("enum" = names(Audience::Supplier)))]
    kind: Field<String>,
}

impl Operation for TriggerDropEvent {
    type By = Supplier;
    type Reply = Happened;

    /// The shop is full, or lacks what the event needs.
    const ERRORS: &'static [Code] = &[Code::TestTokenRequired, Code::Conflict];

    fn begin(self, app: &App, caller: &Supplier, check: Check) -> Begun<Self> {
        happen::begin(app, caller.account.user_id, self.kind, Audience::Supplier, check)
    }
}
