//! The request log in the operator's panel.

use serde::Serialize;

use super::follow;
use super::store::{self, Logged, RequestLogFilter};
use super::views::{RequestPage, RequestsPage, Trail};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::looks;
use crate::base::{Instant, Zone, counted};
use crate::db::RowWindow;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::journal;
use crate::panel::{ListQuery, ListReply, Listing, PageTime, columns, export, filters, heads};
use crate::services::Services;
use crate::wire;

/// Most rows of a CSV file. To get older rows, the list must be filtered.
const MOST_EXPORTED: u32 = 50_000;

/// The filter's value for unknown callers.
const NOBODY: &str = "ninguem";
/// Kinds of callers: the stored word and its label.
pub(super) const CALLERS: [(&str, &str); 6] = [
    ("sessao", "Sessão"),
    ("extensao", "Extensão"),
    ("parceiro", "Parceiro"),
    ("chave", "Chave"),
    ("segredo", "Segredo"),
    (NOBODY, "Anônimo"),
];

/// The filter's value for a page that shows the reader's own pages too.
const WITH_OWN: &str = "incluir";

const LIST: Listing = Listing {
    path: "/admin/requisicoes",
    hint: "Caminho ou código da requisição",
    filters: filters! {
        "resposta": "Resposta", "Todas", &[
            ("5xx", "Com falha nossa"), ("4xx", "Recusadas"), ("2xx", "Atendidas"),
            ("3xx", "Redirecionadas"),
        ];
        "quem": "Quem", "Todos", &CALLERS;
        "periodo": "Período", "Tudo", &[("hora", "Última hora"), ("hoje", "Hoje"), ("7", "7 dias")];
        "duracao": "Duração", "Qualquer", &[("lentas", "Lentas (100 ms ou mais)")];
        "minhas": "Páginas que você abriu", "Fora da lista", &[(WITH_OWN, "Na lista")];
    },
    sort_keys: &["-quando", "-duracao"],
    heads: heads![
        "Requisição", "Quem", "Resposta", "Duração" numeric => "duracao", "Quando" => "quando",
    ],
    file: "requisicoes.csv",
    csv: columns![
        id quando pedido metodo caminho status microssegundos quem quem_tipo quem_id endereco
        vale_por
    ],
    ..Listing::NONE
};

wire! {
    #[derive(Serialize)]
    pub struct WireRequest of(logged: Logged, zone: Zone) {
        id: String = logged.id.to_string(),
        quando: String = zone.spaced(logged.at),
        pedido: String = logged.request_id,
        metodo: String = logged.method,
        caminho: String = logged.path,
        status: u16 = logged.status,
        microssegundos: i64 = logged.us,
        quem: String = logged.name,
        quem_tipo: String = logged.caller,
        quem_id: Option<String> = logged.caller_id.map(|id| id.to_string()),
        endereco: String = logged.address,
        vale_por: i64 = logged.sampled,
    }
}

/// `GET /admin/requisicoes`: the requests, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let mut filter = filter_of(app, &query, request.now);
    // Who looks at the log would see little but the looking. Programs and files get all of it.
    let shows_all = query.csv || request.wants_json() || query.filter("minhas").is_some();
    if !shows_all && query.search.is_empty() {
        filter.without_pages_of = Some(person.account.user_id);
    }
    // Write the waiting entries first: the page should show the latest requests.
    if let Err(error) = app.health.requests.flush(&app.db) {
        tracing::warn!(%error, "the log of requests was not written; trying again");
    }
    if query.csv {
        let ids = app
            .db
            .read(request.lane, |tx| store::ids(tx, &filter, RowWindow::first(MOST_EXPORTED)))?
            .0;
        looks::file(app, person, request, "requisicao.baixar_lista", "requisicao");
        return export::list(app, person, &LIST, ids, |app, tx, id| {
            Ok(store::one(tx, id)?.map(|one| WireRequest::of(one, app.zone())))
        });
    }
    let (logged, total) =
        app.db.read(request.lane, |tx| store::page(tx, &filter, query.window()))?;
    let zone = app.zone();
    if request.wants_json() {
        looks::list(app, person, request, "requisicao.consultar_lista", "requisicao");
        return ListReply::of(total, logged, |one| WireRequest::of(one, zone));
    }
    Reply::page(&RequestsPage {
        layout: layout(app, person, request),
        sum: sum(total, filter.without_pages_of.is_some()),
        table: LIST.table(&query, LIST.heads, total),
        requests: logged,
        limits: limits(total),
        time: PageTime::of(app, request),
    })
}

fn filter_of(services: &Services, query: &ListQuery, now: Instant) -> RequestLogFilter {
    let start_of = |days: i64| services.zone().start_of(services.day(now).plus(-days));
    RequestLogFilter {
        search: query.search.clone(),
        class: query.filter("resposta").and_then(|class| class.get(..1)?.parse().ok()),
        only_slow: query.filter("duracao").is_some(),
        slow_first: query.sort_key == "duracao",
        caller: query.filter("quem").map(|caller| if caller == NOBODY { "" } else { caller }),
        since: match query.filter("periodo") {
            Some("hora") => Some(now.minus(3600)),
            Some("hoje") => Some(start_of(0)),
            Some("7") => Some(start_of(6)),
            _ => None,
        },
        without_pages_of: None,
    }
}

/// `1.204 requisições`, and what is left out.
fn sum(total: u64, is_without_own: bool) -> String {
    let count = counted(total, "requisição", "requisições");
    if is_without_own { format!("{count}, sem as páginas que você abriu") } else { count }
}

fn limits(total: u64) -> String {
    let mut text = "Em picos guardamos uma amostra: acima de 50 requisições por segundo, uma em cada 100. Depois de 90 dias elas vão para o arquivo.".to_owned();
    if total > MOST_EXPORTED.into() {
        text.push_str(" O CSV traz as 50.000 mais recentes.");
    }
    text
}

/// `GET /admin/requisicoes/{id}`: one request.
pub fn entry(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    if let Err(error) = journal::flush(app) {
        tracing::warn!(%error, "the journal was not written; trying again");
    }
    let found = app.db.read(request.lane, |tx| {
        let Some(logged) = store::one(tx, id)? else { return Ok::<_, Problem>(None) };
        let caused = follow::find(tx, &logged.request_id)?;
        Ok(Some((logged, caused)))
    })?;
    let (logged, caused) = found.ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        return Reply::ok(&WireRequest::of(logged, app.zone()));
    }
    Reply::page(&RequestPage {
        layout: layout(app, person, request),
        row: logged,
        trail: Trail { caused, time: PageTime::of(app, request) },
    })
}
