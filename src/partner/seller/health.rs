//! `health`: ping and identification of the token's user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::UserId;
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::identity::{PartnerCaller, Seller};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

wire! {
    /// Who the token belongs to and what it may do.
    #[derive(Serialize, JsonSchema)]
    pub struct Health of(zone: Zone, caller: &PartnerCaller) after {
        let PartnerCaller { account, token, last_used_at, plan, called_at, .. } = caller;
    } {
        /// Always true.
        ok: bool = true,
        /// Whom the token belongs to.
        user: HealthUser = HealthUser {
            id: account.user_id,
            nome: account.name.clone(),
            role: account.role.name(),
        },
        /// What the account's API plan allows.
        plan: HealthPlan = HealthPlan {
            name: plan.name.name(),
            monthly_quota: plan.quota,
            per_minute: plan.per_minute,
            valid_until: plan.until.map(|(day, _)| day.iso()),
        },
        /// The token of this call.
        token: HealthToken = HealthToken {
            name: token.name.clone(),
            created_at: zone.partner(token.created_at),
            last_used_at: last_used_at.map(|at| zone.partner(at)),
        },
        /// Civil time of the service.
        server_time: String = zone.partner(*called_at),
        /// Version of the service.
        version: &'static str = env!("CARGO_PKG_VERSION"),
    }
}

#[derive(Serialize, JsonSchema)]
struct HealthUser {
    /// Number of the user on this platform.
    id: UserId,
    /// Full name.
    nome: String,
    /// Role on this platform, such as `pro`.
    role: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct HealthPlan {
    /// `starter`, `pro` or `scale`.
    name: &'static str,
    /// Calls a month, over all tokens of the account.
    monthly_quota: u64,
    /// Calls a minute, over all tokens of the account.
    per_minute: u32,
    /// Last day it is valid, null without an end.
    valid_until: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct HealthToken {
    /// The name that its owner gave it.
    name: String,
    /// When it was made, as civil time of the service.
    created_at: String,
    /// When it was last used before this call; null on its first one.
    last_used_at: Option<String>,
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
