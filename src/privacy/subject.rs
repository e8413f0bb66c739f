//! Who is erased: which accounts are theirs, and by which words they are found in
//! texts of others.

use std::collections::HashSet;

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::sweeps::{sweep, walk};
use crate::accounts::Role;
use crate::base::{Instant, UserId, search_key};
use crate::db::{Db, ReadTx, Result};

/// Most entries of the audit log in which earlier names are looked for, the newest
/// first.
const MOST: u32 = 1_000;

/// Who is erased, until all of it is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subject {
    /// `None` for an e-mail address without an account.
    pub user: Option<i64>,
    /// Accounts of the address that were removed before.
    pub removed: Vec<i64>,
    pub email: String,
    /// Addresses, numbers and names by which the person is found in texts.
    pub words: Vec<String>,
    /// Marketplace accounts.
    pub accounts: Vec<i64>,
    /// Clients of the agency that have these accounts.
    pub clients: Vec<i64>,
}

/// An account that is to be erased.
pub struct Person {
    pub about: Subject,
    pub role: Role,
    pub made: Instant,
}

/// What only the audit log still knows of a person.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// Accounts that had the address when they were removed, and when they were
    /// made, as far as that was noted.
    pub removed: Vec<(UserId, Option<Instant>)>,
    /// What accounts were called that the person took back from the agency.
    shops: Vec<String>,
}

/// What an entry of the audit log says of it.
enum Noted {
    Removed(UserId, Option<Instant>),
    Shop(String),
}

/// Looks through the audit log for what is of a person's earlier accounts.
pub fn earlier(db: &Db, user: Option<UserId>, email: &str) -> Result<Earlier> {
    let look = |row: &Row<'_>, from: usize| {
        let before = || -> rusqlite::Result<serde_json::Value> {
            let before = row.get_ref(from + 4)?.as_str_or_null()?.unwrap_or_default();
            Ok(serde_json::from_str(before).unwrap_or_default())
        };
        Ok(match row.get_ref(from)?.as_str()? {
            "aluno.excluir" | "equipe.excluir" => {
                let (was, id) = (before()?, row.get_ref(from + 1)?.as_str()?);
                let made = was["criado_em"].as_str().and_then(Instant::parse);
                let id = id.parse().ok().filter(|_| was["email"] == email);
                id.map(|id| Noted::Removed(UserId(id), made))
            }
            "cliente.conta_saiu" => {
                let is_own = row.get_ref(from + 2)?.as_str()? == "pessoa"
                    && user.is_some()
                    && row.get::<_, Option<i64>>(from + 3)? == user.map(|user| user.0);
                let shop = before()?["conta"].as_str().filter(|_| is_own).map(str::to_owned);
                shop.map(Noted::Shop)
            }
            _ => None,
        })
    };
    let columns = &["action", "object_id", "actor_kind", "actor_id", "before"];
    let acts = sweep("audit", &["audit_id"], columns);
    let mut earlier = Earlier::default();
    walk(db, &acts, look, |found| {
        for (_, noted) in found {
            match noted {
                Noted::Removed(id, made) => earlier.removed.push((id, made)),
                Noted::Shop(name) => earlier.shops.push(name),
            }
        }
        Ok(())
    })?;
    Ok(earlier)
}

/// Addresses of all accounts that were removed, and when they were.
pub fn removed_addresses(db: &Db) -> Result<Vec<(String, Instant)>> {
    let look = |row: &Row<'_>, from: usize| {
        if !matches!(row.get_ref(from)?.as_str()?, "aluno.excluir" | "equipe.excluir") {
            return Ok(None);
        }
        let before = row.get_ref(from + 2)?.as_str_or_null()?.unwrap_or_default();
        let was: serde_json::Value = serde_json::from_str(before).unwrap_or_default();
        let at: Instant = row.get(from + 1)?;
        Ok(was["email"].as_str().map(|email| (email.to_owned(), at)))
    };
    let mut addresses = Vec::new();
    walk(db, &sweep("audit", &["audit_id"], &["action", "at", "before"]), look, |found| {
        addresses.extend(found.into_iter().map(|(_, address)| address));
        Ok(())
    })?;
    Ok(addresses)
}

/// Who an account's person is.
pub fn person(tx: &ReadTx<'_>, id: UserId, earlier: &Earlier) -> Result<Option<Person>> {
    let found: Option<(String, String, Option<String>, Role, Instant)> = tx.tuple(
        "SELECT email, name, chat_number, role, created_at FROM user
         WHERE user_id = ?1 AND removed_at IS NULL",
        [id],
    )?;
    let Some((email, name, chat_number, role, made)) = found else { return Ok(None) };
    let linked: Vec<(i64, String)> = tx.tuples(
        "SELECT ml_user_id, nickname FROM ml_account WHERE owner_id = ?1 ORDER BY ml_user_id",
        [id],
    )?;
    let clients = tx.values(
        "SELECT DISTINCT client_id FROM agency_account
         WHERE ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)",
        [id],
    )?;
    let mut words = vec![name];
    words.extend(chat_number);
    words.extend(linked.iter().map(|(_, nickname)| nickname.clone()));
    words.extend(tx.values::<String>("SELECT name FROM telegram_chat WHERE user_id = ?1", [id])?);
    // Addresses they bought with.
    words.extend(tx.values::<String>(
        "SELECT DISTINCT email FROM checkout_event WHERE user_id = ?1 AND email <> ''",
        [id],
    )?);
    words.extend(audited(tx, id)?);
    let about = Subject {
        user: Some(id.0),
        accounts: linked.into_iter().map(|(account, _)| account).collect(),
        clients,
        ..address(tx, &email, earlier, words)?
    };
    Ok(Some(Person { about, role, made }))
}

/// Who an e-mail address without an account is.
pub fn address(
    tx: &ReadTx<'_>,
    email: &str,
    earlier: &Earlier,
    mut words: Vec<String>,
) -> Result<Subject> {
    words.push(email.to_owned());
    words.extend(earlier.shops.iter().cloned());
    for (id, _) in &earlier.removed {
        words.extend(audited(tx, *id)?);
    }
    words.sort();
    words.dedup();
    Ok(Subject {
        email: email.to_owned(),
        removed: earlier.removed.iter().map(|(id, _)| id.0).collect(),
        words,
        ..Subject::default()
    })
}

/// When an account was made that was removed, as far as that was noted.
pub fn made(tx: &ReadTx<'_>, id: UserId) -> Result<Option<Instant>> {
    tx.maybe(
        "SELECT at FROM audit
         WHERE object_kind IN ('aluno', 'equipe') AND object_id = ?1
             AND action IN ('aluno.criar', 'equipe.criar')
         ORDER BY audit_id LIMIT 1",
        [id.to_string()],
    )
}

/// What was known of an account before its address, number or name changed.
fn audited(tx: &ReadTx<'_>, id: UserId) -> Result<Vec<String>> {
    let entries: Vec<(String, Option<String>, Option<String>)> = tx.tuples(
        "SELECT object_name, before, after FROM audit
         WHERE object_kind IN ('aluno', 'equipe') AND object_id = ?1
             AND action NOT IN ('aluno.consultar', 'equipe.consultar')
         ORDER BY audit_id DESC LIMIT ?2",
        (id.to_string(), MOST),
    )?;
    let mut words = Vec::new();
    for (name, before, after) in entries {
        words.push(name);
        for json in [before, after].into_iter().flatten() {
            let fields: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
            let field = |name: &str| fields.get(name).and_then(|value| value.as_str());
            words.extend(
                ["email", "nome", "chat_number"].into_iter().filter_map(field).map(str::to_owned),
            );
        }
    }
    Ok(words)
}

/// The words of a person that nobody else goes by who has an account now: neither an
/// address that is somebody else's by now, nor the number or name of a namesake.
pub fn unshared(db: &Db, subject: &Subject) -> Result<Vec<String>> {
    let key = |text: &str| search_key(text.trim());
    let wanted: HashSet<String> = subject.words.iter().map(|word| key(word)).collect();
    let mut shared = HashSet::new();
    let look = |row: &Row<'_>, from: usize| {
        if subject.user == Some(row.get(from)?) {
            return Ok(None);
        }
        let mut found = Vec::new();
        for index in 1..=3 {
            let text = row.get_ref(from + index)?.as_str_or_null()?.map(key);
            found.extend(text.filter(|text| wanted.contains(text)));
        }
        Ok((!found.is_empty()).then_some(found))
    };
    let names = sweep("user", &["user_id"], &["user_id", "email", "name", "chat_number"]);
    walk(db, &names, look, |found| {
        shared.extend(found.into_iter().flat_map(|(_, words)| words));
        Ok(())
    })?;
    let alone = subject.words.iter().filter(|word| !shared.contains(&key(word)));
    Ok(alone.cloned().collect())
}
