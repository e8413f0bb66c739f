//! What a finding or a count is about: the oldest question, the claims, the
//! listing without stock of an account.

use super::checkup::{AccountFinding, Fault};
use super::open::{QUESTION_S, Task};
use crate::base::Instant;
use crate::db::{ReadTx, Result};
use crate::marketplace::books::claims::store::{self as claims, Claim};
use crate::marketplace::books::listings::store::{self as listings, Unstocked};
use crate::marketplace::books::questions::store::{self as questions, Question};

/// One claim of an account that the agency looks after for a client.
pub fn claim_of(tx: &ReadTx<'_>, client: i64, claim: i64) -> Result<Option<Claim>> {
    tx.record(
        "FROM claim WHERE claim_id = ?1 AND EXISTS (SELECT 1 FROM agency_account j
             WHERE j.ml_user_id = claim.ml_user_id AND j.owner_id = claim.owner_id AND j.client_id = ?2)",
        (claim, client),
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
        Fault::Questions => questions::oldest_open(tx, owner, account)?.map(Named::Question),
        Fault::Claims => claims::open_of(tx, owner, account, 1)?.pop().map(Named::Claim),
        Fault::NoStock => listings::unstocked(tx, owner, account)?.map(Named::Listing),
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
