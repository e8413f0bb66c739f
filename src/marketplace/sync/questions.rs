//! Questions: those that wait for an answer, those that wait in our books, and
//! those that were asked since the last reading, in any state.
//!
//! Searches do not return the time of a change and cannot filter by it. So the
//! newest questions are read at the first reading and once a day. That shows,
//! for example, an answer that was removed without a notification.

use std::collections::BTreeSet;

use super::records;
use super::unreadable;
use super::{Asked, Step, StepContext};
use crate::base::{DAY_S, Instant};
use crate::marketplace::books::booked::Booked as _;
use crate::marketplace::books::document::{QuestionDocument, QuestionState};
use crate::marketplace::client::{Page, QUESTIONS_PAGE, QUESTIONS_REACH};

/// Most pages of a scan: so many questions do not wait in practice.
const MOST_PAGES: usize = 200;
/// Most pages of a search: the marketplace returns at most a thousand
/// questions.
const REACH_PAGES: usize = QUESTIONS_REACH / QUESTIONS_PAGE;
/// Most questions that a reading fetches one by one.
const ALONE: usize = 200;
/// Overlap with the last reading, because questions may show late.
const OVERLAP_S: i64 = 2 * 3600;

#[derive(Default)]
struct Found {
    waiting: BTreeSet<i64>,
    /// Questions whose search result is older than the books: fetched alone.
    unclear: BTreeSet<i64>,
    total: i64,
}

/// Reads all of the area in one step.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    let account = reading.account;
    let mut found = waiting(reading)?;
    let wide = Wide::of(&reading.state.position)
        .filter(|Wide(at)| reading.began.since(*at) < DAY_S && *at >= account.linked_at);
    let since = reading.state.good_until.filter(|_| wide.is_some());
    let since = since.map(|good_until| good_until.minus(OVERLAP_S));
    asked_since(reading, since, &mut found.unclear)?;
    let others = records::open_in_books::<QuestionDocument>(reading, &QuestionState::Open)?;
    let others = others.into_iter().filter(|question| !found.waiting.contains(question));
    let alone: BTreeSet<i64> = others.chain(found.unclear).collect();
    let alone = alone.into_iter().take(ALONE).collect();
    records::fetch_own::<QuestionDocument>(reading, alone, |_, _, _| Ok(()))?;
    Ok(Step {
        position: wide.unwrap_or(Wide(reading.began)).text(),
        ..Step::whole(reading, found.waiting.len(), found.total)
    })
}

/// Reads questions that wait for an answer.
fn waiting(reading: &StepContext<'_>) -> Asked<Found> {
    const OPEN: &str = "UNANSWERED";
    let mut found = Found::default();
    let (mut scroll, mut is_scan) = (None, true);
    for number in 0..MOST_PAGES {
        let mut page = reading.call(|client, caller| {
            if is_scan {
                client.questions_scan(caller, OPEN, scroll.as_deref())
            } else {
                client.questions_page(caller, Some(OPEN), number * QUESTIONS_PAGE)
            }
        })?;
        scroll = page.scroll.take();
        found.total = page.total.max(found.total);
        let is_full = page.records.len() >= QUESTIONS_PAGE;
        let questions = book(reading, page, &mut found.unclear, &mut Vec::new())?;
        found.waiting.extend(questions.into_iter().map(|(id, _)| id));
        reading.check_time()?;
        // A marketplace without scans is read by offset, as far as that goes.
        is_scan &= number > 0 || scroll.is_some();
        let is_in_reach = is_full && number + 1 < REACH_PAGES;
        if is_scan && scroll.is_none() || !is_scan && !is_in_reach {
            break;
        }
    }
    Ok(found)
}

/// When the newest questions were last all read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wide(Instant);

impl Wide {
    fn of(position: &str) -> Option<Self> {
        let at = position.strip_prefix("wide ")?;
        at.parse().ok().map(Instant).map(Self)
    }

    fn text(self) -> String {
        format!("wide {}", self.0.0)
    }
}

/// Reads questions that were asked since an instant; without one, all within
/// reach.
fn asked_since(
    reading: &StepContext<'_>,
    since: Option<Instant>,
    unclear: &mut BTreeSet<i64>,
) -> Asked<()> {
    let mut unreadable = Vec::new();
    for number in 0..REACH_PAGES {
        let page = reading
            .call(|client, caller| client.questions_page(caller, None, number * QUESTIONS_PAGE))?;
        let is_last = page.records.is_empty();
        let questions = book(reading, page, unclear, &mut unreadable)?;
        // The newest come first.
        let is_old = since.is_some_and(|since| questions.iter().any(|(_, at)| *at < since));
        if is_last || is_old {
            break;
        }
        reading.check_time()?;
    }
    unreadable::queue_unreadable(reading, QuestionDocument::KIND, unreadable)?;
    Ok(())
}

/// Brings a page into the books; returns its questions and when they were
/// asked. Those that are older than what the books have are added to `unclear`.
fn book(
    reading: &StepContext<'_>,
    page: Page<QuestionDocument>,
    unclear: &mut BTreeSet<i64>,
    unreadable: &mut Vec<i64>,
) -> Asked<Vec<(i64, Instant)>> {
    let key = |question: &QuestionDocument| (question.row.id, question.row.asked_at);
    let (all, stale) = records::book_page(reading, page.records, unreadable, key)?;
    unclear.extend(stale.into_iter().map(|(id, _)| id));
    Ok(all)
}
