//! What the demonstration's students did in the program: months of check-ins,
//! lessons and sales, and three challenges.

use crate::base::{Day, UserId};
use crate::db::{Result, WriteTx};
use crate::program::rules::{LedgerTotals, Posting, Rules};
use crate::program::{Action, ChallengeEntry, ProgramSettings, challenges, store};

/// Days that the program has been going.
const DAYS: i64 = 150;

/// Students of the program, in the order of their ids: on how many of a hundred
/// days they check in, on how many they sell, and how many days ago they were last
/// active. Further students are not in the program.
#[rustfmt::skip] // A table.
const PACES: [(u64, u64, i64); 24] = [
    (98, 70, 0), (97, 55, 0), (95, 40, 0), (93, 62, 0), (90, 35, 1), (92, 20, 0),
    (88, 44, 0), (96, 10, 1), (85, 30, 0), (80, 12, 1), (91, 25, 3), (94, 33, 4),
    (72, 18, 0), (66, 9, 1), (97, 28, 6), (58, 15, 0), (50, 0, 1), (45, 8, 9),
    (38, 0, 0), (93, 22, 11), (25, 0, 20), (20, 5, 2), (82, 16, 0), (76, 3, 1),
];

/// Enters what students did, and what `own`, the student of the cast, did until
/// yesterday.
pub fn fill(tx: &WriteTx<'_>, settings: ProgramSettings, own: Option<UserId>) -> Result<()> {
    enter_challenges(tx, settings.zone.day(tx.now()))?;
    let students: Vec<UserId> =
        tx.values("SELECT user_id FROM user WHERE kind = 0 AND standing < 2 ORDER BY user_id", ())?;
    let others = students.into_iter().filter(|student| Some(*student) != own);
    for (student, pace) in others.zip(PACES) {
        history(tx, settings, student, pace)?;
    }
    match own {
        Some(own) => history(tx, settings, own, (96, 0, 1)),
        None => Ok(()),
    }
}

/// A number below a hundred, always the same for a student, a day and a salt.
fn chance(student: UserId, day: Day, salt: u64) -> u64 {
    let mut seed = student.0.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ day.0.unsigned_abs().wrapping_mul(0xBF58_476D_1CE4_E5B9)
        ^ salt;
    seed = (seed ^ (seed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (seed ^ (seed >> 29)) % 100
}

/// Writes what a student did until so many days ago.
fn history(
    tx: &WriteTx<'_>,
    settings: ProgramSettings,
    student: UserId,
    (checks, sells, away): (u64, u64, i64),
) -> Result<()> {
    // What the student did through the panel, such as linking, stays.
    let mut totals = match store::ledger_totals(tx, student)? {
        Some(totals) => totals,
        None if store::enrol(tx, student)? => LedgerTotals::default(),
        None => return Ok(()),
    };
    let rules = Rules::read(tx)?;
    let today = settings.zone.day(tx.now());
    for ago in (away..=DAYS).rev() {
        let day = today.plus(-ago);
        let at = settings.zone.start_of(day).plus(8 * 3_600 + 37 * (student.0 % 600));
        let post = |action: Action, cause: i64, totals: &mut LedgerTotals| {
            let streak = (totals.streak + 1, settings.lap_days);
            let xp = rules.points(action, streak);
            let posting = Posting { day, at, action: Some(action), reversals: 0, xp };
            totals.add(&posting);
            store::post(tx, student, &posting, cause, None)
        };
        if chance(student, day, 1) < checks {
            post(Action::CheckIn, day.0, &mut totals)?;
            if totals.checkins % settings.lap_days == 0 {
                let done = totals.checkins;
                post(Action::Lap, done, &mut totals)?;
            }
        } else if totals.streak > 0 {
            totals.streak = 0;
            store::count(tx, day, store::ENDED_STREAKS, 1, 0)?;
        }
        if chance(student, day, 2) < sells {
            for number in 0..=chance(student, day, 3) % 3 {
                let order = day.0 * 100_000 + student.0 * 10 + i64::try_from(number).unwrap_or(0);
                post(Action::Sale, order, &mut totals)?;
            }
        }
        if chance(student, day, 4) < 9 {
            post(Action::Lesson, 900_000 + day.0, &mut totals)?;
        }
    }
    if totals.streak_on(today) == 0 {
        totals.streak = 0;
    }
    store::put(tx, student, &totals)
}

fn enter_challenges(tx: &WriteTx<'_>, today: Day) -> Result<()> {
    let month = today.month_start();
    let next = today.next_month_start();
    let challenge =
        |title: &str, description: &str, action, goal, (starts_on, ends_on), reward: &str| {
            ChallengeEntry {
                title: title.to_owned(),
                description: description.to_owned(),
                action,
                goal,
                starts_on,
                ends_on,
                reward_xp: Some(300),
                reward: reward.to_owned(),
            }
        };
    for entry in [
        challenge(
            "Mês sem furar",
            "Vinte check-ins até o fim do mês.",
            Action::CheckIn,
            20,
            (month, next.plus(-1)),
            "",
        ),
        challenge(
            "Maratona de vendas",
            "Vinte e cinco vendas em duas semanas.",
            Action::Sale,
            25,
            (today.plus(-6), today.plus(8)),
            "uma caneca",
        ),
        challenge(
            "Férias de estudo",
            "Oito aulas no mês que vem.",
            Action::Lesson,
            8,
            (next, next.next_month_start().plus(-1)),
            "",
        ),
        challenge(
            "Arrancada",
            "Quinze vendas no mês passado.",
            Action::Sale,
            15,
            (month.plus(-1).month_start(), month.plus(-1)),
            "uma mentoria em grupo",
        ),
    ] {
        challenges::insert(tx, &entry)?;
    }
    Ok(())
}
