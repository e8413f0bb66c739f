//! Claims: the open ones, those that changed since the last reading (at the
//! first reading: in the last months), and those that are still open in our
//! books.

use std::collections::HashSet;

use super::lanes::{AT_ONCE, pieces};
use super::records;
use super::unreadable;
use super::{Asked, Step, StepContext};
use crate::base::{DAY_S, MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::claims::{self as books, ClaimState};
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::client::{CLAIMS_PAGE, CLAIMS_REACH, Caller, ClaimSearch, Client};
use crate::marketplace::kinds::RecordKind;

/// Most pages of a search.
const MOST_PAGES: usize = CLAIMS_REACH / CLAIMS_PAGE - 1;
/// Most claims that a reading fetches one by one.
const ALONE: usize = 200;
/// Most claims open in our books that are compared with the marketplace's.
const MOST_OPEN: u32 = 10_000;
/// How far back the first reading looks for claims that have ended.
const FIRST_SPAN_S: i64 = 90 * DAY_S;
/// Overlap with the last reading, because changes may show late.
const OVERLAP_S: i64 = 2 * 3600;

/// What a search found.
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
    unreadable::queue_unreadable(reading, RecordKind::Claim, changed.unreadable)?;
    let mut others = reading.look_up(|tx| open(tx, account.owner, account.ml_user_id))?;
    others.retain(|claim| !waiting.claims.contains(claim));
    others.truncate(ALONE);
    let ask = |client: &Client, caller: &Caller<'_>, claim: &i64| client.claim(caller, *claim);
    records::fetch_own(reading, others, ask, |_, _, _| Ok(()))?;
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
        let mut claims: Vec<ClaimDocument> = unreadable::take_readable(
            reading,
            RecordKind::Claim,
            page.records,
            &mut found.unreadable,
        );
        claims.retain(|claim| claim.seller == reading.account.ml_user_id);
        found.claims.extend(claims.iter().map(|claim| claim.id));
        for piece in pieces(claims, AT_ONCE) {
            reading.write(move |tx, account, context| {
                for claim in &piece {
                    books::apply((tx, context, account.owner), claim, account.linked_at)?;
                }
                Ok(())
            })?;
        }
        reading.check_time()?;
    }
    Ok(found)
}

/// Claims that are open in our books.
fn open(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Vec<i64>> {
    tx.values(
        "SELECT claim_id FROM claim
         WHERE owner_id = ?1 AND state = ?3 AND ml_user_id = ?2
         ORDER BY opened_at, claim_id
         LIMIT ?4",
        (owner, account, ClaimState::Open, MOST_OPEN),
    )
}
