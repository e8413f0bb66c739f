//! The last thirty days in cards: revenue by plan, who came, who left, linked accounts,
//! failures; each against the thirty days before.

use super::store::{MonthFigures, Payments};
use crate::accounts::Role;
use crate::base::{Cents, Day, grouped};
use crate::panel::Tone;
use crate::panel::chart::{BarChart, BarWords, Change, MOST_SERIES, Spark, Stat, short_money};

/// Days of a span.
pub const DAYS: i64 = 30;
const SPAN: usize = 30;

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
        let split = |days: &[(Day, i64)]| {
            days.iter().fold((0_i64, 0_i64), |(before, now), (day, count)| {
                if *day >= first { (before, now + count) } else { (before + count, now) }
            })
        };
        let (came_before, came) = split(&figures.came);
        let (left_before, left) = split(&figures.left);
        let (failed_before, failed) = split(&figures.failed);
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
                .map(|(role, days)| (plan(*role), money(days.iter().sum())))
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

/// A plan of the account, also of what stands for none.
fn plan(role: Option<Role>) -> &'static str {
    role.map_or("Sem plano", Role::words)
}

/// The place of a day in the span that begins on the first.
fn place(day: Day, first: Day) -> Option<usize> {
    usize::try_from(day.0 - first.0).ok().filter(|place| *place < SPAN)
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
    by_role: Vec<(Option<Role>, Vec<i64>)>,
    before: i64,
    /// Payments whose event tells no amount in reais.
    untold: i64,
}

impl Revenue {
    fn of(payments: &[Payments], first: Day) -> Self {
        let mut by_role: Vec<(Option<Role>, Vec<i64>)> = Vec::new();
        let (mut before, mut untold) = (0_i64, 0_i64);
        for Payments { day, role, sum: Cents(cents), untold: silent } in payments {
            let Some(place) = place(*day, first) else {
                before += cents;
                continue;
            };
            untold += silent;
            if *cents == 0 {
                continue;
            }
            let known = by_role.iter().position(|(known, _)| known == role);
            let of_role = known.unwrap_or_else(|| {
                by_role.push((*role, vec![0; SPAN]));
                by_role.len() - 1
            });
            by_role[of_role].1[place] += cents;
        }
        by_role.sort_by_key(|(_, days)| std::cmp::Reverse(days.iter().sum::<i64>()));
        Self { by_role, before, untold }
    }

    fn days(&self) -> Vec<i64> {
        (0..SPAN).map(|day| self.by_role.iter().map(|(_, sums)| sums[day]).sum()).collect()
    }

    fn note(&self) -> String {
        match self.untold {
            0 => format!("{} nos 30 dias antes", money(self.before)),
            1 => "Sem 1 compra, que não diz o valor em reais".to_owned(),
            untold => format!("Sem {} compras, que não dizem o valor em reais", number(untold)),
        }
    }

    fn chart(&self, first: Day) -> Option<BarChart> {
        let words = BarWords {
            title: "Receita por plano, 30 dias",
            unit: "Receita",
            value: money,
            mark: short_money,
        };
        if self.by_role.len() < 2 {
            return BarChart::new(words, first, &self.days());
        }
        let mut series: Vec<(String, Vec<i64>)> = Vec::new();
        for (role, days) in &self.by_role {
            if series.len() < MOST_SERIES {
                series.push((plan(*role).to_owned(), days.clone()));
                continue;
            }
            // The chart has no room for more, and still adds up to the card.
            let (name, sums) = &mut series[MOST_SERIES - 1];
            "Outros".clone_into(name);
            sums.iter_mut().zip(days).for_each(|(sum, more)| *sum += more);
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
    let by_day = |days: &[(Day, i64)]| {
        let mut sums = vec![0_i64; SPAN];
        for (day, count) in days {
            if let Some(place) = place(*day, first) {
                sums[place] += count;
            }
        }
        sums
    };
    let series = [
        ("Novos".to_owned(), by_day(&figures.came)),
        ("Cancelamentos".to_owned(), by_day(&figures.left)),
    ];
    BarChart::stacked(words, first, &series)
}

#[cfg(test)]
mod tests {
    use super::super::store;
    use super::*;
    use crate::db::Lane;
    use crate::fixture::{NOW, TestDir, ZONE};

    #[test]
    fn a_payment_counts_once_unless_it_went_back_and_one_without_reais_is_told() {
        let (dir, today) = (TestDir::new(), ZONE.day(NOW));
        let db = dir.database();
        let events = [
            (1, 0, "'pro'", "9700", "BRL", "'a'"),
            (1, -1, "'pro'", "9700", "BRL", "'a'"),
            (1, -2, "NULL", "9700", "", "'b'"),
            (1, -3, "'pro'", "9700", "", "NULL"),
            (1, -3, "'pro'", "9700", "", "NULL"),
            (1, -40, "'pro'", "9700", "BRL", "'c'"),
            (1, -3, "'pro'", "NULL", "", "'d'"),
            (1, -3, "'pro'", "9700", "USD", "'e'"),
            // Paid, and paid back since.
            (1, -4, "'pro'", "5000", "BRL", "'f'"),
            (3, -2, "'pro'", "5000", "BRL", "'f'"),
            (1, -5, "'pro'", "6000", "BRL", "'g'"),
            (4, -1, "'pro'", "NULL", "", "'g'"),
            (3, -1, "'pro'", "9700", "BRL", "NULL"),
        ];
        db.write(move |tx| {
            for (number, one) in events.into_iter().enumerate() {
                let (kind, day, role, cents, currency, purchase) = one;
                let ms = NOW.plus(day * crate::base::DAY_S).0 * 1000;
                tx.execute(
                    &format!(
                        "INSERT INTO checkout_event (received_at, dedup_key, event, kind, state,
                             outcome, email, happened_ms, role, amount_cents, currency, purchase)
                         VALUES (1, x'{number:02}', 'e', {kind}, 1, '', '', {ms}, {role}, {cents}, '{currency}', {purchase})"
                    ),
                    [],
                )?;
            }
            Ok::<_, crate::db::DbError>(())
        })
        .unwrap();
        let first = today.plus(1 - 2 * DAYS);
        let figures = db.read(Lane::InPlace, |tx| store::month(tx, ZONE, first)).unwrap();
        let revenue = Revenue::of(&figures.payments, today.plus(1 - DAYS));
        assert_eq!((revenue.before, revenue.untold), (9_700, 2));
        let days = revenue.days();
        assert_eq!((days[SPAN - 1], days[SPAN - 2], days[SPAN - 3]), (0, 9_700, 9_700));
        assert_eq!(days.iter().sum::<i64>(), 4 * 9_700);
        let plans: Vec<_> = revenue.by_role.iter().map(|(role, _)| plan(*role)).collect();
        assert_eq!(plans, [Role::Pro.words(), "Sem plano"]);
    }
}
