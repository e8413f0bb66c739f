//! People on the wire.

use schemars::JsonSchema;
use serde::Serialize;

use super::Account;
use crate::base::UserId;
use crate::wire;

wire! {
    /// A person on the wire.
    #[derive(Serialize, JsonSchema)]
    pub struct WireUser of(account: &Account) {
        id: UserId = account.user_id,
        nome: String = account.name.clone(),
        role: &'static str = account.role.name(),
        foto: String = account.photo.clone(),
    }
}
