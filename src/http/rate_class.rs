//! What the rate limiter counts, and what its refusals are told to be about.

/// Declares the classes, each with its number and what its limit belongs to.
macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $number:literal, $scope:ident;)*) => {
        /// What a window counts. The number is part of the stored key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Class {
            $($(#[$doc])* $class = $number,)*
        }

        impl Class {
            /// What a refusal by a window of this class is told to be about.
            pub const fn scope(self) -> Scope {
                match self { $(Self::$class => Scope::$scope,)* }
            }
        }
    };
}

classes! {
    /// Extension and API v1 by token.
    ApiToken = 1, Token;
    /// Extension and API v1 by address.
    ApiAddress = 2, Address;
    /// Partner calls of an account.
    PartnerAccount = 3, Account;
    /// Partner mutating POSTs of a token.
    PartnerPost = 5, Token;
    /// Messages of an account's assistants that call no operation.
    AgentTalk = 25, Account;
    /// Reminders to all sellers, by token, connected app or panel of a supplier.
    PartnerRemindAll = 4, Operation;
    /// Refused partner calls of an address.
    PartnerAddress = 6, Address;
    /// Failed logins of an account.
    LoginAccount = 7, Account;
    /// Failed logins of an address.
    LoginAddress = 8, Address;
    /// Failed logins of an account from one of its known addresses.
    LoginKnown = 9, Account;
    /// Successful logins of an account.
    LoginGood = 11, Account;
    /// Not a window but a mark: the failed logins of a person are to be cleared.
    LoginForgiven = 10, Account;
    /// Welcome messages to students whom an API key registered.
    WelcomeKey = 19, Token;
    /// Requests for a link to choose a password, by account.
    LinkAccount = 20, Account;
    /// Requests for a link to choose a password, by address.
    LinkAddress = 21, Address;
    /// Unknown invitation codes, and invitations that were followed, by address.
    InviteAddress = 26, Address;
    /// Calls of OAuth clients from an address.
    OAuthAddress = 22, Address;
    /// What a person changes with a session.
    SessionPost = 27, Account;
    /// Authorization requests of OAuth clients, by address and in total.
    OAuthAsking = 23, Address;
    /// New OAuth clients, by address and in total.
    OAuthClients = 24, Address;
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
