//! `health`: ping and identification of the token's user.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::UserId;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::{PartnerCaller, Seller};
use crate::partner::operation::{NoArguments, Operation};

/// Who the token belongs to and what it may do.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    /// Always true.
    ok: bool,
    /// Whom the token belongs to.
    user: HealthUser,
    /// What the account's API plan allows.
    plan: HealthPlan,
    /// The token of this call.
    token: HealthToken,
    /// Civil time of the service.
    server_time: String,
    /// Version of the service.
    version: &'static str,
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

impl Operation for Health {
    type By = Seller;
    type Args = NoArguments;
    type Reply = Self;

    fn begin(app: &App, seller: &Seller, _: NoArguments, _: Check) -> Result<Todo<Self>, Problem> {
        Ok(Todo::Now(Self::of(app.zone(), seller)))
    }
}

impl Health {
    /// The answer for a caller.
    pub fn of(zone: Zone, caller: &PartnerCaller) -> Self {
        let PartnerCaller { account, token, last_used_at, plan, called_at, .. } = caller;
        Self {
            ok: true,
            user: HealthUser {
                id: account.user_id,
                nome: account.name.clone(),
                role: account.role.name(),
            },
            plan: HealthPlan {
                name: plan.name.name(),
                monthly_quota: plan.quota,
                per_minute: plan.per_minute,
                valid_until: plan.until.map(|(day, _)| day.iso()),
            },
            token: HealthToken {
                name: token.name.clone(),
                created_at: zone.partner(token.created_at),
                last_used_at: last_used_at.map(|at| zone.partner(at)),
            },
            server_time: zone.partner(*called_at),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
