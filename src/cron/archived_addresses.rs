//! Client addresses leave packed days of the request log half a year after the
//! requests: what was asked, by whom and how it was answered stays.
//!
//! A mark tells the last batch that was looked at. Batches are packed in the order
//! of their days, so the walk ends at the first that is too young.

use serde_json::{Map, Value};

use super::mark::{self, Mark};
use super::{Report, TaskContext, TaskResult, archive, rules};
use crate::app::App;
use crate::base::DAY_S;
use crate::base::packed::pack;
use crate::base::retention::ADDRESSES;
use crate::db::{DbError, Lane};

/// The log whose entries have addresses.
const KIND: &str = "requisicoes";
const MARK: &str = "enderecos_arquivados";
/// The mark is kept for as long as anything is packed.
const MARK_DAYS: i64 = 36_500;

/// The periodic task `enderecos_arquivados`.
pub fn remove(app: &App, context: &TaskContext<'_>, _: &mut Report) -> TaskResult {
    let old = rules::old_before(app.zone(), context.now, ADDRESSES.days);
    let before = app.zone().day(old);
    while !context.is_time_over() {
        let found =
            app.db.read(Lane::Slow, |tx| archive::next(tx, KIND, mark::of(tx, MARK)?.position))?;
        let Some(batch) = found.filter(|batch| batch.day < before) else { break };
        // A damaged batch stays as it is, and is told where it is shown.
        let lines = batch.lines.as_deref();
        let packed = lines.map(|lines| pack(&without_addresses(lines))).transpose()?;
        let expires_at = context.now.plus(MARK_DAYS * DAY_S);
        app.db.write_piece(move |tx| {
            // Packed again meanwhile, without somebody who was erased: it is read again.
            let is_stored = packed.map(|packed| archive::replace(tx, &batch, &packed));
            if is_stored.transpose()?.unwrap_or(true) {
                mark::set(tx, MARK, Mark { position: batch.id, done: false }, expires_at)?;
            }
            Ok::<_, DbError>(())
        })?;
    }
    Ok(())
}

/// The same entries without their addresses.
fn without_addresses(lines: &str) -> String {
    let mut kept = String::new();
    for line in lines.lines() {
        match serde_json::from_str::<Map<String, Value>>(line) {
            Ok(mut entry) => {
                entry.insert("address".to_owned(), "".into());
                kept.push_str(&Value::Object(entry).to_string());
            }
            Err(_) => kept.push_str("{}"),
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::packed::{Packed, unpack};
    use crate::fixture::{NOW, TestApp, config};

    const LINE: &str = r#"{"id":1,"path":"/painel","address":"203.0.113.9"}"#;

    fn stored(test: &TestApp) -> Vec<String> {
        let batches = test.ask("SELECT bytes, body FROM log_batch ORDER BY batch_id", |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        });
        let text = |(bytes, body): (i64, Vec<u8>)| {
            unpack(&body, bytes.unsigned_abs()).expect("it can be unpacked")
        };
        batches.into_iter().map(text).collect()
    }

    #[test]
    fn addresses_go_after_half_a_year_and_the_rest_stays() {
        let test = TestApp::new(config(&[]));
        let today = test.app.zone().day(NOW);
        for (kind, age) in [(KIND, 300), ("mensagens", 300), (KIND, 181), (KIND, 179), (KIND, 90)] {
            let Packed { body, digest, bytes } = pack(&format!("{LINE}\n")).unwrap();
            test.write(move |tx| {
                tx.run(
                    "INSERT INTO log_batch (kind, day, part, entries, first_id, last_id, bytes, digest, created_at, body)
                     VALUES (?1, ?2, 1, 1, 1, 1, ?3, ?4, 1, ?5)",
                    (kind, today.0 - age, bytes, digest, body),
                )
            });
        }
        let run =
            |now| remove(&test.app, &TaskContext::new(now, None), &mut Report::default()).unwrap();
        run(NOW);
        let with = |text: &str| text.contains("203.0.113.9");
        let found = |test: &TestApp| stored(test).iter().map(|text| with(text)).collect::<Vec<_>>();
        assert_eq!(found(&test), [false, true, false, true, true]);
        assert!(stored(&test).iter().all(|text| text.contains("/painel")));
        run(NOW.plus(5 * DAY_S));
        assert_eq!(found(&test), [false, true, false, false, true]);
        // What is shown is whole.
        let whole = test.read(|tx| archive::batch(tx, 1)).unwrap().1;
        assert!(whole.is_some_and(|lines| lines.contains(r#""address":"""#)));
    }
}
