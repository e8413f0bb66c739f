//! An erased person in the log of requests, also in its packed days.

use rusqlite::Row;
use serde_json::{Map, Value};

use super::sweeps::{PIECE, Sought, change_each, sweep, walk};
use crate::base::packed::{Packed, pack, unpack};
use crate::db::{Db, DbError, Result};

/// The log of requests among the packed logs.
const REQUESTS: &str = "requisicoes";

/// Takes number and address of the person out of the log of requests.
pub fn forget_requests(db: &Db, users: &[i64]) -> Result<()> {
    let look = |row: &Row<'_>, from: usize| {
        let is_person = row.get_ref(from)?.as_str()? != "chave";
        let id: Option<i64> = row.get(from + 1)?;
        Ok((is_person && id.is_some_and(|id| users.contains(&id))).then_some(()))
    };
    let blank = "UPDATE request_log SET caller_id = NULL, address = '' WHERE entry_id = ?1";
    let log = sweep("request_log", &["entry_id"], &["caller", "caller_id"]);
    walk(db, &log, look, |found| change_each(db, &found, blank))
}

/// The same of packed days, and of texts in them from before they had none.
pub fn forget_packed(db: &Db, sought: &Sought) -> Result<()> {
    let look = |row: &Row<'_>, from: usize| {
        let bytes: i64 = row.get(from + 1)?;
        let body = row.get_ref(from + 3)?.as_blob()?;
        // A damaged one stays as it is, and is told where it is shown.
        let Some(lines) = unpack(body, bytes.unsigned_abs()) else { return Ok(None) };
        let is_requests = row.get_ref(from)?.as_str()? == REQUESTS;
        let Some(lines) = without(&lines, is_requests, sought) else { return Ok(None) };
        let was: Vec<u8> = row.get(from + 2)?;
        Ok(pack(&lines).ok().map(|packed| (was, packed)))
    };
    let batches = sweep("log_batch", &["batch_id"], &["kind", "bytes", "digest", "body"]);
    loop {
        // One that was packed again meanwhile is read again.
        let mut is_stale = false;
        walk(db, &batches, look, |found| {
            for piece in found.chunks(PIECE) {
                let piece = piece.to_vec();
                is_stale |= db.write_piece(move |tx| {
                    let mut is_stale = false;
                    for (key, (was, Packed { body, digest, bytes })) in &piece {
                        let sql = "UPDATE log_batch SET body = ?3, digest = ?4, bytes = ?5
                                   WHERE batch_id = ?1 AND digest = ?2";
                        is_stale |= tx.execute(sql, (&key[0], was, body, digest, bytes))? == 0;
                    }
                    Ok::<_, DbError>(is_stale)
                })?;
            }
            Ok(())
        })?;
        if !is_stale {
            return Ok(());
        }
    }
}

/// Lines without the person; `None` when none is of them.
fn without(lines: &str, is_requests: bool, sought: &Sought) -> Option<String> {
    let mut kept = String::new();
    let mut is_changed = false;
    for line in lines.lines() {
        let changed = if is_requests {
            without_caller(line, &sought.users)
        } else {
            sought.words.scrubbed(line)
        };
        is_changed |= changed.is_some();
        kept.push_str(changed.as_deref().unwrap_or(line));
        kept.push('\n');
    }
    is_changed.then_some(kept)
}

fn without_caller(line: &str, users: &[i64]) -> Option<String> {
    // Most lines are of others, and need not be read.
    users.iter().find(|id| line.contains(&format!("\"caller_id\":{id},")))?;
    let mut entry: Map<String, Value> = serde_json::from_str(line).ok()?;
    let id = entry.get("caller_id").and_then(Value::as_i64)?;
    let is_theirs = users.contains(&id) && entry.get("caller").is_some_and(|kind| kind != "chave");
    if !is_theirs {
        return None;
    }
    entry.insert("caller_id".to_owned(), Value::Null);
    entry.insert("address".to_owned(), "".into());
    Some(Value::Object(entry).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::words::Words;

    #[test]
    fn packed_lines_lose_who_called_and_keep_what() {
        let words = Words::of(&["ana@exemplo.com".to_owned()]);
        let sought =
            Sought { users: vec![7], own_words: words.clone(), words, clients: Vec::new() };
        let line = |caller: &str, id: i64| {
            format!(
                r#"{{"address":"203.0.113.9","caller":"{caller}","caller_id":{id},"path":"/x"}}"#
            )
        };
        let lines =
            format!("{}\n{}\n{}\n", line("sessao", 7), line("chave", 7), line("sessao", 77));
        let kept = without(&lines, true, &sought).unwrap();
        let kept: Vec<&str> = kept.lines().collect();
        assert_eq!(kept[0], r#"{"address":"","caller":"sessao","caller_id":null,"path":"/x"}"#);
        assert_eq!(kept[1..], [line("chave", 7), line("sessao", 77)]);
        assert_eq!(without(&line("sessao", 77), true, &sought), None);
        let failed = r#"{"errors":"[{\"mensagem\":\"550 ana@exemplo.com\"}]"}"#;
        assert!(without(failed, false, &sought).unwrap().contains("550 [apagado]"));
    }
}
