//! The ledger: every entry is written here, together with its effects, in the
//! transaction of its cause.
//!
//! An entry is written once for each cause: an order that is reported twice
//! gives points once, and a cancelled order takes its points back. The effects
//! are the student's totals, challenges whose goal is reached, and the
//! notification about a milestone.

use super::rules::{LedgerTotals, Posting, Rules, sign};
use super::{Action, Challenge, Milestone, ProgramSettings, challenges, milestones, store};
use crate::base::{Day, UserId};
use crate::db::{Result, WriteTx};
use crate::messages::{self, News, NotificationKind};

/// The number of a correction in the database, beside those of the actions.
pub const CORRECTION: u8 = 8;

/// What gave points, or is to give them.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    pub action: Action,
    /// The day, lesson, meet, order, account, challenge or number of check-ins.
    pub id: i64,
    /// The civil day it counts for.
    pub day: Day,
}

/// The result of giving points.
#[derive(Debug, Default)]
pub struct Awarded {
    /// Points in all, with those of laps and challenges.
    pub xp: i64,
    /// Milestones that were reached.
    pub milestones: Vec<Milestone>,
    /// Challenges whose goal was reached.
    pub challenges: Vec<Challenge>,
}

/// A student's account while entries are written to it.
pub struct LedgerAccount<'t> {
    tx: &'t WriteTx<'t>,
    pub settings: ProgramSettings,
    pub student: UserId,
    pub rules: Rules,
    pub totals: LedgerTotals,
    /// Points when the account was opened.
    before: i64,
    challenges: Vec<Challenge>,
}

/// Gives a student the points of an action, once for its cause. `None` when
/// they were given before, or the person is not a student.
pub fn give(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
    cause: Cause,
) -> Result<Option<Awarded>> {
    if store::reversal_count(tx, student, cause)?.is_some_and(|reversals| sign(reversals) == 1) {
        return Ok(None);
    }
    let Some(mut account) = LedgerAccount::open(tx, settings, student)? else { return Ok(None) };
    account.give(cause)?;
    account.close().map(Some)
}

/// Takes back the points of a cause, if it gave any. This counts for the day on
/// which they are taken back.
pub fn take_back(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
    cause: Cause,
) -> Result<()> {
    let Some(reversals) =
        store::reversal_count(tx, student, cause)?.filter(|reversals| sign(*reversals) == 1)
    else {
        return Ok(());
    };
    let Some(mut account) = LedgerAccount::open(tx, settings, student)? else { return Ok(()) };
    let given = store::points_of(tx, student, cause, reversals)?;
    let today = settings.zone.day(tx.now());
    let (at, action, reversals) = (tx.now(), Some(cause.action), reversals + 1);
    account.post(Posting { day: today, at, action, reversals, xp: -given }, cause.id, None)?;
    account.close()?;
    Ok(())
}

/// Corrects a student's points by hand; false for a person who is not a
/// student.
pub fn correct(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
    xp: i64,
    reason: &str,
) -> Result<bool> {
    let Some(mut account) = LedgerAccount::open(tx, settings, student)? else { return Ok(false) };
    let number = store::next_correction(tx, student)?;
    let today = settings.zone.day(tx.now());
    let posting = Posting { day: today, at: tx.now(), action: None, reversals: 0, xp };
    account.post(posting, number, Some(reason))?;
    account.close()?;
    Ok(true)
}

impl<'t> LedgerAccount<'t> {
    /// Opens the account of a student. On first use it is created, with the
    /// points for what the student did before. `None` for a person who is not a
    /// student.
    pub fn open(
        tx: &'t WriteTx<'_>,
        settings: ProgramSettings,
        student: UserId,
    ) -> Result<Option<Self>> {
        Self::of(tx, settings, student, store::ledger_totals(tx, student)?)
    }

    /// The same with totals that were already read; `known` is `None` when
    /// there is none.
    pub fn of(
        tx: &'t WriteTx<'_>,
        settings: ProgramSettings,
        student: UserId,
        known: Option<LedgerTotals>,
    ) -> Result<Option<Self>> {
        let is_new = known.is_none();
        if is_new && !store::enrol(tx, student)? {
            return Ok(None);
        }
        let totals = known.unwrap_or_default();
        let mut account = Self {
            tx,
            settings,
            student,
            rules: Rules::read(tx)?,
            before: totals.xp,
            totals,
            challenges: Vec::new(),
        };
        if is_new {
            for cause in store::done_before(tx, settings.zone, student)? {
                account.give(cause)?;
            }
        }
        Ok(Some(account))
    }

    /// Writes the points of an action, once for its cause.
    pub fn give(&mut self, cause: Cause) -> Result<()> {
        let reversals = match store::reversal_count(self.tx, self.student, cause)? {
            Some(reversals) if sign(reversals) == 1 => return Ok(()),
            Some(reversals) => reversals + 1,
            None => 0,
        };
        let streak = (self.totals.streak, self.settings.lap_days);
        let points = self.rules.points(cause.action, streak);
        self.give_points(cause, reversals, points, None).map(drop)
    }

    /// Writes a check-in, with the points for the streak that results.
    pub fn check_in(&mut self, today: Day) -> Result<i64> {
        let goes_on = self.totals.last_checkin == Some(today.plus(-1));
        let streak = if goes_on { self.totals.streak + 1 } else { 1 };
        let points = self.rules.points(Action::CheckIn, (streak, self.settings.lap_days));
        let cause = Cause { action: Action::CheckIn, id: today.0, day: today };
        self.give_points(cause, 0, points, None)
    }

    /// Writes an entry with its points within the daily limits, and gives the
    /// rewards of challenges that it completes.
    fn give_points(
        &mut self,
        cause: Cause,
        reversals: i64,
        points: i64,
        note: Option<&str>,
    ) -> Result<i64> {
        let given = store::given_for(self.tx, &self.rules, self.student, cause.action, cause.day)?;
        let xp = self.rules.within_limits(cause.action, points, given);
        let (day, at, action) = (cause.day, self.tx.now(), Some(cause.action));
        self.post(Posting { day, at, action, reversals, xp }, cause.id, note)?;
        for challenge in challenges::open_for(self.tx, cause.action, cause.day)? {
            self.meet(challenge)?;
        }
        Ok(xp)
    }

    /// Gives the reward of a challenge if its goal is reached, once.
    pub fn meet(&mut self, challenge: Challenge) -> Result<()> {
        let today = self.settings.zone.day(self.tx.now());
        let reward = Cause { action: Action::Challenge, id: challenge.id, day: today };
        if store::reversal_count(self.tx, self.student, reward)?.is_some() {
            return Ok(());
        }
        let done = challenges::progress(self.tx, self.student, &challenge.entry)?;
        if done < challenge.entry.goal {
            return Ok(());
        }
        let points = challenge.entry.points(&self.rules);
        challenges::count_met(self.tx, challenge.id)?;
        let title = challenge.entry.title.clone();
        self.challenges.push(challenge);
        self.give_points(reward, 0, points, Some(&title)).map(drop)
    }

    /// Writes an entry and adds it to the totals.
    fn post(&mut self, posting: Posting, cause: i64, note: Option<&str>) -> Result<()> {
        store::post(self.tx, self.student, &posting, cause, note)?;
        self.totals.add(&posting);
        Ok(())
    }

    /// Stores the totals, and notifies the student of what was reached.
    pub fn close(self) -> Result<Awarded> {
        let Self { tx, student, totals, before, challenges, .. } = self;
        store::put(tx, student, &totals)?;
        let reached = tell_reached(tx, student, before, totals.xp)?;
        for challenge in &challenges {
            tell_challenge(tx, student, challenge)?;
        }
        Ok(Awarded { xp: totals.xp - before, milestones: reached, challenges })
    }
}

/// Notifies a student of the milestones that are reached when points rise from
/// the first number to the second; returns them.
pub fn tell_reached(
    tx: &WriteTx<'_>,
    student: UserId,
    before: i64,
    after: i64,
) -> Result<Vec<Milestone>> {
    let reached = milestones::between(tx, before, after)?;
    for milestone in &reached {
        tell_milestone(tx, student, milestone)?;
    }
    Ok(reached)
}

/// Notifies a student of a milestone, the first time it is reached.
pub fn tell_milestone(tx: &WriteTx<'_>, student: UserId, milestone: &Milestone) -> Result<()> {
    let Milestone { number, title, badge, reward, .. } = milestone;
    let message = if reward.is_empty() {
        format!("Você chegou ao M{number}, {title}.")
    } else {
        format!("Você chegou ao M{number}, {title}. Recompensa: {reward}.")
    };
    tell(tx, student, &format!("Novo selo: {badge}"), &message, &format!("marco:{number}"))
}

fn tell_challenge(tx: &WriteTx<'_>, student: UserId, challenge: &Challenge) -> Result<()> {
    let entry = &challenge.entry;
    let message = if entry.reward.is_empty() {
        entry.description.clone()
    } else {
        format!("Recompensa: {}.", entry.reward)
    };
    let title = format!("Desafio cumprido: {}", entry.title);
    tell(tx, student, &title, &message, &format!("desafio:{}", challenge.id))
}

fn tell(tx: &WriteTx<'_>, student: UserId, title: &str, text: &str, cause: &str) -> Result<()> {
    let news = News { title, text, ..News::notice(NotificationKind::Programa, cause) };
    messages::tell(tx, student, news).map(drop)
}
