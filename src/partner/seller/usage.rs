//! `get_usage`: the calls of the current month.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Day, OffsetTime, Zone};
use crate::edge::route::Todo;
use crate::http::{Check, Problem};
use crate::identity::{PartnerCaller, Seller};
use crate::partner::Plan;
use crate::partner::operation::{Begun, Operation};
use crate::partner::usage::Month;
use crate::wire;

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUsage {}

wire! {
    /// What an account used of its plan this month, this call included.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Usage")]
    pub struct UsageReply of(month: Month, plan: &Plan, zone: Zone) {
        /// Civil month, as `YYYY-MM`.
        month: String = month.first_day.iso()[..7].to_owned(),
        /// `starter`, `pro` or `scale`.
        plan: &'static str = plan.name.name(),
        /// Calls a month.
        monthly_quota: u64 = plan.quota,
        /// Calls of this month so far, this one included.
        used: u64 = month.used,
        /// Calls that are left of it.
        remaining: u64 = plan.quota.saturating_sub(month.used),
        /// When the count begins anew, as civil time: the first instant of the next month.
        resets_at: String = zone.partner(month.end),
        /// The same instant with its offset from UTC.
        resets_at_rfc3339: OffsetTime = zone.with_offset(month.end),
        /// Days with calls, the first one first.
        daily: Vec<DailyCalls> = month.calls.days.into_iter().map(DailyCalls::of).collect(),
        /// Operations with calls, by name.
        endpoints: Vec<OperationCalls> =
            month.calls.operations.into_iter().map(OperationCalls::of).collect(),
    }
}

impl UsageReply {
    /// What the caller's account used so far.
    pub fn now(app: &App, caller: &PartnerCaller) -> Result<Self, Problem> {
        let month = app.callers.usage.month(app, caller.account.user_id, caller.called_at)?;
        Ok(Self::of(month, &caller.plan, app.zone()))
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct DailyCalls of(calls: (Day, u64)) {
        /// Civil day.
        date: String = calls.0.iso(),
        /// Calls of that day.
        calls: u64 = calls.1,
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct OperationCalls of(calls: (&'static str, u64)) {
        /// Name of the operation, its `operationId` in the OpenAPI document.
        operation: &'static str = calls.0,
        /// Its calls this month.
        calls: u64 = calls.1,
    }
}

impl Operation for GetUsage {
    type By = Seller;
    type Reply = UsageReply;

    fn begin(self, app: &App, seller: &Seller, _: Check) -> Begun<Self> {
        UsageReply::now(app, seller).map(Todo::Now)
    }
}
