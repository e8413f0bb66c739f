//! Questions of buyers in the seller's panel, as page, JSON or CSV.

pub mod answer;

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;

use super::QuestionState;
use super::answer::FORM;
use super::buyers;
use super::cards::{self, QueueContext, card, listing_code};
use super::replies::{self, pages as saved};
use super::store::{self, ALL, Question};
use super::views::{QuestionPage, QuestionsPage, QueuePage};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{MlUserId, grouped};
use crate::db;
use crate::http::{Problem, Reply, Request, policy};
use crate::identity::Person;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::listed;
use crate::panel::{FormView, ListQuery, Listing, PageTime, Table, columns, filters, heads, list};
use crate::services::Services;
use crate::wire;

/// The list's address.
pub const PATH: &str = "/painel/perguntas";

pub(super) const LIST: Listing = Listing {
    path: PATH,
    hint: "Pergunta, título ou código do anúncio",
    filters: filters! {
        "estado": "Situação", "Todas", &[
            ("pendente", "Sem resposta"), ("respondida", "Respondidas"),
            ("encerrada", "Encerradas"), (ALL, "Todas"),
        ];
    },
    sort_keys: &["-perguntada_em"],
    heads: heads!["Pergunta" => "perguntada_em"],
    file: "perguntas.csv",
    csv: columns![
        id conta anuncio titulo_anuncio texto estado resposta perguntada_em respondida_em
    ],
    flashes: cards::FLASHES,
};

wire! {
    /// A question in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireQuestion of(services: &Services, stores: &Stores, question: Question) after {
        let Question { row, title } = question;
        let spaced = |at| services.zone().spaced(at);
    } {
        id: String = row.id.to_string(),
        conta: String = stores.name(row.ml_user_id),
        ml_user_id: MlUserId = row.ml_user_id,
        anuncio: String = listing_code(services, row.item_id),
        titulo_anuncio: String = title,
        texto: String = row.text,
        estado: &'static str = row.state.name(),
        resposta: Option<String> = row.answer,
        perguntada_em: String = spaced(row.asked_at),
        respondida_em: Option<String> = row.answered_at.map(spaced),
    }
}

/// `GET /painel/perguntas`: the questions that wait for an answer, oldest
/// first, to be answered in place. Requests for JSON or CSV, searches and other
/// states get the list, newest first.
pub fn questions(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let is_list = !matches!(query.filter("estado"), None | Some("pendente"))
        || !query.search.is_empty()
        || list::asks_to_sort(request);
    if !is_list && !query.csv && !request.wants_json() {
        let mut query = query;
        query.forget("estado");
        return queue((app, person, request), &query);
    }
    listed::answer((app, person, request), |mut found| {
        lead_back(&mut found.table, query.filter("estado").is_none());
        Reply::page(&QuestionsPage {
            layout: layout(app, person, request).telling(LIST.flashes, request),
            found,
            site: app.config.marketplace.site.clone(),
        })
    })
}

/// Removes the first chip of the state filter, because an address without a
/// state is the queue. `is_all` marks the chip for all states instead.
fn lead_back(table: &mut Table, is_all: bool) {
    let states = table.filters.iter_mut().filter(|filter| filter.label == LIST.filters[0].label);
    for filter in states {
        filter.chips.remove(0);
        for chip in &mut filter.chips {
            chip.on |= is_all && chip.label == "Todas";
        }
    }
}

fn queue((app, person, request): Visit<'_>, query: &ListQuery) -> Result<Reply, Problem> {
    let (owner, account) = (person.account.user_id, stores::asked(request)?);
    let (stores, cards, total, replies) = app.db.read(request.lane, |tx| {
        let stores = Stores::narrowed(tx, owner, account)?;
        let (rows, total) = store::waiting(tx, owner, account, query.window())?;
        let may_see = |_| true;
        let cards = rows.into_iter().map(|row| card(app, tx, request.now, row, &may_see));
        let cards = cards.collect::<db::Result<Vec<_>>>()?;
        let replies = replies::store::all(tx, Some(owner))?;
        Ok::<_, Problem>((stores, cards, total, replies))
    })?;
    let mut cards = cards;
    if let Some(first) = cards.first_mut() {
        first.field.focus = true;
    }
    let mut table = LIST.table_by(query, LIST.heads, total, &stores.choice(account), None);
    lead_back(&mut table, false);
    for chip in table.filters.iter_mut().flat_map(|filter| &mut filter.chips) {
        if chip.label == QuestionState::Open.words() {
            chip.on = true;
        }
    }
    let images = policy::page_with_images(&app.config.marketplace.image_host);
    let page = Reply::page(&QueuePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        has_stores: !stores.is_empty(),
        table,
        queue: QueueContext {
            waiting: grouped(total),
            base: PATH,
            is_agency: false,
            back: account.map(|account| format!("conta={account}")).unwrap_or_default(),
            replies,
            replies_page: saved::OWN,
        },
        cards,
    })?;
    Ok(page.with(CONTENT_SECURITY_POLICY, images))
}

/// What a form of the home says instead of the queue's query.
pub const FROM_HOME: &str = "inicio";

/// The address of the queue to which a card's form returns. Of the query it
/// keeps only the account. A form of the home returns there.
pub fn queue_again(query: &str) -> String {
    if query == FROM_HOME {
        return "/painel".to_owned();
    }
    let mut given = form_urlencoded::parse(query.as_bytes());
    let account = given.find(|(name, _)| name == "conta");
    let account =
        account.and_then(|(_, value)| value.parse::<i64>().ok()).filter(|account| *account > 0);
    account.map_or_else(|| PATH.to_owned(), |account| format!("{PATH}?conta={account}"))
}

/// `GET /painel/perguntas/{id}`: one question.
pub fn question(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        let (question, stores) = read(app, person, request)?;
        return Reply::ok(&WireQuestion::of(app, &stores, question));
    }
    with_form((app, person, request), FORM.show(None, app.zone()).unfocused())
}

/// The question that the address names, when it belongs to the person.
pub fn read(app: &App, person: &Person, request: &Request) -> Result<(Question, Stores), Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let (question, stores) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((listed::one(tx, owner, id)?, Stores::of(tx, owner)?))
    })?;
    Ok((question.ok_or_else(Problem::not_found)?, stores))
}

/// The page of a question with the form of its answer.
pub fn with_form((app, person, request): Visit<'_>, form: FormView) -> Result<Reply, Problem> {
    let (question, stores) = read(app, person, request)?;
    Reply::page(&QuestionPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        question,
        site: app.config.marketplace.site.clone(),
        stores,
        time: PageTime::of(app, request),
        form,
    })
}

/// `GET /painel/perguntas/{id}/comprador`: the nickname of a question's buyer.
pub fn buyer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let question = read(app, person, request)?.0.row;
    buyers::reply(app, person.account.user_id, &question)
}
