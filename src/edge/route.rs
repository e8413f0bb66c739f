//! What a row of the route table is.
//!
//! A row says method, path, who may call, what is counted, how it runs and
//! what it is for. The column "who may call" is an enum that carries the
//! handler, so the caller's identity and the shape of errors cannot drift
//! apart from it. The rows themselves are in `routes.rs`.

use http::{HeaderMap, Method};
use schemars::{Schema, SchemaGenerator};

use crate::app::App;
use crate::db::WriteTx;
use crate::edge::guard::{
    CheckoutSender, Claim, CronCaller, ExtensionUser, KeyHolder, Person, Seller, TelegramSender,
    Visitor,
};
use crate::http::cors::Cors;
use crate::http::{Code, Family, Problem, Reply, Request};
use crate::keys::Scope;

/// What a writing handler gives back: its work inside the write transaction,
/// which also makes the reply.
pub type Job = Box<dyn FnOnce(&WriteTx<'_>) -> Result<Reply, Problem> + Send>;

/// The job of a request that turned out to change nothing.
pub fn nothing_to_do(reply: Reply) -> Job {
    Box::new(move |_| Ok(reply))
}

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
    /// In place, unless the request asks for something that only the outside knows.
    ReadOrOutside(fn(&Request) -> bool, Reader<I>),
    /// Checked in place, then a job of the writer; answered after COMMIT.
    Write(Writer<I>),
    /// In the lane of our own slow work: aggregates, exports, files.
    Slow(Reader<I>),
    /// In the lane of calls to other services.
    Outside(Reader<I>),
    /// In the lane of passwords.
    Password(Reader<I>),
    /// The same for logins: an address with too many failed ones is answered
    /// by the first function, before its body is read.
    Login(fn(&App, &Request) -> Option<Result<Reply, Problem>>, Reader<I>),
    /// A run of the periodic tasks: one at a time, for which the others wait
    /// without a thread.
    InTurn(Reader<I>),
}

// By hand, because a derive would ask the same of `I`.
impl<I> Clone for Run<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Run<I> {}

impl<I> Run<I> {
    /// The handler, when it runs in place for this request.
    pub fn in_place(&self, request: &Request) -> Option<Reader<I>> {
        match *self {
            Self::Read(handler) => Some(handler),
            Self::ReadOrSlow(costly, handler) | Self::ReadOrOutside(costly, handler) => {
                (!costly(request)).then_some(handler)
            }
            Self::Write(_)
            | Self::Slow(_)
            | Self::Outside(_)
            | Self::Password(_)
            | Self::Login(..)
            | Self::InTurn(_) => None,
        }
    }
}

/// Rows that take larger bodies than this name their own limit.
const FORMS: usize = 256 * 1024;

/// Who may call a row.
pub enum Call {
    /// Anybody.
    Open(Run<()>),
    /// The browser extension of a logged-in user.
    Extension(Run<ExtensionUser>),
    /// The marketplace, by its signature.
    Notification(Run<Claim>),
    /// The checkout platform, by its token.
    Checkout(Run<CheckoutSender>),
    /// Telegram, by the secret it was given.
    Telegram(Run<TelegramSender>),
    /// A scheduler, by the cron secret.
    Cron(Run<CronCaller>),
    /// A seller with a partner token and an active API plan.
    Seller(Run<Seller>),
    /// An integration with an API key of this scope.
    Key(Scope, Run<KeyHolder>),
    /// A browser, with or without a session.
    Visitor(Run<Visitor>),
    /// A person with a browser session.
    Session(Access, Run<Person>),
}

/// Whose session opens a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody who can sign in.
    Anyone,
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
    /// By the presented extension token, which is never refused; without a
    /// living one by address.
    Leaving,
}

/// A schema of the OpenAPI document.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What the OpenAPI document says of a row beyond the table.
#[derive(Clone, Copy, Default)]
pub struct Docs {
    pub query: Option<SchemaOf>,
    pub body: Option<SchemaOf>,
    /// The body as a browser form, where that is taken too.
    pub form: Option<SchemaOf>,
    pub reply: Option<SchemaOf>,
    /// Media type of the answer, when it is not JSON.
    pub media: Option<&'static str>,
    /// Status of the answer described by `reply`, when it is not 200.
    pub status: Option<u16>,
    /// Answers carry validators, and a caller whose copy is good gets 304.
    pub conditional: bool,
    /// What may go wrong with this row alone.
    pub errors: &'static [Code],
}

/// One address.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a row")]
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
    /// Takes as long as it takes; only a caller that stalls is given up.
    pub patient: bool,
    /// A GET that only the person may make, and nobody who looks as that person.
    pub in_person: bool,
    /// Health probes come with any `Host`.
    pub any_host: bool,
    /// A part of the path is nobody's business: logs show the pattern.
    pub secret_path: bool,
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
            patient: false,
            in_person: false,
            any_host: false,
            secret_path: false,
            docs: Docs {
                query: None,
                body: None,
                form: None,
                reply: None,
                media: None,
                status: None,
                conditional: false,
                errors: &[],
            },
            about,
        }
    }

    pub const fn limited(mut self) -> Self {
        self.rate = Rate::Api;
        self
    }

    pub const fn leaving(mut self) -> Self {
        self.rate = Rate::Leaving;
        self
    }

    pub const fn family_is(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    pub const fn body_at_most(mut self, bytes: usize) -> Self {
        self.body_bytes = Some(bytes);
        self
    }

    pub const fn changes_state(mut self) -> Self {
        self.changes_state = true;
        self
    }

    pub const fn patient(mut self) -> Self {
        self.patient = true;
        self
    }

    pub const fn in_person(mut self) -> Self {
        self.in_person = true;
        self
    }

    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    pub const fn secret_path(mut self) -> Self {
        self.secret_path = true;
        self
    }

    /// The same row with its schemas.
    pub const fn with_docs(mut self, docs: Docs) -> Self {
        self.docs = docs;
        self
    }

    pub const fn replies(mut self, reply: SchemaOf) -> Self {
        self.docs.reply = Some(reply);
        self
    }

    pub const fn takes(mut self, body: SchemaOf) -> Self {
        self.docs.body = Some(body);
        self
    }

    pub const fn takes_form(mut self, form: SchemaOf) -> Self {
        self.docs.form = Some(form);
        self
    }

    pub const fn conditional(mut self) -> Self {
        self.docs.conditional = true;
        self
    }

    pub const fn asks(mut self, query: SchemaOf) -> Self {
        self.docs.query = Some(query);
        self
    }

    /// The described answer is a file of this media type.
    pub const fn sends(mut self, media: &'static str) -> Self {
        self.docs.media = Some(media);
        self
    }

    /// The described answer comes with 201.
    pub const fn creates(mut self) -> Self {
        self.docs.status = Some(201);
        self
    }

    /// Names what may go wrong with this row alone.
    pub const fn may_fail(mut self, errors: &'static [Code]) -> Self {
        self.docs.errors = errors;
        self
    }

    /// The shape of the row's errors.
    pub fn family(&self) -> Family {
        self.family.unwrap_or(match self.call {
            Call::Open(_)
            | Call::Notification(_)
            | Call::Checkout(_)
            | Call::Telegram(_)
            | Call::Cron(_)
            | Call::Key(..) => Family::Integration,
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
            Call::Open(_) | Call::Key(..) if self.path.starts_with("/api/v1/") => Cors::Any,
            _ => Cors::None,
        }
    }

    /// Largest body the row takes.
    pub fn body_limit(&self, app: &App) -> usize {
        let configured = app.config.server.max_body_bytes;
        match self.body_bytes {
            // Files are larger than what the setting is about.
            Some(own) if own > FORMS => own,
            Some(own) => own.min(configured),
            None => configured,
        }
    }

    /// Whether a guard that let the caller in knows who it is. Else the body
    /// has to prove it, or nobody is asked to.
    pub fn proves_in_head(&self, app: &App, headers: &HeaderMap) -> bool {
        match self.call {
            Call::Open(_) | Call::Visitor(_) | Call::Notification(_) => false,
            Call::Checkout(_) => headers.contains_key(&app.config.checkout.token_header),
            _ => true,
        }
    }

    /// Who may call, as the route list names it.
    pub const fn caller(&self) -> &'static str {
        match self.call {
            Call::Open(_) => "public",
            Call::Extension(_) => "extension",
            Call::Notification(_) => "marketplace_hook",
            Call::Checkout(_) => "checkout_hook",
            Call::Telegram(_) => "telegram_hook",
            Call::Cron(_) => "cron",
            Call::Seller(_) => "seller",
            Call::Key(Scope::Write, _) => "key:write",
            Call::Key(Scope::WebhookReceive, _) => "key:webhook_receive",
            Call::Key(Scope::Admin, _) => "key:admin",
            Call::Visitor(_) => "visitor",
            Call::Session(Access::Anyone, _) => "session:anyone",
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
                Run::Outside(_) | Run::ReadOrOutside(..) => "outside",
                Run::Password(_) | Run::Login(..) => "password",
                Run::InTurn(_) => "in_turn",
            }
        }
        match &self.call {
            Call::Open(run) => name(run),
            Call::Extension(run) => name(run),
            Call::Notification(run) => name(run),
            Call::Checkout(run) => name(run),
            Call::Telegram(run) => name(run),
            Call::Cron(run) => name(run),
            Call::Seller(run) => name(run),
            Call::Key(_, run) => name(run),
            Call::Visitor(run) => name(run),
            Call::Session(_, run) => name(run),
        }
    }

    /// What the row counts, as the route list names it.
    pub fn counts(&self) -> &'static str {
        match self.call {
            Call::Seller(_) if self.method == Method::POST => "partner_post",
            Call::Seller(_) => "partner_get",
            Call::Extension(_) | Call::Key(..) => "api",
            _ if self.rate != Rate::None => "api",
            _ => "none",
        }
    }
}
