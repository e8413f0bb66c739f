//! Questions of buyers, and their answers.
//!
//! Each document has the whole state of a question. A question that was read
//! alone has the time of its last change, and the later change wins. A row of a
//! search has no such time: it may move a question forward, never back. An
//! answered question does not become unanswered because of a page that was read
//! earlier; only a single reading can do that. The owner is notified once of
//! each question that waits for an answer, in the panel and by the channels
//! that the owner chose.

pub mod answer;
pub mod buyers;
pub mod cards;
pub mod of_listing;
pub mod pages;
pub mod replies;
pub mod send_answer;
pub mod sending;
pub mod store;
pub mod views;
pub mod words;

#[cfg(test)]
mod tests;

use serde_json::json;

pub use super::document::QuestionState;

use super::document::{QuestionDocument, QuestionRow, UNANSWERABLE};
use super::listings;
use super::news;
use super::orders::Applied;
use crate::accounts::permissions::is_active_student;
use crate::base::{Instant, MlUserId, UserId, shortened};
use crate::db::{Result, WriteTx};
use crate::events::{self, EventType};
use crate::marketplace::account::store::count_open;
use crate::marketplace::books::BookWrite;
use crate::messages::{News, NotificationKind};
use crate::outbox::{self, Channel, MessageKind};

/// Characters of a question that its notification shows.
const SHOWN: usize = 160;
/// Characters of a question that its message shows, which leaves the platform.
const SENT: usize = 300;

/// How far a status is in the life of a question. What is not newer never lowers it.
fn rank(status: &str) -> u8 {
    match status {
        "ANSWERED" | "CLOSED_UNANSWERED" | UNANSWERABLE => 2,
        "BANNED" | "DELETED" | "DISABLED" => 3,
        _ => 1,
    }
}

/// Updates an owner's questions from a document. The owner is notified of
/// questions asked from `news_from` on; older ones are history.
pub fn apply(
    (tx, context, owner): BookWrite<'_, '_>,
    question: &QuestionDocument,
    news_from: Instant,
) -> Result<Applied> {
    let before = store::stored(tx, owner, question.row.id)?;
    if before.as_ref().is_some_and(|before| is_older(question, before)) {
        return Ok(Applied::Stale);
    }
    let after = to_store(question, before.as_ref());
    if before.as_ref() == Some(&after) {
        return Ok(Applied::Unchanged);
    }
    change(tx, owner, before.as_ref(), &after)?;
    if is_newly_answered(before.as_ref(), &after, news_from) {
        events::raise(tx, owner, EventType::QuestionAnswered, after.id)?;
    }
    let was_open = before.is_some_and(|before| before.is_open());
    if after.is_open() && !was_open && question.row.asked_at >= news_from {
        notify_owner((tx, context, owner), question)?;
        events::raise(tx, owner, EventType::QuestionReceived, question.row.id)?;
    }
    Ok(Applied::Stored)
}

/// Whether a question was answered since it was last read, and not before `news_from`.
fn is_newly_answered(
    before: Option<&QuestionRow>,
    after: &QuestionRow,
    news_from: Instant,
) -> bool {
    let is_answered = |row: &QuestionRow| row.state == QuestionState::Answered;
    let at = after.answered_at.or(after.updated_at);
    is_answered(after)
        && !before.is_some_and(is_answered)
        && at.map_or(before.is_some(), |at| at >= news_from)
}

/// Closes a question that the marketplace does not have any more.
pub fn gone(
    (tx, _, owner): BookWrite<'_, '_>,
    account: MlUserId,
    question: i64,
) -> Result<Applied> {
    let before = store::stored(tx, owner, question)?;
    let Some(before) = before.filter(|before| before.ml_user_id == account && before.is_open())
    else {
        return Ok(Applied::Unchanged);
    };
    let after = QuestionRow {
        state: QuestionState::Closed,
        status: "DELETED".to_owned(),
        ..before.clone()
    };
    change(tx, owner, Some(&before), &after)?;
    Ok(Applied::Stored)
}

fn is_older(question: &QuestionDocument, before: &QuestionRow) -> bool {
    let is_lower = rank(&question.row.status) < rank(&before.status);
    match (question.row.updated_at, before.updated_at) {
        (Some(changed), Some(known)) => changed < known || changed == known && is_lower,
        (Some(_), None) => false,
        (None, _) => is_lower,
    }
}

/// The row to store for a document. What the document leaves out keeps its
/// stored value.
fn to_store(question: &QuestionDocument, before: Option<&QuestionRow>) -> QuestionRow {
    let mut row = question.row.clone();
    if let Some(before) = before {
        if row.answer.is_none() && row.state == QuestionState::Answered {
            (row.answer, row.answered_at) = (before.answer.clone(), before.answered_at);
        }
        row.asker_id = row.asker_id.or(before.asker_id);
        row.updated_at = row.updated_at.or(before.updated_at);
    }
    row
}

/// Stores the new row of a question, and updates the number of open ones.
fn change(
    tx: &WriteTx<'_>,
    owner: UserId,
    before: Option<&QuestionRow>,
    after: &QuestionRow,
) -> Result<()> {
    if let Some(before) = before.filter(|before| before.asked_at != after.asked_at) {
        store::delete(tx, owner, before)?;
    }
    store::put(tx, owner, after)?;
    let was_open = before.is_some_and(QuestionRow::is_open);
    if was_open != after.is_open() {
        let by = if was_open { -1 } else { 1 };
        count_open(tx, "open_questions", owner, after.ml_user_id, by)?;
    }
    if was_open && !after.is_open() {
        let keys = MessageKind::Question.key(&cause_of(after.id), Some(owner), None);
        let reason = "a pergunta já não espera resposta";
        outbox::drop_keyed(tx, &keys, reason, Channel::ALL.len())?;
    }
    Ok(())
}

fn notify_owner(
    (tx, context, owner): BookWrite<'_, '_>,
    QuestionDocument { row: question, site }: &QuestionDocument,
) -> Result<()> {
    let title = listings::store::title(tx, owner, question.item_id)?;
    let title = title.unwrap_or_else(|| format!("{site}{}", question.item_id));
    let reference = question.id.to_string();
    let cause = cause_of(question.id);
    // Others cannot open the page that the message links to, where such messages are also
    // turned off.
    let news = if is_active_student(tx, owner)? {
        News::message(MessageKind::Question, context.channel_set, &cause)
    } else {
        News::notice(NotificationKind::Pergunta, &cause)
    };
    let told = News {
        title: "Nova pergunta",
        text: &format!("“{}” — {title}", shortened(&question.text, SHOWN)),
        reference: Some(&reference),
        params: json!({
            "question_id": question.id,
            "question": cut(&question.text, SENT),
            "listing": title,
        }),
        ..news
    };
    news::tell((tx, context, owner), question.ml_user_id, told)
}

fn cause_of(question: i64) -> String {
    format!("pergunta:{question}")
}

/// A text cut to `limit` characters, with an ellipsis where it was cut.
fn cut(text: &str, limit: usize) -> String {
    let kept = shortened(text, limit);
    let more = if kept.len() < text.len() { "…" } else { "" };
    format!("{kept}{more}")
}
