//! Texts of others that may name a person, table by table, read in windows. What
//! names the person is changed in small jobs.

use rusqlite::params_from_iter;
use rusqlite::types::{Value, ValueRef};

use super::words::Words;
use crate::audit::chain::{self, Blank};
use crate::base::UserId;
use crate::db::{Db, DbError, Lane, Result};

/// Rows that are read at once.
const WINDOW: i64 = 1_000;
/// Rows that one job changes.
const PIECE: usize = 40;

/// A table with texts.
pub struct Sweep {
    pub table: &'static str,
    /// Its key, in order. A walk along it needs no scan.
    key: &'static [&'static str],
    texts: &'static [&'static str],
}

/// All of them. Texts that only the person could see are removed with the person.
#[rustfmt::skip] // A table.
pub const SWEEPS: &[Sweep] = &[
    Sweep { table: "notification", key: &["owner_id", "created_at", "notification_id"], texts: &["title", "message", "reference"] },
    Sweep { table: "outbox", key: &["message_id"], texts: &["params", "outcome", "provider"] },
    Sweep { table: "partner_notification", key: &["owner_id", "notification_id"], texts: &["title", "body", "outcome"] },
    Sweep { table: "partner_call", key: &["call_id"], texts: &["reply"] },
    Sweep { table: "webhook_delivery", key: &["endpoint_id", "number"], texts: &["body", "answer", "error"] },
    Sweep { table: "webhook_endpoint", key: &["endpoint_id"], texts: &["error"] },
    Sweep { table: "checkout_event", key: &["event_id"], texts: &["outcome", "email"] },
    Sweep { table: "checkout_body", key: &["event_id"], texts: &["body"] },
    Sweep { table: "agency_client", key: &["client_id"], texts: &["name", "search", "notes", "tags", "error"] },
    Sweep { table: "student_import", key: &["import_id"], texts: &["by_name", "begun_by", "rows"] },
    Sweep { table: "cron_run", key: &["run_id"], texts: &["errors"] },
    Sweep { table: "cron_task", key: &["name"], texts: &["error"] },
    Sweep { table: "user", key: &["user_id"], texts: &["suspended_for"] },
];

type Key = Vec<Value>;

/// Reads a table window by window: `look` gets the columns after the key and says
/// what is to become of the row.
fn walk<T>(
    db: &Db,
    (table, key, columns): (&str, &[&str], &[&str]),
    look: impl Fn(&rusqlite::Row<'_>, usize) -> rusqlite::Result<Option<T>>,
    mut change: impl FnMut(Vec<(Key, T)>) -> Result<()>,
) -> Result<()> {
    let keys = key.join(", ");
    let marks = vec!["?"; key.len()].join(", ");
    let sql = format!(
        "SELECT {keys}, {} FROM {table} WHERE ({keys}) > ({marks}) ORDER BY {keys} LIMIT {WINDOW}",
        columns.join(", ")
    );
    let mut after: Key = vec![Value::Integer(i64::MIN); key.len()];
    loop {
        let (mut last, mut found, mut read) = (None, Vec::new(), 0);
        db.read(Lane::Slow, |tx| {
            tx.each(&sql, params_from_iter(&after), |row| {
                let at = (0..key.len())
                    .map(|index| row.get(index))
                    .collect::<rusqlite::Result<Key>>()?;
                if let Some(changed) = look(row, key.len())? {
                    found.push((at.clone(), changed));
                }
                (last, read) = (Some(at), read + 1);
                Ok(())
            })
        })?;
        change(found)?;
        match last {
            Some(last) if read == WINDOW => after = last,
            _ => return Ok(()),
        }
    }
}

/// Puts a neutral word in the place of the person's in all texts.
pub fn scrub(db: &Db, sweep: &'static Sweep, words: &Words) -> Result<()> {
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        let mut changed = Vec::new();
        for (index, column) in sweep.texts.iter().enumerate() {
            let (text, is_blob) = match row.get_ref(from + index)? {
                ValueRef::Text(text) => (text, false),
                ValueRef::Blob(bytes) => (bytes, true),
                _ => continue,
            };
            let Ok(text) = str::from_utf8(text) else { continue };
            let scrubbed = match *column {
                "rows" => without_row(text, words),
                _ => words.scrubbed(text),
            };
            if let Some(text) = scrubbed {
                let value = if is_blob { Value::Blob(text.into()) } else { Value::Text(text) };
                changed.push((*column, value));
            }
        }
        Ok((!changed.is_empty()).then_some(changed))
    };
    walk(db, (sweep.table, sweep.key, sweep.texts), look, |found| {
        let marks = vec!["?"; sweep.key.len()].join(", ");
        let rows = found.into_iter().flat_map(|(key, changed)| {
            changed.into_iter().map(move |(column, value)| (column, value, key.clone()))
        });
        let rows: Vec<_> = rows.collect();
        for piece in rows.chunks(PIECE) {
            let (piece, marks) = (piece.to_vec(), marks.clone());
            db.write_piece(move |tx| {
                for (column, value, key) in &piece {
                    let sql = format!(
                        "UPDATE {} SET {column} = ? WHERE ({}) = ({marks})",
                        sweep.table,
                        sweep.key.join(", ")
                    );
                    tx.run(&sql, params_from_iter(std::iter::once(value).chain(key)))?;
                }
                Ok::<_, DbError>(())
            })?;
        }
        Ok(())
    })
}

/// The rows of a list of students without the person, who is not made any more.
fn without_row(rows: &str, words: &Words) -> Option<String> {
    let mut list: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(rows).ok()?;
    let mut is_changed = false;
    for row in &mut list {
        if !row.values().any(|value| words.identify(value.as_str())) {
            continue;
        }
        is_changed = true;
        for field in ["nome", "email"] {
            row.insert(field.to_owned(), super::words::GONE.into());
        }
        row.remove("chat_number");
        if row.get("situacao").is_some_and(|outcome| outcome == "criar") {
            row.insert("situacao".to_owned(), "erro".into());
            row.insert(
                "motivo".to_owned(),
                "a pessoa pediu que os dados dela fossem apagados".into(),
            );
        }
    }
    is_changed.then(|| serde_json::to_string(&list).unwrap_or_default())
}

/// Blanks what names the person in the audit log: who acted, where it was them;
/// what it was about, where it was them or names them.
pub fn blank_audit(db: &Db, user: Option<UserId>, words: &Words) -> Result<()> {
    let columns = [
        "actor_kind",
        "actor_id",
        "actor_name",
        "address",
        "object_kind",
        "object_id",
        "object_name",
        "before",
        "after",
        "length(who)",
        "length(what)",
    ];
    let id = user.map(|user| user.to_string());
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        let text = |index: usize| row.get_ref(from + index)?.as_str_or_null().map_err(Into::into);
        let text = |index| -> rusqlite::Result<Option<&str>> { text(index) };
        let is_actor = text(0)? == Some("pessoa")
            && user.is_some()
            && row.get::<_, Option<i64>>(from + 1)? == user.map(|user| user.0);
        // Of an entry that says which person it is about, a name alone says nothing:
        // others may have it too.
        let about_a_person = matches!(text(4)?, Some("aluno" | "equipe"));
        let named = |text: Option<&str>, is_known: bool| {
            if is_known { words.identify(text) } else { words.are_in(text) }
        };
        let acted_in_person = text(0)? == Some("pessoa");
        let who = is_actor || named(text(2)?, acted_in_person);
        let is_object = about_a_person && id.is_some() && text(5)? == id.as_deref();
        let what = is_object
            || [6, 7, 8].into_iter().try_fold(false, |found, index| {
                Ok::<_, rusqlite::Error>(found || named(text(index)?, about_a_person))
            })?;
        let is_left =
            |index: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(from + index)? != 32);
        let blank = Blank { who: who && is_left(9)?, what: what && is_left(10)? };
        Ok((blank != Blank::default()).then_some(blank))
    };
    walk(db, ("audit", &["audit_id"], &columns), look, |found| {
        for piece in found.chunks(PIECE / 4) {
            let piece = piece.to_vec();
            db.write_piece(move |tx| {
                for (key, blank) in piece {
                    if let Some(Value::Integer(number)) = key.first() {
                        chain::blank(tx, *number, blank)?;
                    }
                }
                Ok::<_, DbError>(())
            })?;
        }
        Ok(())
    })
}

/// Removes notifications of the marketplace about the person's accounts.
pub fn forget_received(db: &Db, accounts: &[i64]) -> Result<()> {
    if accounts.is_empty() {
        return Ok(());
    }
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        Ok(accounts.contains(&row.get::<_, i64>(from)?).then_some(()))
    };
    let remove = "DELETE FROM ml_notification WHERE notification_id = ?1";
    walk(db, ("ml_notification", &["notification_id"], &["ml_user_id"]), look, |found| {
        change_each(db, &found, remove)
    })
}

/// Takes number and address of the person out of the log of requests.
pub fn forget_requests(db: &Db, user: UserId) -> Result<()> {
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        let is_person = row.get_ref(from)?.as_str()? != "chave";
        let is_theirs = row.get::<_, Option<i64>>(from + 1)? == Some(user.0);
        Ok((is_person && is_theirs).then_some(()))
    };
    let blank = "UPDATE request_log SET caller_id = NULL, address = '' WHERE entry_id = ?1";
    walk(db, ("request_log", &["entry_id"], &["caller", "caller_id"]), look, |found| {
        change_each(db, &found, blank)
    })
}

fn change_each(db: &Db, found: &[(Key, ())], sql: &'static str) -> Result<()> {
    for piece in found.chunks(PIECE) {
        let piece = piece.to_vec();
        db.write_piece(move |tx| {
            piece.iter().try_for_each(|(key, ())| tx.run(sql, params_from_iter(key)))
        })?;
    }
    Ok(())
}
