//! Limits on calls: few run at a time, and an endpoint that refused is paused.
//!
//! The marketplace counts calls by endpoint and seller. So "too many" pauses
//! only that endpoint for that seller. An endpoint that refuses a token which
//! was just renewed is paused too: the problem is the endpoint, not the
//! account, and renewing the token again would not help.

use parking_lot::Mutex;
use std::collections::HashMap;

use super::{Answer, Caller, Failure};
use crate::base::ids::short_digest;
use crate::base::queue::{CALLS, CALLS_OF_SELLER, INBOX, KeyedSemaphore};
use crate::base::{Instant, MlUserId};

/// From this many pauses on, those that are over are removed.
const PAUSES: usize = 10_000;

/// Places for running calls. Requests for tokens (no seller) count only in the
/// total.
pub fn call_places() -> KeyedSemaphore<Option<MlUserId>> {
    KeyedSemaphore::new(CALLS, |seller| seller.map_or(CALLS, |_| CALLS_OF_SELLER))
}

/// The paused endpoints, by seller.
#[derive(Default)]
pub struct Pauses {
    endpoints: Mutex<HashMap<(MlUserId, String), Pause>>,
}

struct Pause {
    until: Instant,
    /// How often in a row it was refused.
    strikes: i64,
    why: Why,
}

enum Why {
    TooMany,
    /// The token with this digest was refused.
    Token([u8; 16]),
}

impl Pauses {
    /// Whether an endpoint may be called now.
    pub fn check(&self, seller: MlUserId, endpoint: &str, now: Instant) -> Answer<()> {
        let endpoints = self.endpoints.lock();
        match endpoints.get(&(seller, endpoint.to_owned())) {
            Some(pause) if now < pause.until => Err(match pause.why {
                Why::TooMany => {
                    Failure::RateLimited { retry_after_s: Some(pause.until.since(now)) }
                }
                Why::Token(_) => area_refused(),
            }),
            _ => Ok(()),
        }
    }

    /// Records the result of a call and returns it. A "too many" gets the time
    /// to wait. A refused token becomes a refused area when a renewed token was
    /// refused before.
    pub fn note<T>(
        &self,
        caller: &Caller<'_>,
        endpoint: &str,
        now: Instant,
        answer: Answer<T>,
    ) -> Answer<T> {
        let key = || (caller.ml_user_id, endpoint.to_owned());
        let mut endpoints = self.endpoints.lock();
        match answer {
            Err(Failure::RateLimited { retry_after_s }) => {
                let pause = pause_of(&mut endpoints, key(), now, Why::TooMany);
                pause.strikes += 1;
                let pause_s = INBOX.retry.pause_asked_s(pause.strikes, retry_after_s);
                (pause.until, pause.why) = (now.plus(pause_s), Why::TooMany);
                Err(Failure::RateLimited { retry_after_s: Some(pause_s) })
            }
            Err(Failure::Expired) => {
                let token = short_digest(&[caller.access.reveal().as_bytes()]);
                let pause = pause_of(&mut endpoints, key(), now, Why::Token(token));
                // A renewed token was refused as well, so renewing it again
                // does not help.
                let refuses_any = match pause.why {
                    Why::Token(refused) => refused != token || pause.strikes > 0,
                    Why::TooMany => false,
                };
                pause.why = Why::Token(token);
                if !refuses_any {
                    pause.strikes = 0;
                    return Err(Failure::Expired);
                }
                pause.strikes += 1;
                pause.until = now.plus(INBOX.retry.pause_asked_s(pause.strikes, None));
                Err(area_refused())
            }
            // This says nothing about the endpoint.
            Err(Failure::Unreachable) => answer,
            answer => {
                endpoints.remove(&key());
                answer
            }
        }
    }
}

/// The pause of an endpoint, or a new one that is over.
fn pause_of(
    endpoints: &mut HashMap<(MlUserId, String), Pause>,
    key: (MlUserId, String),
    now: Instant,
    why: Why,
) -> &mut Pause {
    if endpoints.len() >= PAUSES {
        endpoints.retain(|_, pause| now < pause.until);
    }
    endpoints.entry(key).or_insert(Pause { until: now, strikes: 0, why })
}

/// The failure when an endpoint refuses the account's valid token.
fn area_refused() -> Failure {
    Failure::Refused { status: 401, code: "area_refused".to_owned() }
}

/// The endpoint of a path: the path without the numbers in it, because the
/// marketplace counts by endpoint.
pub fn endpoint_of(path: &str) -> String {
    let words = path
        .split('/')
        .filter(|part| !part.is_empty() && !part.bytes().any(|byte| byte.is_ascii_digit()));
    words.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::queue::CALL_PATIENCE;
    use crate::base::secrets::Secret;

    #[test]
    fn two_calls_for_a_seller_and_five_in_all() {
        let slots = call_places();
        let seller = |id| Some(MlUserId(id));
        let first = slots.take(seller(1)).unwrap();
        let _second = slots.take(seller(1)).unwrap();
        std::thread::scope(|scope| {
            let third = scope.spawn(|| slots.take_within(seller(1), CALL_PATIENCE).map(drop));
            let _others = [seller(2), seller(2), None].map(|who| slots.take(who).unwrap());
            assert_eq!(slots.all(), CALLS);
            drop(first);
            third.join().unwrap().unwrap();
        });
        assert_eq!(slots.all(), 1);
    }

    #[test]
    fn nobody_waits_for_a_place_that_is_given_no_more() {
        let slots = call_places();
        let seller = Some(MlUserId(1));
        let _running = [seller, seller].map(|who| slots.take(who).unwrap());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take_within(seller, CALL_PATIENCE).map(drop));
            slots.close();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(slots.take_within(None, CALL_PATIENCE).map(drop), None);
    }

    const SHOP: MlUserId = MlUserId(777);
    const NOW: Instant = Instant(1_795_176_000);

    fn caller(access: &Secret) -> Caller<'_> {
        Caller { ml_user_id: SHOP, access }
    }

    fn limited(retry_after_s: Option<i64>) -> Answer<()> {
        Err(Failure::RateLimited { retry_after_s })
    }

    #[test]
    fn too_many_calls_pause_one_endpoint_of_one_seller() {
        let (pauses, token) = (Pauses::default(), Secret::new("a"));
        let note = |answer| pauses.note(&caller(&token), "orders", NOW, answer);
        assert!(matches!(
            note(limited(Some(120))),
            Err(Failure::RateLimited { retry_after_s: Some(120..) })
        ));
        let check = |seller, endpoint, after| pauses.check(seller, endpoint, NOW.plus(after));
        assert!(matches!(
            check(SHOP, "orders", 119),
            Err(Failure::RateLimited { retry_after_s: Some(1..) })
        ));
        for (seller, endpoint, after) in
            [(SHOP, "orders", 150), (SHOP, "questions", 0), (MlUserId(8), "orders", 0)]
        {
            assert_eq!(check(seller, endpoint, after), Ok(()));
        }

        // The pause grows each time, until a call succeeds.
        let asked = |answer: Answer<()>| match answer {
            Err(Failure::RateLimited { retry_after_s }) => retry_after_s.unwrap(),
            other => panic!("{other:?}"),
        };
        let (second, third) = (asked(note(limited(None))), asked(note(limited(None))));
        assert!(second >= 10 && third >= 20, "{second} {third}");
        note(Ok(())).unwrap();
        assert_eq!(check(SHOP, "orders", 0), Ok(()));
        assert!(asked(note(limited(None))) < 10);
    }

    #[test]
    fn an_area_that_refuses_a_renewed_token_is_left_alone() {
        let pauses = Pauses::default();
        let refuse = |token: &str| {
            let token = Secret::new(token);
            let refused = Err::<(), _>(Failure::Expired);
            pauses.note(&caller(&token), "questions", NOW, refused)
        };
        // Several calls with the same old token do not pause the endpoint.
        assert_eq!(refuse("a"), Err(Failure::Expired));
        assert_eq!(refuse("a"), Err(Failure::Expired));
        assert_eq!(pauses.check(SHOP, "questions", NOW), Ok(()));
        assert_eq!(refuse("b"), Err(area_refused()));
        assert_eq!(pauses.check(SHOP, "questions", NOW), Err(area_refused()));
        assert_eq!(pauses.check(SHOP, "orders", NOW), Ok(()));
        assert_eq!(pauses.check(SHOP, "questions", NOW.plus(10)), Ok(()));
        // Renewing the token after each pause does not help either.
        for token in ["b", "b", "c", "c"] {
            assert_eq!(refuse(token), Err(area_refused()), "{token}");
        }
        let good = Secret::new("c");
        pauses.note(&caller(&good), "questions", NOW, Ok(())).unwrap();
        assert_eq!(refuse("c"), Err(Failure::Expired), "hours later the token ends");
    }

    #[test]
    fn endpoints_are_paths_without_their_numbers() {
        for (path, endpoint) in [
            ("/orders/2000001", "orders"),
            ("/users/777/items/search", "users/items/search"),
            ("/post-purchase/v1/claims/5", "post-purchase/claims"),
            ("/items/MLB1", "items"),
            ("/items/bulk", "items/bulk"),
        ] {
            assert_eq!(endpoint_of(path), endpoint);
        }
    }
}
