//! Claims: the open ones, those that changed since we last looked (at the first
//! reading of the last months), and those that were open then.

use std::collections::HashSet;

use super::alone;
use super::odd::{self, OddRecords};
use super::{Asked, Reading, Step};
use crate::base::{DAY_S, MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::claims::{self as books, ClaimState};
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::client::{CLAIMS_PAGE, CLAIMS_REACH, Caller, ClaimSearch, Client};

/// Pages of a search.
const MOST_PAGES: usize = CLAIMS_REACH / CLAIMS_PAGE - 1;
/// Claims that are looked at one by one in a reading.
const ALONE: usize = 200;
/// Claims that are open here and are compared with those that are open there.
const MOST_OPEN: u32 = 10_000;
/// How far back the first reading looks for claims that have ended.
const FIRST_SPAN_S: i64 = 90 * DAY_S;
/// What may show late.
const OVERLAP_S: i64 = 2 * 3600;
/// Claims by themselves.
const RECORDS: OddRecords =
    OddRecords { topic: "post_purchase", path: "/post-purchase/v1/claims/" };

/// What a search found.
#[derive(Default)]
struct Found {
    claims: HashSet<i64>,
    total: i64,
    /// Numbers of those that make no sense.
    odd: Vec<i64>,
}

/// Reads all of it.
pub fn read(reading: &Reading<'_>) -> Asked<Step> {
    let account = reading.account;
    let waiting = search(reading, ClaimSearch::Open)?;
    let since = match reading.state.good_until {
        Some(good_until) => good_until.minus(OVERLAP_S),
        None => account.linked_at.minus(FIRST_SPAN_S),
    };
    let changed = search(reading, ClaimSearch::ChangedSince(since))?;
    odd::set_aside(reading, &RECORDS, changed.odd)?;
    let mut others = reading.look_up(|tx| open(tx, account.owner, account.ml_user_id))?;
    others.retain(|claim| !waiting.claims.contains(claim));
    others.truncate(ALONE);
    let ask = |client: &Client, caller: &Caller<'_>, claim: &i64| client.claim(caller, *claim);
    alone::each_own(reading, others, ask, |_, _, _| Ok(()))?;
    Ok(Step::whole(reading, waiting.claims.len(), waiting.total))
}

/// Books all that a search finds.
fn search(reading: &Reading<'_>, search: ClaimSearch) -> Asked<Found> {
    let mut found = Found::default();
    for number in 0..MOST_PAGES {
        let page = reading
            .call(|client, caller| client.claims_page(caller, search, number * CLAIMS_PAGE))?;
        if page.records.is_empty() {
            break;
        }
        found.total = page.total;
        let mut claims: Vec<ClaimDocument> =
            odd::readable(reading, &RECORDS, page.records, &mut found.odd);
        claims.retain(|claim| claim.seller == reading.account.ml_user_id);
        found.claims.extend(claims.iter().map(|claim| claim.id));
        reading.write(move |tx, account, books| {
            for claim in &claims {
                books::apply((tx, books, account.owner), claim, account.linked_at)?;
            }
            Ok(())
        })?;
        reading.check_time()?;
    }
    Ok(found)
}

/// Claims that are open here.
fn open(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Vec<i64>> {
    tx.values(
        "SELECT claim_id FROM claim
         WHERE owner_id = ?1 AND state = ?3 AND ml_user_id = ?2
         ORDER BY opened_at, claim_id
         LIMIT ?4",
        (owner, account, ClaimState::Open, MOST_OPEN),
    )
}
