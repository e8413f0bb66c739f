//! Charts of clients: their sales per day, and the state of their accounts.

use serde_json::{Value, json};

use super::days::{self, DayRow, KEPT_DAYS, Sold};
use super::open::Open;
use crate::base::{Cents, Day, grouped};
use crate::db::{ReadTx, Result as DbResult};
use crate::http::{Problem, Request};
use crate::panel::chart::{BarChart, BarWords, Change, Spark, Stat, short_money};
use crate::panel::{Sent, Tab};
use crate::services::Services;

/// How many days charts show.
#[derive(Debug)]
pub struct Span {
    days: i64,
    words: &'static str,
    /// Titles of the charts. Long spans have bars per week, because a year of
    /// daily bars would be too thin.
    gross: &'static str,
    orders: &'static str,
}

const SPANS: [Span; 4] = [
    Span::new(30, "30 dias", "Valor vendido por dia, 30 dias", "Vendas por dia, 30 dias"),
    Span::new(90, "90 dias", "Valor vendido por dia, 90 dias", "Vendas por dia, 90 dias"),
    Span::new(365, "1 ano", "Valor vendido por semana, 1 ano", "Vendas por semana, 1 ano"),
    Span::new(KEPT_DAYS, "2 anos", "Valor vendido por semana, 2 anos", "Vendas por semana, 2 anos"),
];

impl Span {
    /// The usual span.
    pub const MONTH: &Self = &SPANS[0];
    /// The query parameter that names the span.
    const NAME: &str = "dias";

    const fn new(
        days: i64,
        words: &'static str,
        gross: &'static str,
        orders: &'static str,
    ) -> Self {
        Self { days, words, gross, orders }
    }

    /// The span that the request's query asks for; 30 days when it names none.
    pub fn asked(services: &Services, request: &Request) -> Result<&'static Self, Problem> {
        let mut sent = Sent::of_query(request, services.zone())?;
        let field = sent.take(Self::NAME);
        let days = sent.check.number(Self::NAME, field, 1..=KEPT_DAYS);
        let span = SPANS.iter().find(|span| span.days == days.unwrap_or(Self::MONTH.days));
        if span.is_none() {
            sent.check.fail(Self::NAME, "must be 30, 90, 365 or 730");
        }
        sent.finish()?;
        Ok(span.unwrap_or(Self::MONTH))
    }

    /// First and last day of the span; the last is today.
    pub const fn days(&self, today: Day) -> (Day, Day) {
        (today.plus(1 - self.days), today)
    }

    /// The spans as tabs of a page.
    fn tabs(&self, path: &str) -> Vec<Tab> {
        let tab = |span: &Self| Tab {
            label: span.words,
            href: format!("{path}?{}={}", Self::NAME, span.days),
            on: span.days == self.days,
        };
        SPANS.iter().map(tab).collect()
    }

    fn bars(&self, words: BarWords, first: Day, values: &[i64]) -> Option<BarChart> {
        let draw = if self.days > 90 { BarChart::by_week } else { BarChart::new };
        draw(words, first, values)
    }
}

fn money(cents: i64) -> String {
    Cents(cents).page()
}

/// What a client sold, day by day, and in the last 30 days compared with the 30
/// before.
pub struct Figures {
    span: &'static Span,
    days: Vec<DayRow>,
    pub sold: Sold,
}

impl Figures {
    /// The figures of a client, at which so much is open; client 0 means all
    /// clients.
    pub fn read(
        tx: &ReadTx<'_>,
        client: i64,
        open: &Open,
        span: &'static Span,
        today: Day,
    ) -> DbResult<Self> {
        let (from, to) = span.days(today);
        let mut days = days::filled(&days::daily_series(tx, client, from, to)?, from, to);
        // Earlier days end as they were seen then, today as it is now.
        if let Some(last) = days.last_mut() {
            (last.questions, last.claims) = (open.questions, open.claims);
        }
        Ok(Self { span, days, sold: days::sold(tx, client, today)? })
    }

    /// The cards and charts of a page.
    pub fn charts(&self, path: &str) -> Charts {
        let Self { span, days, sold } = self;
        let first = days.first().map_or(Day(0), |day| day.day);
        let values = |value: fn(&DayRow) -> i64| days.iter().map(value).collect::<Vec<_>>();
        let gross = BarWords { title: span.gross, unit: "Valor", value: money, mark: short_money };
        let orders = BarWords { title: span.orders, unit: "Vendas", value: grouped, mark: grouped };
        Charts {
            tabs: span.tabs(path),
            stats: stats(days, *sold),
            gross: span.bars(gross, first, &values(|day| day.gross.0)),
            orders: span.bars(orders, first, &values(|day| day.orders)),
        }
    }

    /// The days as JSON, from the first day with data.
    pub fn shown(&self) -> Value {
        let known = self.days.iter().skip_while(|day| day.orders == 0 && day.seen == 0);
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
}

/// The days of a client as cards and charts.
pub struct Charts {
    pub tabs: Vec<Tab>,
    pub stats: Vec<Stat>,
    /// `None` when nothing was sold.
    pub gross: Option<BarChart>,
    pub orders: Option<BarChart>,
}

fn stats(days: &[DayRow], sold: Sold) -> Vec<Stat> {
    let spark = |value: fn(&DayRow) -> i64| Spark::new(&days.iter().map(value).collect::<Vec<_>>());
    let sum = |label, value: String, before: i64, now: i64, of_day: fn(&DayRow) -> i64| {
        let change = Change::new(before, now);
        let note = if change.is_some() { "sobre os 30 dias antes" } else { "" }.to_owned();
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
        let charts = |span, days: &[DayRow]| {
            Figures { span, days: days.to_vec(), sold: Sold::default() }.charts("/x")
        };
        assert_eq!(charts(&SPANS[3], &days).gross.unwrap().bars.len(), 105);
        let charts = charts(&SPANS[1], &days[..90]);
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
}
