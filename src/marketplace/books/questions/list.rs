//! Pages of the questions to a seller.

use rusqlite::{Row, ToSql};

use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::base::text::search_key;
use crate::db::{ReadTx, Result};

/// A question as lists show it.
#[derive(Clone, Debug)]
pub struct Question {
    pub id: i64,
    pub ml_user_id: MlUserId,
    /// Number of the listing id.
    pub item_id: i64,
    /// Title of the listing; empty when it is not known.
    pub title: String,
    pub state: i64,
    /// As the marketplace calls it.
    pub status: String,
    pub text: String,
    pub answer: Option<String>,
    pub asked_at: Instant,
    pub answered_at: Option<Instant>,
}

/// What a list shows.
pub struct Wanted {
    pub owner: UserId,
    pub store: Option<MlUserId>,
    pub state: Option<i64>,
    /// Words of the question or of its listing's title; empty for all.
    pub search: String,
    pub limit: u32,
    pub offset: u32,
}

const COLUMNS: &str = "q.question_id, q.ml_user_id, q.item_id, coalesce(l.title, ''), q.state,
    q.text, q.answer, q.asked_at, q.answered_at, q.status";
const TITLE: &str = "LEFT JOIN listing l ON l.owner_id = q.owner_id AND l.item_id = q.item_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Question> {
    Ok(Question {
        id: row.get(0)?,
        ml_user_id: row.get(1)?,
        item_id: row.get(2)?,
        title: row.get(3)?,
        state: row.get(4)?,
        text: row.get(5)?,
        answer: row.get(6)?,
        asked_at: row.get(7)?,
        answered_at: row.get(8)?,
        status: row.get(9)?,
    })
}

/// One page of an owner's questions, newest first, with the number of all
/// that match.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted) -> Result<(Vec<Question>, u64)> {
    select(tx, wanted, COLUMNS, read)
}

/// Numbers of the questions that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted) -> Result<Vec<i64>> {
    select(tx, wanted, "q.question_id", |row| row.get(0)).map(|(ids, _)| ids)
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &Wanted,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":owner", &wanted.owner)];
    let mut filters = String::new();
    if let Some(state) = &wanted.state {
        filters.push_str(" AND q.state = :state");
        values.push((":state", state));
    }
    if let Some(store) = &wanted.store {
        filters.push_str(" AND q.ml_user_id = :store");
        values.push((":store", store));
    }
    let key = search_key(&wanted.search);
    if !key.is_empty() {
        filters.push_str(
            " AND (holds(q.text, :key) OR q.item_id IN (
                 SELECT item_id FROM listing WHERE owner_id = :owner AND holds(title, :key)))",
        );
        values.push((":key", &key));
    }
    let count = format!("SELECT count(*) FROM question q WHERE q.owner_id = :owner{filters}");
    let total: i64 = tx.value(&count, &values[..])?;
    values.push((":limit", &wanted.limit));
    values.push((":offset", &wanted.offset));
    let questions = tx.all(
        &format!(
            "SELECT {columns} FROM (
                 SELECT * FROM question q WHERE q.owner_id = :owner{filters}
                 ORDER BY q.asked_at DESC, q.question_id DESC LIMIT :limit OFFSET :offset) q
             {TITLE}
             ORDER BY q.asked_at DESC, q.question_id DESC"
        ),
        &values[..],
        read,
    )?;
    Ok((questions, u64::try_from(total).unwrap_or(0)))
}

/// One question of an owner.
pub fn question(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Question>> {
    tx.optional(
        &format!(
            "SELECT {COLUMNS} FROM question q {TITLE} WHERE q.question_id = ?1 AND +q.owner_id = ?2"
        ),
        (id, owner),
        read,
    )
}
