//! Imports in the operator's panel: send a list, read the report, apply it.

use bytes::Bytes;
use http::HeaderValue;
use http::StatusCode;
use http::header::HeaderName;
use serde::{Deserialize, Serialize};

use super::apply::{self, already_applied};
use super::running::Running;
use super::store::{self, Import};
use super::views::{ImportPage, ImportsPage};
use super::{Counts, Row, RowOutcome, read};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::{Actor, looks};
use crate::base::text::sentence;
use crate::base::{grouped, shortened};
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Check, Field, ForPeople, Problem, Reply, Request, upload};
use crate::identity::Person;
use crate::panel::once::FormSubmission;
use crate::panel::{
    Answer, Badge, ListReply, Listing, Notice, PageTime, Paging, Progress, Tab, address, columns,
    csv_read, export, flashes, view,
};
use crate::people::pages::reach;
use crate::wire;

const PATH: &str = "/admin/alunos/importar";
const ROWS: usize = 50;
/// Rows of the answer to programs.
const MOST_WIRE_ROWS: i64 = 1_000;

/// The report as a file, and messages about the last action.
const LIST: Listing = Listing {
    path: PATH,
    file: "importacao.csv",
    csv: columns![linha nome email plano chat_number situacao motivo],
    flashes: flashes! {
        "descartada": good "Lista descartada", "Quem já tinha sido importado continua cadastrado.";
        "em_andamento": warn "Outra importação está em andamento",
            "Espere que ela termine e tente de novo.";
        "ja_feita": info "Esta lista já foi importada", "Nada mudou agora.";
        "nada_a_importar": info "Não há ninguém a importar",
            "Todas as linhas já existem ou têm erro.";
    },
    ..Listing::NONE
};

/// The file that was sent, with the name the browser gave it.
fn sent_file(request: &Request) -> Result<(String, Bytes), Problem> {
    if upload::is_upload(request) {
        let parts = upload::parts(request)?;
        let file = parts.into_iter().find(|part| part.name == "arquivo");
        return match file {
            Some(file) if !file.bytes.is_empty() => {
                let name = file.file_name.trim();
                let name: String = name.chars().filter(|c| !c.is_control()).collect();
                let name = if name.is_empty() { "lista.csv" } else { &name };
                Ok((shortened(name, 100).to_owned(), file.bytes))
            }
            _ => Err(Problem::field("arquivo", "escolha um arquivo CSV")),
        };
    }
    Ok(("lista.csv".to_owned(), csv_read::sent(request)?))
}

wire! {
    #[derive(Serialize)]
    struct WireImport of(import: &Import, running: Option<&Running>) after {
        let counts = import.counts;
    } {
        ok: bool = true,
        id: String = import.id.to_string(),
        arquivo: String = import.file_name.clone(),
        /// `conferida`, `importando` or `importada`.
        estado: &'static str = state(import, running.is_some()).0,
        linhas: u32 = counts.total,
        criar: u32 = counts.to_make,
        criados: u32 = counts.made,
        existem: u32 = counts.existing,
        erros: u32 = counts.faulty,
        /// Rows that were worked, while it runs.
        feitas: u32 = match running {
            Some(running) => running.done(),
            None if import.done_at.is_some() => counts.total,
            None => 0,
        },
    }
}

/// `POST /admin/alunos/importar`: reads and checks a list, and keeps it.
pub fn send(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let checked = sent_file(request).and_then(|(name, bytes)| {
        let field = if upload::is_upload(request) { "arquivo" } else { "csv" };
        let rows = read(&bytes).map_err(|said| Problem::field(field, said))?;
        Ok((name, rows))
    });
    let (name, mut rows) = match checked {
        Ok(checked) => checked,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(problem) => {
            let page = imports_page((app, person, request), Some(&problem))?;
            return Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY));
        }
    };
    app.db.read(request.lane, |tx| {
        for row in &mut rows {
            if row.situacao == RowOutcome::Criar && store::has_account(tx, &row.email)? {
                row.situacao = RowOutcome::Existe;
            }
        }
        Ok::<_, Problem>(())
    })?;
    let by_name = person.account.name.clone();
    let (form, wants_json) = (FormSubmission::of(request).cloned(), request.wants_json());
    app.db.write(move |tx| {
        let id = store::insert(tx, &name, &by_name, &rows)?;
        let import = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let reply = if wants_json {
            Reply::json(&WireImport::of(&import, None))?.status(StatusCode::CREATED)
        } else {
            Reply::redirect(&format!("{PATH}/{id}"))?
        };
        if let Some(form) = form {
            form.keep(tx, &reply)?;
        }
        Ok::<_, Problem>(reply)
    })
}

/// `GET /admin/alunos/importar`: the form, and the lists sent recently.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        let running = app.work.imports.running();
        let imports = app.db.read(request.lane, store::newest)?;
        return ListReply::of(imports.len() as u64, &imports, |import| {
            let running = running.as_deref().filter(|running| running.id == import.id);
            WireImport::of(import, running)
        });
    }
    imports_page((app, person, request), None)
}

fn imports_page(visit: Visit<'_>, problem: Option<&Problem>) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    let imports = app.db.read(request.lane, store::newest)?;
    let said = problem.and_then(|problem| problem.fields.first());
    let fault = said.map(|(_, said)| sentence(said));
    let mut file = view::Field::default().fault(fault.as_deref());
    file.focus = fault.is_some();
    let running = app.work.imports.running();
    let shown = |import: Import| {
        let is_running = running.as_ref().is_some_and(|running| running.id == import.id);
        let (_, badge) = state(&import, is_running);
        (import, badge)
    };
    Reply::page(&ImportsPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        alert: Notice::faults(usize::from(fault.is_some())),
        file,
        imports: imports.into_iter().map(shown).collect(),
        time: PageTime::of(app, request),
    })
}

/// How an import stands, in a word for programs and as a badge.
fn state(import: &Import, is_running: bool) -> (&'static str, Badge) {
    match import.done_at {
        _ if is_running => ("importando", Badge::Running),
        Some(_) => ("importada", Badge::ImportDone),
        None if import.is_begun => ("importando", Badge::Running),
        None => ("conferida", Badge::Pending),
    }
}

#[derive(Deserialize)]
struct ReportQuery {
    #[serde(default)]
    pagina: Field<i64>,
    #[serde(default)]
    por_pagina: Field<i64>,
    #[serde(default)]
    situacao: Field<String>,
    #[serde(default)]
    formato: Field<String>,
}

#[derive(Serialize)]
struct WireReport {
    #[serde(flatten)]
    import: WireImport,
    total: usize,
    dados: Vec<Row>,
}

/// The filters and the page that the address asks for.
struct Asked {
    /// From 1.
    page: u64,
    per_page: usize,
    outcome: Option<RowOutcome>,
    csv: bool,
}

fn asked(request: &Request) -> Result<Asked, Problem> {
    let query: ReportQuery = request.query()?;
    let mut check = Check::text();
    let page = check.number("pagina", query.pagina, 1..=100_000);
    let per_page = check.number("por_pagina", query.por_pagina, 1..=MOST_WIRE_ROWS);
    let word = check.optional("situacao", query.situacao).unwrap_or_default();
    let outcome = RowOutcome::from_name(&word);
    if outcome.is_none() && !word.is_empty() {
        check.fail("situacao", "is not one of the filter's values");
    }
    let csv = check.optional("formato", query.formato).unwrap_or_default();
    if !matches!(&*csv, "" | "csv") {
        check.fail("formato", "must be csv");
    }
    check.finish()?;
    Ok(Asked {
        page: page.map_or(1, i64::unsigned_abs),
        per_page: per_page.map_or(ROWS, |rows| usize::try_from(rows).unwrap_or(ROWS)),
        outcome,
        csv: csv == "csv",
    })
}

/// `GET /admin/alunos/importar/{id}`: the report, as page, JSON or CSV.
pub fn report(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let asked = asked(request)?;
    // Read before the rows, because the import may finish in between.
    let running = app.work.imports.running().filter(|running| running.id == id);
    let (import, rows) = app.db.read(request.lane, |tx| {
        let import = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let rows = store::rows(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>((import, rows))
    })?;
    let rows: Vec<Row> = rows
        .into_iter()
        .filter(|row| asked.outcome.is_none_or(|outcome| row.situacao == outcome))
        .collect();
    looks::record(app, person, request, "importacao.consultar", "importacao", id);
    if asked.csv {
        return export::list(app, person, &LIST, rows, |_, _, row| Ok(Some(row)));
    }
    let before = usize::try_from(asked.page - 1).unwrap_or(usize::MAX);
    let first = before.saturating_mul(asked.per_page);
    let total = rows.len();
    let rows: Vec<Row> = rows.into_iter().skip(first).take(asked.per_page).collect();
    if request.wants_json() {
        return Reply::json(&WireReport {
            import: WireImport::of(&import, running.as_deref()),
            total,
            dados: rows,
        });
    }
    let path = format!("{PATH}/{id}");
    let word = asked.outcome.map_or("", RowOutcome::name);
    let is_running = running.is_some();
    let page = Reply::page(&ImportPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        progress: running.as_deref().map(progress),
        can_begin: import.counts.to_make > 0 && !is_running && !import.is_begun,
        reach: reach(app, true),
        tabs: tabs(&path, asked.outcome, import.counts),
        rows,
        paging: Paging::new(
            &path,
            &[("situacao", word)],
            asked.page,
            asked.per_page as u64,
            total as u64,
        ),
        export: address(&path, &[("situacao", word), ("formato", "csv")]),
        state: state(&import, is_running).1,
        import,
    })?;
    Ok(if is_running {
        page.with(HeaderName::from_static("refresh"), HeaderValue::from_static("2"))
    } else {
        page
    })
}

fn progress(running: &Running) -> Progress {
    let (done, total) = (u64::from(running.done()), u64::from(running.total));
    let note = format!(
        "{} de {} linhas. Você pode sair desta página: a importação continua.",
        grouped(done),
        grouped(total)
    );
    Progress::new("Importando alunos", done, total, note)
}

fn tabs(path: &str, asked: Option<RowOutcome>, counts: Counts) -> Vec<Tab> {
    let tab = |outcome: Option<RowOutcome>| {
        let (word, label) = outcome.map_or(("", "Todas"), |one| (one.name(), one.words()));
        Tab { label, href: address(path, &[("situacao", word)]), on: outcome == asked }
    };
    let shown = RowOutcome::ALL.into_iter().filter(|one| counts.with(*one) > 0);
    std::iter::once(None).chain(shown.map(Some)).map(tab).collect()
}

/// `POST /admin/alunos/importar/{id}/aplicar`: starts making the students. The
/// answer does not wait for the end; the report shows the progress.
pub fn start(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let import =
        app.db.read(request.lane, |tx| store::one(tx, id))?.ok_or_else(Problem::not_found)?;
    let (answer, page) = (Answer::to(request), format!("{PATH}/{id}"));
    if import.done_at.is_some() {
        return answer.declined(already_applied(), &page, "ja_feita");
    }
    if import.counts.to_make == 0 {
        let problem = Problem::conflict(ForPeople("Não há nenhum aluno a importar nesta lista."));
        return answer.declined(problem, &page, "nada_a_importar");
    }
    let actor = Actor::person(person, request);
    if let Err(problem) = apply::begin(app, &actor, id, import.counts.total) {
        return answer.declined(problem, &page, "em_andamento");
    }
    if request.wants_json() {
        let running = app.work.imports.running().filter(|running| running.id == id);
        let reply = Reply::json(&WireImport::of(&import, running.as_deref()))?;
        return Ok(reply.status(StatusCode::ACCEPTED));
    }
    Reply::redirect(&page)
}

/// `POST /admin/alunos/importar/{id}/excluir`: removes a list; students that it
/// made stay.
pub fn discard(app: &App, _: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let answer = Answer::to(request);
    let under_way = app.db.read(request.lane, store::under_way)?;
    if under_way.is_some_and(|import| import.id == id) {
        let problem = Problem::conflict(ForPeople("Esta importação está em andamento."));
        let page = format!("{PATH}/{id}");
        return answer.declined(problem, &page, "em_andamento").map(nothing_to_do);
    }
    Ok(Box::new(move |tx| {
        if !store::delete(tx, id)? {
            return Err(Problem::not_found());
        }
        answer.done(id, PATH, "descartada")
    }))
}
