//! The home as page and as JSON.

use serde::Serialize;

use super::tasks::{self, Waiting};
use super::views::StudentHome;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, Day, Zone, grouped};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::{self, AccountSummary, DaySales, RecentOrder};
use crate::marketplace::account::wire::{AccountJson, SaleJson};
use crate::marketplace::account::words::{link_badge, own_areas};
use crate::marketplace::sync;
use crate::marketplace::sync::health::Health;
use crate::marketplace::sync::store::AreaState;
use crate::messages::views::NewsRow;
use crate::messages::wire::WireNotification;
use crate::messages::{Notification, store as messages};
use crate::panel::Badge;
use crate::panel::PageTime;
use crate::panel::chart::{BarChart, BarWords, Change, Spark, Stat, short_money};
use crate::panel::view::{day_in_words, greeting};
use crate::program::cards;
use crate::program::views::CheckInCard;
use crate::wire;

/// Days of the chart, and of the span it is compared with.
const CHART_DAYS: i64 = 30;
/// Days of the sparkline beside today's sales.
const LINE_DAYS: usize = 14;
const SALES: u32 = 8;
const NEWS: u32 = 6;

const CHART: BarWords = BarWords {
    title: "Faturamento por dia, 30 dias",
    unit: "Faturamento",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};

struct Home {
    accounts: Vec<AccountSummary>,
    areas: Vec<AreaState>,
    days: Vec<DaySales>,
    sales: Vec<RecentOrder>,
    unread: i64,
    news: Vec<Notification>,
    waiting: Waiting,
    checkin: CheckInCard,
}

/// `GET /painel`: the student's home.
pub fn home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, today, zone) = (person.account.user_id, app.day(request.now), app.zone());
    let home = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>(Home {
            accounts: store::accounts_of(tx, owner, today)?,
            areas: sync::store::of_owner(tx, owner)?,
            days: store::daily_sales(tx, owner, today.plus(1 - 2 * CHART_DAYS), today)?,
            sales: store::newest_orders(tx, owner, SALES)?,
            unread: messages::unread_count(tx, owner)?,
            news: messages::page(tx, owner, NEWS, 0)?,
            waiting: Waiting::of(tx, (owner, person.account.role), request.now)?,
            checkin: cards::card(tx, app, owner, (today, request.notice.as_deref()))?,
        })
    })?;
    if request.wants_json() {
        return Reply::json(&HomeJson::of(home, zone));
    }
    let now = request.now;
    let gross = gross_by_day(&home.days, today.plus(1 - CHART_DAYS));
    let healths: Vec<_> = home
        .accounts
        .iter()
        .map(|one| Health::of(&one.linked, own_areas(one, &home.areas), now))
        .collect();
    let linked = home.accounts.iter().zip(&healths).map(|(one, health)| link_badge(one, health));
    let lame = linked.filter(|badge| *badge != Badge::Linked).count();
    Reply::page(&StudentHome {
        layout: layout(app, person, request),
        greeting: greeting(zone, now, &person.account.name),
        today: day_in_words(zone, now),
        tasks: tasks::of(&home.accounts, &home.waiting, zone, now),
        stats: stats(&home, lame, &gross, today),
        checkin: home.checkin,
        chart: BarChart::new(CHART, today.plus(1 - CHART_DAYS), &gross),
        accounts: home.accounts.into_iter().zip(healths).collect(),
        sales: home.sales,
        news: home.news.iter().map(|one| NewsRow::of(one, zone, now)).collect(),
        time: PageTime { zone, now },
    })
}

/// Gross sales of thirty days from `first` on, in centavos, zeros included.
fn gross_by_day(days: &[DaySales], first: Day) -> Vec<i64> {
    (0..CHART_DAYS).map(|index| sum_of(days, first.plus(index), first.plus(index)).0).collect()
}

fn sum_of(days: &[DaySales], from: Day, to: Day) -> Cents {
    let within = days.iter().filter(|sales| (from..=to).contains(&sales.day));
    within.fold(Cents(0), |sum, sales| sum + sales.gross)
}

fn stats(home: &Home, lame: usize, gross: &[i64], today: Day) -> Vec<Stat> {
    let sold: i64 = home.accounts.iter().map(|account| account.sales_today).sum();
    let span = sum_of(&home.days, today.plus(1 - CHART_DAYS), today);
    let before = sum_of(&home.days, today.plus(1 - 2 * CHART_DAYS), today.plus(-CHART_DAYS));
    let change = Change::new(before.0, span.0);
    vec![
        Stat {
            label: "Vendas hoje",
            value: grouped(sold),
            note: format!("{} até agora", sum_of(&home.days, today, today).page()),
            spark: Spark::new(&gross[gross.len() - LINE_DAYS..]),
            lead: true,
            ..Stat::default()
        },
        Stat {
            label: "Faturamento, 30 dias",
            value: span.page(),
            note: if change.is_some() {
                "sobre os 30 dias antes".to_owned()
            } else {
                String::new()
            },
            change,
            spark: Spark::new(gross),
            lead: true,
            ..Stat::default()
        },
        Stat {
            label: "Contas vinculadas",
            value: home.accounts.len().to_string(),
            note: match lame {
                0 => "todas funcionando".to_owned(),
                1 => "1 precisa de atenção".to_owned(),
                lame => format!("{lame} precisam de atenção"),
            },
            href: "/painel/ml",
            ..Stat::default()
        },
        Stat {
            label: "Avisos não lidos",
            value: grouped(home.unread),
            href: "/painel/avisos",
            ..Stat::default()
        },
    ]
}

wire! {
    #[derive(Serialize)]
    struct HomeJson of(home: Home, zone: Zone) {
        ok: bool = true,
        vendas_hoje: i64 = home.accounts.iter().map(|account| account.sales_today).sum(),
        gmv_30d: Cents = home.accounts.iter().fold(Cents(0), |sum, account| sum + account.gmv_30d),
        total_notifs: i64 = home.unread,
        contas: Vec<AccountJson> = home
            .accounts
            .into_iter()
            .map(|account| AccountJson::of(account, &home.areas, zone))
            .collect(),
        vendas: Vec<SaleJson> =
            home.sales.into_iter().map(|sale| SaleJson::of(sale, zone)).collect(),
        notificacoes: Vec<WireNotification> = home
            .news
            .into_iter()
            .map(|one| WireNotification::of(one, zone))
            .collect(),
    }
}

/// `1 unidade`, `2 unidades`.
pub(super) fn counted(count: i64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_sales_are_zero() {
        let day = |day, gross| DaySales { day: Day(day), gross: Cents(gross) };
        let days = [day(90, 5), day(100, 7), day(129, 9)];
        let gross = gross_by_day(&days, Day(100));
        assert_eq!((gross.len(), gross[0], gross[1], gross[29]), (30, 7, 0, 9));
        assert_eq!(sum_of(&days, Day(90), Day(100)), Cents(12));
    }
}
