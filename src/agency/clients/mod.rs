//! Clients, and which member of the team looks after each.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use super::days::Sold;
use crate::base::{Instant, MlUserId};
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
    /// The tags one by one.
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
        /// Findings of the last checkup.
        pub findings: i64 = "(SELECT count(*) FROM agency_account j JOIN agency_finding f ON f.ml_user_id = j.ml_user_id
                 WHERE j.client_id = agency_client.client_id)",
        pub questions: i64 = "(SELECT coalesce(sum(a.open_questions), 0)
                  FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
                  WHERE j.client_id = agency_client.client_id)",
        pub claims: i64 = "(SELECT coalesce(sum(a.open_claims), 0)
               FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
               WHERE j.client_id = agency_client.client_id)",
    }
}

crate::named! {
    /// Values of the status filter.
    pub enum ClientFilter: text {
        Faulty = "pendente", "Com pendências";
        Ready = "pronto", "Em dia";
        Unread = "erro", "Com erro de leitura";
        Bare = "sem_conta", "Sem conta";
    }
}

impl Client {
    /// The status badge.
    pub const fn standing(&self) -> Badge {
        match self {
            Self { accounts: 0, .. } => Badge::NoAccount,
            Self { lost: 1.., .. } => Badge::LinkLost,
            Self { findings: 1.., .. } => Badge::Attention,
            Self { checked: 0, .. } => Badge::Pending,
            _ => Badge::InOrder,
        }
    }
}

/// A client with its accounts, and what it sold.
pub struct ListedClient {
    pub client: Client,
    pub accounts: Vec<ClientAccount>,
    pub sold: Sold,
}

impl ListedClient {
    /// `2 contas, com Bia`.
    pub fn about(&self) -> String {
        let count = match &*self.accounts {
            [] => "sem conta".to_owned(),
            [one] => one.nickname.clone(),
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

row! {
    /// An account of a client.
    #[derive(Clone, Debug)]
    pub struct ClientAccount {
        pub ml_user_id: MlUserId = "a.ml_user_id",
        pub nickname: String = "a.nickname",
        /// Name of the student whose account it is; empty when an invitation linked
        /// it.
        pub student: String = "coalesce((SELECT u.name FROM user u WHERE u.user_id = j.owner_id AND u.removed_at IS NULL), '')",
        pub token_ok: bool = "a.token_ok",
        pub reputation: String = "a.reputation",
        pub open_questions: i64 = "a.open_questions",
        pub open_claims: i64 = "a.open_claims",
        pub synced_at: Option<Instant> = "a.synced_at",
        pub checked_at: Option<Instant> = "j.checked_at",
    }
}

impl ClientAccount {
    /// Whether its authorisation works.
    pub const fn link(&self) -> Badge {
        if self.token_ok { Badge::Linked } else { Badge::LinkLost }
    }
}
