//! Reads bodies of requests within a size limit, a time limit and a budget.
//!
//! Bytes are charged to the budget as they arrive. They are released when the
//! last handle of the body is dropped: after the handler, or earlier when the
//! caller disconnects.
//!
//! Small bodies have a budget of their own, so that logins and notifications
//! still work while large bodies are rejected. A caller who is not identified
//! yet may send only a small body.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use super::budget::{AccountKey, Budget, BudgetPermit, charged};
use super::{Code, Problem};
use crate::base::queue::{KeyedSemaphore, Permit};

/// Largest small body, and the largest body of a caller whose credential was
/// not checked yet.
pub const SMALL: usize = 16 * 1024;
/// The budget of small bodies, in bytes: one body for each connection, by the
/// default number of connections.
const SMALL_BYTES: usize = 2_048 * SMALL;
/// The budget of all other bodies, in bytes: three of the largest. It is not
/// more because handlers make further copies, for example of a form's fields.
const LARGE_BYTES: usize = 24 << 20;
/// A body above this size counts as a large body of its account.
const LARGE: usize = 64 * 1024;
/// Most large bodies of an account at a time.
const LARGE_AT_A_TIME: usize = 2;
/// All callers together whose head has a signature that only the body can prove. Of them
/// each body counts as large that is not small, so they hold no more than two.
pub const CLAIMED: AccountKey = ("claimed", 0);

/// Longest pause between two pieces of a body.
const PAUSE: Duration = Duration::from_secs(5);
/// Longest time for a whole body.
const TOTAL: Duration = Duration::from_secs(15);
/// Seconds after which a refused body may be sent again.
const COME_BACK_S: i64 = 5;

/// The budgets of all bodies that are in memory.
pub struct Intake {
    small: Arc<Budget>,
    large: Arc<Budget>,
    places: KeyedSemaphore<AccountKey>,
}

impl Default for Intake {
    fn default() -> Self {
        Self {
            small: Budget::new(SMALL_BYTES),
            large: Budget::new(LARGE_BYTES),
            places: KeyedSemaphore::new(usize::MAX, |_| LARGE_AT_A_TIME),
        }
    }
}

impl Intake {
    /// Reads the whole body of a request. `who` is the caller, if identified by
    /// the head.
    pub async fn read(
        &self,
        mut body: Incoming,
        limit: usize,
        who: Option<AccountKey>,
    ) -> Result<Bytes, Problem> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let mut arriving = Arriving::new(self, limit, who, body.size_hint().exact())?;
        let slow = || Problem::new(Code::BadRequest, "the body did not arrive in time");
        let whole = async {
            loop {
                let frame = tokio::time::timeout(PAUSE, body.frame()).await.map_err(|_| slow())?;
                let Some(frame) = frame else {
                    return Ok(());
                };
                let frame = frame.map_err(|_| {
                    Problem::new(Code::BadRequest, "the body broke off or is malformed")
                })?;
                if let Some(data) = frame.data_ref() {
                    arriving.add(data)?;
                }
            }
        };
        tokio::time::timeout(TOTAL, whole).await.unwrap_or_else(|_| Err(slow()))?;
        Ok(arriving.whole())
    }

    /// Bytes that bodies hold at the moment.
    pub fn held(&self) -> usize {
        self.small.held() + self.large.held()
    }
}

/// A body that is being received.
struct Arriving<'i> {
    intake: &'i Intake,
    limit: usize,
    who: Option<AccountKey>,
    bytes: BytesMut,
    is_small: bool,
    held: BudgetPermit,
    place: Option<Permit<AccountKey>>,
}

impl<'i> Arriving<'i> {
    /// `declared` is the length that the head names. A body that is too long,
    /// or does not fit into the budget, is rejected before any of it is read.
    fn new(
        intake: &'i Intake,
        limit: usize,
        who: Option<AccountKey>,
        declared: Option<u64>,
    ) -> Result<Self, Problem> {
        let declared = declared.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let limit = if who.is_some() { limit } else { limit.min(SMALL) };
        let is_small = declared <= SMALL;
        let budget = if is_small { &intake.small } else { &intake.large };
        let mut arriving = Self {
            intake,
            limit,
            who,
            bytes: BytesMut::new(),
            is_small,
            held: budget.take(0).ok_or_else(spent)?,
            place: None,
        };
        arriving.admit(declared)?;
        if !budget.has(declared) {
            return Err(spent());
        }
        // Reserved memory to which nothing was written yet costs nothing.
        arriving.bytes.reserve(declared);
        Ok(arriving)
    }

    /// Checks whether this caller may send a body of this length.
    fn admit(&mut self, length: usize) -> Result<(), Problem> {
        if length > self.limit {
            return Err(if self.who.is_some() { too_large() } else { unproven() });
        }
        let large = if self.who == Some(CLAIMED) { SMALL } else { LARGE };
        if length > large
            && self.place.is_none()
            && let Some(who) = self.who
        {
            self.place = Some(self.intake.places.take(who).ok_or_else(too_many)?);
        }
        Ok(())
    }

    fn add(&mut self, data: &[u8]) -> Result<(), Problem> {
        let length = self.bytes.len().saturating_add(data.len());
        self.admit(length)?;
        if self.is_small && length > SMALL {
            self.is_small = false;
            self.held = self.intake.large.take(length).ok_or_else(spent)?;
        } else if !self.held.grow(data.len()) {
            return Err(spent());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// The whole body. Its part of the budget is released with its last handle.
    fn whole(self) -> Bytes {
        charged(self.bytes, (self.held, self.place))
    }
}

/// The refusal of a body that is too large for its address.
pub fn too_large() -> Problem {
    Problem::new(Code::PayloadTooLarge, "the body is larger than this address takes")
}

fn unproven() -> Problem {
    Problem::new(
        Code::PayloadTooLarge,
        "a body of more than 16 KB needs a credential in a header; send the token there, not in the body",
    )
}

fn spent() -> Problem {
    Problem::unavailable("too much is being sent to this service at once", COME_BACK_S)
}

fn too_many() -> Problem {
    Problem::unavailable("two large bodies of this account are being received already", COME_BACK_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANA: AccountKey = ("person", 1);

    fn arriving(intake: &Intake, who: Option<AccountKey>, declared: Option<u64>) -> Arriving<'_> {
        Arriving::new(intake, 8 << 20, who, declared).map_err(|problem| problem.message).unwrap()
    }

    fn refused(outcome: Result<impl Sized, Problem>) -> Code {
        outcome.map(|_| ()).unwrap_err().code
    }

    #[test]
    fn whoever_only_claims_to_have_signed_sends_two_bodies_at_a_time() {
        let intake = Intake::default();
        let small: Vec<_> =
            (0..9).map(|_| arriving(&intake, Some(CLAIMED), Some(SMALL as u64))).collect();
        let much = Some(SMALL as u64 + 1);
        let two = [(); 2].map(|()| arriving(&intake, Some(CLAIMED), much));
        assert_eq!(
            refused(Arriving::new(&intake, 1 << 20, Some(CLAIMED), much)),
            Code::Unavailable
        );
        drop((small, two));
        arriving(&intake, Some(CLAIMED), much);
    }

    #[test]
    fn whoever_proved_nothing_sends_little() {
        let intake = Intake::default();
        let declared = Arriving::new(&intake, 1 << 20, None, Some(SMALL as u64 + 1));
        assert_eq!(refused(declared), Code::PayloadTooLarge);
        let mut body = arriving(&intake, None, None);
        body.add(&vec![0; SMALL]).unwrap();
        assert_eq!(refused(body.add(&[0])), Code::PayloadTooLarge);
    }

    #[test]
    fn a_body_is_charged_until_its_last_handle_is_gone() {
        let intake = Intake::default();
        let mut body = arriving(&intake, Some(ANA), None);
        body.add(&vec![1; SMALL]).unwrap();
        body.add(&vec![2; LARGE]).unwrap();
        assert_eq!(intake.held(), SMALL + LARGE);
        assert_eq!((intake.small.held(), intake.large.held()), (0, SMALL + LARGE));
        let whole = body.whole();
        let part = whole.slice(1..2);
        drop(whole);
        assert_eq!(intake.held(), SMALL + LARGE);
        drop(part);
        assert_eq!(intake.held(), 0);
        drop(arriving(&intake, Some(ANA), Some(1 << 20)));
        assert!(intake.places.take(ANA).is_some());
    }

    #[test]
    fn an_account_sends_two_large_bodies_at_a_time() {
        let intake = Intake::default();
        let _first = arriving(&intake, Some(ANA), Some(1 << 20));
        let mut second = arriving(&intake, Some(ANA), None);
        second.add(&vec![0; LARGE + 1]).unwrap();
        let third = Arriving::new(&intake, 8 << 20, Some(ANA), Some(1 << 20));
        assert_eq!(refused(third), Code::Unavailable);
        let mut third = arriving(&intake, Some(ANA), None);
        assert_eq!(refused(third.add(&vec![0; LARGE + 1])), Code::Unavailable);
        third.add(&vec![0; LARGE]).unwrap();
        drop(arriving(&intake, Some(("person", 2)), Some(1 << 20)));
    }

    #[test]
    fn small_bodies_come_while_large_ones_are_refused() {
        let intake = Intake::default();
        let mut held = Vec::new();
        for id in 0.. {
            let mut body = arriving(&intake, Some(("person", id)), None);
            if body.add(&vec![0; 8 << 20]).is_err() {
                break;
            }
            held.push(body);
        }
        assert_eq!(held.len(), LARGE_BYTES / (8 << 20));
        let large = Arriving::new(&intake, 8 << 20, Some(ANA), Some(SMALL as u64 + 1));
        assert_eq!(refused(large), Code::Unavailable);
        arriving(&intake, None, None).add(&vec![0; SMALL]).unwrap();
    }
}
