//! Clients, and which member of the team looks after each.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use super::checkup::Finding;
use super::days::Sold;
use super::open::Waiting;
use crate::base::{Instant, MlUserId, UserId};
use crate::panel::Badge;
use crate::panel::chart::Change;
use crate::row;

/// Most clients.
pub const MOST: i64 = 1_000;
/// Most accounts of a client.
pub const MOST_ACCOUNTS: usize = 50;

row! {
    /// What the team enters about a client. The audit log uses the field names of
    /// the form.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct ClientEntry: stored {
        #[serde(rename = "nome")]
        pub name: String,
        #[serde(rename = "responsavel_id")]
        pub keeper: Option<i64> = "keeper_id",
        /// In lower case, separated by `, `.
        #[serde(rename = "etiquetas")]
        pub tags: String,
        #[serde(rename = "anotacoes")]
        pub notes: String,
    }
}

impl ClientEntry {
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.split(", ").filter(|tag| !tag.is_empty())
    }
}

row! {
    /// A client as lists show it.
    #[derive(Clone, Debug)]
    pub struct Client {
        pub id: i64 = "client_id",
        pub entry: ClientEntry as row,
        /// Empty without a keeper.
        pub keeper_name: String = "coalesce((SELECT u.name FROM user u WHERE u.user_id = keeper_id), '')",
        pub created_at: Instant,
        pub invited_until: Option<Instant> = "invite_expires_at",
        pub synced_at: Option<Instant>,
        /// Why the last cycle could not read everything.
        pub error: Option<String>,
        /// Accounts, and those of them whose link is lost.
        pub accounts: i64 = "(SELECT count(*) FROM agency_account j WHERE j.client_id = agency_client.client_id)",
        pub lost: i64 = "(SELECT count(*) FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
             WHERE j.client_id = agency_client.client_id AND a.token_ok = 0)",
        /// Accounts that were checked.
        pub checked: i64 = "(SELECT count(checked_at) FROM agency_account j WHERE j.client_id = agency_client.client_id)",
    }
}

crate::named! {
    /// Values of the status filter.
    pub enum ClientFilter: text {
        Waiting = "a_fazer", "A fazer";
        Faulty = "pendente", "Com pendências";
        Ready = "pronto", "Em dia";
        Unread = "erro", "Com erro de leitura";
        Bare = "sem_conta", "Sem conta";
    }
}

impl Client {
    /// The status badge, with so many findings.
    const fn badge(&self, findings: usize) -> Badge {
        match (self, findings) {
            (Self { accounts: 0, .. }, _) => Badge::NoAccount,
            (Self { lost: 1.., .. }, _) => Badge::LinkLost,
            (_, 1..) => Badge::Attention,
            (Self { checked: 0, .. }, _) => Badge::Pending,
            _ => Badge::InOrder,
        }
    }
}

/// A client with its accounts, what waits at them, and what it sold.
pub struct ListedClient {
    pub client: Client,
    pub accounts: Vec<ClientAccount>,
    pub waiting: Waiting,
    pub sold: Sold,
}

impl ListedClient {
    /// How many findings its accounts have.
    pub fn findings(&self) -> usize {
        self.accounts.iter().map(|account| account.findings.len()).sum()
    }

    /// The status badge.
    pub fn badge(&self) -> Badge {
        self.client.badge(self.findings())
    }

    /// What the row of a list adds to what waits and to its accounts.
    pub fn flag(&self) -> Option<Badge> {
        let is_said = match self.badge() {
            Badge::InOrder | Badge::NoAccount => true,
            Badge::Attention => self.waiting.is_any(),
            _ => false,
        };
        (!is_said).then(|| self.badge())
    }

    /// `2 contas, com Bia`.
    pub fn about(&self) -> String {
        let count = match &*self.accounts {
            [] => "sem conta".to_owned(),
            [one] => one.row.nickname.clone(),
            many => format!("{} contas", many.len()),
        };
        match &*self.client.keeper_name {
            "" => count,
            keeper => format!("{count}, com {keeper}"),
        }
    }

    pub fn change(&self) -> Option<Change> {
        Change::new(self.sold.gross_before.0, self.sold.gross.0)
    }
}

/// An account of a client, with what waits at it and what is wrong with it.
pub struct ClientAccount {
    pub row: AccountRow,
    pub waiting: Waiting,
    pub findings: Vec<Finding>,
}

impl ClientAccount {
    /// Its findings, without those about what waits.
    pub fn rest(&self) -> Vec<Finding> {
        self.findings.iter().filter(|one| !one.fault.waits()).copied().collect()
    }
}

row! {
    /// An account of a client as it is stored.
    #[derive(Clone, Debug)]
    pub struct AccountRow {
        pub ml_user_id: MlUserId = "a.ml_user_id",
        pub owner: UserId = "j.owner_id",
        pub nickname: String = "a.nickname",
        /// Name of the student whose account it is; empty when an invitation linked
        /// it.
        pub student: String = "coalesce((SELECT u.name FROM user u WHERE u.user_id = j.owner_id AND u.removed_at IS NULL), '')",
        pub token_ok: bool = "a.token_ok",
        pub reputation: String = "a.reputation",
        pub synced_at: Option<Instant> = "a.synced_at",
        pub joined_at: Instant = "j.joined_at",
        pub checked_at: Option<Instant> = "j.checked_at",
    }
}

impl AccountRow {
    /// Whether its authorisation works.
    pub const fn link(&self) -> Badge {
        if self.token_ok { Badge::Linked } else { Badge::LinkLost }
    }
}
