//! Who is calling: identities that only the guard can make.
//!
//! A handler that has a `&Seller` can rely on a checked token, plan and role. Each type
//! has a part that nothing outside this folder can write, so an identity comes from
//! [`guard`] and from nowhere else, in tests too. The types know no handler and no `App`.

pub mod guard;
pub mod last_uses;
pub mod token;

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use http::HeaderValue;

use crate::accounts::{Account, View};
use crate::base::{Instant, TokenHash, UserId};
use crate::keys::ApiKey;
use crate::partner::Plan;
use crate::partner::access::Access;
use crate::partner::oauth::Granted;
use token::TokenKind;

/// A session ends after so long without a request.
pub const SESSION_IDLE_S: i64 = 12 * 3600;
/// A session ends at this age, even while it is used.
pub const SESSION_AGE_S: i64 = 30 * 86_400;

/// What nothing outside this folder can make.
#[derive(Clone, Copy)]
struct Seal;

/// A user of the browser extension.
pub struct ExtensionUser {
    _seal: Seal,
    pub account: Arc<Account>,
    /// The version of the person at which the account was read.
    pub version: u64,
}

/// A caller with a partner token and an active API plan.
#[derive(Clone)]
pub struct PartnerCaller {
    _seal: Seal,
    pub account: Arc<Account>,
    pub token: Arc<PartnerToken>,
    /// The last use of the token before this call.
    pub last_used_at: Option<Instant>,
    pub plan: Plan,
    /// What the owner allowed, when the token belongs to a connected app.
    pub granted: Option<Granted>,
    /// The owner of a test token; `account` is then that of a shop of sample data.
    pub tester: Option<UserId>,
    /// When this call came.
    pub called_at: Instant,
    /// The address of its client.
    pub client: IpAddr,
    /// The id of its request.
    pub request_id: HeaderValue,
}

impl PartnerCaller {
    /// The table of the caller's token.
    pub fn token_kind(&self) -> TokenKind {
        if self.granted.is_some() { TokenKind::Granted } else { TokenKind::Partner }
    }

    /// Whether the owner allowed the caller so much.
    pub fn may(&self, access: Access) -> bool {
        match access {
            Access::Read => true,
            Access::Act => self.granted.is_none_or(|granted| granted.may_write),
            Access::Change => self.token.may_change,
        }
    }

    /// The person whose token it is.
    pub fn person(&self) -> UserId {
        self.tester.unwrap_or(self.account.user_id)
    }
}

/// A partner caller who is a seller.
pub struct Seller(PartnerCaller);

/// A partner caller who is a supplier, with an active relation to at least one
/// seller.
pub struct Supplier(PartnerCaller);

impl Deref for Seller {
    type Target = PartnerCaller;

    fn deref(&self) -> &PartnerCaller {
        &self.0
    }
}

impl Deref for Supplier {
    type Target = PartnerCaller;

    fn deref(&self) -> &PartnerCaller {
        &self.0
    }
}

/// An assistant with a partner token, whatever the role of its owner.
pub struct Agent {
    caller: PartnerCaller,
    token: TokenHash,
}

impl Agent {
    /// The person whose data the assistant sees.
    pub fn owner(&self) -> &Account {
        &self.caller.account
    }

    /// The most that the owner allowed the assistant.
    pub fn most(&self) -> Access {
        let mut all = Access::ALL.into_iter().rev();
        all.find(|access| self.caller.may(*access)).unwrap_or(Access::Read)
    }

    /// Whether it has a test token, and sees sample data.
    pub fn is_test(&self) -> bool {
        self.caller.token.is_test
    }
}

/// The name of a partner token, when it was created, and whether it may change the shop.
#[derive(Clone, Debug)]
pub struct PartnerToken {
    pub name: String,
    pub created_at: Instant,
    pub may_change: bool,
    /// Whether it opens sample data.
    pub is_test: bool,
}

/// A person with a browser session.
pub struct Person {
    _seal: Seal,
    pub account: Arc<Account>,
    /// The session that this request came with.
    pub session: TokenHash,
    /// Set while an administrator views the panel as a student. On rows for
    /// students, `account` is then the student's, and nothing can be changed.
    pub view: Option<View>,
}

/// A visitor of a page that needs no session.
pub struct Visitor {
    _seal: Seal,
    /// The person, when the visitor has a session anyway.
    pub person: Option<Arc<Account>>,
}

/// The marketplace's signature on a notification, which is not compared with
/// the body yet.
pub struct Claim {
    _seal: Seal,
    pub signature: Option<String>,
    pub request_id: Option<String>,
}

/// The sender of a purchase event. `is_proven` means that the header had a
/// valid token; without a token there, [`guard::prove_in_body`] checks the one in the
/// body.
pub struct CheckoutSender {
    _seal: Seal,
    pub is_proven: bool,
}

/// A scheduler that has the cron secret.
pub struct CronCaller(Seal);

/// Telegram, as the sender of an update.
pub struct TelegramSender(Seal);

/// The official chat API. The signature over the body is not compared with it yet; none
/// stands at the question whether an address is ours, whose token was compared.
pub struct ChatSender {
    _seal: Seal,
    signature: Option<[u8; 32]>,
}

/// An integration whose key may do what the row asks for.
pub struct KeyHolder {
    _seal: Seal,
    pub key: Arc<ApiKey>,
}
