//! Labels that the marketplace refused recently, so that printing all leaves
//! them out. Kept only in memory: a lost entry costs one more request.

use parking_lot::Mutex;
use std::collections::HashMap;

use crate::base::{Instant, MlUserId};

/// How long a label is remembered: usually the fiscal note is issued within the
/// hour, or the parcel is sent.
const REMEMBERED_S: i64 = 3_600;
/// Most labels that are remembered.
const MOST: usize = 10_000;

/// A label of an account.
type Label = (MlUserId, i64);

/// Which labels were refused, when and why.
#[derive(Debug, Default)]
pub struct RefusedLabels {
    labels: Mutex<HashMap<Label, (Instant, &'static str)>>,
}

impl RefusedLabels {
    /// Remembers why a label was refused, in words for its seller.
    pub fn note(&self, account: MlUserId, shipment: i64, why: &'static str, now: Instant) {
        let mut labels = self.labels.lock();
        if labels.len() >= MOST {
            labels.retain(|_, (at, _)| is_recent(*at, now));
        }
        if labels.len() < MOST {
            labels.insert((account, shipment), (now, why));
        }
    }

    /// Removes labels that were printed.
    pub fn forget(&self, account: MlUserId, shipments: &[i64]) {
        let mut labels = self.labels.lock();
        for shipment in shipments {
            labels.remove(&(account, *shipment));
        }
    }

    /// Why a label was refused recently; `None` when it was not.
    pub fn why(&self, account: MlUserId, shipment: i64, now: Instant) -> Option<&'static str> {
        let labels = self.labels.lock();
        let (at, why) = labels.get(&(account, shipment))?;
        is_recent(*at, now).then_some(*why)
    }
}

fn is_recent(at: Instant, now: Instant) -> bool {
    now < at.plus(REMEMBERED_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_remembered_for_an_hour_by_account() {
        let (refused, now) = (RefusedLabels::default(), Instant(1_000_000));
        let (own, other) = (MlUserId(1), MlUserId(2));
        refused.note(own, 7, "why", now);
        refused.note(own, 8, "why", now);
        assert_eq!(refused.why(own, 7, now.plus(3_599)), Some("why"));
        assert_eq!(refused.why(own, 7, now.plus(3_600)), None);
        assert_eq!(refused.why(other, 7, now), None);
        refused.forget(own, &[7]);
        assert_eq!(refused.why(own, 7, now), None);
        assert_eq!(refused.why(own, 8, now), Some("why"));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (refused, now) = (RefusedLabels::default(), Instant(1_000_000));
        let account = MlUserId(1);
        let most = i64::try_from(MOST).unwrap();
        for shipment in 1..=most + 1 {
            refused.note(account, shipment, "why", now);
        }
        assert_eq!(refused.why(account, most + 1, now), None);
        let later = now.plus(REMEMBERED_S);
        refused.note(account, most + 1, "why", later);
        assert_eq!(refused.why(account, most + 1, later), Some("why"));
    }
}
