//! The queue, as page and JSON, and the name of a buyer.

pub mod answer;
pub mod holding;
pub mod replies;

use std::collections::HashMap;

use http::header::CONTENT_SECURITY_POLICY;

use super::store::{self, Joined, QueuedRow};
use super::views::QueuePage;
use super::wire::{QueueReply, WireQueued};
use super::{PATH, QueueQuery, Status};
use crate::accounts::page_layout::layout;
use crate::agency::store::names;
use crate::app::{App, Visit};
use crate::base::grouped;
use crate::db::{self, ReadTx};
use crate::http::{Problem, Reply, Request, policy};
use crate::identity::Person;
use crate::marketplace::books::questions::buyers;
use crate::marketplace::books::questions::cards::{Card, FLASHES, QueueContext, card};
use crate::marketplace::books::questions::replies::store as saved;
use crate::panel::{Notice, Paging, address};
use replies::REPLIES;

/// An answer that was not sent, to be shown again.
pub struct Typed {
    pub joined: Joined,
    pub text: String,
    pub error: Option<&'static str>,
    pub alert: Option<Notice>,
}

/// `GET /admin/agencia/central-perguntas`: the questions of all clients, open
/// ones first.
pub fn queue(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let asked = QueueQuery::read(request, Status::Open)?;
    page((app, person, request), asked, None)
}

/// `GET /admin/agencia/central-perguntas/json`: the same for programs.
pub fn json(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let asked = QueueQuery::read(request, Status::All)?;
    let scope = asked.scope(person.account.user_id);
    let (counts, rows, names) = app.db.read(request.lane, |tx| {
        let counts = store::counts(tx, scope)?;
        let rows = store::page(tx, scope, asked.status, counts, asked.window())?;
        Ok::<_, Problem>((counts, rows, names(tx)?))
    })?;
    let names: HashMap<i64, String> = names.into_iter().collect();
    let wire = |row: QueuedRow| {
        let client = names.get(&row.client).cloned().unwrap_or_default();
        WireQueued::of(app, client, row)
    };
    Reply::ok(&QueueReply {
        total: counts.of(asked.status),
        perguntas: rows.into_iter().map(wire).collect(),
    })
}

/// `GET /admin/agencia/central-perguntas/{id}/comprador`: the name of the buyer
/// who asked a question.
pub fn buyer(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::joined(tx, id))?;
    let found = found.ok_or_else(Problem::not_found)?;
    buyers::reply(app, found.owner, &found.row)
}

/// The page; an answer that was not sent stands first.
pub fn page(
    (app, person, request): Visit<'_>,
    asked: QueueQuery,
    typed: Option<Typed>,
) -> Result<Reply, Problem> {
    let scope = asked.scope(person.account.user_id);
    let (counts, mut cards, names, replies) = app.db.read(request.lane, |tx| {
        let counts = store::counts(tx, scope)?;
        let mut rows = store::page(tx, scope, asked.status, counts, asked.window())?;
        if let Some(typed) = &typed {
            // The question of the failed answer comes first, wherever it is in
            // the queue.
            rows.retain(|row| row.card.question.row.id != typed.joined.row.id);
            rows.splice(0..0, store::one(tx, &typed.joined)?);
        }
        let names = names(tx)?;
        let cards = cards(app, tx, request, rows, &names)?;
        Ok::<_, Problem>((counts, cards, names, saved::all(tx, None)?))
    })?;
    for (question, name) in app.work.holds.of_others(person.account.user_id, request.now) {
        if let Some(card) = cards.iter_mut().find(|card| card.row.id == question) {
            card.holder = name;
        }
    }
    match (cards.first_mut(), typed) {
        (Some(first), Some(typed)) => {
            first.typed(typed.text, typed.error.map(str::to_owned), typed.alert);
        }
        // The page opens with the cursor where the next answer is typed.
        (Some(first), None) => first.field.focus = first.row.is_open(),
        (None, _) => {}
    }
    let own = asked.params();
    let params: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, &**value)).collect();
    let total = counts.of(asked.status);
    let images = policy::page_with_images(&app.config.marketplace.image_host);
    let page = Reply::page(&QueuePage {
        layout: layout(app, person, request).telling(FLASHES, request),
        statuses: Status::ALL.map(|status| {
            (status, grouped(counts.of(status)), QueueQuery { status, ..asked }.address())
        }),
        clients: names,
        asked,
        paging: Paging::new(PATH, &params, asked.page.into(), asked.per_page.into(), total),
        queue: QueueContext {
            waiting: if asked.status == Status::Answered {
                String::new()
            } else {
                grouped(counts.open)
            },
            base: PATH,
            is_agency: true,
            back: address("", &params).trim_start_matches('?').to_owned(),
            replies,
            replies_page: REPLIES,
        },
        cards,
    })?;
    Ok(page.with(CONTENT_SECURITY_POLICY, images))
}

/// Cards of a page of the queue. Earlier questions of a buyer are shown only if
/// they were asked at accounts of the clients on this page.
fn cards(
    app: &App,
    tx: &ReadTx<'_>,
    request: &Request,
    rows: Vec<QueuedRow>,
    names: &[(i64, String)],
) -> db::Result<Vec<Card>> {
    let mut clients: Vec<i64> = rows.iter().map(|row| row.client).collect();
    clients.sort_unstable();
    clients.dedup();
    let seen = store::accounts(tx, &clients)?;
    let names: HashMap<i64, &String> = names.iter().map(|(id, name)| (*id, name)).collect();
    rows.into_iter()
        .map(|row| {
            let client = names.get(&row.client).map(|name| (*name).clone());
            let mut card = card(app, tx, request.now, row.card, &|one| seen.contains(&one))?;
            card.client = client.unwrap_or_default();
            Ok(card)
        })
        .collect()
}
