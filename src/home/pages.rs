//! The home as page and as JSON.

use serde::Serialize;

use super::tasks::{self, Waiting};
use super::views::{StudentHome, TodaySold};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, Day, Instant, UserId, Zone};
use crate::db::{self, ReadTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::{self, AccountSummary, DaySales, RecentOrder};
use crate::marketplace::account::wire::{AccountJson, SaleJson};
use crate::marketplace::account::words::own_areas;
use crate::marketplace::books::orders::left::Earned;
use crate::marketplace::books::orders::list;
use crate::marketplace::books::questions::cards::FLASHES;
use crate::marketplace::sync;
use crate::marketplace::sync::health::Health;
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::tools::fees;
use crate::marketplace::tools::labels::pages::OWN;
use crate::marketplace::tools::labels::press;
use crate::messages::wire::WireNotification;
use crate::messages::{Notification, store as messages};
use crate::panel::PageTime;
use crate::panel::chart::{BarChart, BarWords, short_money};
use crate::panel::view::{day_in_words, greeting};
use crate::program::cards;
use crate::wire;

const CHART_DAYS: i64 = 30;
/// Sales of the page, and of the JSON.
const SALES: u32 = 5;
const WIRE_SALES: u32 = 8;
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
}

impl Home {
    fn read(tx: &ReadTx<'_>, owner: UserId, today: Day, sales: u32) -> db::Result<Self> {
        Ok(Self {
            accounts: store::accounts_of(tx, owner, today)?,
            areas: sync::store::of_owner(tx, owner)?,
            days: store::daily_sales(tx, owner, today.plus(1 - CHART_DAYS), today)?,
            sales: store::newest_orders(tx, owner, sales)?,
        })
    }
}

/// `GET /painel`: the student's home.
pub fn home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return json(app, person, request);
    }
    let (owner, today, zone) = (person.account.user_id, app.day(request.now), app.zone());
    let (now, refused) = (request.now, &app.marketplace.refused_labels);
    let word = request.notice.as_deref();
    let ((home, sales), before, waiting, checkin) = app.db.read(request.lane, |tx| {
        let mut home = Home::read(tx, owner, today, SALES)?;
        let sales = earned(tx, app, person, std::mem::take(&mut home.sales))?;
        Ok::<_, Problem>((
            (home, sales),
            store::sold_between(tx, owner, zone.start_of(today.plus(-1)), same_hour(zone, now))?,
            Waiting::of(tx, owner, person.account.role, now, refused)?,
            cards::card(tx, app, owner, today, word)?,
        ))
    })?;
    let gross = gross_by_day(&home.days, today.plus(1 - CHART_DAYS));
    let sold: i64 = home.accounts.iter().map(|account| account.sales_today).sum();
    let healths: Vec<_> = home
        .accounts
        .iter()
        .map(|one| Health::of(&one.linked, own_areas(one, &home.areas), now))
        .collect();
    let time = PageTime { zone, now };
    let layout = layout(app, person, request).telling(FLASHES, request);
    Reply::page(&StudentHome {
        layout: match word.and_then(|word| press::told(&OWN, word)) {
            Some(told) => layout.with_flash(Some(told)),
            None => layout,
        },
        greeting: greeting(zone, now, &person.account.name),
        today: day_in_words(zone, now),
        tasks: tasks::of(&home.accounts, waiting, time),
        today_sold: TodaySold {
            now: (sold, sum_of(&home.days, today, today)),
            before,
            hour: zone.civil(now).strftime("%-H:%M").to_string(),
        },
        checkin,
        chart: BarChart::new(CHART, today.plus(1 - CHART_DAYS), &gross),
        accounts: home.accounts.into_iter().zip(healths).collect(),
        sales,
        time,
    })
}

/// Sales with what each has earned; `None` for what is no sale.
fn earned(
    tx: &ReadTx<'_>,
    app: &App,
    person: &Person,
    sales: Vec<RecentOrder>,
) -> db::Result<Vec<(RecentOrder, Option<Earned>)>> {
    let tax = fees::tax_rate(app, fees::store::settings(tx, person)?.tax);
    let (words, owner) = (&app.marketplace.words, person.account.user_id);
    let with_net = |sale: RecentOrder| {
        let page = list::read_one(tx, words, owner, sale.order_id)?;
        let earned = page.earned(tx, words, owner, tax)?.pop().flatten();
        Ok((sale, earned))
    };
    sales.into_iter().map(with_net).collect()
}

fn json(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, today) = (person.account.user_id, app.day(request.now));
    let (home, unread, news) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((
            Home::read(tx, owner, today, WIRE_SALES)?,
            messages::unread_count(tx, owner)?,
            messages::page(tx, owner, NEWS, 0)?,
        ))
    })?;
    Reply::ok(&HomeJson::of(home, (unread, news), app.zone()))
}

/// The instant of yesterday with the present hour.
fn same_hour(zone: Zone, now: Instant) -> Instant {
    let civil = zone.civil(now);
    zone.at(zone.day(now).plus(-1), civil.time())
}

/// Gross sales of thirty days from `first` on, in centavos, zeros included.
fn gross_by_day(days: &[DaySales], first: Day) -> Vec<i64> {
    (0..CHART_DAYS).map(|index| sum_of(days, first.plus(index), first.plus(index)).0).collect()
}

fn sum_of(days: &[DaySales], from: Day, to: Day) -> Cents {
    let within = days.iter().filter(|sales| (from..=to).contains(&sales.day));
    within.fold(Cents(0), |sum, sales| sum + sales.gross)
}

wire! {
    #[derive(Serialize)]
    struct HomeJson of(home: Home, notices: (i64, Vec<Notification>), zone: Zone) {
        vendas_hoje: i64 = home.accounts.iter().map(|account| account.sales_today).sum(),
        gmv_30d: Cents = home.accounts.iter().fold(Cents(0), |sum, account| sum + account.gmv_30d),
        total_notifs: i64 = notices.0,
        contas: Vec<AccountJson> = home
            .accounts
            .into_iter()
            .map(|account| AccountJson::of(account, &home.areas, zone))
            .collect(),
        vendas: Vec<SaleJson> =
            home.sales.into_iter().map(|sale| SaleJson::of(sale, zone)).collect(),
        notificacoes: Vec<WireNotification> = notices
            .1
            .into_iter()
            .map(|one| WireNotification::of(one, zone))
            .collect(),
    }
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
