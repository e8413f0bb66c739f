//! The health of an account's readings: what is wrong and since when, up to
//! when the books are complete, and the progress of a reading that a person
//! waits for.

use super::store::AreaState;
use super::wire::is_refusal;
use super::{Area, QUARTER_S};
use crate::base::{Instant, grouped};
use crate::marketplace::account::store::LinkedAccount;
use crate::panel::Progress;
use crate::panel::view::span;

/// From this many failures in a row on, an area is in trouble.
const OFTEN: i64 = 3;
/// How much later than its turn a reading may be.
const LATE_S: i64 = 600;
/// How long a reading must run before its remaining time is estimated.
const KNOWN_AFTER_S: i64 = 3;

/// The state of an account's readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// What its owner has to know; `None` while all is well, or the link is lost.
    pub trouble: Option<Trouble>,
    /// All changes before this time are in the books; `None` before the first
    /// reading is over.
    pub good_until: Option<Instant>,
    /// Seconds until it is worth checking again; `None` when nobody waits.
    pub look_after_s: Option<u32>,
}

/// Areas that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// `Vendas, anúncios`.
    pub areas: String,
    /// Changes since then may be missing.
    pub since: Instant,
    /// The reason, and its consequence.
    pub error: String,
    /// Whether linking the account again may help.
    pub is_refused: bool,
}

impl Health {
    /// The health of an account, from the state of its areas.
    pub fn of<'s>(
        account: &LinkedAccount,
        states: impl Iterator<Item = &'s AreaState>,
        now: Instant,
    ) -> Self {
        let known: Vec<_> =
            states.filter_map(|state| Some((Area::of(state.area)?, state))).collect();
        // Areas that are read every few hours are left out: meanwhile
        // notifications keep them current.
        let often =
            known.iter().filter(|(area, state)| area.every_s <= QUARTER_S || state.attempts > 0);
        let good_until = often.map(|(_, state)| state.good_until).min().flatten();
        if !account.token_ok {
            return Self { good_until, ..Self::default() };
        }
        let waits = |is_failing: bool| {
            let mut wanted = known.iter().filter(|(_, state)| state.is_wanted);
            wanted.any(|(_, state)| (state.attempts > 0) == is_failing)
        };
        let look_after_s = match (waits(false), waits(true)) {
            (true, _) => Some(2),
            (false, true) => Some(30),
            (false, false) => None,
        };
        Self { trouble: trouble(account, &known, now), good_until, look_after_s }
    }
}

/// Areas with more than a short problem: a refusal counts at once, another
/// failure when it repeats or makes a reading late.
fn trouble(account: &LinkedAccount, known: &[(Area, &AreaState)], now: Instant) -> Option<Trouble> {
    let since = |state: &AreaState| state.good_until.unwrap_or(account.linked_at);
    let error = |state: &AreaState| state.error.clone().unwrap_or_default();
    let failing: Vec<_> = known
        .iter()
        .filter(|(area, state)| {
            let is_late = now.since(since(state)) > area.every_s + LATE_S;
            state.attempts >= OFTEN || state.attempts > 0 && (is_late || is_refusal(&error(state)))
        })
        .collect();
    let refused = failing.iter().find(|(_, state)| is_refusal(&error(state)));
    let (_, worst) = refused.or(failing.first())?;
    let titles: Vec<_> = failing.iter().map(|(area, _)| area.title).collect();
    Some(Trouble {
        areas: titles.join(", "),
        since: failing.iter().map(|(_, state)| since(state)).min()?,
        error: error(worst),
        is_refused: refused.is_some(),
    })
}

/// The progress of a reading that a person waits for; `None` before it is
/// known.
pub fn progress(state: &AreaState, now: Instant) -> Option<Progress> {
    let area = Area::of(state.area)?;
    let expected = state.expected.filter(|expected| *expected > 0)?;
    if !state.is_wanted || !state.is_under_way() {
        return None;
    }
    let (done, expected) = (state.done, expected.max(state.done));
    let title = area.title.to_lowercase();
    let mut note = format!("{} de {} {title}", grouped(done), grouped(expected));
    let took = state.started_at.map_or(0, |began| now.since(began));
    if state.attempts == 0 && done > 0 && took >= KNOWN_AFTER_S {
        let left = span(took.saturating_mul(expected - done) / done);
        note += match &*left {
            "menos de um minuto" => ", falta ",
            _ => ", falta cerca de ",
        };
        note += &left;
    }
    // A reading that is under way is never shown as complete.
    let done = done.clamp(0, expected - 1).unsigned_abs();
    let label = format!("Lendo {title}");
    Some(Progress::new(label, done, expected.unsigned_abs(), note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::DAY_S;
    use crate::base::ids::MlUserId;
    use crate::marketplace::account::tokens::CallError;
    use crate::marketplace::client::Failure;
    use crate::marketplace::sync::wire::failure;

    const NOW: Instant = Instant(1_795_183_200);

    fn account() -> LinkedAccount {
        LinkedAccount {
            ml_user_id: MlUserId(7),
            nickname: "LOJA".to_owned(),
            token_ok: true,
            error: None,
            reputation: String::new(),
            listings: 0,
            open_claims: 0,
            open_questions: 0,
            synced_at: Some(NOW),
            linked_at: NOW.minus(DAY_S),
            ends_at: None,
        }
    }

    /// An area that was read `ago` seconds ago and has failed `attempts` times
    /// since.
    fn area(number: i64, ago: i64, attempts: i64, why: Failure) -> AreaState {
        let words = failure(&CallError::Failed(why));
        AreaState {
            account: MlUserId(7),
            area: number,
            good_until: Some(NOW.minus(ago)),
            started_at: Some(NOW.minus(ago)),
            ended_at: Some(NOW.minus(ago)),
            position: String::new(),
            done: 0,
            expected: None,
            attempts,
            error: (attempts > 0).then(|| words.to_owned()),
            is_wanted: false,
        }
    }

    fn refused() -> Failure {
        Failure::Refused { status: 403, code: String::new() }
    }

    fn troubled(states: &[AreaState]) -> Option<Trouble> {
        Health::of(&account(), states.iter(), NOW).trouble
    }

    #[test]
    fn a_moments_trouble_is_none() {
        for (state, is_trouble) in [
            (area(1, 900, 0, Failure::Unreachable), false),
            (area(1, 900, 1, Failure::Unreachable), false),
            (area(1, 900, 2, Failure::RateLimited { retry_after_s: None }), false),
            (area(1, 900, 3, Failure::RateLimited { retry_after_s: None }), true),
            (area(1, 1_501, 1, Failure::Unreachable), true),
            (area(1, 900, 1, refused()), true),
            // Listings are read every six hours.
            (area(2, 20_000, 1, Failure::Unreachable), false),
            (area(2, 22_201, 1, Failure::Unreachable), true),
            // After the service was switched off, the account is not in
            // trouble.
            (area(1, 90_000, 0, Failure::Unreachable), false),
        ] {
            assert_eq!(troubled(std::slice::from_ref(&state)).is_some(), is_trouble, "{state:?}");
        }
    }

    #[test]
    fn the_worst_is_told_with_every_area() {
        let trouble = troubled(&[
            area(1, 900, 4, Failure::Unreachable),
            area(2, 5_000, 1, refused()),
            area(3, 60, 0, refused()),
        ])
        .unwrap();
        assert_eq!(trouble.areas, "Vendas, Anúncios");
        assert_eq!(trouble.since, NOW.minus(5_000));
        assert!(trouble.is_refused && is_refusal(&trouble.error));
        let lost = LinkedAccount { token_ok: false, ..account() };
        let states = [area(1, 900, 4, refused())];
        assert_eq!(Health::of(&lost, states.iter(), NOW).trouble, None);
    }

    #[test]
    fn an_account_is_as_fresh_as_its_oldest_part() {
        let fresh = |states: &[AreaState]| Health::of(&account(), states.iter(), NOW).good_until;
        let well = |number, ago| area(number, ago, 0, Failure::Unreachable);
        assert_eq!(fresh(&[well(1, 300), well(3, 700), well(2, 9_000)]), Some(NOW.minus(700)));
        let failing = area(2, 9_000, 1, Failure::Unreachable);
        assert_eq!(fresh(&[well(1, 300), failing]), Some(NOW.minus(9_000)));
        let new = AreaState { good_until: None, ..well(1, 0) };
        assert_eq!(fresh(&[new, well(3, 10)]), None);
    }

    #[test]
    fn what_is_being_read_is_looked_at_soon_and_what_fails_later() {
        let wanted = |number, attempts| AreaState {
            is_wanted: true,
            ..area(number, 0, attempts, refused())
        };
        let look = |states: &[AreaState]| Health::of(&account(), states.iter(), NOW).look_after_s;
        assert_eq!(look(&[wanted(1, 2), wanted(3, 0)]), Some(2));
        assert_eq!(look(&[wanted(1, 2), area(3, 0, 0, refused())]), Some(30));
        assert_eq!(look(&[area(1, 0, 2, refused())]), None);
    }

    #[test]
    fn progress_says_how_long_once_that_is_known() {
        let reading = |done, took, attempts| {
            let state = AreaState {
                started_at: Some(NOW.minus(took)),
                ended_at: None,
                done,
                expected: Some(377),
                is_wanted: true,
                ..area(1, 0, attempts, Failure::Unreachable)
            };
            progress(&state, NOW).map(|one| (one.label, one.percent, one.note))
        };
        let said =
            |percent, note: &str| Some(("Lendo vendas".to_owned(), percent, note.to_owned()));
        assert_eq!(reading(0, 60, 0), said(0, "0 de 377 vendas"));
        assert_eq!(reading(200, 2, 0), said(53, "200 de 377 vendas"));
        assert_eq!(reading(200, 20, 0), said(53, "200 de 377 vendas, falta menos de um minuto"));
        assert_eq!(reading(200, 200, 0), said(53, "200 de 377 vendas, falta cerca de 2 min"));
        assert_eq!(reading(200, 200, 1), said(53, "200 de 377 vendas"));
        assert_eq!(reading(400, 60, 0), said(99, "400 de 400 vendas, falta menos de um minuto"));
        let over = area(1, 10, 0, Failure::Unreachable);
        assert!(progress(&over, NOW).is_none());
    }
}
