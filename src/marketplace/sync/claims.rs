//! Claims: the open ones, those that changed since we last looked (at the first
//! reading of the last months), and those that were open then.

use std::collections::HashSet;

use super::alone::{self, Forbidden, Single};
use super::odd::{self, Kind};
use super::store::is_still;
use super::{Reading, Step};
use crate::base::clock::DAY_S;
use crate::base::ids::{MlUserId, UserId};
use crate::db::{DbError, Lane, Pending, ReadTx, Result};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::books::claims::{self as books, State};
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::books::orders::Books;
use crate::marketplace::client::{CLAIMS_PAGE, CLAIMS_REACH, ClaimSearch};

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
const KIND: Kind = Kind { topic: "post_purchase", path: "/post-purchase/v1/claims/" };

type Asked<T> = std::result::Result<T, CallError>;

/// What a search found.
#[derive(Default)]
struct Found {
    claims: HashSet<i64>,
    total: i64,
    /// Numbers of those that make no sense.
    odd: Vec<i64>,
}

/// Reads all of it.
pub fn read(reading: &Reading<'_>) -> Asked<Option<Step>> {
    let account = reading.account;
    let Some(waiting) = search(reading, ClaimSearch::Open)? else {
        return Ok(None);
    };
    let since = match reading.state.good_until {
        Some(good_until) => good_until.minus(OVERLAP_S),
        None => account.linked_at.minus(FIRST_SPAN_S),
    };
    let Some(changed) = search(reading, ClaimSearch::ChangedSince(since))? else {
        return Ok(None);
    };
    odd::set_aside(reading, &KIND, changed.odd)?;
    let mut others =
        reading.app.db.read(Lane::Slow, |tx| open(tx, account.owner, account.ml_user_id))?;
    others.retain(|claim| !waiting.claims.contains(claim));
    others.truncate(ALONE);
    if look(reading, others)?.is_none() {
        return Ok(None);
    }
    let read = i64::try_from(waiting.claims.len()).unwrap_or(0);
    Ok(Some(Step {
        is_over: true,
        position: String::new(),
        read,
        expected: Some(waiting.total.max(read)),
        good_until: Some(reading.began),
    }))
}

/// Books all that a search finds; `None` when there was no time.
fn search(reading: &Reading<'_>, search: ClaimSearch) -> Asked<Option<Found>> {
    let account = reading.account.ml_user_id;
    let mut found = Found::default();
    for number in 0..MOST_PAGES {
        let page = with_token(reading.app, account, |caller| {
            let client = &reading.app.marketplace.client;
            client.claims_page(caller, search, number * CLAIMS_PAGE)
        })?;
        if page.claims.is_empty() {
            break;
        }
        found.total = page.total;
        let mut claims = odd::readable(reading, &KIND, page.claims, &mut found.odd);
        claims.retain(|claim: &ClaimDocument| claim.seller == account);
        found.claims.extend(claims.iter().map(|claim| claim.id));
        book(reading, claims).wait()?;
        if reading.is_over() {
            return Ok(None);
        }
    }
    Ok(Some(found))
}

fn book(reading: &Reading<'_>, claims: Vec<ClaimDocument>) -> Pending<usize, DbError> {
    let (account, books) = (reading.account, Books::of(reading.app));
    reading.app.db.submit(move |tx| {
        if is_still(tx, &account)? {
            for claim in &claims {
                books::apply(tx, &books, account.owner, claim, account.linked_at)?;
            }
        }
        Ok(claims.len())
    })
}

/// Claims that are open here.
fn open(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Vec<i64>> {
    tx.values(
        "SELECT claim_id FROM claim
         WHERE owner_id = ?1 AND state = ?3 AND ml_user_id = ?2
         ORDER BY opened_at, claim_id
         LIMIT ?4",
        (owner, account, State::Open as u8, MOST_OPEN),
    )
}

fn look(reading: &Reading<'_>, claims: Vec<i64>) -> Asked<Option<usize>> {
    alone::each(
        reading,
        claims,
        Forbidden::Records,
        |caller, claim| reading.app.marketplace.client.claim(caller, *claim),
        |tx, shared, account, claim, single| {
            match single {
                Single::Found(found) if found.seller == account.ml_user_id => {
                    books::apply(tx, shared, account.owner, found, account.linked_at)?;
                }
                Single::Gone => {
                    books::gone(tx, shared, account.owner, account.ml_user_id, *claim)?;
                }
                Single::Found(_) | Single::Odd => {}
            }
            Ok(())
        },
    )
}
