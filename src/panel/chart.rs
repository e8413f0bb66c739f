//! Charts as coordinates for inline SVG: cards with a number, sparklines, bars.
//!
//! All geometry is computed here, as attributes, because the content security
//! policy allows no inline styles. Every chart also has its numbers as text.

use crate::base::Day;
use crate::panel::view::Tone;

/// A key figure, with the list it comes from.
#[derive(Clone, Debug, Default)]
pub struct Stat {
    pub label: &'static str,
    pub value: String,
    /// Change compared with the span before.
    pub change: Option<Change>,
    /// What follows the change, such as the span it is measured against.
    pub note: String,
    pub spark: Option<Spark>,
    /// Address of the list; empty without one.
    pub href: &'static str,
    /// Whether it is the most important number of the page.
    pub lead: bool,
}

/// A change in percent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub tone: Tone,
    /// `+12%`, `−3%`, `sem mudança`.
    pub text: String,
}

impl Change {
    /// From `before` to `now`, where more is better; `None` when there was
    /// too little before to compare with: less than a tenth of what is now.
    pub fn new(before: i64, now: i64) -> Option<Self> {
        let (before, now) = (i128::from(before), i128::from(now));
        if before <= 0 || now > 10 * before {
            return None;
        }
        let tenfold = (now - before) * 1000 / before;
        let percent = (tenfold + tenfold.signum() * 5) / 10;
        let (tone, text) = match percent {
            0 => (Tone::Info, "sem mudança".to_owned()),
            1.. => (Tone::Good, format!("+{percent}%")),
            _ => (Tone::Bad, format!("−{}%", -percent)),
        };
        Some(Self { tone, text })
    }
}

/// A line without axes, in a box of 100 by 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spark {
    pub line: String,
    /// Points of the area under it.
    pub area: String,
}

impl Spark {
    /// Draws values from oldest to newest; `None` for fewer than two, or when
    /// all are zero, where a flat line would say nothing.
    pub fn new(values: &[i64]) -> Option<Self> {
        let highest = values.iter().copied().max().filter(|value| *value > 0)?;
        let last = i64::try_from(values.len().checked_sub(1)?).ok()?;
        if last == 0 {
            return None;
        }
        let points: Vec<_> = values
            .iter()
            .zip(0_i64..)
            .map(|(value, index)| {
                let x = index * 1000 / last;
                let y = 310 - share(*value, highest, 290);
                format!("{},{}", tenths(x), tenths(y))
            })
            .collect();
        let line = points.join(" ");
        let area = format!("0,32 {line} 100,32");
        Some(Self { line, area })
    }
}

/// The value of one day or week.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The day as people write it.
    pub label: String,
    pub value: String,
    /// Left edge of the day's slot.
    pub slot_x: String,
    /// Width of the day's slot.
    pub slot_width: String,
    pub x: String,
    pub width: String,
    /// The stacked parts, from the bottom.
    pub parts: Vec<Part>,
    /// The value of each series, ready to print, where there are several.
    pub values: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Part {
    pub class: &'static str,
    pub y: String,
    pub height: String,
}

/// One of several series in a chart.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub class: &'static str,
    /// Its sum, ready to print.
    pub sum: String,
}

/// Most series of a chart: there is one CSS class for each.
pub const MOST_SERIES: usize = CLASSES.len();
const CLASSES: [&str; 4] = ["series-1", "series-2", "series-3", "series-4"];

/// Bars by civil day or week, in a box of 600 by 100.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// What is measured, and the span.
    pub title: &'static str,
    /// What the values are, for the table's header.
    pub unit: &'static str,
    /// The sum in words, shown while no bar is pointed at.
    pub summary: String,
    /// Marks of the vertical axis, from the top.
    pub scale: [String; 3],
    /// Marks of the horizontal axis: first, middle and last day.
    pub days: Vec<String>,
    pub bars: Vec<Bar>,
    /// The series that are stacked; empty when there is only one.
    pub series: Vec<Series>,
}

/// The texts of a [`BarChart`].
#[derive(Clone, Copy, Debug)]
pub struct BarWords {
    /// What is measured, and the span.
    pub title: &'static str,
    /// What the values are, for the table's header.
    pub unit: &'static str,
    /// A value in full, such as `R$ 1.234,56`.
    pub value: fn(i64) -> String,
    /// A value on the axis, such as `R$ 2 mil`.
    pub mark: fn(i64) -> String,
}

impl BarChart {
    /// Draws one value a day, from oldest to newest; `None` when none is above zero.
    pub fn new(words: BarWords, first: Day, values: &[i64]) -> Option<Self> {
        Self::alone(words, first, 1, values)
    }

    /// Draws one bar a week. `values` has one value a day, from `first` on; an
    /// incomplete week is the last bar.
    pub fn by_week(words: BarWords, first: Day, values: &[i64]) -> Option<Self> {
        let sums: Vec<i64> = values.chunks(7).map(|week| week.iter().sum()).collect();
        Self::alone(words, first, 7, &sums)
    }

    fn alone(words: BarWords, first: Day, step: i64, values: &[i64]) -> Option<Self> {
        let mut chart = Self::drawn(words, first, step, &[(String::new(), values.to_vec())])?;
        chart.series = Vec::new();
        for bar in &mut chart.bars {
            bar.values = Vec::new();
        }
        Some(chart)
    }

    /// Draws several series stacked, one bar a day. All series run from oldest
    /// to newest and have the same length; `None` when nothing is above zero.
    pub fn stacked(words: BarWords, first: Day, series: &[(String, Vec<i64>)]) -> Option<Self> {
        Self::drawn(words, first, 1, series)
    }

    /// Draws the bars: the first one for `first`, each next one `step` days later.
    fn drawn(
        words: BarWords,
        first: Day,
        step: i64,
        series: &[(String, Vec<i64>)],
    ) -> Option<Self> {
        let form = if step == 1 { "%d/%m" } else { "%d/%m/%y" };
        let days = series.first()?.1.len();
        let of_day = |day: usize| series.iter().map(move |(_, values)| values[day].max(0));
        let sum = |day: usize| of_day(day).fold(0_i64, i64::saturating_add);
        let highest = (0..days).map(sum).max().filter(|value| *value > 0)?;
        let top = round_up(highest);
        let slot = 6000 / i64::try_from(days).ok()?;
        let bars: Vec<_> = (0..days)
            .zip(0_i64..)
            .map(|(day, index)| {
                let mut below = 0_i64;
                let mut part = |(class, value): (&'static str, i64)| {
                    let from = share(below, top, 1000);
                    below = below.saturating_add(value);
                    let to = share(below, top, 1000);
                    Part { class, y: tenths(1000 - to), height: tenths(to - from) }
                };
                Bar {
                    label: first.plus(index * step).date().strftime(form).to_string(),
                    value: (words.value)(sum(day)),
                    slot_x: tenths(index * slot),
                    slot_width: tenths(slot),
                    x: tenths(index * slot + slot / 6),
                    width: tenths(slot - slot / 3),
                    parts: CLASSES.into_iter().zip(of_day(day)).map(&mut part).collect(),
                    values: of_day(day).map(words.value).collect(),
                }
            })
            .collect();
        let marked = [0, bars.len() / 2, bars.len() - 1];
        let total = |values: &[i64]| values.iter().fold(0_i64, |sum, one| sum.saturating_add(*one));
        let all = (0..days).map(sum).fold(0_i64, i64::saturating_add);
        Some(Self {
            title: words.title,
            unit: words.unit,
            summary: format!("{} no período", (words.value)(all)),
            scale: [top, top / 2, 0].map(words.mark),
            days: marked.iter().map(|index| bars[*index].label.clone()).collect(),
            bars,
            series: CLASSES
                .into_iter()
                .zip(series)
                .map(|(class, (name, values))| Series {
                    name: name.clone(),
                    class,
                    sum: (words.value)(total(values)),
                })
                .collect(),
        })
    }
}

/// `R$ 2 mil`: centavos as short as an axis needs them.
pub fn short_money(cents: i64) -> String {
    let reais = cents / 100;
    match reais {
        1_000_000.. => format!("R$ {} mi", decimal(reais, 1_000_000)),
        1000.. => format!("R$ {} mil", decimal(reais, 1000)),
        _ => format!("R$ {reais}"),
    }
}

fn decimal(value: i64, unit: i64) -> String {
    match value % unit * 10 / unit {
        0 => format!("{}", value / unit),
        tenth => format!("{},{tenth}", value / unit),
    }
}

/// The next number that reads well and halves well: 2, 4, 6, 8 or 10 times a power of ten.
fn round_up(value: i64) -> i64 {
    let mut power = 1_i64;
    while power.saturating_mul(10) < value {
        power = power.saturating_mul(10);
    }
    [2, 4, 6, 8, 10]
        .map(|step| power.saturating_mul(step))
        .into_iter()
        .find(|candidate| *candidate >= value)
        .unwrap_or(i64::MAX)
}

/// The part of `length` that corresponds to `value` out of `whole`.
fn share(value: i64, whole: i64, length: i64) -> i64 {
    let part = i128::from(value.max(0)) * i128::from(length) / i128::from(whole.max(1));
    i64::try_from(part).unwrap_or(length)
}

/// A number given in tenths, as SVG writes it.
fn tenths(value: i64) -> String {
    match value % 10 {
        0 => format!("{}", value / 10),
        tenth => format!("{}.{tenth}", value / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_rounded_and_signed() {
        for (before, now, text) in [
            (100, 112, Some("+12%")),
            (1000, 966, Some("−3%")),
            (1000, 1004, Some("sem mudança")),
            (1000, 1006, Some("+1%")),
            (100, 0, Some("−100%")),
            (10, 100, Some("+900%")),
            // There was too little before to compare with.
            (10, 101, None),
            (0, 50, None),
        ] {
            let change = Change::new(before, now);
            assert_eq!(change.as_ref().map(|c| c.text.as_str()), text, "{before} {now}");
        }
    }

    #[test]
    fn a_sparkline_stays_in_its_field() {
        let spark = Spark::new(&[0, 5, 10]).unwrap();
        assert_eq!(spark.line, "0,31 50,16.5 100,2");
        assert_eq!(spark.area, "0,32 0,31 50,16.5 100,2 100,32");
        for nothing in [&[][..], &[7], &[0, 0, 0]] {
            assert_eq!(Spark::new(nothing), None);
        }
    }

    #[test]
    fn the_highest_bar_fits_under_a_round_mark() {
        for (value, top) in
            [(1, 2), (2, 2), (9, 10), (10, 10), (11, 20), (199_999, 200_000), (610, 800)]
        {
            assert_eq!(round_up(value), top, "{value}");
        }
        let words = BarWords {
            title: "Vendas",
            unit: "Vendas",
            value: |value| value.to_string(),
            mark: |value| value.to_string(),
        };
        let chart = BarChart::new(words, Day::parse("2026-02-27").unwrap(), &[0, 3, 8]).unwrap();
        assert_eq!(chart.days, ["27/02", "28/02", "01/03"]);
        assert_eq!(chart.scale, ["8", "4", "0"]);
        let part = &chart.bars[2].parts[0];
        assert_eq!((part.y.as_str(), part.height.as_str()), ("0", "100"));
        assert_eq!(chart.bars[0].parts[0].height, "0");
        assert!(chart.series.is_empty());
        assert!(BarChart::new(words, Day(0), &[0, 0]).is_none());
        let weeks = BarChart::by_week(words, Day::parse("2026-02-27").unwrap(), &[1; 16]).unwrap();
        assert_eq!(weeks.days, ["27/02/26", "06/03/26", "13/03/26"]);
        let values: Vec<_> = weeks.bars.iter().map(|bar| &*bar.value).collect();
        assert_eq!((values, &*weeks.summary), (vec!["7", "7", "2"], "16 no período"));
        assert!(BarChart::new(words, Day(0), &[]).is_none());
    }

    #[test]
    fn series_stand_on_each_other() {
        let words = BarWords {
            title: "Mensagens",
            unit: "Todas",
            value: |value| value.to_string(),
            mark: |value| value.to_string(),
        };
        let series = [("Chat".to_owned(), vec![2, 0]), ("E-mail".to_owned(), vec![6, 4])];
        let chart = BarChart::stacked(words, Day(0), &series).unwrap();
        let parts = chart.bars[0].parts.iter();
        let drawn: Vec<_> = parts.map(|part| (part.y.as_str(), part.height.as_str())).collect();
        assert_eq!(drawn, [("75", "25"), ("0", "75")]);
        assert_eq!(
            (&*chart.bars[0].value, &chart.bars[0].values[..]),
            ("8", &["2".to_owned(), "6".to_owned()][..])
        );
        let sums: Vec<_> = chart.series.iter().map(|one| (&*one.name, &*one.sum)).collect();
        assert_eq!(sums, [("Chat", "2"), ("E-mail", "10")]);
        assert_eq!(chart.summary, "12 no período");
        assert!(BarChart::stacked(words, Day(0), &[]).is_none());
    }

    #[test]
    fn marks_of_money_are_short() {
        for (cents, text) in [
            (0, "R$ 0"),
            (80_000, "R$ 800"),
            (200_000, "R$ 2 mil"),
            (150_000, "R$ 1,5 mil"),
            (240_000_000, "R$ 2,4 mi"),
        ] {
            assert_eq!(short_money(cents), text);
        }
    }
}
