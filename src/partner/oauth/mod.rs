//! OAuth 2.1: how a person gives an assistant or another program access to the
//! Partner API, without copying a token by hand.
//!
//! A program registers or names its document (`clients.rs`, `fetched.rs`) and
//! sends a request through the person's browser (`ask.rs`). The person decides
//! there (`pages.rs`). The program then gets tokens (`tokens.rs`), until the
//! person disconnects it or it is not used for too long. All programs are
//! public clients: nothing that a program says about itself is proved. So a
//! code is useless without the secret of its challenge (PKCE), and it is only
//! sent to an address that the program registered.
//!
//! The access that a person gave is one row, a grant. Ending a grant deletes
//! the row and with it the tokens. All refresh tokens of a grant have the same
//! first half, the family. Only the newest refresh token is valid. An older one
//! shows that two programs have the grant's tokens, so its use ends the grant.
//! Thanks to the family even the oldest token is recognised, although old
//! tokens are not stored.

pub mod api;
mod ask;
mod clients;
pub mod documents;
pub mod fetched;
pub mod pages;
mod parameters;
mod redirect;
mod refusal;
pub mod store;
mod tokens;
pub mod views;
pub mod wire;

use crate::base::text::is_hex;
use crate::base::{DAY_S, Instant, secrets};
use crate::http::limit::Subject;

/// How long a code is valid.
const CODE_S: i64 = 60;
/// How long a person may take to decide.
const REQUEST_S: i64 = 600;
/// How long an access token is valid.
const ACCESS_S: i64 = 1_800;
/// How long a connection lasts without being renewed, and at most.
const IDLE_S: i64 = 30 * DAY_S;
const LONGEST_S: i64 = 90 * DAY_S;
/// Most connected apps of an account; the least recently used ones are ended.
const MOST_GRANTS: i64 = 30;
/// Most access tokens of a connection at a time.
const MOST_TOKENS: i64 = 5;

/// What a connected app may do with an access token.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    /// Number of the connection.
    pub grant: i64,
    /// Whether it may write, not only read.
    pub may_write: bool,
    /// From then on the token is rejected.
    pub expires_at: Instant,
}

impl Granted {
    /// The subject of rate limits: the connection, not its present token.
    pub fn subject(self) -> Subject {
        Subject::text(&[b"grant", &self.grant.to_le_bytes()])
    }
}

pub const READ: &str = "partner:read";
pub const WRITE: &str = "partner:write";

/// The scopes of a grant, as the protocol writes them. A grant that may write
/// may also read.
pub const fn scope(may_write: bool) -> &'static str {
    if may_write { "partner:read partner:write" } else { READ }
}

/// Whether a list of scopes asks to write. Unknown scopes are ignored; `None`
/// when all of them are unknown.
fn asks_to_write(list: &str) -> Option<bool> {
    let asked = |wanted: &str| list.split(' ').any(|one| one == wanted);
    let is_empty = list.split(' ').all(str::is_empty);
    (asked(READ) || asked(WRITE) || is_empty).then(|| asked(WRITE))
}

fn new_code() -> String {
    format!("ptc_{}", secrets::random_hex::<32>())
}

/// Length of the part that all refresh tokens of a connection share.
const FAMILY: usize = "ptr_".len() + 32;

/// The first half of all refresh tokens of a new connection.
fn new_family() -> String {
    format!("ptr_{}", secrets::random_hex::<16>())
}

/// A new refresh token of a family.
fn new_refresh(family: &str) -> String {
    format!("{family}{}", secrets::random_hex::<32>())
}

/// The family of a refresh token; `None` when the text is not a refresh token.
fn family_of(token: &str) -> Option<&str> {
    let digits = token.strip_prefix("ptr_")?;
    is_hex(digits, 96).then(|| &token[..FAMILY])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_act_may_read() {
        for (list, write) in [
            ("", Some(false)),
            ("partner:read", Some(false)),
            ("partner:write", Some(true)),
            ("partner:write partner:read", Some(true)),
            ("openid partner:read offline_access", Some(false)),
            ("openid", None),
            ("partner:write2", None),
            ("PARTNER:READ", None),
        ] {
            assert_eq!(asks_to_write(list), write, "{list:?}");
        }
        assert!(scope(true).contains(scope(false)));
    }

    #[test]
    fn refresh_tokens_tell_their_family() {
        let family = new_family();
        let (one, other) = (new_refresh(&family), new_refresh(&family));
        assert_ne!(one, other);
        assert_eq!(family_of(&one), Some(&*family));
        assert_eq!(family_of(&one), family_of(&other));
        let [cut, long] = [one[..99].to_owned(), format!("{one}0")];
        for bad in ["", "ptr_", &family, &cut, &long, &one.replace("ptr_", "ptk_")] {
            assert_eq!(family_of(bad), None, "{bad}");
        }
    }
}
