//! Packed days of logs in the operator's panel: the list of batches, and the
//! entries of one batch.

use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, Zone, retention};
use crate::cron::archive;
use crate::cron::archive::{BatchRow, LOGS};
use crate::cron::views::{ArchivePage, BatchPage};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Filter, ListReply, Listing, Notice, Paging, Tone, columns, export, heads};
use crate::wire;

/// The kinds of logs with their titles, as options of a filter.
const KINDS: [(&str, &str); LOGS.len()] = {
    let mut kinds = [("", ""); LOGS.len()];
    let mut next = 0;
    while next < LOGS.len() {
        kinds[next] = (LOGS[next].kind, LOGS[next].title);
        next += 1;
    }
    kinds
};

const LIST: Listing = Listing {
    path: "/admin/cron/arquivo",
    hint: "",
    filters: &[Filter::of("tipo", "Registro", "Todos", &KINDS)],
    sort_keys: &["-dia"],
    heads: heads!["Dia" => "dia", "Registro", "Linhas" numeric, "Tamanho" numeric],
    file: "arquivo.csv",
    csv: columns![id tipo dia parte registros bytes arquivado_em],
    ..Listing::NONE
};

const PER_PAGE: usize = 100;
const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson; charset=utf-8");

wire! {
    #[derive(Serialize)]
    struct WireBatch of(batch: BatchRow, zone: Zone) {
        id: String = batch.id.to_string(),
        tipo: String = batch.kind,
        dia: String = batch.day.iso(),
        parte: i64 = batch.part,
        registros: i64 = batch.entries,
        bytes: i64 = batch.bytes,
        bytes_guardados: i64 = batch.packed_bytes,
        arquivado_em: String = zone.spaced(batch.created_at),
    }
}

/// `GET /admin/cron/arquivo`: the packed days, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (kind, window) = (query.filter("tipo"), query.window());
    let (batches, total) =
        app.db.read(request.lane, |tx| archive::page(tx, kind, query.descending, window))?;
    if query.csv {
        return export::list(app, person, &LIST, batches, |app, _, batch| {
            Ok(Some(WireBatch::of(batch, app.zone())))
        });
    }
    if request.wants_json() {
        return ListReply::of(total, batches, |batch| WireBatch::of(batch, app.zone()));
    }
    Reply::page(&ArchivePage {
        layout: layout(app, person, request),
        table: LIST.table(&query, LIST.heads, total),
        batches,
        kept: &retention::ALL,
    })
}

#[derive(Deserialize)]
struct BatchQuery {
    #[serde(default)]
    pagina: Field<i64>,
    #[serde(default)]
    formato: Field<String>,
}

#[derive(Serialize)]
struct BatchReply {
    #[serde(flatten)]
    batch: WireBatch,
    integro: bool,
    total: usize,
    dados: Vec<Value>,
}

/// `GET /admin/cron/arquivo/{id}`: the entries of a batch as page or JSON, or
/// the whole batch as a file of JSON lines.
pub fn batch(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query: BatchQuery = request.query()?;
    let mut check = Check::text();
    let page = check.number("pagina", query.pagina, 1..=1_000_000).unwrap_or(1);
    let format = check.optional("formato", query.formato).unwrap_or_default();
    if !matches!(&*format, "" | "jsonl") {
        check.fail("formato", "must be jsonl");
    }
    check.finish()?;
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| archive::batch(tx, id))?;
    let (batch, lines) = found.ok_or_else(Problem::not_found)?;
    let whole = lines.is_some();
    let lines = lines.unwrap_or_default();
    if format == "jsonl" {
        let name = format!("{}-{}-{}.jsonl", batch.kind, batch.day.iso(), batch.part);
        let place = format!("attachment; filename=\"{name}\"");
        let place = HeaderValue::try_from(place).map_err(Problem::internal)?;
        return Ok(Reply::of(LINES, lines).with(CONTENT_DISPOSITION, place));
    }
    let page = usize::try_from(page).unwrap_or(1);
    let total = lines.lines().count();
    let shown: Vec<&str> =
        lines.lines().skip((page - 1).saturating_mul(PER_PAGE)).take(PER_PAGE).collect();
    let entries = shown.iter().map(|line| readable(app.zone(), line));
    let entries: Vec<Value> = entries.collect::<Result<_, _>>().map_err(Problem::internal)?;
    if request.wants_json() {
        return Reply::ok(&BatchReply {
            batch: WireBatch::of(batch, app.zone()),
            integro: whole,
            total,
            dados: entries,
        });
    }
    let path = format!("{}/{id}", LIST.path);
    Reply::page(&BatchPage {
        layout: layout(app, person, request),
        damaged: (!whole).then(|| {
            let text = "O conteúdo não confere com o que foi guardado. Restaure uma cópia de segurança em outro lugar para ler este dia.";
            Notice::new(Tone::Bad, "Este lote está danificado", text)
        }),
        packed: app.zone().page(batch.created_at),
        batch,
        lines: entries.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"),
        paging: Paging::new(&path, &[], page as u64, PER_PAGE as u64, total as u64),
    })
}

/// An entry for display: times as civil times, and JSON inside a text decoded.
/// The file has the entry unchanged.
fn readable(zone: Zone, line: &str) -> serde_json::Result<Value> {
    let mut entry: Map<String, Value> = serde_json::from_str(line)?;
    for (name, value) in &mut entry {
        let told = match value {
            Value::Number(number) if name == "at" || name.ends_with("_at") => {
                number.as_i64().map(|at| zone.spaced(Instant(at)).into())
            }
            Value::String(text) if text.starts_with(['{', '[']) => serde_json::from_str(text).ok(),
            _ => None,
        };
        if let Some(told) = told {
            *value = told;
        }
    }
    Ok(Value::Object(entry))
}
