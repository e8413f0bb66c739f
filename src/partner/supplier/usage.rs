//! `drop_get_usage`: the calls of a supplier's current month.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::partner::operation::{Begun, Operation};
use crate::partner::seller::usage::UsageReply;

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDropUsage {}

impl Operation for GetDropUsage {
    type By = Supplier;
    type Reply = UsageReply;

    fn begin(self, app: &App, supplier: &Supplier, _: Check) -> Begun<Self> {
        UsageReply::now(app, supplier).map(Todo::Now)
    }
}
