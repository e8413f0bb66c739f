//! The last thirty days in cards: revenue by plan, who came, who left, linked accounts,
//! failures; each against the thirty days before.

use std::collections::HashSet;

use super::store::{MonthFigures, Payment};
use crate::accounts::Role;
use crate::base::{Cents, Day, grouped};
use crate::panel::Tone;
use crate::panel::chart::{BarChart, BarWords, Change, MOST_SERIES, Spark, Stat, short_money};

/// Days of a span.
pub const DAYS: i64 = 30;

/// The cards and their charts.
pub struct Month {
    pub stats: Vec<Stat>,
    pub charts: Vec<BarChart>,
    /// Revenue of each plan of the account, ready to print.
    pub by_plan: Vec<(&'static str, String)>,
}

impl Month {
    /// The cards on a day.
    pub fn of(figures: &MonthFigures, today: Day) -> Self {
        let first = today.plus(1 - DAYS);
        let revenue = Revenue::of(&figures.payments, first);
        let total: i64 = revenue.by_role.iter().map(|(_, days)| days.iter().sum::<i64>()).sum();
        let mut stats = vec![Stat {
            lead: true,
            value: money(total),
            change: Change::new(revenue.before, total),
            spark: Spark::new(&revenue.days()),
            href: "/admin/compras",
            ..stat("Receita", revenue.note())
        }];
        let split = |days: &[Day]| {
            let now = days.iter().filter(|day| **day >= first).count();
            (signed(days.len() - now), signed(now))
        };
        let (came_before, came) = split(&figures.came);
        let (left_before, left) = split(&figures.left);
        let (failed_before, failed) = figures.failed.iter().fold((0, 0), |(old, new), (day, n)| {
            if *day >= first { (old, new + n) } else { (old + n, new) }
        });
        stats.extend([
            Stat {
                value: number(came),
                change: Change::new(came_before, came),
                href: "/admin/alunos?ordem=-criado_em",
                ..stat("Alunos novos", before(came_before))
            },
            Stat {
                value: number(left),
                change: fewer_is_better(left_before, left),
                href: "/admin/compras?evento=assinatura-cancelada",
                ..stat("Cancelamentos", before(left_before))
            },
            Stat { value: number(figures.linked), ..stat("Contas vinculadas", String::new()) },
            Stat {
                value: number(failed),
                change: fewer_is_better(failed_before, failed),
                href: "/admin/mensagens?estado=falhou",
                ..stat("Envios que falharam", before(failed_before))
            },
        ]);
        let charts = [revenue.chart(first), people_chart(figures, first)];
        Self {
            stats,
            charts: charts.into_iter().flatten().collect(),
            by_plan: revenue
                .by_role
                .iter()
                .map(|(role, days)| (role.title(), money(days.iter().sum())))
                .collect(),
        }
    }
}

fn stat(label: &'static str, note: String) -> Stat {
    Stat { label, value: String::new(), change: None, note, spark: None, href: "", lead: false }
}

fn before(count: i64) -> String {
    format!("{} nos 30 dias antes", number(count))
}

fn fewer_is_better(before: i64, now: i64) -> Option<Change> {
    let change = Change::new(before, now)?;
    let tone = match change.tone {
        Tone::Good => Tone::Bad,
        Tone::Bad => Tone::Good,
        other => other,
    };
    Some(Change { tone, ..change })
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn number(count: i64) -> String {
    grouped(count.max(0))
}

fn money(cents: i64) -> String {
    Cents(cents).page()
}

/// What came in, by plan and day.
struct Revenue {
    /// Plans with a payment, the largest first, with a sum for each day.
    by_role: Vec<(Role, Vec<i64>)>,
    before: i64,
    /// Payments whose event tells no price.
    untold: usize,
}

impl Revenue {
    /// An approval sent again under another id is of the same transaction and counts once.
    fn of(payments: &[Payment], first: Day) -> Self {
        let mut seen = HashSet::new();
        let mut by_role: Vec<(Role, Vec<i64>)> = Vec::new();
        let (mut before, mut untold) = (0, 0);
        let days = usize::try_from(DAYS).unwrap_or_default();
        for one in payments {
            if one.purchase.as_ref().is_some_and(|purchase| !seen.insert(purchase)) {
                continue;
            }
            let place = usize::try_from(one.day.0 - first.0).ok().filter(|place| *place < days);
            let (Some(Cents(cents)), Some(place)) = (one.price, place) else {
                match (one.price, place) {
                    (Some(Cents(cents)), None) => before += cents,
                    (None, Some(_)) => untold += 1,
                    _ => {}
                }
                continue;
            };
            let role = one.role.unwrap_or(Role::Free);
            let of_role =
                by_role.iter().position(|(known, _)| *known == role).unwrap_or_else(|| {
                    by_role.push((role, vec![0; days]));
                    by_role.len() - 1
                });
            by_role[of_role].1[place] += cents;
        }
        by_role.sort_by_key(|(_, days)| std::cmp::Reverse(days.iter().sum::<i64>()));
        Self { by_role, before, untold }
    }

    fn days(&self) -> Vec<i64> {
        let days = usize::try_from(DAYS).unwrap_or_default();
        (0..days).map(|day| self.by_role.iter().map(|(_, sums)| sums[day]).sum()).collect()
    }

    fn note(&self) -> String {
        match self.untold {
            0 => format!("{} nos 30 dias antes", money(self.before)),
            1 => "1 compra não diz o valor".to_owned(),
            untold => format!("{untold} compras não dizem o valor"),
        }
    }

    fn chart(&self, first: Day) -> Option<BarChart> {
        let words = BarWords {
            title: "Receita por plano, 30 dias",
            unit: "Receita",
            value: money,
            mark: short_money,
        };
        let named = self.by_role.iter().take(MOST_SERIES);
        let series: Vec<_> =
            named.map(|(role, days)| (role.title().to_owned(), days.clone())).collect();
        if series.len() < 2 {
            return BarChart::new(words, first, &self.days());
        }
        BarChart::stacked(words, first, &series)
    }
}

fn people_chart(figures: &MonthFigures, first: Day) -> Option<BarChart> {
    let words = BarWords {
        title: "Alunos novos e cancelamentos, 30 dias",
        unit: "Soma",
        value: number,
        mark: number,
    };
    let by_day = |days: &[Day]| {
        let on = |day: i64| signed(days.iter().filter(|one| one.0 == first.0 + day).count());
        (0..DAYS).map(on).collect::<Vec<i64>>()
    };
    let series = [
        ("Novos".to_owned(), by_day(&figures.came)),
        ("Cancelamentos".to_owned(), by_day(&figures.left)),
    ];
    BarChart::stacked(words, first, &series)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_counts_once_and_one_without_a_price_is_told() {
        let today = Day(20_000);
        let payment = |day, price, purchase: &str| Payment {
            day: today.plus(day),
            role: Some(Role::Pro),
            price,
            purchase: Some(purchase.to_owned()),
        };
        let price = Some(Cents(9_700));
        let payments = [
            payment(0, price, "a"),
            payment(-1, price, "a"),
            payment(-2, price, "b"),
            payment(-40, price, "c"),
            payment(-3, None, "d"),
        ];
        let revenue = Revenue::of(&payments, today.plus(1 - DAYS));
        assert_eq!((revenue.before, revenue.untold), (9_700, 1));
        assert_eq!(revenue.days().iter().sum::<i64>(), 2 * 9_700);
    }
}
