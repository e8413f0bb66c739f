//! Charts of clients: their sales per day, and the state of their accounts.

use serde_json::{Value, json};

use super::clients::Sold;
use super::days::{DayRow, KEPT_DAYS};
use crate::base::{Cents, Day, grouped};
use crate::http::{Check, Field, Problem, Request, input};
use crate::panel::chart::{BarChart, BarWords, Change, Spark, Stat, short_money};
use crate::panel::{Progress, Tab};

/// How many days charts show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Month,
    Quarter,
    Year,
    TwoYears,
}

impl Span {
    const ALL: [Self; 4] = [Self::Month, Self::Quarter, Self::Year, Self::TwoYears];
    /// The query parameter that names the span.
    const NAME: &str = "dias";

    /// The span that the request's query asks for; 30 days when it names none.
    pub fn asked(request: &Request) -> Result<Self, Problem> {
        let pairs = input::unrepeated(request.query_text())?;
        let given = pairs.into_iter().find(|(name, _)| name == Self::NAME);
        let mut check = Check::text();
        let days = check.number(
            Self::NAME,
            Field::of(given.map(|(_, value)| value).unwrap_or_default()),
            1..=KEPT_DAYS,
        );
        let days = days.unwrap_or(30);
        let span = Self::ALL.into_iter().find(|span| span.length() == days);
        if span.is_none() {
            check.fail(Self::NAME, "must be 30, 90, 365 or 730");
        }
        check.finish()?;
        Ok(span.unwrap_or(Self::Month))
    }

    const fn length(self) -> i64 {
        match self {
            Self::Month => 30,
            Self::Quarter => 90,
            Self::Year => 365,
            Self::TwoYears => KEPT_DAYS,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Month => "30 dias",
            Self::Quarter => "90 dias",
            Self::Year => "1 ano",
            Self::TwoYears => "2 anos",
        }
    }

    /// First and last day of the span; the last is today.
    pub const fn days(self, today: Day) -> (Day, Day) {
        (today.plus(1 - self.length()), today)
    }

    /// The spans as tabs of a page.
    fn tabs(self, path: &str) -> Vec<Tab> {
        let tab = |span: Self| Tab {
            label: span.words(),
            href: format!("{path}?{}={}", Self::NAME, span.length()),
            on: span == self,
        };
        Self::ALL.map(tab).into()
    }

    /// Bars per day. Long spans have bars per week, because a year of daily
    /// bars would be too thin.
    fn bars(self, words: BarWords, first: Day, values: &[i64]) -> Option<BarChart> {
        match self {
            Self::Month | Self::Quarter => BarChart::new(words, first, values),
            Self::Year | Self::TwoYears => BarChart::by_week(words, first, values),
        }
    }

    const fn gross_words(self) -> BarWords {
        let title = match self {
            Self::Month => "Valor vendido por dia, 30 dias",
            Self::Quarter => "Valor vendido por dia, 90 dias",
            Self::Year => "Valor vendido por semana, 1 ano",
            Self::TwoYears => "Valor vendido por semana, 2 anos",
        };
        BarWords { title, unit: "Valor", value: money, mark: short_money }
    }

    const fn orders_words(self) -> BarWords {
        let title = match self {
            Self::Month => "Vendas por dia, 30 dias",
            Self::Quarter => "Vendas por dia, 90 dias",
            Self::Year => "Vendas por semana, 1 ano",
            Self::TwoYears => "Vendas por semana, 2 anos",
        };
        BarWords { title, unit: "Vendas", value: grouped::<i64>, mark: grouped::<i64> }
    }
}

fn money(cents: i64) -> String {
    Cents(cents).page()
}

/// The days of a client as cards and charts.
pub struct Charts {
    pub tabs: Vec<Tab>,
    pub stats: Vec<Stat>,
    /// `None` when nothing was sold.
    pub gross: Option<BarChart>,
    pub orders: Option<BarChart>,
}

/// Makes the cards and charts. `days` has one row per day; `sold` compares
/// the last 30 days with the 30 before.
pub fn of(days: &[DayRow], span: Span, sold: Sold, path: &str) -> Charts {
    let first = days.first().map_or(Day(0), |day| day.day);
    let values = |value: fn(&DayRow) -> i64| days.iter().map(value).collect::<Vec<_>>();
    let (gross, orders) = (values(|day| day.gross.0), values(|day| day.orders));
    Charts {
        tabs: span.tabs(path),
        stats: stats(days, sold),
        gross: span.bars(span.gross_words(), first, &gross),
        orders: span.bars(span.orders_words(), first, &orders),
    }
}

fn stats(days: &[DayRow], sold: Sold) -> Vec<Stat> {
    let spark = |value: fn(&DayRow) -> i64| Spark::new(&days.iter().map(value).collect::<Vec<_>>());
    let sum = |label, value: String, before: i64, now: i64, of_day: fn(&DayRow) -> i64| {
        let change = Change::new(before, now);
        let note = if change.is_some() { "sobre os 30 dias antes" } else { "" };
        let note = note.to_owned();
        Stat { label, value, change, note, spark: spark(of_day), lead: true, ..Stat::default() }
    };
    // Listings, claims and questions are known only from the first day on which
    // an account was read.
    let known = days.iter().find(|day| day.seen > 0);
    let level = |label, value: fn(&DayRow) -> i64| {
        let now = days.last().map_or(0, value);
        let note = match known.map(value) {
            Some(then) if then != now => {
                let day = known.map(|day| day.day.date().strftime("%d/%m").to_string());
                format!("eram {} em {}", grouped(then), day.unwrap_or_default())
            }
            _ => String::new(),
        };
        let seen = days.iter().filter(|day| day.seen > 0);
        let spark = Spark::new(&seen.map(value).collect::<Vec<_>>());
        Stat { label, value: grouped(now), note, spark, ..Stat::default() }
    };
    vec![
        sum(
            "Valor vendido, 30 dias",
            sold.gross.page(),
            sold.gross_before.0,
            sold.gross.0,
            |day| day.gross.0,
        ),
        sum("Vendas, 30 dias", grouped(sold.orders), sold.orders_before, sold.orders, |day| {
            day.orders
        }),
        level("Perguntas sem resposta", |day| day.questions),
        level("Reclamações abertas", |day| day.claims),
        level("Anúncios ativos", |day| day.listings),
    ]
}

/// The days as JSON, from the first day with data.
pub fn shown(days: &[DayRow]) -> Value {
    let known = days.iter().skip_while(|day| day.orders == 0 && day.seen == 0);
    let days = known.map(|day| {
        let level = |number: i64| (day.seen > 0).then_some(number);
        json!({
            "dia": day.day.iso(), "vendas": day.orders, "valor": day.gross,
            "anuncios": level(day.listings), "reclamacoes": level(day.claims),
            "perguntas": level(day.questions),
        })
    });
    days.collect()
}

/// Progress of reading all clients; `None` when no such reading is pending.
pub fn cycle_progress(pending: u64, readable: u64) -> Option<Progress> {
    let whole = readable.max(pending);
    let note = match pending {
        0 => return None,
        1 => "falta 1 cliente".to_owned(),
        many => format!("faltam {} clientes", grouped(many)),
    };
    Some(Progress::new("Sincronizando os clientes".to_owned(), whole - pending, whole, note))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64, orders: i64, questions: i64) -> DayRow {
        DayRow {
            day: Day(20_000 + number),
            orders,
            gross: Cents(orders * 1_000),
            listings: 3,
            claims: 0,
            questions,
            seen: 1,
        }
    }

    #[test]
    fn long_spans_are_drawn_by_week() {
        let days: Vec<_> = (0..730).map(|number| day(number, 1, 0)).collect();
        let charts = of(&days, Span::TwoYears, Sold::default(), "/x");
        assert_eq!(charts.gross.unwrap().bars.len(), 105);
        let charts = of(&days[..90], Span::Quarter, Sold::default(), "/x");
        assert_eq!(charts.orders.unwrap().bars.len(), 90);
        assert_eq!(charts.tabs.iter().filter(|tab| tab.on).count(), 1);
        assert_eq!(charts.tabs[1].href, "/x?dias=90");
    }

    #[test]
    fn cards_say_what_changed() {
        let days = [day(0, 2, 7), day(1, 1, 4)];
        let sold =
            Sold { orders: 3, gross: Cents(3_000), orders_before: 2, gross_before: Cents(6_000) };
        let stats = stats(&days, sold);
        assert_eq!(stats[0].change.as_ref().unwrap().text, "−50%");
        assert_eq!(stats[1].change.as_ref().unwrap().text, "+50%");
        assert_eq!((&*stats[2].value, &*stats[2].note), ("4", "eram 7 em 04/10"));
        assert_eq!(&*stats[4].note, "");
    }

    #[test]
    fn progress_counts_down() {
        assert!(cycle_progress(0, 12).is_none());
        let progress = cycle_progress(7, 12).unwrap();
        assert_eq!((progress.percent, &*progress.note), (41, "faltam 7 clientes"));
        assert_eq!(cycle_progress(1, 1).unwrap().note, "falta 1 cliente");
    }
}
