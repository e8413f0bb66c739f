//! Every address of the service, as data.
//!
//! A row says method, path, who may call, what is counted, how it runs and
//! what it is for. The column "who may call" is an enum that carries the
//! handler, so the caller's identity and the shape of errors cannot drift
//! apart from it. The router, `seller-platform routes`, the OpenAPI document
//! and the test that no row serves a stranger all read this table.

use http::Method;
use schemars::{Schema, SchemaGenerator};

use crate::accounts;
use crate::app::App;
use crate::content;
use crate::db::WriteTx;
use crate::guard::{Claim, ExtensionUser, Person, Seller, Visitor};
use crate::http::cors::Cors;
use crate::http::{Family, Problem, Reply, Request};
use crate::marketplace;
use crate::messages;
use crate::operations;
use crate::partner;
use crate::program;

/// What a writing handler gives back: its work inside the write transaction,
/// which also makes the reply.
pub type Job = Box<dyn FnOnce(&WriteTx<'_>) -> Result<Reply, Problem> + Send>;

/// A handler that answers from memory or from one indexed read.
pub type Reader<I> = fn(&App, &I, &Request) -> Result<Reply, Problem>;
/// A handler that checks its input and gives back a job for the writer.
pub type Writer<I> = fn(&App, &I, &Request) -> Result<Job, Problem>;

/// How a row runs (design, "A request").
pub enum Run<I> {
    /// In place, on the async worker: bounded, indexed reads only.
    Read(Reader<I>),
    /// In place, unless the request asks for something costly.
    ReadOrSlow(fn(&Request) -> bool, Reader<I>),
    /// Checked in place, then a job of the writer; answered after COMMIT.
    Write(Writer<I>),
    /// On the bounded pool for slow work: passwords, calls to the outside, aggregates.
    Slow(Reader<I>),
}

/// Who may call a row.
pub enum Call {
    /// Anybody.
    Open(Run<()>),
    /// The browser extension of a logged-in user.
    Extension(Run<ExtensionUser>),
    /// The marketplace, by its signature.
    Notification(Run<Claim>),
    /// A seller with a partner token and an active API plan.
    Seller(Run<Seller>),
    /// A browser, with or without a session.
    Visitor(Run<Visitor>),
    /// A person with a browser session.
    Session(Access, Run<Person>),
}

/// Whose session opens a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Student,
    Supplier,
    Admin,
}

/// What a row counts. Partner rows count by plan, whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    None,
    /// Extension and API v1: by token, else by address.
    Api,
}

/// A schema of the OpenAPI document.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What the OpenAPI document says of a row beyond the table.
#[derive(Clone, Copy, Default)]
pub struct Docs {
    pub query: Option<SchemaOf>,
    pub body: Option<SchemaOf>,
    pub reply: Option<SchemaOf>,
    /// Status of the answer described by `reply`, when it is not 200.
    pub status: Option<u16>,
}

/// One address.
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub call: Call,
    pub rate: Rate,
    /// Shape of its errors where the caller does not decide it.
    pub family: Option<Family>,
    /// Name of the operation, for partner rows.
    pub operation: &'static str,
    /// Largest body, when it is not the configured one.
    pub body_bytes: Option<usize>,
    /// A GET that changes state: no HEAD, and the same checks as a POST.
    pub changes_state: bool,
    /// Health probes come with any `Host`.
    pub any_host: bool,
    pub docs: Docs,
    /// What it is for, in one sentence.
    pub about: &'static str,
}

impl Route {
    /// A row with the usual settings.
    pub const fn new(method: Method, path: &'static str, call: Call, about: &'static str) -> Self {
        Self {
            method,
            path,
            call,
            rate: Rate::None,
            family: None,
            operation: "",
            body_bytes: None,
            changes_state: false,
            any_host: false,
            docs: Docs {
                query: None,
                body: None,
                reply: None,
                status: None,
            },
            about,
        }
    }

    const fn limited(mut self) -> Self {
        self.rate = Rate::Api;
        self
    }

    const fn family_is(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    const fn body_at_most(mut self, bytes: usize) -> Self {
        self.body_bytes = Some(bytes);
        self
    }

    const fn changes_state(mut self) -> Self {
        self.changes_state = true;
        self
    }

    const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// The same row with its schemas.
    pub const fn with_docs(mut self, docs: Docs) -> Self {
        self.docs = docs;
        self
    }

    const fn replies(mut self, reply: SchemaOf) -> Self {
        self.docs.reply = Some(reply);
        self
    }

    const fn takes(mut self, body: SchemaOf) -> Self {
        self.docs.body = Some(body);
        self
    }

    const fn asks(mut self, query: SchemaOf) -> Self {
        self.docs.query = Some(query);
        self
    }

    /// The shape of the row's errors.
    pub fn family(&self) -> Family {
        self.family.unwrap_or(match self.call {
            Call::Open(_) | Call::Notification(_) => Family::Integration,
            Call::Extension(_) => Family::Internal,
            Call::Seller(_) => Family::Partner,
            Call::Visitor(_) | Call::Session(..) => Family::Page,
        })
    }

    /// Who may read the row's answers from another origin.
    pub fn cors(&self) -> Cors {
        match self.call {
            Call::Extension(_) => Cors::Extension,
            Call::Open(_) if self.path.starts_with("/api/ext/") => Cors::Extension,
            Call::Seller(_) => Cors::Any,
            Call::Open(_) if self.path.starts_with("/api/v1/") => Cors::Any,
            _ => Cors::None,
        }
    }

    /// Largest body the row takes.
    pub fn body_limit(&self, app: &App) -> usize {
        let configured = app.config.server.max_body_bytes;
        self.body_bytes
            .map_or(configured, |own| own.min(configured))
    }

    /// Who may call, as the route list names it.
    pub const fn caller(&self) -> &'static str {
        match self.call {
            Call::Open(_) => "public",
            Call::Extension(_) => "extension",
            Call::Notification(_) => "marketplace_hook",
            Call::Seller(_) => "seller",
            Call::Visitor(_) => "visitor",
            Call::Session(Access::Student, _) => "session:student",
            Call::Session(Access::Supplier, _) => "session:supplier",
            Call::Session(Access::Admin, _) => "session:admin",
        }
    }

    /// How the row runs, as the route list names it.
    pub const fn runs(&self) -> &'static str {
        const fn name<I>(run: &Run<I>) -> &'static str {
            match run {
                Run::Read(_) | Run::ReadOrSlow(..) => "read",
                Run::Write(_) => "write",
                Run::Slow(_) => "slow",
            }
        }
        match &self.call {
            Call::Open(run) => name(run),
            Call::Extension(run) => name(run),
            Call::Notification(run) => name(run),
            Call::Seller(run) => name(run),
            Call::Visitor(run) => name(run),
            Call::Session(_, run) => name(run),
        }
    }

    /// What the row counts, as the route list names it.
    pub fn counts(&self) -> &'static str {
        match self.call {
            Call::Seller(_) if self.method == Method::POST => "partner_post",
            Call::Seller(_) => "partner_get",
            Call::Extension(_) => "api",
            _ if self.rate == Rate::Api => "api",
            _ => "none",
        }
    }
}

const fn get(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::GET, path, call, about)
}

const fn post(path: &'static str, call: Call, about: &'static str) -> Route {
    Route::new(Method::POST, path, call, about)
}

/// Bodies of logins and other small forms.
const SMALL: usize = 4 * 1024;
/// Bodies of marketplace notifications.
const NOTIFICATION: usize = 64 * 1024;

/// All rows. Their order is for readers; no two match the same request.
pub fn all() -> Vec<Route> {
    let mut rows = Vec::new();
    rows.extend(health());
    rows.extend(extension());
    rows.extend(public());
    rows.extend(partner::operations());
    rows.extend(panel());
    rows.extend(administration());
    rows
}

#[rustfmt::skip] // Tables: one entry a row, columns in the same order.
fn health() -> [Route; 2] {
    use operations::api;
    [
        get("/healthz", Call::Open(Run::Read(api::healthz)), "Says that the process is up.").any_host(),
        get("/readyz", Call::Open(Run::Slow(api::readyz)), "Says whether the service can do its work.").any_host(),
    ]
}

#[rustfmt::skip]
fn extension() -> [Route; 5] {
    [
        post("/api/ext/auth", Call::Open(Run::Slow(accounts::api::auth)),
            "Gives a user of the extension a token for e-mail and password.")
            .limited().family_is(Family::Internal).body_at_most(SMALL)
            .takes(accounts::api::auth_body).replies(accounts::api::auth_reply),
        post("/api/ext/logout", Call::Open(Run::Write(accounts::api::logout)),
            "Ends the presented extension token; never fails.")
            .limited().family_is(Family::Internal).body_at_most(SMALL).replies(accounts::api::logout_reply),
        get("/api/ext/me", Call::Extension(Run::Read(program::api::me)),
            "The user's whole dashboard.").replies(program::api::me_reply),
        get("/api/ext/ml/check", Call::Extension(Run::Read(marketplace::api::check)),
            "Whether a marketplace account is linked to the user.")
            .asks(marketplace::api::check_query).replies(marketplace::api::check_reply),
        post("/api/ext/notificacoes/lidas", Call::Extension(Run::Write(messages::api::mark_read)),
            "Marks notifications as read.")
            .body_at_most(NOTIFICATION).takes(messages::api::mark_read_body).replies(messages::api::mark_read_reply),
    ]
}

#[rustfmt::skip]
fn public() -> [Route; 2] {
    [
        get("/api/v1/planos", Call::Open(Run::Read(content::api::plans)),
            "All active plans.").limited().replies(content::api::plans_reply),
        post("/ml/notificacoes", Call::Notification(Run::Write(marketplace::hook::receive)),
            "Receives a notification of the marketplace.")
            .body_at_most(NOTIFICATION).takes(marketplace::hook::body).replies(marketplace::hook::reply),
    ]
}

#[rustfmt::skip]
fn panel() -> [Route; 16] {
    use Access::{Student, Supplier};
    [
        get("/", Call::Visitor(Run::Read(accounts::pages::start)), "Leads to the login or to the person's home."),
        get("/entrar", Call::Visitor(Run::Read(accounts::pages::login_page)), "The login page."),
        post("/entrar", Call::Visitor(Run::Slow(accounts::pages::login)), "Opens a session.").body_at_most(SMALL),
        post("/sair", Call::Visitor(Run::Write(accounts::pages::leave)), "Ends the session.").body_at_most(SMALL),
        get("/configurar", Call::Visitor(Run::Read(accounts::setup::page)),
            "The page of the one-time link that makes the first administrator."),
        post("/configurar", Call::Visitor(Run::Slow(accounts::setup::create)),
            "Makes the first administrator.").body_at_most(SMALL),
        get("/assets/{*rest}", Call::Open(Run::Read(operations::api::asset)), "An embedded file.").family_is(Family::Page),
        get("/painel", Call::Session(Student, Run::Read(marketplace::pages::home)), "A student's home."),
        get("/painel/ml", Call::Session(Student, Run::Read(marketplace::pages::accounts)), "The linked marketplace accounts."),
        get("/painel/ml/conectar", Call::Session(Student, Run::Slow(marketplace::link::begin)),
            "Leads to the marketplace's consent page.").changes_state(),
        get("/painel/ml/retorno", Call::Session(Student, Run::Slow(marketplace::link::finish)),
            "Where the marketplace sends the person back to."),
        post("/painel/ml/contas/{ml_user_id}/desvincular", Call::Session(Student, Run::Write(marketplace::link::unlink)),
            "Unlinks an account and forgets its tokens.").body_at_most(SMALL),
        get("/painel/avisos", Call::Session(Student, Run::Read(messages::pages::list)), "A student's notifications."),
        post("/painel/avisos/lidos", Call::Session(Student, Run::Write(messages::pages::mark_read)),
            "Marks all notifications as read.").body_at_most(SMALL),
        get("/fornecedor", Call::Session(Supplier, Run::Read(operations::pages::supplier_home)), "A supplier's home."),
        get("/favicon.ico", Call::Open(Run::Read(operations::api::favicon)), "The icon for browsers that ask for it by this name.")
            .family_is(Family::Page),
    ]
}

#[rustfmt::skip]
fn administration() -> [Route; 6] {
    use Access::Admin;
    use content::pages;
    [
        get("/admin", Call::Session(Admin, Run::Slow(operations::pages::admin_home)), "The operator's home, with what needs a look."),
        get("/admin/planos", Call::Session(Admin, Run::Read(pages::plans)), "The plans, as page or JSON."),
        post("/admin/planos", Call::Session(Admin, Run::Write(pages::create_plan)), "Creates a plan."),
        get("/admin/planos/{id}", Call::Session(Admin, Run::Read(pages::plan_form)), "The form of a plan; `novo` for a new one."),
        post("/admin/planos/{id}", Call::Session(Admin, Run::Write(pages::change_plan)), "Changes a plan."),
        post("/admin/planos/{id}/excluir", Call::Session(Admin, Run::Write(pages::delete_plan)), "Removes a plan."),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::Router;

    #[test]
    fn every_row_is_described_and_reachable() {
        let rows = all();
        for route in &rows {
            let (about, path) = (route.about, route.path);
            assert!(
                about.ends_with('.') && about.starts_with(char::is_uppercase),
                "{path}: {about:?} is a sentence"
            );
            assert!(path == "/" || !path.ends_with('/'), "{path}");
            assert!(
                !route.changes_state || route.method == Method::GET,
                "{path} is no GET"
            );
        }
        Router::new(
            rows.iter()
                .map(|row| (&row.method, row.path, !row.changes_state)),
        )
        .unwrap();
    }

    #[test]
    fn api_rows_have_schemas() {
        for route in all() {
            if route.path.starts_with("/api/") {
                assert!(
                    route.docs.reply.is_some(),
                    "{} {} describes no reply",
                    route.method,
                    route.path
                );
            }
        }
    }
}
