//! The file with everything that is kept about a person: a ZIP of JSON files, one
//! for each kind of record, without secrets and without what is of others.

use std::io::Write;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use super::Owner;
use super::tables::{Part, TABLES};
use crate::audit::objects::{STAFF, STUDENT};
use crate::audit::{self, Actor};
use crate::base::zip::Archive;
use crate::base::{Day, Instant, UserId, Zone};
use crate::db::{Db, DbError, Lane, WriteTx};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

const README: &str = "Estes arquivos são tudo o que a plataforma guarda sobre você, um por assunto, em JSON.\n\
    As horas são as do fuso da plataforma e os valores estão em reais.\n\
    Ficam de fora senhas, chaves e tokens, de que só se guarda um resumo, e o que é de outras pessoas.\n";

/// Writes the file. Each table is read in a snapshot of its own. Returns name and number
/// of records of the files that have any.
pub fn write(
    db: &Db,
    zone: Zone,
    owner: &Owner,
    out: impl Write,
) -> Result<Vec<(&'static str, u64)>, ExportError> {
    let mut archive = Archive::new(out);
    archive.add("LEIA-ME.txt", |file| file.write_all(README.as_bytes()))?;
    let mut files = Vec::new();
    for (table, part) in TABLES {
        let Part::File { name, shown, which, .. } = part else { continue };
        let sql = format!(
            "SELECT {} FROM {table} WHERE ({which}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL",
            shown.join(", ")
        );
        let mut records = 0;
        archive.add(&format!("{name}.json"), |file| {
            let mut failed = None;
            file.write_all(b"[")?;
            db.read(Lane::Slow, |tx| {
                tx.each(&sql, (owner.id, &owner.email), |row| {
                    if failed.is_none() {
                        let before = if records == 0 { "\n" } else { ",\n" };
                        let text = format!("{before}{}", Value::Object(record(row, zone)?));
                        failed = file.write_all(text.as_bytes()).err();
                        records += 1;
                    }
                    Ok(())
                })
            })?;
            failed.map_or(Ok(()), Err)?;
            file.write_all(b"\n]\n")?;
            Ok::<_, ExportError>(())
        })?;
        if records > 0 {
            files.push((*name, records));
        }
    }
    let photo = db.read(Lane::Slow, |tx| {
        let sql = "SELECT media, bytes FROM photo WHERE user_id = ?1";
        tx.tuple::<(String, Vec<u8>)>(sql, [owner.id])
    })?;
    if let Some((media, bytes)) = photo {
        let ending = media.trim_start_matches("image/");
        archive.add(&format!("foto.{ending}"), |file| file.write_all(&bytes))?;
    }
    archive.finish()?;
    Ok(files)
}

/// Notes in the audit log that a person's data was taken along.
pub fn note(tx: &WriteTx<'_>, actor: &Actor, id: UserId) -> Result<(), DbError> {
    let found: Option<(String, bool)> =
        tx.tuple("SELECT name, role IN ('drop', 'admin') FROM user WHERE user_id = ?1", [id])?;
    let (name, is_staff) = found.unwrap_or_default();
    let act = if is_staff {
        STAFF.act("equipe.exportar_dados", id, &name)
    } else {
        STUDENT.act("aluno.exportar_dados", id, &name)
    };
    audit::note(tx, actor, &act, (), ())
}

fn record(row: &Row<'_>, zone: Zone) -> rusqlite::Result<Map<String, Value>> {
    let columns = row.as_ref();
    let mut record = Map::new();
    for index in 0..columns.column_count() {
        let name = columns.column_name(index)?;
        let value = row.get_ref(index)?;
        let (name, value) = field(name, value, zone);
        record.insert(name.to_owned(), value);
    }
    Ok(record)
}

fn field<'n>(name: &'n str, value: ValueRef<'_>, zone: Zone) -> (&'n str, Value) {
    let is_instant = name == "at"
        || name.ends_with("_at")
        || ["paid_until", "late_since", "since", "failing_since"].contains(&name);
    match value {
        ValueRef::Integer(at) if is_instant => (name, zone.spaced(Instant(at)).into()),
        ValueRef::Integer(day) if name == "day" || name.ends_with("_day") => {
            (name, Day(day).iso().into())
        }
        ValueRef::Integer(cents) if name.ends_with("_cents") => {
            let amount = format!(
                "{}{}.{:02}",
                if cents < 0 { "-" } else { "" },
                cents.abs() / 100,
                cents.abs() % 100
            );
            (name.trim_end_matches("_cents"), amount.into())
        }
        ValueRef::Integer(number) if name.ends_with("_id") => (name, number.to_string().into()),
        ValueRef::Integer(number) => (name, number.into()),
        ValueRef::Real(number) => (name, number.into()),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let nested = text.starts_with(['{', '[']).then(|| serde_json::from_str(&text).ok());
            let nested = nested.flatten().map(|value| match name {
                "conteudo" => without_others(value),
                _ => value,
            });
            (name, nested.unwrap_or_else(|| text.into_owned().into()))
        }
        ValueRef::Null | ValueRef::Blob(_) => (name, Value::Null),
    }
}

/// A purchase without who sold or recommended it.
fn without_others(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let others =
                ["producer", "affiliate", "affiliates", "commissions", "user", "coproducer"];
            let own = fields.into_iter().filter(|(name, _)| !others.contains(&&**name));
            Value::Object(own.map(|(name, value)| (name, without_others(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_others).collect(),
        other => other,
    }
}
