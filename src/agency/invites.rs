//! Placeholder for invitations.

use crate::app::App;
use crate::db::{Result, WriteTx};

/// Makes a new code.
pub fn renew(_: &WriteTx<'_>, _: i64) -> Result<String> {
    Ok(String::new())
}

/// Its address.
pub fn address(app: &App, code: &str) -> String {
    format!("{}/convite/{code}", app.addresses.base_url)
}
