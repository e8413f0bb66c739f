//! `health`: ping and identification of the token's user.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::ids::UserId;
use crate::edge::guard::Seller;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::partner::operation::{NoArguments, Operation};

/// Who the token belongs to and what it may do.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    ok: bool,
    user: HealthUser,
    plan: HealthPlan,
    token: HealthToken,
    /// Civil time of the server.
    server_time: String,
    version: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct HealthUser {
    id: UserId,
    nome: String,
    role: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct HealthPlan {
    name: &'static str,
    monthly_quota: u64,
    per_minute: u32,
    /// Last day it is valid, null without an end.
    valid_until: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct HealthToken {
    name: String,
    created_at: String,
    last_used_at: Option<String>,
}

impl Operation for Health {
    type By = Seller;
    type Args = NoArguments;
    type Reply = Self;

    fn begin(app: &App, seller: &Seller, _: NoArguments) -> Result<Todo<Self>, Problem> {
        let zone = app.zone();
        Ok(Todo::Now(Self {
            ok: true,
            user: HealthUser {
                id: seller.account.user_id,
                nome: seller.account.name.clone(),
                role: seller.account.role.name(),
            },
            plan: HealthPlan {
                name: seller.plan.name.name(),
                monthly_quota: seller.plan.quota,
                per_minute: seller.plan.per_minute,
                valid_until: seller.plan.until.map(|(day, _)| day.iso()),
            },
            token: HealthToken {
                name: seller.token.name.clone(),
                created_at: zone.partner(seller.token.created_at),
                last_used_at: seller.last_used_at.map(|at| zone.partner(at)),
            },
            server_time: zone.partner(seller.called_at),
            version: env!("CARGO_PKG_VERSION"),
        }))
    }
}
