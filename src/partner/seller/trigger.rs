//! `trigger_event`: makes something happen in a test shop.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::events::Audience;
use crate::http::{Check, Code, Field};
use crate::identity::Seller;
use crate::partner::event_stream::names;
use crate::partner::operation::{Begun, Operation};
use crate::partner::trial::happen::{self, Happened};

/// What is to happen.
#[derive(Deserialize, JsonSchema)]
pub struct TriggerEvent {
    /// A type of event, as webhooks and the list of events name it.
    #[serde(default, rename = "type")]
    #[schemars(!default, extend("enum" = names(Audience::Seller)))]
    kind: Field<String>,
}

impl Operation for TriggerEvent {
    type By = Seller;
    type Reply = Happened;

    /// The shop is full, or lacks what the event needs.
    const ERRORS: &'static [Code] = &[Code::TestTokenRequired, Code::Conflict];

    fn begin(self, app: &App, caller: &Seller, check: Check) -> Begun<Self> {
        happen::begin(app, caller.account.user_id, self.kind, Audience::Seller, check)
    }
}
