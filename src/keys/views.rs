//! What the pages for API keys print.

use askama::Template;

use super::{KeyState, Scope};
use crate::panel::{Badge, FormView, Layout, Table, Tick, When};

/// `GET /admin/chaves`: the list of keys.
#[derive(Template)]
#[template(path = "keys.html", config = "assets/askama.toml")]
pub struct KeysPage {
    pub layout: Layout,
    pub table: Table,
    pub keys: Vec<KeyRow>,
}

/// A key in the list.
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
/// fields are invalid.
#[derive(Template)]
#[template(path = "key_form.html", config = "assets/askama.toml")]
pub struct KeyForm {
    pub layout: Layout,
    /// The key that is changed; `None` for a new one.
    pub existing: Option<ExistingKey>,
    pub form: FormView,
    /// The boxes of `escopos`.
    pub ticks: Vec<Tick>,
    /// The limit of a key that has none of its own.
    pub limit_help: String,
    /// `horas` of an exchange.
    pub exchange: FormView,
}

/// The stored key that a form changes.
#[derive(Clone, Debug)]
pub struct ExistingKey {
    pub id: String,
    /// The stored name, not the one typed in the form.
    pub name: String,
    pub prefix: String,
    pub state: Badge,
    /// What the state means here; may be empty.
    pub note: String,
    pub created: When,
    pub last_use: Option<LastUseWords>,
    /// The key that replaced it.
    pub successor: Option<String>,
    /// Whether it is revoked and can only be viewed.
    pub revoked: bool,
    /// Whether it can be exchanged for a new one.
    pub exchangeable: bool,
}

/// The answer to a browser that made a key: the only page that shows it.
#[derive(Template)]
#[template(path = "key_made.html", config = "assets/askama.toml")]
pub struct KeyMade {
    pub layout: Layout,
    pub name: String,
    /// The key itself.
    pub key: String,
    /// What happens to the key that it replaces.
    pub old: Option<String>,
    /// What the call below does.
    pub example_title: &'static str,
    /// An example call with it, to copy.
    pub example: String,
}

/// `GET /admin/chaves/como-usar`: how other systems call with a key.
#[derive(Template)]
#[template(path = "key_help.html", config = "assets/askama.toml")]
pub struct KeyHelp {
    pub layout: Layout,
    /// Example calls to copy.
    pub examples: Vec<Example>,
    /// Limit of keys without one of their own: `60 a cada 60 segundos`.
    pub usual_limit: String,
}

/// An example call to copy.
pub struct Example {
    /// For the button that copies it.
    pub id: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub scope: &'static str,
    pub call: String,
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
pub const fn badge(state: KeyState) -> Badge {
    match state {
        KeyState::Active => Badge::Active,
        KeyState::Leaving => Badge::Leaving,
        KeyState::Expired => Badge::Expired,
        KeyState::Revoked => Badge::Revoked,
    }
}
