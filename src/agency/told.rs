//! Placeholder for notifications.

use super::store::JoinedAccount;
use crate::db::{Result, WriteTx};

/// Tells the team.
pub fn team(_: &WriteTx<'_>, _: i64, _: (&str, &str), _: &str, _: &str) -> Result<()> {
    Ok(())
}

/// Tells the owner of an account.
pub fn joined(_: &WriteTx<'_>, _: &JoinedAccount) -> Result<()> {
    Ok(())
}
