//! `/fornecedor/vinculos/importar`: links from a CSV list, with a preview
//! first.

use serde::Serialize;
use serde_json::json;

use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::dropshipping::bulk::{self, Header, ListFault, Row, RowFault, RowResult, RowStatus};
use crate::dropshipping::links::LinkFault;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Notice, Tone, csv_read, form, view};
use crate::suppliers::views::PreviewPage;
use crate::wire;

wire! {
    #[derive(Serialize)]
    struct RowJson of(one: &RowResult) {
        linha: usize = one.row,
        situacao: &'static str = one.status.name(),
        /// Why it failed; null when it did not.
        motivo: Option<&'static str> = one.fault.map(said),
    }
}

wire! {
    #[derive(Serialize)]
    struct OutcomeJson of(outcomes: &[RowResult]) after {
        let count = |status| outcomes.iter().filter(|one| one.status == status).count();
    } {
        criados: usize = count(RowStatus::Created),
        sem_mudanca: usize = count(RowStatus::Unchanged),
        falhos: usize = count(RowStatus::Failed),
        linhas: Vec<RowJson> = outcomes.iter().map(RowJson::of).collect(),
    }
}

/// Why a row failed, in the words of the panel.
const fn said(fault: RowFault) -> &'static str {
    match fault {
        RowFault::Seller => "seller_id não é o número de um vendedor.",
        RowFault::Listing => "ml_id não é o código de um anúncio, como MLB123.",
        RowFault::Sku => "Falta o SKU.",
        RowFault::Link(LinkFault::NoSeller) => "Não há vendedor seu com este número.",
        RowFault::Link(LinkFault::NoListing) => "O vendedor não tem este anúncio.",
        RowFault::Link(LinkFault::NoProduct) => "Não há produto seu com este SKU.",
        RowFault::Link(LinkFault::Taken) => "O anúncio já está vinculado a outro produto.",
        RowFault::Link(LinkFault::Full) => "Você chegou ao limite de vínculos.",
    }
}

const fn told(fault: ListFault) -> &'static str {
    match fault {
        ListFault::NotText => "O arquivo não é um texto em UTF-8.",
        ListFault::Unclosed => "Há aspas que abrem e não fecham.",
        ListFault::Header => "A primeira linha precisa ter as colunas seller_id, ml_id e sku.",
        ListFault::Empty => "O arquivo não tem linhas.",
        ListFault::TooMany => "O arquivo tem mais de 500 linhas. Envie em partes.",
    }
}

/// `GET`: the form for a file.
pub fn form(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return Err(Problem::not_found());
    }
    page((app, person, request), None, String::new(), Vec::new())
}

fn page(
    visit: Visit<'_>,
    fault: Option<&str>,
    csv: String,
    rows: Vec<(Row, RowStatus, &'static str)>,
) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    let mut file = view::Field::default().fault(fault);
    file.focus = fault.is_some();
    let text = "Nada mudou. Corrija o arquivo e envie de novo.";
    Reply::page(&PreviewPage {
        layout: layout(app, person, request),
        alert: fault.map(|_| Notice::new(Tone::Bad, "O arquivo não foi lido", text)),
        file,
        csv,
        rows,
    })
}

/// `POST`: previews the result of each row, and changes nothing.
pub fn preview(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let faulty = |problem, words| {
        form::show_again(request, problem, |_| page(visit, Some(words), String::new(), Vec::new()))
    };
    let bytes = match csv_read::sent(request) {
        Ok(bytes) => bytes,
        Err(problem) => return faulty(problem, "Escolha um arquivo CSV."),
    };
    let rows = match bulk::read(&bytes, Header::Free) {
        Ok(rows) => rows,
        Err(fault) => return faulty(Problem::field("arquivo", fault.to_string()), told(fault)),
    };
    let owner = person.account.user_id;
    let outcomes = app.db.read(request.lane, |tx| bulk::preview(tx, owner, &rows))?;
    let reply = if request.wants_json() {
        Reply::ok(&OutcomeJson::of(&outcomes))
    } else {
        let csv = String::from_utf8_lossy(&bytes).into_owned();
        let shown = rows.into_iter().zip(&outcomes);
        let shown = shown.map(|(row, one)| (row, one.status, one.fault.map_or("", said)));
        page(visit, None, csv, shown.collect())
    }?;
    Ok(crate::edge::route::nothing_to_do(reply))
}

/// `POST …/aplicar`: makes the links of a list; a row that fails is skipped.
pub fn apply(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let bytes = csv_read::sent(request)?;
    let rows = bulk::read(&bytes, Header::Free)
        .map_err(|fault| Problem::field("csv", fault.to_string()))?;
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let done = OutcomeJson::of(&bulk::apply(&app.db, owner, rows)?);
    if request.wants_json() {
        return Reply::ok(&done);
    }
    let word = format!("lista-{}-{}-{}", done.criados, done.sem_mudanca, done.falhos);
    answer.with(super::links::PATH, &word, &[("criados", json!(done.criados))])
}
