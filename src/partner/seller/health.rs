//! `health`: ping and identification of the token's user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::Account;
use crate::app::App;
use crate::base::{Instant, OffsetTime, UserId, Zone};
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::identity::{PartnerCaller, PartnerToken, Seller};
use crate::partner::Plan;
use crate::partner::operation::{Begun, Operation};
use crate::wire;

wire! {
    /// Who the token belongs to and what it may do.
    #[derive(Serialize, JsonSchema)]
    pub struct Health of(zone: Zone, caller: &PartnerCaller) {
        /// Always true.
        ok: bool = true,
        /// Whom the token belongs to.
        user: HealthUser = HealthUser::of(&caller.account),
        /// What the account's API plan allows.
        plan: HealthPlan = HealthPlan::of(&caller.plan),
        /// The token of this call.
        token: HealthToken = HealthToken::of(&caller.token, caller.last_used_at, zone),
        /// Civil time of the service.
        server_time: String = zone.partner(caller.called_at),
        /// The same instant with its offset from UTC.
        server_time_at: OffsetTime = zone.with_offset(caller.called_at),
        /// IANA name of the zone of all civil times, such as `America/Sao_Paulo`.
        time_zone: &'static str = zone.name(),
        /// Version of the service.
        version: &'static str = env!("CARGO_PKG_VERSION"),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct HealthUser of(account: &Account) {
        /// Number of the user on this platform.
        id: UserId = account.user_id,
        /// Full name.
        nome: String = account.name.clone(),
        /// Role on this platform, such as `pro`.
        role: &'static str = account.role.name(),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct HealthPlan of(plan: &Plan) {
        /// `starter`, `pro` or `scale`.
        name: &'static str = plan.name.name(),
        /// Calls a month, over all tokens of the account.
        monthly_quota: u64 = plan.quota,
        /// Calls a minute, over all tokens of the account.
        per_minute: u32 = plan.per_minute,
        /// Last day it is valid, null without an end.
        valid_until: Option<String> = plan.until.map(|(day, _)| day.iso()),
    }
}

wire! {
    #[derive(Serialize, JsonSchema)]
    struct HealthToken of(token: &PartnerToken, last_used_at: Option<Instant>, zone: Zone) {
        /// The name that its owner gave it.
        name: String = token.name.clone(),
        /// When it was made, as civil time of the service.
        created_at: String = zone.partner(token.created_at),
        /// The same instant with its offset from UTC.
        created_at_rfc3339: OffsetTime = zone.with_offset(token.created_at),
        /// When it was last used before this call; null on its first one.
        last_used_at: Option<String> = last_used_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        last_used_at_rfc3339: Option<OffsetTime> = last_used_at.map(|at| zone.with_offset(at)),
    }
}

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetHealth {}

impl Operation for GetHealth {
    type By = Seller;
    type Reply = Health;

    fn begin(self, app: &App, seller: &Seller, _: Check) -> Begun<Self> {
        Ok(Todo::Now(Health::of(app.zone(), seller)))
    }
}
