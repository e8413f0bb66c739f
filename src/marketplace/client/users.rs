//! Users: the account itself, and names of others.

use std::time::{Duration, Instant as Monotonic};

use super::{Answer, Caller, Client, Failure, read_json, signed};
use crate::marketplace::books::document::{SellerRecord, text};

/// Timeout of the call that ends an account's consent.
const REVOKE_TIMEOUT: Duration = Duration::from_secs(4);

impl Client {
    /// The account that a token belongs to.
    pub fn me(&self, caller: &Caller<'_>) -> Answer<SellerRecord> {
        Ok(SellerRecord::read(&self.get(caller, "/users/me", &[])?)?)
    }

    /// The public nickname of any user; empty when there is none.
    pub fn nickname(&self, caller: &Caller<'_>, user: i64) -> Answer<String> {
        let answer = self.get(caller, &format!("/users/{user}"), &[])?;
        Ok(text(&answer["nickname"]).unwrap_or_default())
    }

    /// Ends the consent that the caller's account gave this application. It
    /// takes no call slot and has a short timeout, because a person waits for
    /// it.
    pub fn revoke_consent(&self, caller: &Caller<'_>) -> Answer<()> {
        let path = format!("/users/{}/applications/{}", caller.ml_user_id, self.application);
        let request = self.agent.delete(format!("{}{path}", self.api));
        let request = request.config().timeout_global(Some(REVOKE_TIMEOUT)).build();
        let began = Monotonic::now();
        let answer = read_json(signed(request, caller).call());
        self.breaker.note(began, Monotonic::now(), &answer);
        answer.map(|_| ())
    }

    /// How many active and paused listings an account has.
    pub fn listings(&self, caller: &Caller<'_>) -> Answer<i64> {
        let path = format!("/users/{}/items/search", caller.ml_user_id);
        ["active", "paused"].into_iter().try_fold(0, |sum, status| {
            let query = [("status", status.to_owned()), ("limit", "1".to_owned())];
            let answer = self.get(caller, &path, &query)?;
            let total = answer["paging"]["total"].as_i64().filter(|total| *total >= 0);
            Ok(sum + total.ok_or(Failure::Garbled("paging.total"))?)
        })
    }
}
