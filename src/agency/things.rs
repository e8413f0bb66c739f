//! What a finding or a count is about: the oldest question, the claims, the
//! listing without stock of an account.

use super::checkup::{AccountFinding, Fault};
use super::open::{QUESTION_S, Task};
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::claims::store::Claim;
use crate::marketplace::books::questions::store::Question;
use crate::row;

/// The open question of an account that waits longest.
pub fn oldest_question(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
) -> Result<Option<Question>> {
    tx.record(
        "FROM question WHERE owner_id = ?1 AND state = 1 AND ml_user_id = ?2
         ORDER BY asked_at, question_id LIMIT 1",
        (owner, account),
    )
}

/// Open claims of an account: by deadline, those without one behind.
pub fn open_claims(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    most: u32,
) -> Result<Vec<Claim>> {
    tx.records(
        "FROM claim WHERE owner_id = ?1 AND state = 1 AND ml_user_id = ?2
         ORDER BY due_at IS NULL, due_at, opened_at LIMIT ?3",
        (owner, account, most),
    )
}

/// One claim of an account that the agency looks after for a client.
pub fn claim_of(tx: &ReadTx<'_>, client: i64, claim: i64) -> Result<Option<Claim>> {
    tx.record(
        "FROM claim WHERE claim_id = ?1 AND EXISTS (SELECT 1 FROM agency_account j
             WHERE j.ml_user_id = claim.ml_user_id AND j.owner_id = claim.owner_id AND j.client_id = ?2)",
        (claim, client),
    )
}

row! {
    /// A listing that is on sale with nothing left of it.
    pub struct Unstocked {
        pub title: String,
        pub permalink: String,
    }
}

/// The first listing of an account that is on sale without stock.
fn unstocked(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Option<Unstocked>> {
    tx.record(
        "FROM listing WHERE owner_id = ?1 AND ml_user_id = ?2
             AND status = (SELECT word_id FROM word WHERE text = 'active') AND available < 1
         LIMIT 1",
        (owner, account),
    )
}

/// What one finding names.
pub enum Named {
    /// The question that waits longest.
    Question(Question),
    /// The claim with the next deadline.
    Claim(Claim),
    Listing(Unstocked),
    /// The account itself.
    Account,
}

pub struct NamedFinding {
    pub row: AccountFinding,
    pub named: Named,
}

pub fn named(tx: &ReadTx<'_>, row: AccountFinding) -> Result<NamedFinding> {
    let (owner, account) = (row.owner, row.ml_user_id);
    let named = match row.finding.fault {
        Fault::Questions => oldest_question(tx, owner, account)?.map(Named::Question),
        Fault::Claims => open_claims(tx, owner, account, 1)?.pop().map(Named::Claim),
        Fault::NoStock => unstocked(tx, owner, account)?.map(Named::Listing),
        _ => None,
    };
    Ok(NamedFinding { row, named: named.unwrap_or(Named::Account) })
}

impl Named {
    /// Until when it is to be done, and its verb, where there is such a time.
    pub fn due(&self) -> Option<(&'static str, Instant)> {
        match self {
            Self::Question(question) => {
                Some((Task::Answer.verb(), question.row.asked_at.plus(QUESTION_S)))
            }
            Self::Claim(claim) => claim.claim.due_at.map(|at| (Task::Claim.verb(), at)),
            Self::Listing(_) | Self::Account => None,
        }
    }
}
