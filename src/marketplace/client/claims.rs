//! Claims of buyers.

use super::{Answer, Caller, Client, Failure};
use crate::marketplace::document::{ClaimDocument, Unreadable};

/// Claims a page; more are not given.
pub const CLAIMS_PAGE: usize = 100;
/// Offset and page together stay below this.
pub const CLAIMS_REACH: usize = 10_000;

/// One page of a search for claims.
#[derive(Debug)]
pub struct ClaimsPage {
    /// How many the whole search finds, as the marketplace counts.
    pub total: i64,
    /// Records of the page, readable or not.
    pub claims: Vec<Result<ClaimDocument, Unreadable>>,
}

impl Client {
    /// A page of the open claims against the caller.
    pub fn claims_page(&self, caller: &Caller<'_>, offset: usize) -> Answer<ClaimsPage> {
        let query = [
            ("players.user_id", caller.ml_user_id.to_string()),
            ("players.role", "respondent".to_owned()),
            ("status", "opened".to_owned()),
            ("limit", CLAIMS_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        let answer = self.get(caller, "/post-purchase/v1/claims/search", &query)?;
        let claims = answer["data"].as_array().ok_or(Failure::Garbled("data"))?;
        Ok(ClaimsPage {
            total: answer["paging"]["total"].as_i64().unwrap_or(0).max(0),
            claims: claims.iter().map(ClaimDocument::read).collect(),
        })
    }

    /// One claim.
    pub fn claim(&self, caller: &Caller<'_>, claim: i64) -> Answer<ClaimDocument> {
        let path = format!("/post-purchase/v1/claims/{claim}");
        Ok(ClaimDocument::read(&self.get(caller, &path, &[])?)?)
    }
}
