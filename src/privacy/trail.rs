//! An erased person in the audit log. Entries keep number and act; of the words go
//! those about the person and those by which they can be told. By name alone only
//! the entries whose place for a name holds it: a name in a sentence says nothing,
//! and could be chosen so that the words of other people's entries go.

use rusqlite::Row;
use rusqlite::types::Value;

use super::sweeps::{PIECE, Sought, Sweep, sweep, walk};
use super::words::json;
use crate::audit::chain::{self, Blank};
use crate::db::{Db, DbError, Result};

/// What an account goes by, in entries about it.
const OF_ACCOUNT: [&str; 3] = ["email", "nome", "chat_number"];
const ENTRIES: Sweep = sweep(
    "audit",
    &["audit_id"],
    &[
        "actor_kind",
        "actor_id",
        "actor_name",
        "object_kind",
        "object_id",
        "object_name",
        "before",
        "after",
        "length(who)",
        "length(what)",
    ],
);

/// What a digest instead of a salt is long.
const BLANKED: i64 = 32;

fn blanked(sought: &Sought, row: &Row<'_>, from: usize) -> rusqlite::Result<Option<Blank>> {
    let blank = Blank {
        who: row.get::<_, i64>(from + 8)? != BLANKED && acted(sought, row, from)?,
        what: row.get::<_, i64>(from + 9)? != BLANKED && is_about(sought, row, from)?,
    };
    Ok((blank != Blank::default()).then_some(blank))
}

/// Whether an entry names the person.
pub fn finds(db: &Db, sought: &Sought) -> Result<bool> {
    let mut is_found = false;
    let look = |row: &Row<'_>, from: usize| blanked(sought, row, from);
    walk(db, &ENTRIES, look, |found| {
        is_found |= !found.is_empty();
        Ok(())
    })?;
    Ok(is_found)
}

/// Blanks what names the person in the audit log: who acted, where it was them;
/// what it was about, where it was them or names them.
pub fn blank(db: &Db, sought: &Sought) -> Result<()> {
    let look = |row: &Row<'_>, from: usize| blanked(sought, row, from);
    walk(db, &ENTRIES, look, |found| {
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

fn text<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(index)?.as_str_or_null()?.unwrap_or_default())
}

fn acted(sought: &Sought, row: &Row<'_>, from: usize) -> rusqlite::Result<bool> {
    let id: Option<i64> = row.get(from + 1)?;
    let is_theirs = text(row, from)? == "pessoa" && id.is_some_and(|id| sought.users.contains(&id));
    Ok(is_theirs || sought.words.identify(text(row, from + 2)?))
}

fn is_about(sought: &Sought, row: &Row<'_>, from: usize) -> rusqlite::Result<bool> {
    let (kind, id) = (text(row, from + 3)?, text(row, from + 4)?);
    let number: Option<i64> = id.parse().ok();
    let is_in = |all: &[i64]| number.is_some_and(|number| all.contains(&number));
    let about_a_person = matches!(kind, "aluno" | "equipe");
    if about_a_person && is_in(&sought.users) {
        return Ok(true);
    }
    let words = &sought.words;
    let name = text(row, from + 5)?;
    let is_named = match kind {
        "relacao" => words.is_name(name),
        "mensagem" => name.rsplit_once(" para ").is_some_and(|(_, name)| words.is_name(name)),
        "cliente" if is_in(&sought.clients) => words.is_name(name) || words.are_in(name),
        _ => false,
    };
    if is_named || words.identify(name) {
        return Ok(true);
    }
    // What an account went by before may be what another goes by now.
    let passed_over: &[&str] = if about_a_person { &OF_ACCOUNT } else { &[] };
    for index in [from + 6, from + 7] {
        let said = text(row, index)?;
        let Some(value) = json(said) else {
            if words.identify(said) {
                return Ok(true);
            }
            continue;
        };
        let holds_name =
            |field: &str| value[field].as_str().is_some_and(|name| words.is_name(name));
        let is_named = match kind {
            "relacao" => holds_name("fornecedor") || holds_name("vendedor"),
            "cliente" if is_in(&sought.clients) => words.are_in(said),
            _ => holds_name("quem_via"),
        };
        if is_named || words.identify_in(&value, passed_over) {
            return Ok(true);
        }
    }
    Ok(false)
}
