//! `POST /painel/ml/contas/{ml_user_id}/sincronizar`: an owner requests that an
//! account is read now.

use super::store;
use crate::app::App;
use crate::edge::route::Job;
use crate::http::{Code, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::link::{ACCOUNTS, LinkOutcome, account_in};
use crate::marketplace::account::store::is_linked_to;
use crate::panel::Answer;

/// Seconds between two requests for one account.
const PAUSE_S: i64 = 60;

/// Plans the reading, which begins after the answer.
pub fn begin(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let account = account_in(request)?;
    let (owner, wants_json) = (person.account.user_id, request.wants_json());
    let answer = Answer::to(request);
    let bell = app.marketplace.wanted.clone();
    Ok(Box::new(move |tx| {
        if !is_linked_to(tx, owner, account)? {
            return Err(Problem::not_found());
        }
        if !store::is_callable(tx, account)? {
            // The page says what to do.
            return if wants_json {
                Err(Problem::conflict(ForPeople("A conta perdeu o vínculo. Vincule-a de novo.")))
            } else {
                Reply::redirect(ACCOUNTS)
            };
        }
        let waits_s = store::asked_at(tx, account)?
            .map(|asked| asked.plus(PAUSE_S).since(tx.now()))
            .filter(|left| (1..=PAUSE_S).contains(left));
        if let Some(left) = waits_s {
            return if wants_json { Err(too_soon(left)) } else { LinkOutcome::TooSoon.redirect() };
        }
        store::ask(tx, account)?;
        tx.after_commit(move || bell.ring());
        answer.with(ACCOUNTS, LinkOutcome::Wanted.name(), &[])
    }))
}

fn too_soon(left_s: i64) -> Problem {
    Problem {
        retry_after_s: Some(left_s),
        ..Problem::new(Code::RateLimited, "this account was asked for less than a minute ago")
    }
}
