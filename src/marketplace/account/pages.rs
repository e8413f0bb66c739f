//! The page of linked accounts, as page or as JSON.

use serde::Serialize;

use super::link::LinkOutcome;
use super::store::{self, AccountSummary};
use super::views::{AccountsPage, AreaRow, LinkedAccount};
use super::wire::AccountJson;
use super::words::{history_from, link_badge, missing, own_areas};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, MlUserId, Zone, grouped};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::sync;
use crate::marketplace::sync::health::{Health, progress};
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::sync::wire::AreaStanding;
use crate::panel::{Badge, Notice, When};

/// `GET /painel/ml`: the linked accounts, and the result of linking one.
pub fn accounts(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, today, zone) = (person.account.user_id, app.day(request.now), app.zone());
    let (accounts, areas, agency) = app.db.read(request.lane, |tx| {
        let accounts = store::accounts_of(tx, owner, today)?;
        let areas = sync::store::of_owner(tx, owner)?;
        Ok::<_, Problem>((accounts, areas, store::looked_after(tx, owner)?))
    })?;
    let config = &app.config.marketplace;
    let configured = !config.client_id.is_empty();
    if request.wants_json() {
        let contas = accounts
            .into_iter()
            .map(|account| AccountJson::of(account, &areas, zone).with_areas(&areas, zone))
            .map(|account| account.looked_after(&agency, zone))
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
            .map(|(account, health)| {
                let since = agency.iter().find(|(known, _)| *known == account.linked.ml_user_id);
                let agency = since.map(|(_, at)| When::new(zone, *at, request.now));
                LinkedAccount {
                    agency,
                    ..linked_account(account, &areas, health, zone, request.now)
                }
            })
            .collect(),
    })
}

/// The outcome of the last action, in words.
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
        agency: None,
        synced: health.good_until.map(|at| When::new(zone, at, now)),
        history: history_from(account, areas).map(|from| {
            if from < linked.linked_at {
                let day = zone.day(from).date().strftime("%d/%m/%Y");
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

fn number(count: i64) -> String {
    grouped(count.unsigned_abs())
}
