//! API keys in the operator's panel, as page and as JSON.

mod changes;

use serde::Serialize;

use super::entry::{self, EXCHANGE, FORM, Overlap, scope_ticks};
use super::store;
use super::views::{Example, KeyHelp, KeysPage};
use super::{ApiKey, KeyEntry, Scope, Words};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::objects::KEY;
use crate::base::{Day, Instant, Zone};
use crate::db::{Column, DbError, ReadTx, WriteTx};
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::{self, FormParts, ListParts, Noun, Rows, declares};
use crate::panel::{ListQuery, Listing, PageTime, Sent, columns, filters, flashes, form, heads};
use crate::wire;
use ipnet::IpNet;

pub use changes::{create, exchange, revoke};

pub(super) const LIST: Listing = Listing {
    path: KEY.list,
    hint: "Nome ou começo da chave",
    filters: filters! {
        "situacao": "Situação", "Todas", &[("valendo", "Valendo"), ("encerrada", "Encerradas")];
    },
    sort_keys: &["-criado_em", "nome", "ultimo_uso"],
    heads: heads![
        "Chave" => "nome", "Situação", "Permissões", "Último uso" => "ultimo_uso", "Válida até",
    ],
    file: "chaves.csv",
    csv: columns![
        id nome prefixo escopos ips limite expira_em situacao criado_em ultimo_uso=ultimo_uso.em
        ultimo_uso.endereco ultimo_uso.rota
    ],
    flashes: flashes! {
        "alterada": good "Chave alterada", "Vale desde já para a próxima chamada.";
        "revogada": good "Chave revogada", "Ela não funciona mais.";
    },
};

wire! {
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

impl Noun for ApiKey {
    declares!(KEY, KeyEntry, name);
    type Beside = ();

    const ROWS: Rows = Rows {
        table: "api_key",
        key: "key_id",
        joins: "",
        searched: &["name", "prefix"],
        orders: &[
            ("criado_em", "key_id"),
            ("nome", "name COLLATE NOCASE, key_id"),
            ("ultimo_uso", "last_used_at, key_id"),
        ],
        most: Rows::ANY_NUMBER,
    };
    const NEW: &'static str = "nova";
    const FLASHES: [&'static str; 3] = ["criada", "alterada", "revogada"];

    fn wire(self, zone: Zone, now: Instant) -> impl Serialize {
        WireKey::of(self, zone, now)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        Reply::page(&KeysPage {
            table: list.table(),
            layout: list.layout,
            keys: list.rows,
            time: PageTime::of(list.visit.0, list.visit.2),
        })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        let (app, _, request) = parts.visit;
        let stored = parts.existing.as_ref().map(|key| &*key.entry.scopes.0).unwrap_or_default();
        let sent =
            |scope: Scope| form::all_sent(request, "escopos").any(|name| name == scope.name());
        let ticks =
            scope_ticks(|scope| if parts.is_again { sent(scope) } else { stored.contains(&scope) });
        let exchange = EXCHANGE.show(Some(&Overlap::default()), app.zone());
        Reply::page(&entry::page(parts.visit, parts.existing, parts.form, ticks, exchange))
    }

    fn page(tx: &ReadTx<'_>, _: &Request, query: &ListQuery) -> Result<(Vec<Self>, u64), Problem> {
        let now = tx.now();
        let condition = query.filter("situacao").map(|state| match state {
            "valendo" => store::WORKS.to_owned(),
            _ => format!("NOT ({})", store::WORKS),
        });
        let works =
            condition.as_deref().map(|works| -> (&str, Column<'_>) { (works, (":now", &now)) });
        Ok(noun::store::page(tx, query, works.as_slice())?)
    }
    fn beside(_: &ReadTx<'_>, _: Option<&Self>) -> Result<(), DbError> {
        Ok(())
    }
    fn read_entry(sent: &mut Sent<'_>, present: Option<&KeyEntry>, (): &()) -> KeyEntry {
        entry::read(sent, present)
    }
    fn may_change(&self) -> Result<(), Problem> {
        if self.revoked_at.is_none() {
            return Ok(());
        }
        Err(Problem::conflict(ForPeople("Esta chave já foi revogada.")))
    }
    fn update(tx: &WriteTx<'_>, id: i64, entry: &KeyEntry) -> Result<(), DbError> {
        tx.change("api_key", entry, &[], &[("key_id", &id)]).map(drop)
    }
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
    let base = &app.server.addresses.base_url;
    format!(
        "curl {base}{path} \\\n  -H \"Authorization: Bearer {key}\" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
    )
}
