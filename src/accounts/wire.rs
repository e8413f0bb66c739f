//! People on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::Account;
use crate::base::ids::UserId;

/// A person on the wire (specification, "User").
#[derive(Serialize, JsonSchema)]
pub struct WireUser {
    id: UserId,
    nome: String,
    role: &'static str,
    foto: String,
}

impl WireUser {
    /// The account as callers see it.
    pub fn of(account: &Account) -> Self {
        Self {
            id: account.user_id,
            nome: account.name.clone(),
            role: account.role.name(),
            foto: account.photo.clone(),
        }
    }
}
