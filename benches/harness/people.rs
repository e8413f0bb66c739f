//! The people of a seeded database. Their credentials are made from their
//! number, so the load knows them although the file has only digests.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The password of everyone who has one.
pub const PASSWORD: &str = "um belo dia de vendas";

/// Client secret of the marketplace application; signs notifications.
pub const CLIENT_SECRET: &str = "bench-client-secret-0123456789";

/// Client id of the marketplace application.
pub const CLIENT_ID: &str = "5503910054141466";

/// Token of the checkout platform, and the setting with this token.
pub const CHECKOUT_TOKEN: &str = "bench-checkout-token-0123456789";
pub const CHECKOUT_TOKENS: &str = r#"["bench-checkout-token-0123456789"]"#;

/// A seller with linked accounts, an API plan and a token of each kind.
#[derive(Clone, Copy)]
pub struct Seller(pub i64);

impl Seller {
    /// The `user_id` in the table `user`.
    pub const fn user_id(self) -> i64 {
        1000 + self.0
    }

    /// The account at the marketplace with most of the orders.
    pub const fn first_account(self) -> i64 {
        400_000_000 + 2 * self.0
    }

    /// The second account, which every third seller has.
    pub const fn second_account(self) -> Option<i64> {
        match self.0 % 3 {
            0 => Some(self.first_account() + 1),
            _ => None,
        }
    }

    /// The e-mail address to sign in with.
    pub fn email(self) -> String {
        format!("vendedor{}@example.com", self.0)
    }

    /// Token for the Partner API.
    pub fn partner_token(self) -> String {
        format!("ptk_{}", &self.digest("partner")[..48])
    }

    /// Token of the browser extension.
    pub fn extension_token(self) -> String {
        self.digest("extension")
    }

    /// Value of the session cookie.
    pub fn session(self) -> String {
        self.digest("session")
    }

    fn digest(self, purpose: &str) -> String {
        hex(&Sha256::digest(format!("{purpose} {}", self.0)))
    }
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
