//! What the rate limiter counts, and what its refusals are told to be about.

/// What a window counts. The number is part of the stored key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Extension and API v1 by token.
    ApiToken = 1,
    /// Extension and API v1 by address.
    ApiAddress = 2,
    /// Partner calls of an account.
    PartnerAccount = 3,
    /// Partner mutating POSTs of a token.
    PartnerPost = 5,
    /// Messages of an account's assistants that call no operation.
    AgentTalk = 25,
    /// Reminders to all sellers, by token, connected app or panel of a supplier.
    PartnerRemindAll = 4,
    /// Refused partner calls of an address.
    PartnerAddress = 6,
    /// Failed logins of an account.
    LoginAccount = 7,
    /// Failed logins of an address.
    LoginAddress = 8,
    /// Failed logins of an account from one of its known addresses.
    LoginKnown = 9,
    /// Successful logins of an account.
    LoginGood = 11,
    /// Not a window but a mark: the failed logins of a person are to be cleared.
    LoginForgiven = 10,
    /// Welcome messages to students whom an API key registered.
    WelcomeKey = 19,
    /// Requests for a link to choose a password, by account.
    LinkAccount = 20,
    /// Requests for a link to choose a password, by address.
    LinkAddress = 21,
    /// Unknown invitation codes, and invitations that were followed, by address.
    InviteAddress = 26,
    /// Calls of OAuth clients from an address.
    OAuthAddress = 22,
    /// What a person changes with a session.
    SessionPost = 27,
    /// Authorization requests of OAuth clients, by address and in total.
    OAuthAsking = 23,
    /// New OAuth clients, by address and in total.
    OAuthClients = 24,
}

impl Class {
    /// What a refusal by a window of this class is told to be about.
    pub const fn scope(self) -> Scope {
        match self {
            Self::ApiToken | Self::PartnerPost | Self::WelcomeKey => Scope::Token,
            Self::PartnerAccount
            | Self::AgentTalk
            | Self::LoginAccount
            | Self::LoginKnown
            | Self::LoginGood
            | Self::LoginForgiven
            | Self::LinkAccount
            | Self::SessionPost => Scope::Account,
            Self::PartnerRemindAll => Scope::Operation,
            Self::ApiAddress
            | Self::PartnerAddress
            | Self::LoginAddress
            | Self::LinkAddress
            | Self::InviteAddress
            | Self::OAuthAddress
            | Self::OAuthAsking
            | Self::OAuthClients => Scope::Address,
        }
    }
}

crate::named! {
    /// What a limit belongs to, as `X-RateLimit-Scope` of a 429 names it.
    pub enum Scope: text {
        /// A token, key or connected program.
        Token = "token";
        /// All of an account's tokens together.
        Account = "account";
        /// An address, or the network it is in.
        Address = "address";
        /// The calls of a plan in a month.
        Quota = "quota";
        /// One operation, however it is called.
        Operation = "operation";
    }
}
