//! Questions in the database.

use super::QuestionState;
use super::cards::CardRow;
use super::pages::{self, WireQuestion};
use crate::base::{DAY_S, Instant, MlUserId, UserId};
use crate::db::{Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::document::QuestionRow;
use crate::marketplace::books::listed::{Listed, RecordFilter};
use crate::marketplace::books::words::Words;
use crate::panel::Listing;
use crate::row;
use crate::services::Services;

/// The value of the state filter that means all states.
pub const ALL: &str = "todas";

/// A nickname is deleted after this time, and fetched again when it is needed.
const NAME_KEPT_S: i64 = 180 * DAY_S;

row! {
    /// A question as lists show it.
    pub struct Question {
        pub row: QuestionRow as row,
        /// Title of the listing; empty when it is not known.
        pub title: String = "coalesce((SELECT l.title FROM listing l
        WHERE l.owner_id = question.owner_id AND l.item_id = question.item_id), '')",
    }
}

impl Listed for Question {
    type Wire = WireQuestion;

    const LIST: &'static Listing = &pages::LIST;
    const TABLE: &'static str = "question";
    const ID: &'static str = "question_id";
    const ALL: &'static str = ALL;

    fn state(_: &ReadTx<'_>, _: &Words, name: &str) -> Result<i64> {
        Ok(QuestionState::from_name(name).map_or(-1, |state| state.number().into()))
    }

    fn search<'w>(filters: &mut Filters<'w>, wanted: &'w RecordFilter) {
        let condition = "(holds(text, :key) OR item_id = :item OR item_id IN (
             SELECT item_id FROM listing WHERE owner_id = :owner AND holds(title, :key)))";
        filters.and(condition, &[(":key", &wanted.key), (":item", &wanted.item)]);
    }

    fn column(_: &str) -> &'static str {
        "asked_at"
    }

    fn wire(self, services: &Services, stores: &Stores) -> WireQuestion {
        WireQuestion::of(services, stores, self)
    }
}

/// Which questions a program asks for.
pub struct QuestionFilter {
    pub owner: UserId,
    pub state: Option<QuestionState>,
    pub account: Option<MlUserId>,
    /// Only those asked then or later.
    pub since: Option<Instant>,
    /// Only those behind this time and number. They are not counted.
    pub after: Option<(i64, i64)>,
}

/// A page of questions, the last asked first, and how many match.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &QuestionFilter,
    window: RowWindow,
) -> Result<(Vec<Question>, u64)> {
    let mut filters = Filters::new("owner_id = :owner", &[(":owner", &wanted.owner)]);
    filters.and_if("state = :state", ":state", &wanted.state);
    filters.and_if("ml_user_id = :account", ":account", &wanted.account);
    filters.and_if("asked_at >= :since", ":since", &wanted.since);
    let total = match wanted.after {
        Some(_) => 0,
        None => filters.count(tx, "SELECT count(*) FROM question")?,
    };
    if let Some((at, id)) = &wanted.after {
        filters.and("(asked_at, question_id) < (:at, :id)", &[(":at", at), (":id", id)]);
    }
    let page = Page { table: "question", order: "asked_at DESC, question_id DESC", window };
    Ok((filters.rows(tx, &page, Question::COLUMNS, Question::read)?, total))
}

pub fn stored(tx: &ReadTx<'_>, owner: UserId, question: i64) -> Result<Option<QuestionRow>> {
    tx.record("FROM question WHERE question_id = ?1 AND owner_id = ?2", (question, owner))
}

/// A page of the questions that wait for an answer, oldest first, and the
/// number of all that wait. They are those of an owner, or of one of the
/// owner's accounts.
pub fn waiting(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: Option<MlUserId>,
    window: RowWindow,
) -> Result<(Vec<CardRow>, u64)> {
    let mut filters = Filters::new(
        "owner_id = :owner AND state = :open",
        &[(":owner", &owner), (":open", &QuestionState::Open)],
    );
    filters.and_if("ml_user_id = :account", ":account", &account);
    let total = filters.count(tx, "SELECT count(*) FROM question INDEXED BY question_run")?;
    let RowWindow { limit, offset } = window;
    let condition = filters.sql().to_owned();
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    // Only few of all questions wait, so the index by state is used.
    let rest = format!(
        "FROM (SELECT * FROM question INDEXED BY question_run WHERE {condition}
             ORDER BY asked_at, question_id LIMIT :limit OFFSET :offset) AS question
         ORDER BY asked_at, question_id"
    );
    Ok((tx.records(&rest, filters.values())?, total))
}

/// The open question of an account that waits longest.
pub fn oldest_open(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Option<Question>> {
    tx.record(
        "FROM question WHERE owner_id = ?1 AND state = 1 AND ml_user_id = ?2
         ORDER BY asked_at, question_id LIMIT 1",
        (owner, account),
    )
}

pub fn put(tx: &WriteTx<'_>, owner: UserId, row: &QuestionRow) -> Result<()> {
    tx.put("INSERT OR REPLACE INTO question", row, &[("owner_id", &owner)])?;
    Ok(())
}

/// Removes a question from its old place: `asked_at` is a part of the key.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, row: &QuestionRow) -> Result<()> {
    tx.run(
        "DELETE FROM question WHERE owner_id = ?1 AND asked_at = ?2 AND question_id = ?3",
        (owner, row.asked_at, row.id),
    )
}

/// The nickname of a buyer, unless it was read long ago.
pub fn buyer_name(tx: &ReadTx<'_>, asker: i64) -> Result<Option<String>> {
    tx.maybe(
        "SELECT nickname FROM buyer_name WHERE buyer_id = ?1 AND read_at >= ?2",
        (asker, tx.now().minus(NAME_KEPT_S)),
    )
}

/// Stores the nickname of a buyer, and deletes some of those that were read long ago: more than
/// come in.
pub fn keep_buyer_name(tx: &WriteTx<'_>, asker: i64, nickname: &str) -> Result<()> {
    tx.execute(
        "DELETE FROM buyer_name WHERE buyer_id IN (
             SELECT buyer_id FROM buyer_name WHERE read_at < ?1 LIMIT 20)",
        [tx.now().minus(NAME_KEPT_S)],
    )?;
    tx.run(
        "INSERT OR REPLACE INTO buyer_name (buyer_id, nickname, read_at) VALUES (?1, ?2, ?3)",
        (asker, nickname, tx.now()),
    )
}
