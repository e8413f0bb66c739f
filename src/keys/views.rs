//! What the pages for API keys print.

use askama::Template;

use super::{Scope, State};
use crate::panel::list::Table;
use crate::panel::view::{Badge, Field, Layout, Notice, Tick, When};

/// `GET /admin/chaves`: the list of keys.
#[derive(Debug, Template)]
#[template(path = "keys.html", config = "assets/askama.toml")]
pub struct KeysPage {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The frame of the list.
    pub table: Table,
    /// The keys of this page.
    pub keys: Vec<KeyRow>,
}

/// A key in the list.
#[derive(Debug)]
pub struct KeyRow {
    pub id: String,
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    /// What it may do, in words.
    pub scopes: String,
    pub last_use: Option<LastUseWords>,
    /// `31/12/2026`, or `sem fim`.
    pub until: String,
    pub state: Badge,
    /// Whether it can still be revoked.
    pub works: bool,
}

/// The last call with a key.
#[derive(Clone, Debug)]
pub struct LastUseWords {
    pub when: When,
    pub address: String,
    /// Method and path.
    pub route: String,
}

/// `GET /admin/chaves/nova`, `GET /admin/chaves/{id}`, and their answers when
/// fields are at fault.
#[derive(Debug, Template)]
#[template(path = "key_form.html", config = "assets/askama.toml")]
pub struct KeyForm {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The key that is changed; `None` for a new one.
    pub existing: Option<ExistingKey>,
    /// Above the form when fields are at fault.
    pub alert: Option<Notice>,
    /// `nome`.
    pub name: Field,
    /// `escopos`: its fault; the boxes are `ticks`.
    pub scopes: Field,
    pub ticks: Vec<Tick>,
    /// `ips`, one a line.
    pub networks: Field,
    /// `limite`.
    pub limit: Field,
    /// `expira_em`, as `2026-12-31`.
    pub until: Field,
    /// What a key without a limit of its own has.
    pub limit_help: String,
    /// `horas` of an exchange.
    pub hours: Field,
}

/// The stored key that a form changes.
#[derive(Clone, Debug)]
pub struct ExistingKey {
    pub id: String,
    /// Its stored name, whatever was typed since.
    pub name: String,
    pub prefix: String,
    pub state: Badge,
    /// What the state means here; may be empty.
    pub note: String,
    pub created: When,
    pub last_use: Option<LastUseWords>,
    /// The key that took its place.
    pub successor: Option<String>,
    /// Whether it is revoked and only to be looked at.
    pub revoked: bool,
    /// Whether it can be exchanged for a new one.
    pub exchangeable: bool,
}

/// The answer to a browser that made a key: the only page that shows it.
#[derive(Debug, Template)]
#[template(path = "key_made.html", config = "assets/askama.toml")]
pub struct KeyMade {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    pub name: String,
    /// The key itself.
    pub key: String,
    /// What becomes of the key it was exchanged for.
    pub old: Option<String>,
    /// What the call below does.
    pub example_title: &'static str,
    /// A call with it, for pasting.
    pub example: String,
}

/// `GET /admin/chaves/como-usar`: how other systems call with a key.
#[derive(Debug, Template)]
#[template(path = "key_help.html", config = "assets/askama.toml")]
pub struct KeyHelp {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// Calls for pasting: what it does, and the call.
    pub examples: Vec<Example>,
    /// Calls a window without a limit of its own, such as `60 a cada 60 segundos`.
    pub usual_limit: String,
}

/// A call for pasting.
#[derive(Debug)]
pub struct Example {
    /// For the button that copies it.
    pub id: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub scope: &'static str,
    pub call: String,
}

/// The name of a scope for people.
pub const fn scope_title(scope: Scope) -> &'static str {
    match scope {
        Scope::Write => "Alunos",
        Scope::WebhookReceive => "Consultas",
        Scope::Admin => "Administração",
    }
}

/// What a scope opens.
pub const fn scope_help(scope: Scope) -> &'static str {
    match scope {
        Scope::Write => "write: cadastrar, suspender e reativar alunos.",
        Scope::WebhookReceive => "webhook_receive: consultar planos, encontros e contexto.",
        Scope::Admin => "admin: tudo das outras, e também baixar o backup e ler as métricas.",
    }
}

/// The badge of a key's state.
pub const fn badge(state: State) -> Badge {
    match state {
        State::Active => Badge::Active,
        State::Leaving => Badge::Leaving,
        State::Expired => Badge::Expired,
        State::Revoked => Badge::Revoked,
    }
}

/// What to correct in a field of the form, in the words of its label.
pub fn fault_words(field: &str) -> &'static str {
    match field {
        "nome" => "Dê um nome de 1 a 80 letras.",
        "escopos" => "Marque pelo menos uma permissão.",
        "ips" => {
            "Informe um endereço ou bloco por linha, como 203.0.113.7 ou 10.0.0.0/8. Para aceitar qualquer endereço, deixe em branco."
        }
        "limite" => "Informe um número de 1 a 100.000.",
        "expira_em" => "Informe um dia a partir de hoje.",
        "horas" => "Informe de 0 a 168 horas.",
        _ => "Confira este campo.",
    }
}
