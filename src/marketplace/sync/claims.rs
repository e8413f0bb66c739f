//! Claims: the open ones, those that changed since the last reading (at the
//! first reading: in the last months), and those that are still open in our
//! books.

use std::collections::HashSet;

use super::records;
use super::unreadable;
use super::{Asked, Step, StepContext};
use crate::base::DAY_S;
use crate::marketplace::books::booked::Booked as _;
use crate::marketplace::books::document::{ClaimDocument, ClaimState};
use crate::marketplace::client::{CLAIMS_PAGE, CLAIMS_REACH, ClaimSearch};

const MOST_PAGES: usize = CLAIMS_REACH / CLAIMS_PAGE - 1;
/// Most claims that a reading fetches one by one.
const ALONE: usize = 200;
/// How far back the first reading looks for claims that have ended.
const FIRST_SPAN_S: i64 = 90 * DAY_S;
/// Overlap with the last reading, because changes may show late.
const OVERLAP_S: i64 = 2 * 3600;

#[derive(Default)]
struct Found {
    claims: HashSet<i64>,
    total: i64,
    /// Ids of claims that could not be read.
    unreadable: Vec<i64>,
}

/// Reads all of the area in one step.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    let account = reading.account;
    let waiting = search(reading, ClaimSearch::Open)?;
    let since = match reading.state.good_until {
        Some(good_until) => good_until.minus(OVERLAP_S),
        None => account.linked_at.minus(FIRST_SPAN_S),
    };
    let changed = search(reading, ClaimSearch::ChangedSince(since))?;
    unreadable::queue_unreadable(reading, ClaimDocument::KIND, changed.unreadable)?;
    let mut others = records::open_in_books::<ClaimDocument>(reading, &ClaimState::Open)?;
    others.retain(|claim| !waiting.claims.contains(claim));
    others.truncate(ALONE);
    records::fetch_own::<ClaimDocument>(reading, others, |_, _, _| Ok(()))?;
    Ok(Step::whole(reading, waiting.claims.len(), waiting.total))
}

/// Brings all claims of a search into the books.
fn search(reading: &StepContext<'_>, search: ClaimSearch) -> Asked<Found> {
    let mut found = Found::default();
    for number in 0..MOST_PAGES {
        let page = reading
            .call(|client, caller| client.claims_page(caller, search, number * CLAIMS_PAGE))?;
        if page.records.is_empty() {
            break;
        }
        found.total = page.total;
        let key = |claim: &ClaimDocument| claim.id;
        let unreadable = &mut found.unreadable;
        let (ids, _) = records::book_page(reading, page.records, unreadable, key)?;
        found.claims.extend(ids);
        reading.check_time()?;
    }
    Ok(found)
}
