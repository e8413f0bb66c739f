//! The first administrator: a link that works once, for thirty minutes.
//!
//! There is no default account. `serve` prints a link at its first start, the
//! command `setup-link` makes a fresh one, and the page closes permanently once
//! there is an administrator.

use super::store;
use crate::base::{TokenHash, secrets};
use crate::db::WriteTx;

/// Lifetime of a set-up link.
const LINK_S: i64 = 30 * 60;

/// Makes a fresh link's code; `None` when there is an administrator.
pub fn new_link(tx: &WriteTx<'_>) -> crate::db::Result<Option<String>> {
    if store::has_administrator(tx)? {
        return Ok(None);
    }
    let code = secrets::random_hex::<24>();
    store::insert_setup_link(tx, &TokenHash::of(&code), tx.now().plus(LINK_S))?;
    Ok(Some(code))
}

/// The address of a link.
pub fn address(base_url: &str, code: &str) -> String {
    format!("{base_url}/configurar?codigo={code}")
}
