//! What is offered to somebody without the right to a page: the plans that give it,
//! with price and the way to them.

use askama::Template;

use super::{Plan, store};
use crate::accounts::{Role, permissions};
use crate::db::{ReadTx, Result};

/// Most plans that are offered at once.
const MOST: usize = 3;

/// The plans that are offered, and how to reach the platform where nothing is sold by a link.
#[derive(Clone, Template)]
#[template(path = "plan_offer.html", config = "assets/askama.toml")]
pub struct Offer {
    pub plans: Vec<Plan>,
    /// Digits that people without access write to; empty without one.
    pub number: String,
}

impl Offer {
    /// The cheapest plans on sale for which `fits` holds.
    pub fn of(tx: &ReadTx<'_>, fits: impl Fn(&Plan) -> bool) -> Result<Self> {
        let mut plans = store::active_plans(tx)?;
        plans.retain(fits);
        plans.truncate(MOST);
        Ok(Self { plans, number: String::new() })
    }

    /// With the number that people without access write to.
    #[must_use]
    pub fn reached_by(mut self, number: &str) -> Self {
        number.clone_into(&mut self.number);
        self
    }

    /// The plans that give one of these plans of the account.
    pub fn of_roles(tx: &ReadTx<'_>, roles: &[Role]) -> Result<Self> {
        Self::of(tx, |plan| plan.entry.grants_role.is_some_and(|role| roles.contains(&role)))
    }

    /// The plans whose plan of the account has a permission.
    pub fn of_permission(tx: &ReadTx<'_>, permission: &str) -> Result<Self> {
        let mut roles = Vec::new();
        for role in Role::STUDENTS {
            if permissions::of_role(tx, role)?.contains(&permission) {
                roles.push(role);
            }
        }
        Self::of_roles(tx, &roles)
    }

    /// The plans with an API plan.
    pub fn of_api(tx: &ReadTx<'_>) -> Result<Self> {
        Self::of(tx, |plan| plan.entry.grants_api.is_some())
    }
}
