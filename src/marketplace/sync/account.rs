//! The account itself: its name and its reputation.

use super::{Asked, Step, StepContext};
use crate::marketplace::account::store::note_seller;
use crate::marketplace::client::{Client, Failure};

/// Reads the account.
pub fn read(reading: &StepContext<'_>) -> Asked<Step> {
    let me = reading.call(Client::me)?;
    if me.id != reading.account.ml_user_id {
        return Err(Failure::Garbled("the token is of another account").into());
    }
    reading.write(move |tx, _, _| note_seller(tx, &me))?;
    Ok(Step::whole(reading, 1, 1))
}
