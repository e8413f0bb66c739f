//! Last uses of tokens, counted in memory; `behind.rs` writes them.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;

use super::token::TokenKind;
use crate::base::{Instant, TokenHash, UserId};

/// The last use of a token.
#[derive(Clone)]
pub enum LastUse {
    /// Of a person's token. That of a session is also the person's last access.
    Person { owner: UserId, at: Instant, address: IpAddr },
    /// Of an API key, with method and path.
    Key { at: Instant, address: IpAddr, route: String },
}

/// The newest use of each token.
pub type UsesByToken = HashMap<(TokenKind, TokenHash), LastUse>;

/// Last uses of tokens that are still to be written.
#[derive(Default)]
pub struct LastUses {
    noted: Mutex<UsesByToken>,
}

impl LastUses {
    pub fn note(&self, kind: TokenKind, token: TokenHash, last: LastUse) {
        self.noted.lock().insert((kind, token), last);
    }

    /// Takes them to be written.
    pub fn take(&self) -> UsesByToken {
        std::mem::take(&mut *self.noted.lock())
    }
}
