//! What the pages for API keys print.

use askama::Template;

use super::{ApiKey, KeyState, Scope};
use crate::base::{Instant, Zone};
use crate::panel::{Badge, FormView, Layout, PageTime, Table, Tick};

/// `GET /admin/chaves`: the list of keys.
#[derive(Template)]
#[template(path = "keys.html", config = "assets/askama.toml")]
pub struct KeysPage {
    pub layout: Layout,
    pub table: Table,
    pub keys: Vec<ApiKey>,
    pub time: PageTime,
}

/// `GET /admin/chaves/nova`, `GET /admin/chaves/{id}`, and their answers when
/// fields are invalid.
#[derive(Template)]
#[template(path = "key_form.html", config = "assets/askama.toml")]
pub struct KeyForm {
    pub layout: Layout,
    /// The stored key that is changed; `None` for a new one.
    pub existing: Option<ApiKey>,
    pub form: FormView,
    /// The boxes of `escopos`.
    pub ticks: Vec<Tick>,
    /// The limit of a key that has none of its own.
    pub limit_help: String,
    /// `horas` of an exchange.
    pub exchange: FormView,
    pub time: PageTime,
}

/// A key as people read it.
impl ApiKey {
    fn badge(&self, now: &Instant) -> Badge {
        match self.state(*now) {
            KeyState::Active => Badge::Active,
            KeyState::Leaving => Badge::Leaving,
            KeyState::Expired => Badge::Expired,
            KeyState::Revoked => Badge::Revoked,
        }
    }

    fn is_exchangeable(&self, now: &Instant) -> bool {
        self.state(*now) == KeyState::Active
    }

    fn is_working(&self, now: &Instant) -> bool {
        self.works(*now)
    }

    fn scopes(&self) -> String {
        let scopes: Vec<&str> = self.entry.scopes.0.iter().map(|scope| scope.words()).collect();
        scopes.join(", ")
    }

    /// `31/12/2026`, or `sem fim`.
    fn until(&self, zone: &Zone) -> String {
        let day = self.entry.last_day(*zone);
        day.map_or_else(|| "sem fim".to_owned(), |day| day.date().strftime("%d/%m/%Y").to_string())
    }

    /// What the state means here; may be empty.
    fn note(&self, zone: &Zone, now: &Instant) -> String {
        let page = |at: Option<Instant>| at.map(|at| zone.page(at)).unwrap_or_default();
        match self.state(*now) {
            KeyState::Active => String::new(),
            KeyState::Leaving => {
                format!("Foi trocada por outra e ainda funciona até {}.", page(self.end()))
            }
            KeyState::Expired => format!("Deixou de funcionar em {}.", page(self.end())),
            KeyState::Revoked => format!("Deixou de funcionar em {}.", page(self.revoked_at)),
        }
    }
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
