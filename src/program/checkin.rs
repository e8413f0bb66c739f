//! The daily check-in: once a civil day.

use std::fmt::Write as _;

use serde_json::json;

use super::ledger::{Awarded, Cause, LedgerAccount};
use super::rules::LedgerTotals;
use super::{Action, ProgramSettings, milestones, store};
use crate::app::App;
use crate::base::{Day, UserId};
use crate::db::{Result, WriteTx};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;

/// The page that a browser comes back to.
const HOME: &str = "/painel";

/// The result of a check-in.
#[derive(Debug)]
pub struct CheckIn {
    /// Whether the student had already checked in that day.
    pub again: bool,
    pub totals: LedgerTotals,
    pub outcome: Awarded,
    /// The lap that it completed.
    pub lap: Option<i64>,
    /// Whether the streak became the longest one today.
    pub record: bool,
}

/// Checks a student in on the day of the transaction; `None` for a person who
/// is not a student.
pub fn check_in(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
) -> Result<Option<CheckIn>> {
    let today = settings.zone.day(tx.now());
    let known = store::ledger_totals(tx, student)?;
    if let Some(totals) = known.clone().filter(|known| known.last_checkin >= Some(today)) {
        let outcome = Awarded::default();
        return Ok(Some(CheckIn { again: true, totals, outcome, lap: None, record: false }));
    }
    let Some(mut account) = LedgerAccount::of(tx, settings, student, known)? else {
        return Ok(None);
    };
    // The task that ends streaks has not counted this one yet.
    let before = &account.totals;
    if before.streak > 0 && before.streak_on(today) == 0 {
        store::count(tx, today.plus(-1), store::ENDED_STREAKS, 1, 0)?;
    }
    account.check_in(today)?;
    let done = account.totals.checkins;
    let lap = (done % settings.lap_days == 0).then_some(done / settings.lap_days);
    if lap.is_some() {
        account.give(Cause { action: Action::Lap, id: done, day: today })?;
    }
    let record = beats_earlier(tx, student, &account.totals)?;
    let totals = account.totals.clone();
    let outcome = account.close()?;
    Ok(Some(CheckIn { again: false, totals, outcome, lap, record }))
}

/// Whether the streak became longer than all earlier ones on its last day. The
/// first streak is not a record.
fn beats_earlier(tx: &WriteTx<'_>, student: UserId, totals: &LedgerTotals) -> Result<bool> {
    let LedgerTotals { streak, best_streak, checkins, last_checkin, .. } = *totals;
    let Some(last) = last_checkin.filter(|_| streak == best_streak && checkins > streak) else {
        return Ok(false);
    };
    let began = last.plus(1 - streak);
    Ok(store::longest_streak_before(tx, student, began)? + 1 == streak)
}

/// `POST /painel/checkin`: checks the student in; a second time the same day
/// changes nothing and says so.
pub fn post(app: &App, person: &Person, request: &Request) -> std::result::Result<Job, Problem> {
    let (student, settings) = (person.account.user_id, ProgramSettings::of(&app.config));
    let wants_json = request.wants_json();
    Ok(Box::new(move |tx| {
        let done = check_in(tx, settings, student)?
            .ok_or_else(|| Problem::closed(ForPeople("Só alunos fazem check-in.")))?;
        if !wants_json {
            return Reply::back(HOME, &done.word());
        }
        let level = milestones::level_of(tx, done.totals.xp)?;
        let CheckIn { totals, outcome, .. } = &done;
        let badges: Vec<_> = outcome.milestones.iter().map(|one| &one.badge).collect();
        let challenges: Vec<_> = outcome.challenges.iter().map(|one| &one.entry.title).collect();
        Reply::json(&json!({
            "ok": true, "ja_feito": done.again, "checkin_hoje": true,
            "streak": totals.streak, "lap": totals.lap(settings.lap_days),
            "ultimo_checkin": totals.last_checkin.map(Day::iso),
            "dias_sem_check": 0, "xp_ganho": outcome.xp, "xp": totals.xp, "nivel": level,
            "volta_completa": done.lap, "recorde": done.record,
            "selos": badges, "desafios": challenges,
        }))
    }))
}

impl CheckIn {
    /// The result for the home page: `feito` and its parts, such as
    /// `feito xp=25 volta=2 recorde=8 marco=3 desafio=7`.
    fn word(&self) -> String {
        if self.again {
            return "ja_feito".to_owned();
        }
        let mut word = format!("feito xp={}", self.outcome.xp);
        let mut tell = |name: &str, number: i64| {
            let _ = write!(word, " {name}={number}");
        };
        if let Some(lap) = self.lap {
            tell("volta", lap);
        }
        if self.record {
            tell("recorde", self.totals.streak);
        }
        for milestone in &self.outcome.milestones {
            tell("marco", milestone.number);
        }
        for challenge in &self.outcome.challenges {
            tell("desafio", challenge.id);
        }
        word
    }
}
