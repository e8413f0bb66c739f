//! The audit log in the operator's panel.

use serde::Serialize;
use serde_json::Value;

use super::store::{self, AuditQuery, MOST};
use super::views::{AuditPage, EntryPage};
use super::{AuditEntry, changes};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{ActorKind, looks, objects};
use crate::base::{Instant, Zone, grouped};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::csv::CsvFile;
use crate::panel::{ListQuery, ListReply, Listing, PageTime, export, filters, heads};
use crate::services::Services;
use crate::wire;

/// Entries that a list examines at most.
const MANY: u64 = MOST as u64;

const LIST: Listing = Listing {
    path: "/admin/auditoria",
    hint: "Ação, objeto ou pessoa",
    filters: filters! {
        "quem": "Quem", "Todos", &ActorKind::FILTER;
        "objeto": "O quê", "Tudo", objects::NAMED;
        "periodo": "Período", "Tudo", &[("hoje", "Hoje"), ("7", "7 dias"), ("30", "30 dias")];
    },
    sort_keys: &["-quando"],
    heads: heads!["O que foi feito", "Quem", "Endereço", "Quando" => "quando"],
    ..Listing::NONE
};

wire! {
    /// An entry in the panel's JSON.
    #[derive(Serialize)]
    struct WireEntry of(entry: AuditEntry, zone: Zone) after {
        let json = |json: Option<String>| json.and_then(|json| serde_json::from_str(&json).ok());
    } {
        id: String = entry.id.to_string(),
        quando: String = zone.spaced(entry.at),
        quem: String = entry.actor_name,
        quem_tipo: String = entry.actor_kind,
        quem_id: Option<String> = entry.actor_id.map(|id| id.to_string()),
        endereco: String = entry.address,
        pedido: String = entry.request_id,
        acao: String = entry.action,
        objeto: String = entry.object_kind,
        objeto_id: String = entry.object_id,
        objeto_nome: String = entry.object_name,
        antes: Option<Value> = json(entry.before),
        depois: Option<Value> = json(entry.after),
    }
}

/// `GET /admin/auditoria`: the entries, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = wanted(app, &query, request.now);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted))?;
        return csv(app, person, request, ids);
    }
    let (entries, total) =
        app.db.read(request.lane, |tx| store::page(tx, &wanted, query.window()))?;
    if request.wants_json() {
        return ListReply::of(total, entries, |one| WireEntry::of(one, app.zone()));
    }
    let limited = (total == MANY).then(|| {
        format!(
            "Aqui estão os {} registros mais recentes. Para ver mais antigos, use a busca ou os filtros.",
            grouped(total)
        )
    });
    Reply::page(&AuditPage {
        layout: layout(app, person, request),
        sum: match total {
            0 if !query.is_narrowed() => {
                "O que foi feito na administração, por quem e o que mudou.".to_owned()
            }
            1 => "1 registro. Nada daqui se apaga.".to_owned(),
            MANY.. => format!("{} registros ou mais. Nada daqui se apaga.", grouped(total)),
            _ => format!("{} registros. Nada daqui se apaga.", grouped(total)),
        },
        table: LIST.table(&query, LIST.heads, total),
        entries,
        limited,
        time: PageTime::of(app, request),
    })
}

fn wanted(services: &Services, query: &ListQuery, now: Instant) -> AuditQuery {
    let days = match query.filter("periodo") {
        Some("hoje") => Some(0),
        Some("7") => Some(6),
        Some("30") => Some(29),
        _ => None,
    };
    AuditQuery {
        search: query.search.clone(),
        actor_kind: query.filter("quem"),
        object_kind: query.filter("objeto"),
        since: days.map(|days| services.zone().start_of(services.day(now).plus(-days))),
    }
}

fn csv(app: &App, person: &Person, request: &Request, ids: Vec<i64>) -> Result<Reply, Problem> {
    let header = [
        "id",
        "quando",
        "quem",
        "quem_tipo",
        "quem_id",
        "endereco",
        "pedido",
        "acao",
        "objeto",
        "objeto_id",
        "objeto_nome",
        "antes",
        "depois",
    ];
    let file = CsvFile::new("auditoria.csv", &header)?;
    looks::file(app, person, request, "auditoria.baixar_lista", "auditoria");
    export::send(app, person, file, ids, |app, tx, id, file| {
        let Some(entry) = store::one(tx, id)? else {
            return Ok(());
        };
        file.row([
            &*entry.id.to_string(),
            &app.zone().spaced(entry.at),
            &entry.actor_name,
            &entry.actor_kind,
            &entry.actor_id.map(|id| id.to_string()).unwrap_or_default(),
            &entry.address,
            &entry.request_id,
            &entry.action,
            &entry.object_kind,
            &entry.object_id,
            &entry.object_name,
            entry.before.as_deref().unwrap_or_default(),
            entry.after.as_deref().unwrap_or_default(),
        ])
    })
}

/// `GET /admin/auditoria/{id}`: one entry with all it changed.
pub fn entry(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let entry =
        app.db.read(request.lane, |tx| store::one(tx, id))?.ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        return Reply::json(&WireEntry::of(entry, app.zone()));
    }
    Reply::page(&EntryPage {
        layout: layout(app, person, request),
        at: app.zone().page(entry.at),
        changes: changes(&entry, app.zone()),
        entry,
    })
}
