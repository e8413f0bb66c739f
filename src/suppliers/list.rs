//! `/fornecedor/vinculos/importar`: links from a CSV list, with a preview
//! first.

use serde::Serialize;
use serde_json::json;

use super::views::{PreviewPage, PreviewRow};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::dropshipping::bulk::{self, ListFault, Row, RowFault, RowResult, RowStatus};
use crate::dropshipping::links::LinkFault;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Badge, Notice, Tone, csv_read, form, view};

#[derive(Serialize)]
struct RowJson {
    linha: usize,
    situacao: &'static str,
    /// Why it failed; null when it did not.
    motivo: Option<&'static str>,
}

#[derive(Serialize)]
struct OutcomeJson {
    ok: bool,
    criados: usize,
    sem_mudanca: usize,
    falhos: usize,
    linhas: Vec<RowJson>,
}

impl OutcomeJson {
    fn of(outcomes: &[RowResult]) -> Self {
        let count = |status| outcomes.iter().filter(|one| one.status == status).count();
        let row = |one: &RowResult| RowJson {
            linha: one.row,
            situacao: one.status.name(),
            motivo: one.fault.map(said),
        };
        Self {
            ok: true,
            criados: count(RowStatus::Created),
            sem_mudanca: count(RowStatus::Unchanged),
            falhos: count(RowStatus::Failed),
            linhas: outcomes.iter().map(row).collect(),
        }
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
    Reply::page(&page((app, person, request), None, None))
}

fn page(
    visit: Visit<'_>,
    fault: Option<&str>,
    seen: Option<(String, Vec<PreviewRow>)>,
) -> PreviewPage {
    let (app, person, request) = visit;
    let mut file = view::Field::default().fault(fault);
    file.focus = fault.is_some();
    let text = "Nada mudou. Corrija o arquivo e envie de novo.";
    let (csv, rows) = seen.unwrap_or_default();
    let count = |state| rows.iter().filter(|row| row.state == state).count();
    PreviewPage {
        layout: layout(app, person, request),
        alert: fault.map(|_| Notice::new(Tone::Bad, "O arquivo não foi lido", text)),
        file,
        csv,
        new: count(Badge::ToLink),
        known: count(Badge::Exists),
        faulty: count(Badge::Faulty),
        rows,
    }
}

/// `POST`: previews the result of each row, and changes nothing.
pub fn preview(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let bytes = match csv_read::sent(request) {
        Ok(bytes) => bytes,
        Err(problem) => {
            return form::show_again(request, problem, |_| {
                Reply::page(&page(visit, Some("Escolha um arquivo CSV."), None))
            });
        }
    };
    let rows = match bulk::read(&bytes) {
        Ok(rows) => rows,
        Err(fault) => {
            let problem = Problem::field("arquivo", fault.to_string());
            return form::show_again(request, problem, |_| {
                Reply::page(&page(visit, Some(told(fault)), None))
            });
        }
    };
    let owner = person.account.user_id;
    let outcomes = app.db.read(request.lane, |tx| bulk::preview(tx, owner, &rows))?;
    let reply = if request.wants_json() {
        Reply::json(&OutcomeJson::of(&outcomes))
    } else {
        let csv = String::from_utf8_lossy(&bytes).into_owned();
        let shown = rows.iter().zip(&outcomes).map(|(row, outcome)| shown(row, outcome));
        Reply::page(&page(visit, None, Some((csv, shown.collect()))))
    }?;
    Ok(crate::edge::route::nothing_to_do(reply))
}

fn shown(row: &Row, outcome: &RowResult) -> PreviewRow {
    PreviewRow {
        line: outcome.row,
        listing: row.listing.clone(),
        seller: row.seller.clone(),
        sku: row.sku.clone(),
        state: match outcome.status {
            RowStatus::Created => Badge::ToLink,
            RowStatus::Unchanged => Badge::Exists,
            RowStatus::Failed => Badge::Faulty,
        },
        why: outcome.fault.map_or("", said),
    }
}

/// `POST …/aplicar`: makes the links of a list; a row that fails is skipped.
pub fn apply(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let bytes = csv_read::sent(request)?;
    let rows = bulk::read(&bytes).map_err(|fault| Problem::field("csv", fault.to_string()))?;
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let done = OutcomeJson::of(&bulk::apply(&app.db, owner, rows)?);
    if request.wants_json() {
        return Reply::json(&done);
    }
    let word = format!("lista-{}-{}-{}", done.criados, done.sem_mudanca, done.falhos);
    answer.with(super::links::PATH, &word, &[("criados", json!(done.criados))])
}
