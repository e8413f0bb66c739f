//! `get_usage`: the calls of the current month.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::partner::operation::{Begun, Operation};

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetUsage {}

/// What an account used of its plan this month, this call included.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub struct UsageReply {
    /// Civil month, as `YYYY-MM`.
    month: String,
    /// `starter`, `pro` or `scale`.
    plan: &'static str,
    /// Calls a month.
    monthly_quota: u64,
    /// Calls of this month so far, this one included.
    used: u64,
    /// Calls that are left of it.
    remaining: u64,
    /// When the count begins anew, as civil time: the first instant of the next month.
    resets_at: String,
    /// Days with calls, the first one first.
    daily: Vec<DailyCalls>,
    /// Operations with calls, by name.
    endpoints: Vec<OperationCalls>,
}

#[derive(Serialize, JsonSchema)]
struct DailyCalls {
    /// Civil day.
    date: String,
    /// Calls of that day.
    calls: u64,
}

#[derive(Serialize, JsonSchema)]
struct OperationCalls {
    /// Name of the operation, its `operationId` in the OpenAPI document.
    operation: &'static str,
    /// Its calls this month.
    calls: u64,
}

impl Operation for GetUsage {
    type By = Seller;
    type Reply = UsageReply;

    fn begin(self, app: &App, seller: &Seller, _: Check) -> Begun<Self> {
        let month = app.callers.usage.month(app, seller.account.user_id, seller.called_at)?;
        let used = month.used;
        let quota = seller.plan.quota;
        Ok(Todo::Now(UsageReply {
            month: month.first_day.iso()[..7].to_owned(),
            plan: seller.plan.name.name(),
            monthly_quota: quota,
            used,
            remaining: quota.saturating_sub(used),
            resets_at: app.zone().partner(month.end),
            daily: month
                .calls
                .days
                .into_iter()
                .map(|(day, calls)| DailyCalls { date: day.iso(), calls })
                .collect(),
            endpoints: month
                .calls
                .operations
                .into_iter()
                .map(|(operation, calls)| OperationCalls { operation, calls })
                .collect(),
        }))
    }
}
