//! The request log in the operator's panel.

use serde::Serialize;

use super::follow;
use super::store::{self, Logged, RequestLogFilter};
use super::views::{RequestPage, RequestRow, RequestsPage};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{looks, objects};
use crate::base::{Instant, Zone};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::journal;
use crate::panel::view::address;
use crate::panel::{Filter, Head, ListQuery, ListReply, Listing, Tone, When, export};
use crate::services::Services;
use crate::wire;

/// Most rows of a CSV file. To get older rows, the list must be filtered.
const MOST_EXPORTED: u32 = 50_000;

/// Kinds of callers: the stored word and its label.
const CALLERS: [(&str, &str); 5] = [
    ("sessao", "Sessão"),
    ("extensao", "Extensão"),
    ("parceiro", "Parceiro"),
    ("chave", "Chave"),
    ("segredo", "Segredo"),
];
/// The filter's value for unknown callers.
const NOBODY: &str = "ninguem";

const LIST: Listing = Listing {
    path: "/admin/requisicoes",
    hint: "Caminho ou código do pedido",
    filters: &[
        Filter {
            name: "resposta",
            label: "Resposta",
            all: "Todas",
            values: &[
                ("2xx", "Atendidas"),
                ("3xx", "Redirecionadas"),
                ("4xx", "Recusadas"),
                ("5xx", "Com falha nossa"),
            ],
        },
        Filter {
            name: "quem",
            label: "Quem",
            all: "Todos",
            values: &[
                CALLERS[0],
                CALLERS[1],
                CALLERS[2],
                CALLERS[3],
                CALLERS[4],
                (NOBODY, "Anônimo"),
            ],
        },
        Filter {
            name: "periodo",
            label: "Período",
            all: "Tudo",
            values: &[("hora", "Última hora"), ("hoje", "Hoje"), ("7", "7 dias")],
        },
        Filter {
            name: "duracao",
            label: "Duração",
            all: "Qualquer",
            values: &[("lentas", "Lentas (100 ms ou mais)")],
        },
    ],
    sort_keys: &["-quando", "-duracao"],
    heads: &[
        Head::plain("Requisição"),
        Head::plain("Quem"),
        Head::plain("Resposta"),
        Head::sorts("Duração", "duracao").numeric(),
        Head::sorts("Quando", "quando"),
    ],
    file: "requisicoes.csv",
    csv: &[
        "id",
        "quando",
        "pedido",
        "metodo",
        "caminho",
        "status",
        "microssegundos",
        "quem",
        "quem_tipo",
        "quem_id",
        "endereco",
        "vale_por",
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
    let filter = filter_of(app, &query, request.now);
    // Write the waiting entries first: the page should show the latest requests.
    if let Err(error) = app.health.requests.flush(&app.db) {
        tracing::warn!(%error, "the log of requests was not written; trying again");
    }
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &filter, MOST_EXPORTED, 0))?.0;
        looks::file(app, (person, request), "requisicao.baixar_lista", "requisicao");
        return export::list(app, person, &LIST, ids, |app, tx, id| {
            Ok(store::one(tx, id)?.map(|one| WireRequest::of(one, app.zone())))
        });
    }
    let (limit, offset) = query.window();
    let (logged, total) =
        app.db.read(request.lane, |tx| store::page(tx, &filter, limit, offset))?;
    let zone = app.zone();
    if request.wants_json() {
        looks::list(app, (person, request), "requisicao.consultar_lista", "requisicao");
        let logged = logged.into_iter().map(|one| WireRequest::of(one, zone));
        return ListReply::reply(total, logged.collect());
    }
    Reply::page(&RequestsPage {
        layout: layout(app, person, request),
        table: LIST.table(&query, LIST.heads, total),
        requests: logged.iter().map(|one| entry_row(one, zone, request.now)).collect(),
        limits: limits(total),
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
    }
}

fn limits(total: u64) -> String {
    let mut text = "Em picos guardamos uma amostra: acima de 50 requisições por segundo, uma em cada 100. Depois de 90 dias elas vão para o arquivo.".to_owned();
    if total > MOST_EXPORTED.into() {
        text.push_str(" O CSV traz as 50.000 mais recentes.");
    }
    text
}

pub fn entry_row(logged: &Logged, zone: Zone, now: Instant) -> RequestRow {
    RequestRow {
        id: logged.id.to_string(),
        what: format!("{} {}", logged.method, logged.path).trim().to_owned(),
        who: logged.name.clone(),
        by: CALLERS
            .iter()
            .find(|(kind, _)| *kind == logged.caller)
            .map_or("Anônimo", |(_, words)| words),
        address: logged.address.clone(),
        status: logged.status,
        tone: match logged.status {
            500.. => Tone::Bad,
            400.. => Tone::Warn,
            300.. => Tone::Info,
            _ => Tone::Good,
        },
        took: took(logged.us),
        at: When::new(zone, logged.at, now),
        time: zone.civil(logged.at).strftime("%H:%M:%S").to_string(),
    }
}

/// `12,4 ms`, `3,1 s`.
pub fn took(us: i64) -> String {
    let (whole, unit) = if us < 1_000_000 { (1_000, "ms") } else { (1_000_000, "s") };
    format!("{},{} {unit}", us / whole, us % whole * 10 / whole)
}

#[derive(Serialize)]
struct RequestReply {
    ok: bool,
    #[serde(flatten)]
    request: WireRequest,
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
        return Reply::json(&RequestReply {
            ok: true,
            request: WireRequest::of(logged, app.zone()),
        });
    }
    let civil = app.zone().civil(logged.at);
    Reply::page(&RequestPage {
        layout: layout(app, person, request),
        row: entry_row(&logged, app.zone(), request.now),
        meaning: meaning(logged.status),
        who_href: page_of(&logged),
        exact: civil.strftime("%d/%m/%Y %H:%M:%S").to_string(),
        audit: address("/admin/auditoria", &[("q", &logged.request_id)]),
        request_id: logged.request_id,
        sampled: logged.sampled,
        trail: caused.shown(app.zone(), request.now),
    })
}

/// The page of the caller; empty when there is none.
fn page_of(logged: &Logged) -> String {
    match (&*logged.caller, logged.caller_id, logged.role) {
        ("chave", Some(id), _) => format!("{}/{id}", objects::KEY.list),
        (_, Some(id), Some(role)) if role.is_student() => format!("{}/{id}", objects::STUDENT.list),
        (_, Some(id), Some(_)) => format!("{}/{id}", objects::STAFF.list),
        _ => String::new(),
    }
}

/// A status in plain words; empty for rare ones.
const fn meaning(status: u16) -> &'static str {
    match status {
        200 => "Atendido",
        201 => "Criado",
        204 => "Atendido, sem conteúdo",
        302 | 303 => "Levou a outra página",
        304 => "Nada mudou desde a última vez",
        400 => "Pedido malformado ou inválido",
        401 => "Sem credencial, ou com uma que não vale",
        402 => "Sem plano de API ativo",
        403 => "Sem permissão",
        404 => "Não encontrado",
        405 => "O endereço não tem esse método",
        409 => "Em conflito com o que já existe",
        413 => "Grande demais",
        415 => "Tipo de conteúdo não aceito",
        422 => "Campos com erro",
        429 => "Pedidos demais",
        500 => "Falha nossa; a causa está no log do servidor",
        502 => "O marketplace falhou",
        503 => "Indisponível no momento",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        for (us, words) in [
            (0, "0,0 ms"),
            (87, "0,0 ms"),
            (1_250, "1,2 ms"),
            (999_999, "999,9 ms"),
            (3_140_000, "3,1 s"),
        ] {
            assert_eq!(took(us), words);
        }
    }
}
