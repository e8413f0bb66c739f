//! Challenges in civil time: their periods in words, and as bars over months.

use crate::base::Day;
use crate::panel::Badge;
use crate::program::views::{days, days_left};

/// Months that the calendar shows: two before this one, and three after.
const MONTHS: i64 = 6;
/// Width of a month in the drawing.
const MONTH: i64 = 100;

/// Challenges as bars over months.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// `set`, `out`, … `jan/27`.
    pub months: Vec<String>,
    /// Where each month begins, in the drawing.
    pub marks: Vec<i64>,
    /// Width of the drawing.
    pub width: i64,
    /// Position of today in the drawing.
    pub today: String,
    pub bars: Vec<CalendarBar>,
}

/// A challenge in the calendar.
#[derive(Clone, Debug)]
pub struct CalendarBar {
    pub id: i64,
    pub title: String,
    pub period: String,
    pub state: Badge,
    /// CSS class of the bar.
    pub class: &'static str,
    pub x: String,
    pub width: String,
}

/// A challenge for the calendar.
#[derive(Clone, Debug)]
pub struct Planned {
    pub id: i64,
    pub title: String,
    pub starts_on: Day,
    /// Its last day.
    pub ends_on: Day,
}

impl Calendar {
    /// Draws the challenges that overlap the months around today; `None` when
    /// none does.
    pub fn new(today: Day, challenges: &[Planned]) -> Option<Self> {
        const NAMES: [&str; 12] =
            ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"];
        let before = |day: Day| day.plus(-1).month_start();
        let first = before(before(today.month_start()));
        let starts: Vec<Day> =
            std::iter::successors(Some(first), |day| Some(day.next_month_start()))
                .take(usize::try_from(MONTHS).unwrap_or(0) + 1)
                .collect();
        let (begin, end) = (first, *starts.last()?);
        // In tenths of a unit. All months have the same width, however many
        // days they have.
        let at = |day: Day| -> i64 {
            let month = starts.iter().rposition(|start| *start <= day).unwrap_or(0);
            let start = starts[month];
            let (gone, whole) = (day.0 - start.0, start.next_month_start().0 - start.0);
            let month = i64::try_from(month).unwrap_or(0);
            (month * MONTH * 10 + gone * MONTH * 10 / whole).clamp(0, MONTHS * MONTH * 10)
        };
        let shown = |one: &&Planned| one.starts_on < end && one.ends_on >= begin;
        let mut challenges: Vec<&Planned> = challenges.iter().filter(shown).collect();
        challenges.sort_by_key(|one| (one.starts_on, one.id));
        let bars: Vec<CalendarBar> = challenges
            .iter()
            .map(|one| {
                let from = at(one.starts_on.max(begin));
                let to = at(one.ends_on.plus(1).min(end));
                let (state, class) = state_of(today, one.starts_on, one.ends_on);
                CalendarBar {
                    id: one.id,
                    title: one.title.clone(),
                    period: period(one.starts_on, one.ends_on),
                    state,
                    class,
                    x: tenths(from),
                    // Even a single day must be visible.
                    width: tenths((to - from).max(20)),
                }
            })
            .collect();
        if bars.is_empty() {
            return None;
        }
        let year_of = |day: Day| day.date().strftime("%y").to_string();
        let months = starts[..starts.len() - 1].iter().map(|start| {
            let iso = start.iso();
            let number: usize = iso.split('-').nth(1).and_then(|it| it.parse().ok()).unwrap_or(1);
            let name = NAMES[(number - 1) % 12];
            if number == 1 { format!("{name}/{}", year_of(*start)) } else { name.to_owned() }
        });
        Some(Self {
            months: months.collect(),
            marks: (0..=MONTHS).map(|month| month * MONTH).collect(),
            width: MONTHS * MONTH,
            today: tenths(at(today)),
            bars,
        })
    }
}

/// Whether a challenge runs, is to come, or is over, and how it is drawn.
pub fn state_of(today: Day, starts_on: Day, ends_on: Day) -> (Badge, &'static str) {
    if today < starts_on {
        (Badge::Scheduled, "coming")
    } else if today > ends_on {
        (Badge::Over, "over")
    } else {
        (Badge::Active, "running")
    }
}

/// How many days a challenge has left, or how many until it begins; empty once
/// it is over.
pub fn left_words(today: Day, starts_on: Day, ends_on: Day) -> String {
    match starts_on.0 - today.0 {
        1 => "começa amanhã".to_owned(),
        wait @ 2.. => format!("começa em {}", days(wait)),
        _ if ends_on < today => String::new(),
        _ => days_left(ends_on.0 - today.0),
    }
}

/// `01/11 a 30/11/2026`, `20/12/2026 a 10/01/2027`, `24/12/2026`.
pub fn period(starts_on: Day, ends_on: Day) -> String {
    let (from, to) = (starts_on.date(), ends_on.date());
    let whole = "%d/%m/%Y";
    if starts_on == ends_on {
        return to.strftime(whole).to_string();
    }
    let same_year = starts_on.iso()[..4] == ends_on.iso()[..4];
    let from = from.strftime(if same_year { "%d/%m" } else { whole });
    format!("{from} a {}", to.strftime(whole))
}

fn tenths(value: i64) -> String {
    format!("{}.{}", value / 10, value % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn a_calendar_has_six_months_of_one_width() {
        let planned = |from, to| Planned {
            id: 1,
            title: "Mês".to_owned(),
            starts_on: day(from),
            ends_on: day(to),
        };
        let all = [
            planned("2026-11-01", "2026-11-30"),
            planned("2026-08-01", "2026-09-15"),
            planned("2027-03-01", "2027-03-02"),
            planned("2026-12-24", "2026-12-24"),
        ];
        let calendar = Calendar::new(day("2026-11-23"), &all).unwrap();
        assert_eq!(calendar.months, ["set", "out", "nov", "dez", "jan/27", "fev"]);
        let drawn: Vec<_> = calendar.bars.iter().map(|bar| (&*bar.x, &*bar.width)).collect();
        assert_eq!(drawn, [("0.0", "50.0"), ("200.0", "100.0"), ("374.1", "3.3")]);
        assert_eq!(calendar.bars[1].class, "running");
        assert!(Calendar::new(day("2026-11-23"), &all[2..3]).is_none());
    }

    #[test]
    fn periods_name_a_year_once() {
        for (from, to, words) in [
            ("2026-11-01", "2026-11-30", "01/11 a 30/11/2026"),
            ("2026-12-20", "2027-01-10", "20/12/2026 a 10/01/2027"),
            ("2026-12-24", "2026-12-24", "24/12/2026"),
        ] {
            assert_eq!(period(day(from), day(to)), words);
        }
    }
}
