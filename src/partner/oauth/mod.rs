//! OAuth 2.1: how a person lets an assistant or another program into the
//! Partner API, without giving it a token by hand.
//!
//! A program says who it is (`clients.rs`, `fetched.rs`), asks in the person's
//! browser (`ask.rs`), the person decides there (`pages.rs`), and the program
//! gets tokens for it (`tokens.rs`) until the person disconnects it or it is
//! not used. All programs are public clients: what a program says of itself is
//! not proved, so the code that it gets is worthless without the secret that
//! made its challenge, and goes to an address that the program named before.
//!
//! What a person gave is one row, a grant. Whatever ends it removes the row,
//! and its tokens with it. All refresh tokens of a grant have their first half
//! in common, its family; only the newest is good, and an older one shows that
//! two hold it, which ends the grant. So the oldest of them is recognised, and
//! nothing of it is stored.

pub mod api;
mod ask;
mod clients;
pub mod documents;
mod fetched;
pub mod pages;
mod parameters;
mod redirect;
mod refusal;
#[cfg(test)]
pub mod samples;
pub mod store;
mod tokens;
pub mod views;
pub mod wire;

pub use fetched::Fetcher;

use crate::base::{DAY_S, Instant, secrets};
use crate::http::limit::Subject;

/// How long a code can be redeemed.
const CODE_S: i64 = 60;
/// How long a person may take to decide.
const REQUEST_S: i64 = 600;
/// How long an access token opens.
const ACCESS_S: i64 = 1_800;
/// How long a connection lasts without being renewed, and at most.
const IDLE_S: i64 = 30 * DAY_S;
const LONGEST_S: i64 = 90 * DAY_S;
/// Connected apps of an account at a time; those not used for longest end.
const MOST_GRANTS: i64 = 30;
/// Access tokens of a connection at a time.
const MOST_TOKENS: i64 = 5;

/// What an access token of a connected app opens.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    /// Number of the connection.
    pub grant: i64,
    /// Whether it may act, not only read.
    pub may_write: bool,
    /// It opens nothing from then on.
    pub expires_at: Instant,
}

impl Granted {
    /// Whom windows count: the connection, whatever its token is just now.
    pub fn subject(self) -> Subject {
        Subject::text(&[b"grant", &self.grant.to_le_bytes()])
    }
}

const READ: &str = "partner:read";
const WRITE: &str = "partner:write";

/// A scope in words of the protocol. Who may act may also read.
pub const fn scope(may_write: bool) -> &'static str {
    if may_write { "partner:read partner:write" } else { READ }
}

/// Whether a list of scopes asks to act. Unknown ones are left out; none when
/// nothing else is there.
fn asks_to_write(list: &str) -> Option<bool> {
    let asked = |wanted: &str| list.split(' ').any(|one| one == wanted);
    let is_empty = list.split(' ').all(str::is_empty);
    (asked(READ) || asked(WRITE) || is_empty).then(|| asked(WRITE))
}

/// A new code.
fn new_code() -> String {
    format!("ptc_{}", secrets::random_hex::<32>())
}

/// What the refresh tokens of a connection have in common.
const FAMILY: usize = "ptr_".len() + 32;

/// The first half of all refresh tokens of a new connection.
fn new_family() -> String {
    format!("ptr_{}", secrets::random_hex::<16>())
}

/// A new refresh token of a family.
fn new_refresh(family: &str) -> String {
    format!("{family}{}", secrets::random_hex::<32>())
}

/// The family of a refresh token; none when it has not the form of one.
fn family_of(token: &str) -> Option<&str> {
    let digits = token.strip_prefix("ptr_")?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digits.len() == 96 && digits.bytes().all(is_hex)).then(|| &token[..FAMILY])
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
