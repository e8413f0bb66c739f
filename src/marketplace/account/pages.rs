//! A student's home and the page of linked accounts, as pages or as JSON.

use serde::Serialize;

use super::link::LinkOutcome;
use super::store::{self, AccountSummary, DaySales, RecentOrder};
use super::stores;
use super::views::{AccountRow, AccountsPage, AreaRow, LinkedAccount, SaleRow, StudentHome, Task};
use super::wire::{AccountJson, SaleJson};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::{Cents, Day, Instant, MlUserId, Zone, grouped};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::books::order_status::OrderState;
use crate::marketplace::sync;
use crate::marketplace::sync::health::{Health, Trouble, progress};
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::sync::wire::AreaStanding;
use crate::messages::views::NewsRow;
use crate::messages::wire::WireNotification;
use crate::messages::{Notification, store as messages};
use crate::panel::chart::{BarChart, BarWords, Change, Spark, Stat, short_money};
use crate::panel::view::{day_in_words, greeting};
use crate::panel::{Badge, Notice, Tone, When};
use crate::wire;

/// Days of the chart, and of the span it is compared with.
const CHART_DAYS: i64 = 30;
/// Days of the line beside today's sales.
const LINE_DAYS: usize = 14;
const SALES: u32 = 8;
const NEWS: u32 = 6;

const CHART: BarWords = BarWords {
    title: "Faturamento por dia, 30 dias",
    unit: "Faturamento",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};

/// What the home page is made of.
struct Home {
    accounts: Vec<AccountSummary>,
    areas: Vec<(MlUserId, AreaState)>,
    days: Vec<DaySales>,
    sales: Vec<RecentOrder>,
    unread: i64,
    news: Vec<Notification>,
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
        })
    })?;
    if request.wants_json() {
        return Reply::json(&HomeJson::of(home, zone));
    }
    let now = request.now;
    let gross = gross_by_day(&home.days, today.plus(1 - CHART_DAYS));
    let accounts: Vec<_> =
        home.accounts.iter().map(|account| account_row(account, &home.areas, zone, now)).collect();
    let lame = accounts.iter().filter(|one| one.link != Badge::Linked);
    let lame = lame.count();
    Reply::page(&StudentHome {
        layout: layout(app, person, request),
        greeting: greeting(zone, now, &person.account.name),
        today: day_in_words(zone, now),
        tasks: tasks(&home.accounts),
        stats: stats(&home, lame, &gross, today),
        chart: BarChart::new(CHART, today.plus(1 - CHART_DAYS), &gross),
        accounts,
        sales: home.sales.iter().map(|sale| sale_row(sale, zone, now)).collect(),
        news: home.news.iter().map(|one| NewsRow::of(one, zone, now)).collect(),
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
            value: number(sold),
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
            value: number(home.unread),
            href: "/painel/avisos",
            ..Stat::default()
        },
    ]
}

/// What waits for the student, the most urgent first.
fn tasks(accounts: &[AccountSummary]) -> Vec<Task> {
    let names = |chosen: fn(&AccountSummary) -> bool| {
        let names: Vec<_> =
            accounts.iter().filter(|one| chosen(one)).map(|one| &*one.linked.nickname).collect();
        names.join(", ")
    };
    let lost = accounts.iter().filter(|account| !account.linked.token_ok).count();
    let claims: i64 = accounts.iter().map(|account| account.linked.open_claims).sum();
    let questions: i64 = accounts.iter().map(|account| account.linked.open_questions).sum();
    let mut tasks = Vec::new();
    if lost > 0 {
        tasks.push(Task {
            tone: Tone::Bad,
            title: if lost == 1 {
                "Uma conta perdeu o vínculo".to_owned()
            } else {
                format!("{lost} contas perderam o vínculo")
            },
            detail: names(|account| !account.linked.token_ok),
            href: "/painel/ml".to_owned(),
            button: if lost == 1 { "Ver conta" } else { "Ver contas" },
        });
    }
    if claims > 0 {
        tasks.push(Task {
            tone: Tone::Warn,
            title: counted(claims, "reclamação aberta", "reclamações abertas"),
            detail: names(|account| account.linked.open_claims > 0),
            href: "/painel/reclamacoes?estado=aberta".to_owned(),
            button: if claims == 1 { "Ver reclamação" } else { "Ver reclamações" },
        });
    }
    if questions > 0 {
        tasks.push(Task {
            tone: Tone::Info,
            title: counted(questions, "pergunta sem resposta", "perguntas sem resposta"),
            detail: names(|account| account.linked.open_questions > 0),
            href: "/painel/perguntas?estado=pendente".to_owned(),
            button: "Responder",
        });
    }
    tasks
}

fn account_row(
    account: &AccountSummary,
    areas: &[(MlUserId, AreaState)],
    zone: Zone,
    now: Instant,
) -> AccountRow {
    let health = Health::of(&account.linked, own_areas(account, areas), now);
    AccountRow {
        nickname: account.linked.nickname.clone(),
        reputation: Badge::reputation(&account.linked.reputation),
        sales_today: account.sales_today,
        gross_30: account.gmv_30d.page(),
        listings: number(account.linked.listings),
        claims: account.linked.open_claims,
        questions: account.linked.open_questions,
        link: link_badge(account, &health),
        error: account.linked.error.clone(),
        trouble: health.trouble.map(|trouble| missing(&trouble, zone)),
    }
}

/// The areas of an account, of those of all accounts.
fn own_areas<'a>(
    account: &AccountSummary,
    areas: &'a [(MlUserId, AreaState)],
) -> impl Iterator<Item = &'a AreaState> {
    let id = account.linked.ml_user_id;
    let own = areas.iter().filter(move |(of, _)| *of == id);
    own.map(|(_, state)| state)
}

fn link_badge(account: &AccountSummary, health: &Health) -> Badge {
    match (account.linked.token_ok, &health.trouble) {
        (false, _) => Badge::LinkLost,
        (true, Some(_)) => Badge::Attention,
        (true, None) => Badge::Linked,
    }
}

/// What may be missing because it cannot be read.
fn missing(trouble: &Trouble, zone: Zone) -> String {
    format!("{}: sem leitura desde {}.", trouble.areas, zone.page(trouble.since))
}

fn sale_row(sale: &RecentOrder, zone: Zone, now: Instant) -> SaleRow {
    SaleRow {
        title: sale.title.clone(),
        quantity: counted(sale.quantity, "unidade", "unidades"),
        value: sale.total.page(),
        when: When::new(zone, sale.created_at, now),
        store: if sale.store.is_empty() {
            stores::unlinked(sale.ml_user_id)
        } else {
            sale.store.clone()
        },
        status: OrderState::new(&sale.status),
    }
}

/// `GET /painel/ml`: the linked accounts, and what came of linking one.
pub fn accounts(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, today, zone) = (person.account.user_id, app.day(request.now), app.zone());
    let (accounts, areas) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((store::accounts_of(tx, owner, today)?, sync::store::of_owner(tx, owner)?))
    })?;
    let config = &app.config.marketplace;
    let configured = !config.client_id.is_empty();
    if request.wants_json() {
        let contas = accounts
            .into_iter()
            .map(|account| AccountJson::of(account, zone).with_areas(&areas, zone))
            .collect();
        return Reply::json(&AccountsJson { ok: true, configurado: configured, contas });
    }
    let outcome = request.notice.as_deref().and_then(LinkOutcome::from_name);
    let health: Vec<_> = accounts
        .iter()
        .map(|one| Health::of(&one.linked, own_areas(one, &areas), request.now))
        .collect();
    Reply::page(&AccountsPage {
        layout: layout(app, person, request)
            .with_flash(outcome.and_then(|outcome| notice(outcome, &accounts))),
        configured,
        look_after_s: health.iter().filter_map(|one| one.look_after_s).min(),
        accounts: accounts
            .iter()
            .zip(health)
            .map(|(account, health)| linked_account(account, &areas, health, zone, request.now))
            .collect(),
    })
}

/// The outcome of the last act in words.
fn notice(outcome: LinkOutcome, accounts: &[AccountSummary]) -> Option<Notice> {
    let newest = accounts.iter().max_by_key(|account| account.linked.linked_at);
    outcome.notice(newest.map_or("A conta", |account| &account.linked.nickname))
}

fn linked_account(
    account: &AccountSummary,
    areas: &[(MlUserId, AreaState)],
    health: Health,
    zone: Zone,
    now: Instant,
) -> LinkedAccount {
    let linked = &account.linked;
    let own = || own_areas(account, areas);
    LinkedAccount {
        areas: own().filter_map(|state| area_row(state, linked.token_ok, zone, now)).collect(),
        ml_user_id: linked.ml_user_id.to_string(),
        nickname: linked.nickname.clone(),
        link: link_badge(account, &health),
        reputation: Badge::reputation(&linked.reputation),
        error: linked.error.clone(),
        relink: !linked.token_ok || health.trouble.as_ref().is_some_and(|one| one.is_refused),
        trouble: health
            .trouble
            .map(|trouble| format!("{} {}", missing(&trouble, zone), trouble.error)),
        linked: When::new(zone, linked.linked_at, now),
        synced: health.good_until.map(|at| When::new(zone, at, now)),
        history: linked.history_from.map(|from| {
            if from < linked.linked_at {
                let day = zone.day(from).date().format("%d/%m/%Y");
                format!("desde {day}, buscando mais")
            } else {
                "buscando as vendas dos últimos 12 meses".to_owned()
            }
        }),
        progress: own()
            .filter(|_| linked.token_ok)
            .filter_map(|state| progress(state, now))
            .collect(),
    }
}

fn area_row(state: &AreaState, token_ok: bool, zone: Zone, now: Instant) -> Option<AreaRow> {
    let area = sync::Area::of(state.area)?;
    let standing = AreaStanding::of(state, token_ok);
    Some(AreaRow {
        title: area.title,
        state: match standing {
            AreaStanding::NaFila => Badge::Pending,
            AreaStanding::Lendo => Badge::Running,
            AreaStanding::EmDia => Badge::Healthy,
            AreaStanding::ComErro => Badge::Attention,
            AreaStanding::Parada => Badge::LinkLost,
        },
        note: match (standing, state.expected) {
            (AreaStanding::ComErro, _) => state.error.clone().unwrap_or_default(),
            (AreaStanding::Lendo, Some(expected)) if expected > 0 => {
                format!("{} de {}", number(state.done), number(expected.max(state.done)))
            }
            (AreaStanding::Lendo, _) if state.done > 0 => number(state.done),
            _ => String::new(),
        },
        read: state
            .ended_at
            .filter(|_| standing == AreaStanding::EmDia)
            .map(|at| When::new(zone, at, now)),
    })
}

#[derive(Serialize)]
struct AccountsJson {
    ok: bool,
    configurado: bool,
    contas: Vec<AccountJson>,
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
            .map(|account| AccountJson::of(account, zone))
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

fn number(count: i64) -> String {
    grouped(count.unsigned_abs())
}

/// `1 unidade`, `2 unidades`.
fn counted(count: i64, one: &str, several: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(nickname: &str, token_ok: bool, open_claims: i64) -> AccountSummary {
        AccountSummary {
            linked: store::LinkedAccount {
                ml_user_id: MlUserId(7),
                nickname: nickname.to_owned(),
                token_ok,
                error: None,
                reputation: String::new(),
                listings: 0,
                open_claims,
                open_questions: 0,
                synced_at: None,
                linked_at: Instant(0),
                history_from: None,
            },
            sales_today: 0,
            sales_30d: 0,
            gmv_30d: Cents(0),
        }
    }

    #[test]
    fn the_most_urgent_task_comes_first() {
        let tasks = tasks(&[account("A", true, 2), account("B", false, 0), account("C", false, 1)]);
        let said: Vec<_> =
            tasks.iter().map(|task| format!("{}: {}", task.title, task.detail)).collect();
        assert_eq!(said, ["2 contas perderam o vínculo: B, C", "3 reclamações abertas: A, C"]);
    }

    #[test]
    fn days_without_sales_are_zero() {
        let day = |day, gross| DaySales { day: Day(day), orders: 1, gross: Cents(gross) };
        let days = [day(90, 5), day(100, 7), day(129, 9)];
        let gross = gross_by_day(&days, Day(100));
        assert_eq!((gross.len(), gross[0], gross[1], gross[29]), (30, 7, 0, 9));
        assert_eq!(sum_of(&days, Day(90), Day(100)), Cents(12));
    }
}
