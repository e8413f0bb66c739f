//! The page of linked accounts, as page or as JSON.

use serde::Serialize;

use super::link::{ACCOUNTS, LinkOutcome, LinkStart, account_in, unlink_and_revoke};
use super::store::{self, AccountSummary};
use super::views::{AccountsPage, AreaRow, LinkedAccount};
use super::wire::AccountJson;
use super::words::{history_from, link_badge, missing, own_areas};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, MlUserId, grouped, secrets};
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::sync;
use crate::marketplace::sync::health::{Health, progress};
use crate::marketplace::sync::store::AreaState;
use crate::marketplace::sync::wire::AreaStatus;
use crate::panel::{Answer, Badge, Notice, PageTime};

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
            .map(|account| AccountJson::of(account, &areas, zone).in_full(&areas, &agency, zone))
            .collect();
        return Reply::ok(&AccountsJson { configurado: configured, contas });
    }
    let time = PageTime::of(app, request);
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
            .into_iter()
            .zip(health)
            .map(|(account, health)| linked_account(account, &areas, health, &agency, time))
            .collect(),
        time,
    })
}

/// The outcome of the last action, in words.
fn notice(outcome: LinkOutcome, accounts: &[AccountSummary]) -> Option<Notice> {
    let newest = accounts.iter().max_by_key(|account| account.linked.linked_at);
    outcome.notice(newest.map_or("A conta", |account| &account.linked.nickname))
}

fn linked_account(
    account: AccountSummary,
    areas: &[AreaState],
    health: Health,
    agency: &[(MlUserId, Instant)],
    PageTime { zone, now }: PageTime,
) -> LinkedAccount {
    let own = || own_areas(&account, areas);
    let linked = &account.linked;
    LinkedAccount {
        areas: own().filter_map(|state| area_row(state, linked.token_ok)).collect(),
        link: link_badge(&account, &health),
        relink: !linked.token_ok
            || linked.ends_at.is_some()
            || health.trouble.as_ref().is_some_and(|one| one.is_refused),
        trouble: health
            .trouble
            .map(|trouble| format!("{} {}", missing(&trouble, zone), trouble.error)),
        agency: agency.iter().find(|(one, _)| *one == linked.ml_user_id).map(|(_, at)| *at),
        synced: health.good_until,
        history: history_from(&account, areas).map(|from| {
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
        linked: account.linked,
    }
}

fn area_row(state: &AreaState, token_ok: bool) -> Option<AreaRow> {
    let area = sync::Area::of(state.area)?;
    let status = AreaStatus::of(state, token_ok);
    Some(AreaRow {
        title: area.title,
        state: match status {
            AreaStatus::NaFila => Badge::Pending,
            AreaStatus::Lendo => Badge::Running,
            AreaStatus::EmDia => Badge::Healthy,
            AreaStatus::ComErro => Badge::Attention,
            AreaStatus::Parada => Badge::LinkLost,
        },
        note: match (status, state.expected) {
            (AreaStatus::ComErro, _) => state.error.clone().unwrap_or_default(),
            (AreaStatus::Lendo, Some(expected)) if expected > 0 => {
                format!("{} de {}", grouped(state.done), grouped(expected.max(state.done)))
            }
            (AreaStatus::Lendo, _) if state.done > 0 => grouped(state.done),
            _ => String::new(),
        },
        read: state.ended_at.filter(|_| status == AreaStatus::EmDia),
    })
}

#[derive(Serialize)]
struct AccountsJson {
    configurado: bool,
    contas: Vec<AccountJson>,
}

/// `GET /painel/ml/conectar`: redirects to the consent page.
pub fn begin(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let state = secrets::random_hex::<32>();
    let Some(start) = LinkStart::prepare(app, &state, request.now) else {
        return Ok(nothing_to_do(LinkOutcome::NotConfigured.redirect()?));
    };
    let user = person.account.user_id;
    Ok(Box::new(move |tx| Reply::redirect(&start.store(tx, user)?)))
}

/// `POST /painel/ml/contas/{ml_user_id}/desvincular`: unlinks an account.
pub fn unlink(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = account_in(request)?;
    if !unlink_and_revoke(app, person.account.user_id, account)? {
        return Err(Problem::not_found());
    }
    Answer::to(request).with(ACCOUNTS, LinkOutcome::Unlinked.name(), &[])
}
