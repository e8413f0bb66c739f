//! The import of products in the panels of sellers and suppliers.

use std::fmt::Write as _;

use http::StatusCode;
use serde_json::json;

use super::fault::BadRows;
use super::{Counts, ImportError, apply, read};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::grouped;
use crate::catalog::pages::base;
use crate::catalog::views::ProductImportPage;
use crate::http::{ForPeople, Problem, Reply, Request, upload};
use crate::identity::Person;
use crate::panel::once::FormSubmission;
use crate::panel::{Notice, Tone, csv_read, view};

/// Bad rows that a page or an error message names.
const MOST_SHOWN: usize = 200;
/// Bad rows that a JSON answer lists.
const MOST_LISTED: usize = 1_000;

/// `GET …/produtos/importar`: the form for a file.
pub fn form(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return Err(Problem::not_found());
    }
    page((app, person, request), None, None)
}

fn page(visit: Visit<'_>, fault: Option<&str>, bad: Option<&BadRows>) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    let count = bad.map_or(0, |bad| bad.rows.len());
    let title = match count {
        0 => fault.map(|_| "O arquivo não foi importado".to_owned()),
        1 => Some("Uma linha precisa de correção".to_owned()),
        _ => Some(format!("{} linhas precisam de correção", grouped(count))),
    };
    let text = "Nada mudou nos seus produtos. Corrija o arquivo e envie de novo.";
    let mut file = view::Field::default().fault(fault);
    file.focus = fault.is_some();
    let shown = bad.into_iter().flat_map(BadRows::portuguese);
    Reply::page(&ProductImportPage {
        layout: layout(app, person, request),
        base: base(person),
        alert: title.map(|title| Notice::new(Tone::Bad, title, text)),
        file,
        faults: shown.take(MOST_SHOWN).collect(),
        more: count.saturating_sub(MOST_SHOWN),
    })
}

/// `POST …/produtos/importar`: imports a file, all rows or none.
pub fn send(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let bytes = match csv_read::sent(request) {
        Ok(bytes) => bytes,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(_) => return refused((app, person, request), Some("Escolha um arquivo CSV."), None),
    };
    match take((app, person, request), &bytes) {
        Ok(done) => done,
        Err(ImportError::Db(error)) => Err(error.into()),
        Err(ImportError::UnderWay) => {
            let words = "Outro arquivo seu está sendo importado. Envie este de novo em instantes.";
            if request.wants_json() {
                return Err(Problem::conflict(ForPeople(words)));
            }
            refused((app, person, request), Some(words), None)
        }
        Err(ImportError::Rows(bad)) if request.wants_json() => rows_refused(request, &bad),
        Err(ImportError::Rows(bad)) => refused((app, person, request), None, Some(&bad)),
        Err(ImportError::File(fault)) if request.wants_json() => {
            Err(Problem::field(field(request), fault.to_string()))
        }
        Err(ImportError::File(fault)) => {
            refused((app, person, request), Some(&fault.portuguese()), None)
        }
    }
}

fn refused(visit: Visit<'_>, fault: Option<&str>, bad: Option<&BadRows>) -> Result<Reply, Problem> {
    Ok(page(visit, fault, bad)?.status(StatusCode::UNPROCESSABLE_ENTITY))
}

fn field(request: &Request) -> &'static str {
    if upload::is_upload(request) { "arquivo" } else { "csv" }
}

fn take(visit: Visit<'_>, bytes: &[u8]) -> Result<Result<Reply, Problem>, ImportError> {
    let (app, person, request) = visit;
    let file = read(bytes).map_err(ImportError::File)?;
    let ignored = file.ignored.clone();
    let (form, page, wants_json) =
        (FormSubmission::of(request).cloned(), base(person), request.wants_json());
    apply::run(&app.db, person.account.user_id, file, move |tx, counts| {
        let reply = done(page, wants_json, counts, &ignored);
        if let (Some(form), Ok(reply)) = (form, &reply) {
            form.keep(tx, reply)?;
        }
        Ok(reply)
    })
}

fn done(
    page: &str,
    wants_json: bool,
    counts: Counts,
    ignored: &[String],
) -> Result<Reply, Problem> {
    if wants_json {
        let mut body = json!(counts);
        body["ok"] = true.into();
        if !ignored.is_empty() {
            body["ignoradas"] = json!(ignored);
        }
        return Reply::json(&body);
    }
    let Counts { created, changed, unchanged } = counts;
    let mut word = format!("importado-{created}-{changed}-{unchanged}");
    if !ignored.is_empty() {
        let _ = write!(word, "-{}", ignored.len());
    }
    Reply::back(page, &word)
}

/// The bad rows for programs, in the shape of the panels' errors.
fn rows_refused(request: &Request, bad: &BadRows) -> Result<Reply, Problem> {
    let count = bad.rows.len();
    let mut told: Vec<String> = bad.english().take(MOST_SHOWN).collect();
    if count > MOST_SHOWN {
        told.push(format!("and {} more", count - MOST_SHOWN));
    }
    let row = |(line, said): (usize, String)| json!({ "linha": line, "motivo": said });
    let body = json!({
        "ok": false, "code": "validation_failed",
        "message": format!("{count} rows cannot be taken; nothing was imported"),
        "fields": { field(request): told.join("\n") },
        "linhas": bad.portuguese().take(MOST_LISTED).map(row).collect::<Vec<_>>(),
    });
    Ok(Reply::json(&body)?.status(StatusCode::UNPROCESSABLE_ENTITY))
}
