//! What pages of other rooms show of the program, made from a student's
//! progress.

use super::milestones;
use super::ranking::{self, Ranking};
use super::rules::{LedgerTotals, Rules};
use super::views::{Ahead, CheckInCard, Lap, Moment, StudentProgress};
use super::{Action, Milestone, ProgramSettings, challenges, store};
use crate::base::{Day, UserId, grouped};
use crate::db::{ReadTx, Result};
use crate::services::Services;

/// The card of the check-in on the home page. `word` is the result of a
/// check-in that was just done ([`super::checkin`]).
pub fn card(
    tx: &ReadTx<'_>,
    services: &Services,
    student: UserId,
    today: Day,
    word: Option<&str>,
) -> Result<CheckInCard> {
    let settings = ProgramSettings::of(&services.config);
    let totals = store::ledger_totals(tx, student)?.unwrap_or_default();
    let (rules, all) = (Rules::read(tx)?, milestones::all(tx)?);
    let streak = totals.streak_on(today);
    let points = rules.points(Action::CheckIn, (streak + 1, settings.lap_days));
    let given = store::given_for(tx, &rules, student, Action::CheckIn, today)?;
    Ok(CheckInCard {
        done: totals.last_checkin >= Some(today),
        streak,
        xp: rules.within_limits(Action::CheckIn, points, given),
        lap: lap(&totals, settings),
        ahead: ahead(&all, totals.xp),
        moments: match word {
            Some(word) => moments(tx, word, &all, &rules, settings)?,
            None => Vec::new(),
        },
    })
}

/// A student's points, level and place on a day.
pub fn student_progress(
    tx: &ReadTx<'_>,
    student: UserId,
    today: Day,
    all: &[Milestone],
) -> Result<StudentProgress> {
    let totals = store::ledger_totals(tx, student)?.unwrap_or_default();
    let place = ranking::place(tx, Ranking::Overall, today, student, &totals)?;
    let total = ranking::total(tx, Ranking::Overall, today)?;
    let reached = milestones::level(all, totals.xp).checked_sub(1).map(|place| &all[place]);
    let position = place.map(|(place, _)| format!("{}º de {}", grouped(place), grouped(total)));
    Ok(StudentProgress {
        level: reached.map_or(0, |milestone| milestone.number),
        title: reached.map(|milestone| milestone.title.clone()).unwrap_or_default(),
        position: position.unwrap_or_default(),
        streak: totals.streak_on(today),
        totals,
    })
}

/// The lap that a student is in.
pub fn lap(totals: &LedgerTotals, settings: ProgramSettings) -> Lap {
    Lap {
        number: totals.lap(settings.lap_days),
        done: totals.checkins % settings.lap_days,
        of: settings.lap_days,
    }
}

/// The next milestone of a student with `xp` points.
pub fn ahead(all: &[Milestone], xp: i64) -> Option<Ahead> {
    let next = all.get(milestones::level(all, xp))?;
    Some(Ahead::new(next.number, &next.title, xp, next.xp))
}

/// What a check-in achieved, parsed from its result.
fn moments(
    tx: &ReadTx<'_>,
    word: &str,
    all: &[Milestone],
    rules: &Rules,
    settings: ProgramSettings,
) -> Result<Vec<Moment>> {
    let mut moments = Vec::new();
    for part in word.split(' ') {
        let Some((name, number)) = part.split_once('=') else { continue };
        let Ok(number) = number.parse::<i64>() else { continue };
        match name {
            "volta" => moments.push(Moment::Lap { number, of: settings.lap_days }),
            "recorde" => moments.push(Moment::Record { days: number }),
            "marco" => {
                moments.extend(all.iter().filter(|one| one.number == number).map(|one| {
                    Moment::Milestone {
                        number,
                        title: one.title.clone(),
                        reward: one.reward.clone(),
                    }
                }));
            }
            "desafio" => {
                moments.extend(challenges::one(tx, number)?.map(|one| Moment::Challenge {
                    reward: one.entry.reward_words(rules),
                    title: one.entry.title,
                }));
            }
            _ => {}
        }
    }
    Ok(moments)
}
