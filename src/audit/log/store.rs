//! The audit log in the database, newest first.
//!
//! A list is read along one index that also serves its filters; a search uses
//! the full-text index. At most [`MOST`] entries are examined in any case. To
//! find older ones, people narrow the search.

use rusqlite::{ToSql, params_from_iter};

use super::AuditEntry;
use crate::base::{Instant, search_key};
use crate::db::{ReadTx, Result, RowWindow, WriteTx};

/// Most entries that a list, a search or an export examines.
pub const MOST: u32 = 20_000;
/// Most words of a search that count.
const MOST_WORDS: usize = 8;

/// Search and filters.
#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    /// As typed.
    pub search: String,
    pub actor_kind: Option<&'static str>,
    pub object_kind: Option<&'static str>,
    /// Only entries from this instant on.
    pub since: Option<Instant>,
}

/// One page, and how many of the examined entries match.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &AuditQuery,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<AuditEntry>, u64)> {
    let ids = ids(tx, wanted)?;
    let total = ids.len() as u64;
    let shown = ids.into_iter().skip(offset as usize).take(limit as usize);
    let entries = shown.filter_map(|id| one(tx, id).transpose());
    Ok((entries.collect::<Result<_>>()?, total))
}

/// Ids of the entries, newest first.
pub fn ids(tx: &ReadTx<'_>, wanted: &AuditQuery) -> Result<Vec<i64>> {
    let first = match wanted.since {
        None => Some(0),
        Some(since) => tx.maybe(
            "SELECT audit_id FROM audit WHERE at >= ?1 ORDER BY at, audit_id LIMIT 1",
            [since.0],
        )?,
    };
    let Some(first) = first else {
        return Ok(Vec::new());
    };
    let words = words(&wanted.search);
    if words.is_empty() && !wanted.search.is_empty() {
        return Ok(Vec::new());
    }
    let (source, number) = match (words.is_empty(), wanted.object_kind, wanted.actor_kind) {
        (false, ..) => ("audit_search s CROSS JOIN audit a ON a.audit_id = s.rowid", "s.rowid"),
        (true, None, None) => ("audit a", "a.audit_id"),
        (true, None, Some(_)) => ("audit a INDEXED BY audit_of_actors", "a.audit_id"),
        (true, Some(_), _) => ("audit a INDEXED BY audit_of_objects", "a.audit_id"),
    };
    let mut sql = format!("SELECT a.audit_id FROM {source} WHERE {number} >= ?");
    let mut values: Vec<&dyn ToSql> = vec![&first];
    let matching = match_of(&words);
    let mut found = Vec::new();
    if !words.is_empty() {
        found = behind_index(tx, wanted, &words, first)?;
        sql.push_str(" AND audit_search MATCH ?");
        values.push(&matching);
    }
    if let Some(kind) = &wanted.object_kind {
        sql.push_str(" AND a.object_kind = ?");
        values.push(kind);
    }
    if let Some(kind) = &wanted.actor_kind {
        sql.push_str(" AND a.actor_kind = ?");
        values.push(kind);
    }
    let sql = format!("{sql} ORDER BY {number} DESC LIMIT {MOST}");
    found.extend(tx.values::<i64>(&sql, params_from_iter(values))?);
    found.truncate(MOST as usize);
    Ok(found)
}

fn words(search: &str) -> Vec<&str> {
    split(search).take(MOST_WORDS).collect()
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The query of the full-text index for a search: all words must match, each as
/// the beginning of a word.
fn match_of(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" ")
}

/// The same search among the entries that are not indexed yet, newest first.
fn behind_index(
    tx: &ReadTx<'_>,
    wanted: &AuditQuery,
    words: &[&str],
    first: i64,
) -> Result<Vec<i64>> {
    let folded = |text: &str| search_key(text).to_lowercase();
    let beginnings: Vec<String> = words.iter().map(|word| folded(word)).collect();
    let mut found = Vec::new();
    tx.each(
        &format!(
            "SELECT audit_id, concat_ws(' ', actor_name, address, request_id, action, object_name, before, after)
             FROM audit
             WHERE audit_id > (SELECT audit_id FROM audit_searched WHERE one = 1) AND audit_id >= ?1
                 AND object_kind = coalesce(?2, object_kind) AND actor_kind = coalesce(?3, actor_kind)
             ORDER BY audit_id DESC LIMIT {MOST}"
        ),
        (first, wanted.object_kind, wanted.actor_kind),
        |row| {
            let text = folded(row.get_ref(1)?.as_str()?);
            let has = |beginning: &String| split(&text).any(|word| word.starts_with(beginning));
            if beginnings.iter().all(has) {
                found.push(row.get(0)?);
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// Whether there are entries that are not indexed yet.
pub fn is_behind(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM audit WHERE audit_id > (SELECT audit_id FROM audit_searched WHERE one = 1))",
        [],
    )
}

/// Adds to the full-text index at most `most` entries that are not indexed yet;
/// returns how many.
pub fn index(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let last: Option<i64> = tx.value(
        "SELECT max(audit_id) FROM (
             SELECT audit_id FROM audit
             WHERE audit_id > (SELECT audit_id FROM audit_searched WHERE one = 1)
             ORDER BY audit_id LIMIT ?1)",
        [i64::try_from(most).unwrap_or(1)],
    )?;
    let Some(last) = last else {
        return Ok(0);
    };
    // One statement, because FTS5 writes its changes at the end of each.
    let added = tx.execute(
        "INSERT INTO audit_search (rowid, actor_name, address, request_id, action, object_name, before, after)
         SELECT audit_id, actor_name, address, request_id, action, object_name, before, after
         FROM audit
         WHERE audit_id > (SELECT audit_id FROM audit_searched WHERE one = 1) AND audit_id <= ?1
         ORDER BY audit_id",
        [last],
    )?;
    tx.run("UPDATE audit_searched SET audit_id = ?1 WHERE one = 1", [last])?;
    Ok(added)
}

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<AuditEntry>> {
    tx.record("FROM audit a WHERE a.audit_id = ?1", [id])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Lane;
    use crate::fixture::TestDir;

    /// Actor, object, and the object's values afterwards.
    const ENTRIES: [(&str, &str, &str); 5] = [
        ("Ana Prado", "João da Silva", r#"{"plano":"Pro"}"#),
        ("Bia Nunes", "Construção civil", r#"{"título":"Água e ação"}"#),
        ("Rui", "ana.prado@example.com", r#"{"plano":"vip"}"#),
        ("Ana Prado", "JOÃO", "{}"),
        ("Prado", "Joana", r#"{"nome":"Joana-Ana"}"#),
    ];

    #[test]
    fn a_search_finds_the_same_before_and_after_entries_are_indexed() {
        let dir = TestDir::new();
        let db = dir.database();
        db.write(|tx| {
            for (actor, object, after) in ENTRIES {
                tx.run(
                    "INSERT INTO audit (at, actor_kind, actor_name, address, request_id, action,
                                        object_kind, object_id, object_name, after)
                     VALUES (?1, 'pessoa', ?2, '192.0.2.7', 'req-1', 'aluno.alterar', 'aluno', '7', ?3, ?4)",
                    (tx.now().0, actor, object, after),
                )?;
            }
            Ok::<_, crate::db::DbError>(())
        })
        .unwrap();
        let expected: [(&str, &[i64]); 9] = [
            ("ana", &[5, 4, 3, 1]),
            ("joao", &[4, 1]),
            ("JOÃO sil", &[1]),
            ("ção", &[]),
            ("constru agua", &[2]),
            ("192.0 aluno", &[5, 4, 3, 2, 1]),
            ("prado plano", &[3, 1]),
            ("acao", &[2]),
            ("--", &[]),
        ];
        for indexed in [0, 2, 1, 9] {
            db.write(move |tx| index(tx, indexed)).unwrap();
            for (search, wanted) in expected {
                let query = AuditQuery { search: search.to_owned(), ..AuditQuery::default() };
                let found = db.read(Lane::InPlace, |tx| ids(tx, &query)).unwrap();
                assert_eq!(found, wanted, "{search:?} after {indexed} more");
            }
        }
    }
}
