//! API keys in the operator's panel, as page and as JSON (contract §6).

use serde::Serialize;

use super::entry::{self, EXCHANGE, FORM, Overlap, scope_ticks};
use super::store::{self, Wanted};
use super::views::{Example, KeyHelp, KeyRow, KeysPage, badge};
use super::{ApiKey, Scope, Words};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::{Day, Instant, Zone};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::panel::{Filter, Head, ListReply, Listing, Outcome, export};
use crate::wire;
use ipnet::IpNet;

pub use super::changes::{change, create, exchange, revoke};

pub(super) const LIST: Listing = Listing {
    path: "/admin/chaves",
    hint: "Nome ou começo da chave",
    filters: &[Filter {
        name: "situacao",
        label: "Situação",
        all: "Todas",
        values: &[("valendo", "Valendo"), ("encerrada", "Encerradas")],
    }],
    sort_keys: &["-criado_em", "nome", "ultimo_uso"],
    heads: &[
        Head::sorts("Chave", "nome"),
        Head::plain("Situação"),
        Head::plain("Permissões"),
        Head::sorts("Último uso", "ultimo_uso"),
        Head::plain("Válida até"),
    ],
    file: "chaves.csv",
    csv: &[
        "id",
        "nome",
        "prefixo",
        "escopos",
        "ips",
        "limite",
        "expira_em",
        "situacao",
        "criado_em",
        "ultimo_uso=ultimo_uso.em",
        "ultimo_uso.endereco",
        "ultimo_uso.rota",
    ],
    outcomes: &[
        Outcome::good("alterada", "Chave alterada", "Vale desde já para a próxima chamada."),
        Outcome::good("revogada", "Chave revogada", "Ela não funciona mais."),
    ],
};

wire! {
    /// A key on the wire.
    #[derive(Serialize)]
    struct WireKey of(key: ApiKey, zone: Zone, now: Instant) after {
        let (last_day, state) = (key.entry.last_day(zone), key.state(now));
    } {
        id: String = key.id.to_string(),
        nome: String = key.entry.name,
        prefixo: String = key.prefix,
        escopos: Words<Scope> = key.entry.scopes,
        ips: Words<IpNet> = key.entry.networks,
        limite: Option<u32> = key.entry.rate_limit,
        /// Last day, `YYYY-MM-DD`.
        expira_em: Option<String> = last_day.map(Day::iso),
        /// `ativa`, `em_troca`, `vencida` or `revogada`.
        situacao: &'static str = state.name(),
        criado_em: String = zone.spaced(key.created_at),
        revogada_em: Option<String> = key.revoked_at.map(|at| zone.spaced(at)),
        substituida_por: Option<String> = key.replaced_by.map(|id| id.to_string()),
        /// End of the overlap with that one.
        termina_em: Option<String> = key.ends_at.map(|at| zone.spaced(at)),
        ultimo_uso: Option<WireUse> = key.last_use.map(|last| WireUse {
            em: zone.spaced(last.at),
            endereco: last.address,
            rota: last.route,
        }),
    }
}

#[derive(Serialize)]
struct WireUse {
    em: String,
    endereco: String,
    rota: String,
}

/// `GET /admin/chaves`: the list, as page, JSON or CSV.
pub fn keys(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = Wanted {
        search: &query.search,
        works: query.filter("situacao").map(|state| state == "valendo"),
        order: query.sort_key,
        descending: query.descending,
        window: query.window(),
    };
    let (keys, total) = app.db.read(request.lane, |tx| store::page(tx, &wanted))?;
    let (zone, now) = (app.zone(), request.now);
    let wire = move |key: ApiKey| WireKey::of(key, zone, now);
    if query.csv {
        return export::list(app, person, &LIST, keys, move |_, _, key| Ok(Some(wire(key))));
    }
    if request.wants_json() {
        return ListReply::reply(total, keys.into_iter().map(wire).collect());
    }
    Reply::page(&KeysPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table(&query, LIST.heads, total),
        keys: keys.iter().map(|key| row(key, zone, now)).collect(),
    })
}

fn row(key: &ApiKey, zone: Zone, now: Instant) -> KeyRow {
    let scopes: Vec<&str> = key.entry.scopes.0.iter().map(|scope| scope.words()).collect();
    KeyRow {
        id: key.id.to_string(),
        name: key.entry.name.clone(),
        prefix: key.prefix.clone(),
        scopes: scopes.join(", "),
        last_use: entry::last_use(key, zone, now),
        until: key.entry.last_day(zone).map_or_else(
            || "sem fim".to_owned(),
            |day| day.date().strftime("%d/%m/%Y").to_string(),
        ),
        state: badge(key.state(now)),
        works: key.works(now),
    }
}

/// `GET /admin/chaves/{id}`: the form of one key; `nova` for a new one.
pub fn key_form(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let key = match request.variable("id") {
        "nova" => None,
        _ => Some(find(app, request)?),
    };
    if request.wants_json() {
        let key = key.ok_or_else(Problem::not_found)?;
        return Reply::json(&WireKey::of(key, app.zone(), request.now));
    }
    let present = key.as_ref().map(|key| &key.entry);
    let exchange = EXCHANGE.show(Some(&Overlap::default()), app.zone());
    let ticks = scope_ticks(|scope| present.is_some_and(|entry| entry.scopes.0.contains(&scope)));
    let parts = (FORM.show(present, app.zone()), ticks, exchange);
    Reply::page(&entry::page((app, person, request), key.as_ref(), parts))
}

/// The key that the path names.
pub(super) fn find(app: &App, request: &Request) -> Result<ApiKey, Problem> {
    let id = request.id()?;
    app.db.read(request.lane, |tx| store::key(tx, id))?.ok_or_else(Problem::not_found)
}

/// `GET /admin/chaves/como-usar`: how other systems call with a key.
pub fn help(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let student = r#"{"email":"ana@exemplo.com"}"#;
    let post = |path: &str, body: &str| post_call(app, "$CHAVE", path, body);
    let examples = vec![
        Example {
            id: "criar",
            title: "Cadastrar um aluno",
            about: "A resposta é 201 com o número do aluno. Ele recebe uma mensagem para escolher a senha. plano e chat_number podem faltar.",
            scope: "write",
            call: example(app, "$CHAVE"),
        },
        Example {
            id: "suspender",
            title: "Suspender um aluno",
            about: "Encerra na hora todas as sessões e o acesso dos tokens. Repetir não faz mal.",
            scope: "write",
            call: post("/api/v1/alunos/suspender", student),
        },
        Example {
            id: "reativar",
            title: "Reativar um aluno",
            about: "O aluno pode entrar de novo, com a mesma senha.",
            scope: "write",
            call: post("/api/v1/alunos/reativar", student),
        },
        Example {
            id: "consultar",
            title: "Consultar o contexto para um assistente",
            about: "action pode ser get_planos, get_meets ou get_contexto. Os dados são os mesmos da vitrine pública.",
            scope: "webhook_receive",
            call: post("/api/v1/webhook/llm", r#"{"action":"get_contexto"}"#),
        },
    ];
    Reply::page(&KeyHelp {
        layout: layout(app, person, request),
        examples,
        usual_limit: entry::usual_limit(app),
    })
}

/// An example call that a key with these scopes may make, to copy: its title
/// and the call.
pub(super) fn first_call(app: &App, scopes: &[Scope], key: &str) -> (&'static str, String) {
    if scopes == [Scope::WebhookReceive] {
        let body = r#"{"action":"get_planos"}"#;
        let call = post_call(app, key, "/api/v1/webhook/llm", body);
        return ("Consultar os planos", call);
    }
    ("Cadastrar um aluno", example(app, key))
}

fn example(app: &App, key: &str) -> String {
    let student = r#"{"nome":"Ana Souza","email":"ana@exemplo.com","plano":"pro","chat_number":"5511987654321"}"#;
    post_call(app, key, "/api/v1/alunos/criar", student)
}

fn post_call(app: &App, key: &str, path: &str, body: &str) -> String {
    let base = &app.addresses.base_url;
    format!(
        "curl {base}{path} \\\n  -H \"Authorization: Bearer {key}\" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )
}
