//! What pages of other rooms show of the program, made from a student's
//! standing.

use super::milestones;
use super::pages::reward_words;
use super::rules::{LedgerTotals, Rules};
use super::views::{Ahead, CheckInCard, Lap, Moment};
use super::{Action, Milestone, ProgramSettings, challenges, store};
use crate::base::{Day, UserId};
use crate::db::{ReadTx, Result};
use crate::services::Services;

/// The card of the check-in on the home page. `word` is the result of a
/// check-in that was just done ([`super::checkin`]).
pub fn card(
    tx: &ReadTx<'_>,
    services: &Services,
    student: UserId,
    (today, word): (Day, Option<&str>),
) -> Result<CheckInCard> {
    let settings = ProgramSettings::of(&services.config);
    let standing = store::standing(tx, student)?.unwrap_or_default();
    let (rules, all) = (Rules::read(tx)?, milestones::all(tx)?);
    let streak = standing.streak_on(today);
    let points = rules.points(Action::CheckIn, (streak + 1, settings.lap_days));
    let given = if rules.looks_at_day(Action::CheckIn) {
        store::given_on(tx, student, today)?
    } else {
        super::rules::Given::default()
    };
    Ok(CheckInCard {
        done: standing.last_checkin >= Some(today),
        streak,
        best: standing.best_streak,
        xp: rules.within_limits(Action::CheckIn, points, given),
        lap: lap(&standing, settings),
        ahead: ahead(&all, standing.xp),
        moments: match word {
            Some(word) => moments(tx, word, (&all, &rules), settings)?,
            None => Vec::new(),
        },
    })
}

/// The lap that a student is in.
pub fn lap(standing: &LedgerTotals, settings: ProgramSettings) -> Lap {
    Lap {
        number: standing.lap(settings.lap_days),
        done: standing.checkins % settings.lap_days,
        of: settings.lap_days,
    }
}

/// The next milestone of a student with `xp` points.
pub fn ahead(all: &[Milestone], xp: i64) -> Option<Ahead> {
    let next = all.get(milestones::level(all, xp))?;
    Some(Ahead::new(next.number, &next.title, (xp, next.xp)))
}

/// What a check-in achieved, parsed from its result.
fn moments(
    tx: &ReadTx<'_>,
    word: &str,
    (all, rules): (&[Milestone], &Rules),
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
                    reward: reward_words(&one.entry, rules),
                    title: one.entry.title,
                }));
            }
            _ => {}
        }
    }
    Ok(moments)
}
