//! Who did what: rows that are only ever added.
//!
//! Every administrative act is noted in the transaction that does it, with the
//! values before and after, so the log and the data cannot differ. Neither of
//! the two may contain secrets. Each entry has a hash over itself and the one
//! before (`chain.rs`).

pub mod chain;
pub mod log;
pub mod looks;
pub mod objects;
pub mod recent;
mod store;

pub use store::{newest, note};

use crate::http::Request;
use crate::identity::{PartnerCaller, Person};
use crate::keys::ApiKey;

crate::named! {
    pub enum ActorKind: text {
        /// A person in the panel.
        Person = "pessoa", "Pessoa";
        /// An integration's API key.
        Key = "chave", "Chave";
        /// A command on the server.
        Command = "comando", "Comando no servidor";
        /// An event of the checkout platform.
        Purchase = "compra", "Compra";
        /// The service by itself.
        System = "sistema", "Sistema";
    }
}

/// Who acts, and through which request.
#[derive(Clone, Debug)]
pub struct Actor {
    pub kind: ActorKind,
    /// Person or key.
    pub id: Option<i64>,
    /// The name at the time of the act.
    pub name: String,
    /// Client address; empty for commands.
    pub address: String,
    /// Empty for commands.
    pub request_id: String,
}

impl Actor {
    /// A person in the panel.
    pub fn person(person: &Person, request: &Request) -> Self {
        let account = &person.account;
        Self {
            id: Some(account.user_id.0),
            ..Self::requesting(ActorKind::Person, account.name.clone(), request)
        }
    }

    /// An integration.
    pub fn key(key: &ApiKey, request: &Request) -> Self {
        Self {
            id: Some(key.id),
            ..Self::requesting(ActorKind::Key, key.entry.name.clone(), request)
        }
    }

    /// A person whose program calls, by the person's token.
    pub fn program(caller: &PartnerCaller) -> Self {
        Self {
            kind: ActorKind::Person,
            id: Some(caller.account.user_id.0),
            name: caller.account.name.clone(),
            address: caller.client.to_string(),
            request_id: caller.request_id.to_str().unwrap_or_default().to_owned(),
        }
    }

    /// The sender of a request.
    pub fn requesting(kind: ActorKind, name: String, request: &Request) -> Self {
        Self {
            kind,
            id: None,
            name,
            address: request.client.to_string(),
            request_id: request.id.to_str().unwrap_or_default().to_owned(),
        }
    }

    /// A command on the server, or the service by itself.
    pub fn local(kind: ActorKind, name: &str) -> Self {
        Self {
            kind,
            id: None,
            name: name.to_owned(),
            address: String::new(),
            request_id: String::new(),
        }
    }
}

/// What was done, and to what.
pub struct Act<'a> {
    /// Such as `aluno.suspender`.
    pub action: &'static str,
    /// Such as `aluno`.
    pub object: &'static str,
    pub object_id: String,
    /// The name at the time of the act.
    pub object_name: &'a str,
}
