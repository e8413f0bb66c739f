//! Users: the account itself, and names of others.

use super::{Answer, Caller, Client, Failure};
use crate::marketplace::document::{SellerRecord, text};

impl Client {
    /// The account that a token belongs to.
    pub fn me(&self, caller: &Caller<'_>) -> Answer<SellerRecord> {
        Ok(SellerRecord::read(&self.get(caller, "/users/me", &[])?)?)
    }

    /// The public nickname of any user; empty when there is none to see.
    pub fn nickname(&self, caller: &Caller<'_>, user: i64) -> Answer<String> {
        let answer = self.get(caller, &format!("/users/{user}"), &[])?;
        Ok(text(&answer["nickname"]).unwrap_or_default())
    }

    /// How many active and paused listings an account has.
    pub fn listings(&self, caller: &Caller<'_>) -> Answer<i64> {
        let path = format!("/users/{}/items/search", caller.ml_user_id);
        ["active", "paused"].into_iter().try_fold(0, |sum, status| {
            let query = [("status", status.to_owned()), ("limit", "1".to_owned())];
            let answer = self.get(caller, &path, &query)?;
            let total = answer["paging"]["total"]
                .as_i64()
                .filter(|total| *total >= 0);
            Ok(sum + total.ok_or(Failure::Garbled("paging.total"))?)
        })
    }
}
