//! Claims of buyers.

use serde_json::json;

use super::{Answer, Caller, Client, Page, asked_for};
use crate::base::{DAY_S, Instant};
use crate::marketplace::books::document::ClaimDocument;

/// Claims per page; the marketplace returns no more.
pub const CLAIMS_PAGE: usize = 100;
/// Offset and page together stay below this.
pub const CLAIMS_REACH: usize = 10_000;

/// Which claims a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSearch {
    Open,
    /// In any state, the latest change first.
    ChangedSince(Instant),
}

impl Client {
    /// A page of claims against the caller.
    pub fn claims_page(
        &self,
        caller: &Caller<'_>,
        search: ClaimSearch,
        offset: usize,
    ) -> Answer<Page<ClaimDocument>> {
        let mut query = vec![
            ("players.user_id", caller.ml_user_id.to_string()),
            ("players.role", "respondent".to_owned()),
            ("limit", CLAIMS_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        match search {
            ClaimSearch::Open => query.push(("status", "opened".to_owned())),
            ClaimSearch::ChangedSince(since) => {
                // Times need milliseconds. The range ends a day ahead, because
                // the marketplace's clock may be ahead of ours.
                let fine = |at: Instant| at.rfc3339().replace('Z', ".000Z");
                let (after, before) = (fine(since), fine(self.clock.now().plus(DAY_S)));
                query.push(("range", format!("last_updated:after:{after},before:{before}")));
                query.push(("sort", "last_updated:desc".to_owned()));
            }
        }
        let answer = self.get(caller, "/post-purchase/v1/claims/search", &query)?;
        Page::read(&answer, "data", |claim| match ClaimDocument::read(claim) {
            // A claim without players is against the caller: the search finds
            // no others.
            Err(_) if claim["players"].as_array().is_none_or(Vec::is_empty) => {
                let mut claim = claim.clone();
                claim["players"] = json!([{ "role": "respondent", "user_id": caller.ml_user_id }]);
                ClaimDocument::read(&claim)
            }
            read => read,
        })
    }

    /// One claim, with where the goods of its return are.
    pub fn claim(&self, caller: &Caller<'_>, claim: i64) -> Answer<ClaimDocument> {
        let answer = self.get(caller, &format!("/post-purchase/v1/claims/{claim}"), &[])?;
        let mut found = ClaimDocument::read(&answer)?;
        if found.has_return(&answer) {
            let path = format!("/post-purchase/v2/claims/{claim}/returns");
            match self.get(caller, &path, &[]) {
                Ok(returned) => found.add_return(&returned),
                Err(failure) if failure.is_not_found() => {}
                Err(failure) => return Err(failure),
            }
        }
        asked_for(found.id == claim, found)
    }
}
