//! Claims of buyers.

use serde_json::json;

use super::{Answer, Caller, Client, Failure, asked_for};
use crate::base::clock::{DAY_S, Instant};
use crate::marketplace::books::document::{ClaimDocument, Odd, each};

/// Claims a page; more are not given.
pub const CLAIMS_PAGE: usize = 100;
/// Offset and page together stay below this.
pub const CLAIMS_REACH: usize = 10_000;

/// Which claims a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSearch {
    Open,
    /// In any state; those first that changed last.
    ChangedSince(Instant),
}

/// One page of a search for claims.
#[derive(Debug)]
pub struct ClaimsPage {
    /// How many the whole search finds, as the marketplace counts.
    pub total: i64,
    /// Records of the page, readable or not.
    pub claims: Vec<Result<ClaimDocument, Odd>>,
}

impl Client {
    /// A page of claims against the caller.
    pub fn claims_page(
        &self,
        caller: &Caller<'_>,
        search: ClaimSearch,
        offset: usize,
    ) -> Answer<ClaimsPage> {
        let mut query = vec![
            ("players.user_id", caller.ml_user_id.to_string()),
            ("players.role", "respondent".to_owned()),
            ("limit", CLAIMS_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        match search {
            ClaimSearch::Open => query.push(("status", "opened".to_owned())),
            ClaimSearch::ChangedSince(since) => {
                // Times need milliseconds, and the other end may be ahead of our clock.
                let fine = |at: Instant| at.rfc3339().replace('Z', ".000Z");
                let (after, before) = (fine(since), fine(self.clock.now().plus(DAY_S)));
                query.push(("range", format!("last_updated:after:{after},before:{before}")));
                query.push(("sort", "last_updated:desc".to_owned()));
            }
        }
        let answer = self.get(caller, "/post-purchase/v1/claims/search", &query)?;
        let claims = answer["data"].as_array().ok_or(Failure::Garbled("data"))?;
        Ok(ClaimsPage {
            total: answer["paging"]["total"].as_i64().unwrap_or(0).max(0),
            claims: each(claims, |claim| match ClaimDocument::read(claim) {
                // The search finds those against the caller alone.
                Err(_) if claim["players"].as_array().is_none_or(Vec::is_empty) => {
                    let mut claim = claim.clone();
                    claim["players"] =
                        json!([{ "role": "respondent", "user_id": caller.ml_user_id }]);
                    ClaimDocument::read(&claim)
                }
                read => read,
            }),
        })
    }

    /// One claim.
    pub fn claim(&self, caller: &Caller<'_>, claim: i64) -> Answer<ClaimDocument> {
        let path = format!("/post-purchase/v1/claims/{claim}");
        let found = ClaimDocument::read(&self.get(caller, &path, &[])?)?;
        asked_for(found.id == claim, found)
    }
}
