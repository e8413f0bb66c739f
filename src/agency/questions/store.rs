//! The queue in the database. `agency_question` has each question once, in the
//! order in which it is shown, and `agency_question_count` the totals.

use rusqlite::ToSql;

use super::{Scope, Status};
use crate::base::{MlUserId, UserId};
use crate::db::{ReadTx, Record as _, Result, RowWindow};
use crate::marketplace::books::document::QuestionRow;
use crate::marketplace::books::questions::cards::CardRow;
use crate::row;

/// How many questions of each state a choice has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub open: u64,
    pub answered: u64,
    pub closed: u64,
}

impl Counts {
    /// How many questions have a status.
    pub const fn of(self, status: Status) -> u64 {
        match status {
            Status::Open => self.open,
            Status::Answered => self.answered,
            Status::All => self.open + self.answered + self.closed,
        }
    }
}

row! {
    /// A question in the queue.
    pub struct QueuedRow {
        pub client: i64 = "k_client",
        pub card: CardRow as row,
    }
}

/// A question to an account of a client.
pub struct Joined {
    pub client: i64,
    pub owner: UserId,
    pub row: QuestionRow,
}

impl Scope {
    /// The SQL condition of the scope, with its values.
    fn condition(&self) -> (&'static str, Vec<(&'static str, &dyn ToSql)>) {
        match self {
            Self::All => ("", Vec::new()),
            Self::Client(client) => ("client_id = :client AND ", vec![(":client", client)]),
            Self::Keeper(keeper) => (
                "client_id IN (SELECT client_id FROM agency_client WHERE keeper_id = :keeper) AND ",
                vec![(":keeper", keeper)],
            ),
            Self::ClientOf(client, keeper) => (
                "client_id = :client AND EXISTS (SELECT 1 FROM agency_client c
                     WHERE c.client_id = :client AND c.keeper_id = :keeper) AND ",
                vec![(":client", client), (":keeper", keeper)],
            ),
        }
    }

    /// The index that has the questions of the scope in order, by state.
    const fn index(&self) -> &'static str {
        match self {
            // The primary key begins with the client.
            Self::Client(_) | Self::ClientOf(..) => "",
            Self::All | Self::Keeper(_) => "INDEXED BY agency_question_by_state",
        }
    }
}

/// How many questions of each state a choice has.
pub fn counts(tx: &ReadTx<'_>, scope: Scope) -> Result<Counts> {
    let (condition, values) = scope.condition();
    let sql = format!(
        "SELECT state, sum(questions) FROM agency_question_count WHERE {condition} questions > 0
         GROUP BY state"
    );
    let rows: Vec<(i64, i64)> = tx.tuples(&sql, &values[..])?;
    let of = |state: i64| {
        let found = rows.iter().find(|(known, _)| *known == state);
        found.and_then(|(_, questions)| u64::try_from(*questions).ok()).unwrap_or(0)
    };
    Ok(Counts { open: of(1), answered: of(2), closed: of(3) })
}

/// A page of a choice: open questions, oldest first; then the rest, newest
/// first.
pub fn page(
    tx: &ReadTx<'_>,
    scope: Scope,
    status: Status,
    counts: Counts,
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<QueuedRow>> {
    let stretches: &[(&[i64], u64)] = match status {
        Status::Open => &[(&[1], counts.open)],
        Status::Answered => &[(&[2], counts.answered)],
        Status::All => &[(&[1], counts.open), (&[2, 3], counts.answered + counts.closed)],
    };
    let (mut from, until) = (u64::from(offset), u64::from(offset) + u64::from(limit));
    let mut start = 0;
    let mut found = Vec::new();
    for (states, long) in stretches {
        let to = until.min(start + long);
        if from < to {
            let span = (from - start, to - start);
            found.extend(stretch(tx, scope, states, (span, *long))?);
            from = to;
        }
        start += long;
    }
    Ok(found)
}

/// Rows `from` to `to` of a part of the queue that has `long` rows. The scan
/// starts at the nearer end.
fn stretch(
    tx: &ReadTx<'_>,
    scope: Scope,
    states: &[i64],
    ((from, to), long): ((u64, u64), u64),
) -> Result<Vec<QueuedRow>> {
    let backwards = from > long / 2;
    let (way, skipped) = if backwards { ("DESC", long - to) } else { ("ASC", from) };
    let (condition, mut values) = scope.condition();
    let index = scope.index();
    let of_state = |state: &i64| {
        format!(
            "SELECT client_id, state, place, question_id FROM agency_question {index}
             WHERE {condition} state = {state}"
        )
    };
    // Two states are two index scans in the same order, which are merged.
    let walks: Vec<String> = states.iter().map(of_state).collect();
    let walks = walks.join(" UNION ALL ");
    let sql = format!(
        "SELECT {columns} FROM (
             SELECT k.client_id AS k_client, k.place AS k_place, k.question_id AS k_id,
                 q.owner_id AS k_owner, iif(k.state = 1, k.place, -k.place) AS k_at
             FROM ({walks} ORDER BY place {way}, question_id {way} LIMIT :rows OFFSET :skipped) AS k
             CROSS JOIN agency_question AS q ON q.client_id = k.client_id AND q.state = k.state
                 AND q.place = k.place AND q.question_id = k.question_id) AS queued
         CROSS JOIN question ON question.owner_id = k_owner AND question.asked_at = k_at
             AND question.question_id = k_id
         ORDER BY k_place, k_id",
        columns = QueuedRow::COLUMNS,
    );
    let [rows, skipped] = [to - from, skipped].map(|rows| i64::try_from(rows).unwrap_or(i64::MAX));
    values.extend([(":rows", &rows as &dyn ToSql), (":skipped", &skipped)]);
    tx.all(&sql, &values[..], QueuedRow::read)
}

/// A question by its number, when it is to an account of a client.
pub fn joined(tx: &ReadTx<'_>, question: i64) -> Result<Option<Joined>> {
    let place: Option<(i64, UserId)> = tx.tuple(
        "SELECT j.client_id, j.owner_id FROM question q
         JOIN agency_account j ON j.ml_user_id = q.ml_user_id AND j.owner_id = q.owner_id
         WHERE q.question_id = ?1",
        [question],
    )?;
    let Some((client, owner)) = place else { return Ok(None) };
    let row =
        tx.record("FROM question WHERE question_id = ?1 AND owner_id = ?2", (question, owner))?;
    Ok(row.map(|row| Joined { client, owner, row }))
}

/// A question of the queue by itself, as lists show it.
pub fn one(tx: &ReadTx<'_>, joined: &Joined) -> Result<Option<QueuedRow>> {
    let sql = format!(
        "SELECT {} FROM (SELECT ?1 AS k_client) CROSS JOIN question
         WHERE question.question_id = ?2 AND question.owner_id = ?3",
        QueuedRow::COLUMNS
    );
    tx.optional(&sql, (joined.client, joined.row.id, joined.owner), QueuedRow::read)
}

/// The accounts of these clients.
pub fn accounts(tx: &ReadTx<'_>, clients: &[i64]) -> Result<Vec<MlUserId>> {
    let mut all = Vec::new();
    for client in clients {
        let of_client = "SELECT ml_user_id FROM agency_account WHERE client_id = ?1";
        all.extend(tx.values::<MlUserId>(of_client, [client])?);
    }
    Ok(all)
}
