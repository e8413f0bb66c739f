//! Clients, and which member of the team looks after each.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::base::{Cents, Instant, MlUserId, UserId};

/// Most clients.
pub const MOST: i64 = 1_000;
/// Most accounts of a client.
pub const MOST_ACCOUNTS: usize = 50;

/// What the team enters about a client. The audit log uses the field names of
/// the form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientEntry {
    #[serde(rename = "nome")]
    pub name: String,
    #[serde(rename = "responsavel_id")]
    pub keeper: Option<i64>,
    /// In lower case, separated by `, `.
    #[serde(rename = "etiquetas")]
    pub tags: String,
    #[serde(rename = "anotacoes")]
    pub notes: String,
}

impl ClientEntry {
    /// The tags one by one.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.split(", ").filter(|tag| !tag.is_empty())
    }
}

/// A client as lists show it.
#[derive(Clone, Debug)]
pub struct Client {
    pub id: i64,
    pub entry: ClientEntry,
    /// Empty without a keeper.
    pub keeper_name: String,
    pub created_at: Instant,
    pub invited_until: Option<Instant>,
    pub synced_at: Option<Instant>,
    /// Why the last cycle could not read everything.
    pub error: Option<String>,
    /// Accounts, and those of them whose link is lost.
    pub accounts: i64,
    pub lost: i64,
    /// Accounts that were checked.
    pub checked: i64,
    /// Findings of the last checkup.
    pub findings: i64,
    pub questions: i64,
    pub claims: i64,
}

/// Filter of a list of clients by their keeper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeper {
    #[default]
    Anybody,
    Nobody,
    Person(UserId),
}

/// What a client sold in two spans of equal length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sold {
    pub orders: i64,
    pub gross: Cents,
    pub orders_before: i64,
    pub gross_before: Cents,
}

/// An account of a client.
#[derive(Clone, Debug)]
pub struct ClientAccount {
    pub ml_user_id: MlUserId,
    pub nickname: String,
    /// Name of the student whose account it is; empty when an invitation linked
    /// it.
    pub student: String,
    pub token_ok: bool,
    pub reputation: String,
    pub open_questions: i64,
    pub open_claims: i64,
    pub synced_at: Option<Instant>,
    pub checked_at: Option<Instant>,
}
