//! Texts of others that may name a person, table by table, read in windows. What
//! names the person is changed in small jobs.

use std::sync::Arc;

use rusqlite::params_from_iter;
use rusqlite::types::{Value, ValueRef};

use super::words::Words;
use crate::db::{Db, Lane, Result, WriteTx};

const WINDOW: i64 = 1_000;
/// Rows that one job changes.
pub const PIECE: usize = 40;

/// Who is looked for.
pub struct Sought {
    /// Numbers of their accounts, also of removed ones.
    pub users: Vec<i64>,
    pub words: Words,
    /// The same without names.
    pub own_words: Words,
    /// Clients of the agency that they are.
    pub clients: Vec<i64>,
}

/// A table with texts.
pub struct Sweep {
    pub table: &'static str,
    /// Its key, in order. A walk along it needs no scan.
    key: &'static [&'static str],
    texts: &'static [&'static str],
    which: &'static str,
}

/// A table with what is read of each row.
pub const fn sweep(
    table: &'static str,
    key: &'static [&'static str],
    texts: &'static [&'static str],
) -> Sweep {
    Sweep { table, key, texts, which: "true" }
}

impl Sweep {
    const fn only(self, which: &'static str) -> Self {
        Self { which, ..self }
    }
}

/// Not the purchase of somebody else who had another address then.
const NOT_OF_OTHERS: &str = "NOT EXISTS (SELECT 1 FROM checkout_event e
    WHERE e.event_id = checkout_body.event_id AND e.user_id IS NOT NULL AND e.apart = 1)";

/// All of them. Texts that only the person could see are removed with the person.
#[rustfmt::skip] // A table.
pub const SWEEPS: &[Sweep] = &[
    sweep("notification", &["owner_id", "created_at", "notification_id"], &["title", "message", "reference"]),
    sweep("outbox", &["message_id"], &["params", "outcome", "provider"]),
    sweep("partner_notification", &["owner_id", "notification_id"], &["title", "body", "outcome"]),
    sweep("announcement", &["announcement_id"], &["title", "body", "by_name"]),
    sweep("partner_call", &["call_id"], &["reply"]),
    sweep("partner_event", &["user_id", "number"], &["body"]),
    sweep("webhook_delivery", &["endpoint_id", "number"], &["body", "answer", "error"]),
    sweep("webhook_endpoint", &["endpoint_id"], &["error"]),
    sweep("checkout_event", &["event_id"], &["outcome"]),
    sweep("checkout_event", &["event_id"], &["email"]).only("user_id IS NULL"),
    sweep("checkout_body", &["event_id"], &["body"]).only(NOT_OF_OTHERS),
    sweep("agency_client", &["client_id"], &["name", "search", "notes", "tags", "error"]),
    sweep("saved_reply", &["reply_id"], &["title", "text"]),
    sweep("student_import", &["import_id"], &["file_name", "by_name", "begun_by", "rows"]),
    sweep("cron_run", &["run_id"], &["errors"]),
    sweep("cron_task", &["name"], &["error"]),
    sweep("outside_call", &["call_id"], &["what", "error"]),
    sweep("error_log", &["error_id"], &["message", "cause"]),
    sweep("user", &["user_id"], &["suspended_for"]),
];

pub type Key = Vec<Value>;

/// Reads a table window by window: `look` gets the columns after the key and says
/// what is to become of the row.
pub fn walk<T>(
    db: &Db,
    Sweep { table, key, texts, which }: &Sweep,
    look: impl Fn(&rusqlite::Row<'_>, usize) -> rusqlite::Result<Option<T>>,
    mut change: impl FnMut(Vec<(Key, T)>) -> Result<()>,
) -> Result<()> {
    let keys = key.join(", ");
    let marks = vec!["?"; key.len()].join(", ");
    let sql = format!(
        "SELECT {keys}, {} FROM {table} WHERE ({keys}) > ({marks}) AND {which} ORDER BY {keys} LIMIT {WINDOW}",
        texts.join(", ")
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

/// One text: its column, what it was, and what it becomes.
#[derive(Clone)]
struct Changed {
    column: &'static str,
    was: Value,
    is: Value,
}

/// What becomes of a text of a row; `None` when it does not name the person.
fn changed(column: &'static str, was: ValueRef<'_>, words: &Words) -> Option<Changed> {
    let (text, is_blob) = match was {
        ValueRef::Text(text) => (text, false),
        ValueRef::Blob(bytes) => (bytes, true),
        _ => return None,
    };
    let text = str::from_utf8(text).ok()?;
    let is = match column {
        "rows" => without_row(text, words),
        "by_name" | "name" | "search" => words.scrubbed_name(text),
        _ => words.scrubbed(text),
    }?;
    let value = |text: String| if is_blob { Value::Blob(text.into()) } else { Value::Text(text) };
    Some(Changed { column, was: value(text.to_owned()), is: value(is) })
}

/// What becomes of a row; `from` is its first text.
fn changes(
    sweep: &Sweep,
    sought: &Sought,
    row: &rusqlite::Row<'_>,
    from: usize,
) -> rusqlite::Result<Vec<Changed>> {
    let texts = || (from..).zip(sweep.texts);
    let mut words = &sought.words;
    // The agency's clients need no account: by name alone they may be anybody.
    if sweep.table == "agency_client" && !sought.clients.contains(&row.get(0)?) {
        let is_theirs = texts().any(|(index, _)| {
            let text =
                row.get_ref(index).ok().and_then(|text| text.as_str_or_null().ok().flatten());
            text.is_some_and(|text| words.identify(text))
        });
        words = if is_theirs { words } else { &sought.own_words };
    }
    let mut all = Vec::new();
    for (index, column) in texts() {
        all.extend(changed(column, row.get_ref(index)?, words));
    }
    Ok(all)
}

/// Whether a text of the table names the person.
pub fn finds(db: &Db, sweep: &Sweep, sought: &Sought) -> Result<bool> {
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        Ok(changes(sweep, sought, row, from)?.pop().map(drop))
    };
    let mut is_found = false;
    walk(db, sweep, look, |found| {
        is_found |= !found.is_empty();
        Ok(())
    })?;
    Ok(is_found)
}

/// Puts a neutral word in the place of the person's in all texts.
pub fn scrub(db: &Db, sweep: &'static Sweep, sought: &Arc<Sought>) -> Result<()> {
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        let all = changes(sweep, sought, row, from)?;
        Ok((!all.is_empty()).then_some(all))
    };
    walk(db, sweep, look, |found| {
        for piece in found.chunks(PIECE) {
            let (piece, sought) = (piece.to_vec(), Arc::clone(sought));
            db.write_piece(move |tx| {
                piece.iter().try_for_each(|(key, all)| put(tx, sweep, &sought, key, all))
            })?;
        }
        Ok(())
    })
}

/// Writes a row. What somebody changed since it was read is looked at again.
fn put(tx: &WriteTx<'_>, sweep: &Sweep, sought: &Sought, key: &Key, all: &[Changed]) -> Result<()> {
    let marks = vec!["?"; key.len()].join(", ");
    let place = format!("({}) = ({marks})", sweep.key.join(", "));
    let mut is_stale = false;
    for Changed { column, was, is } in all {
        let sql =
            format!("UPDATE {} SET {column} = ? WHERE {place} AND {column} IS ?", sweep.table);
        let values = std::iter::once(is).chain(key).chain(std::iter::once(was));
        is_stale |= tx.execute(&sql, params_from_iter(values))? == 0;
    }
    if !is_stale {
        return Ok(());
    }
    let (keys, texts) = (sweep.key.join(", "), sweep.texts.join(", "));
    let sql = format!("SELECT {keys}, {texts} FROM {} WHERE {place}", sweep.table);
    let now = tx
        .optional(&sql, params_from_iter(key), |row| changes(sweep, sought, row, key.len()))?
        .unwrap_or_default();
    for Changed { column, is, .. } in &now {
        let sql = format!("UPDATE {} SET {column} = ? WHERE {place}", sweep.table);
        tx.run(&sql, params_from_iter(std::iter::once(is).chain(key)))?;
    }
    Ok(())
}

/// The rows of a list of students without the person, who is not made any more.
fn without_row(rows: &str, words: &Words) -> Option<String> {
    let mut list: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(rows).ok()?;
    let mut is_changed = false;
    for row in &mut list {
        if !row.values().any(|value| value.as_str().is_some_and(|text| words.identify(text))) {
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

/// Removes notifications of the marketplace about the person's accounts.
pub fn forget_received(db: &Db, accounts: &[i64]) -> Result<()> {
    if accounts.is_empty() {
        return Ok(());
    }
    let look = |row: &rusqlite::Row<'_>, from: usize| {
        Ok(accounts.contains(&row.get::<_, i64>(from)?).then_some(()))
    };
    let remove = "DELETE FROM ml_notification WHERE notification_id = ?1";
    let received = sweep("ml_notification", &["notification_id"], &["ml_user_id"]);
    walk(db, &received, look, |found| change_each(db, &found, remove))
}

/// Runs a statement for the key of each row.
pub fn change_each(db: &Db, found: &[(Key, ())], sql: &'static str) -> Result<()> {
    for piece in found.chunks(PIECE) {
        let piece = piece.to_vec();
        db.write_piece(move |tx| {
            piece.iter().try_for_each(|(key, ())| tx.run(sql, params_from_iter(key)))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestApp, config};

    #[test]
    fn what_was_changed_since_it_was_read_is_not_put_back() {
        let test = TestApp::new(config(&[]));
        let words = Words::of(&["Ana Souza".to_owned()]);
        let own_words = words.without_names();
        let sought = Sought { users: Vec::new(), words, own_words, clients: Vec::new() };
        let text = |text: &str| Value::Text(text.to_owned());
        let titles = test.write(move |tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at) VALUES (8, 'bia@exemplo.com', 'Bia', 'pro', 1)",
                [],
            )?;
            tx.run(
                "INSERT INTO notification VALUES (8, 1, 1, 7, 'Ana Souza voltou', 'de Ana Souza', NULL, NULL, NULL)",
                [],
            )?;
            let key = vec![Value::Integer(8), Value::Integer(1), Value::Integer(1)];
            let (was, is) = (text("Ana Souza saiu"), text("[apagado] saiu"));
            let read = [Changed { column: "title", was, is }];
            put(tx, &SWEEPS[0], &sought, &key, &read)?;
            tx.values::<String>("SELECT title || ', ' || message FROM notification", [])
        });
        assert_eq!(titles, ["[apagado] voltou, de [apagado]"]);
    }
}
