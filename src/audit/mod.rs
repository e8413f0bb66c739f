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

use serde::Serialize;

use crate::base::chain::FixedFields;
use crate::db::{ReadTx, Result, WriteTx};
use crate::http::Request;
use crate::identity::{PartnerCaller, Person};
use crate::keys::ApiKey;

crate::named! {
    /// Who can act.
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

/// Notes an act. `before` is `()` for something new, `after` for something
/// removed.
pub fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    act: &Act<'_>,
    before: impl Serialize,
    after: impl Serialize,
) -> Result<()> {
    let (before, after) = (json(&before), json(&after));
    let fields = FixedFields {
        number: 0,
        at: tx.now().0,
        actor_kind: actor.kind.name(),
        actor_id: actor.id,
        action: act.action,
        object_kind: act.object,
        object_id: &act.object_id,
    };
    let words = chain::Words {
        who: [Some(&actor.name), Some(&actor.address), Some(&actor.request_id)],
        what: [Some(act.object_name), before.as_deref(), after.as_deref()],
    };
    let added = chain::add(tx, &fields, &words)?;
    tx.run(
        "INSERT INTO audit (audit_id, at, actor_kind, actor_id, actor_name, address, request_id,
                            action, object_kind, object_id, object_name, before, after, who, what, link)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        rusqlite::params![
            added.number,
            tx.now().0,
            actor.kind,
            actor.id,
            actor.name,
            actor.address,
            actor.request_id,
            act.action,
            act.object,
            act.object_id,
            act.object_name,
            before,
            after,
            added.who,
            added.what,
            added.link,
        ],
    )
}

/// The number of the newest entry; 0 without one.
pub fn newest(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT coalesce(max(audit_id), 0) FROM audit", [])
}

/// The value as JSON; nothing for `()` and `None`.
fn json(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(value).expect("plain values become JSON");
    Some(text).filter(|text| text != "null")
}
