//! Challenges in civil time: their periods in words, and as bars over months.

use crate::base::Day;
use crate::panel::Badge;
use crate::program::views::days;
use crate::program::{Challenge, ChallengeEntry};

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

impl Calendar {
    /// Draws the challenges that overlap the months around today; `None` when
    /// none does.
    pub fn new(today: Day, challenges: &[Challenge]) -> Option<Self> {
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
        let shown = |one: &&Challenge| one.entry.starts_on < end && one.entry.ends_on >= begin;
        let mut challenges: Vec<&Challenge> = challenges.iter().filter(shown).collect();
        challenges.sort_by_key(|one| (one.entry.starts_on, one.id));
        let bars: Vec<CalendarBar> = challenges
            .iter()
            .map(|one| {
                let from = at(one.entry.starts_on.max(begin));
                let to = at(one.entry.ends_on.plus(1).min(end));
                let state = one.entry.state(&today);
                CalendarBar {
                    id: one.id,
                    title: one.entry.title.clone(),
                    period: one.entry.period(),
                    state,
                    class: match state {
                        Badge::Scheduled => "coming",
                        Badge::Over => "over",
                        _ => "running",
                    },
                    x: tenths(from),
                    // Even a single day must be visible.
                    width: tenths((to - from).max(20)),
                }
            })
            .collect();
        if bars.is_empty() {
            return None;
        }
        let months = starts[..starts.len() - 1].iter().map(|start| {
            let number = usize::from(start.date().month().unsigned_abs());
            let name = NAMES[(number - 1) % 12];
            if number == 1 { start.date().strftime("jan/%y").to_string() } else { name.to_owned() }
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

impl ChallengeEntry {
    /// Whether it runs, is to come, or is over.
    pub fn state(&self, today: &Day) -> Badge {
        if *today < self.starts_on {
            Badge::Scheduled
        } else if *today > self.ends_on {
            Badge::Over
        } else {
            Badge::Active
        }
    }

    /// How many days are left, or how many until it begins; empty once it is over.
    pub fn wait_words(&self, today: &Day) -> String {
        match self.starts_on.0 - today.0 {
            1 => "começa amanhã".to_owned(),
            wait @ 2.. => format!("começa em {}", days(wait)),
            _ if self.ends_on < *today => String::new(),
            _ => self.left(today),
        }
    }

    /// `01/11 a 30/11/2026`, `20/12/2026 a 10/01/2027`, `24/12/2026`.
    pub fn period(&self) -> String {
        let (from, to) = (self.starts_on.date(), self.ends_on.date());
        let whole = "%d/%m/%Y";
        if from == to {
            return to.strftime(whole).to_string();
        }
        let from = from.strftime(if from.year() == to.year() { "%d/%m" } else { whole });
        format!("{from} a {}", to.strftime(whole))
    }
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

    fn entry(from: &str, to: &str) -> ChallengeEntry {
        let (title, (starts_on, ends_on)) = ("Mês".to_owned(), (day(from), day(to)));
        ChallengeEntry { title, starts_on, ends_on, ..ChallengeEntry::default() }
    }

    #[test]
    fn a_calendar_has_six_months_of_one_width() {
        let planned = |from, to| Challenge { id: 1, met: 0, entry: entry(from, to) };
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
            assert_eq!(entry(from, to).period(), words);
        }
    }
}
