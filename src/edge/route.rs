//! What a row of the route table is.
//!
//! A row says method, path, surface, who may call, how it runs and what it is
//! for. The column "who may call" is an enum that contains the handler, so the
//! caller's identity always fits the handler's signature. The rows themselves
//! are in `routes.rs`.

use http::{HeaderMap, Method};
use schemars::JsonSchema;

use crate::app::App;
use crate::edge::docs::{Docs, SchemaOf, in_place, referred};
pub use crate::edge::todo::{SlowWork, Todo};
use crate::http::cors::Cors;
pub use crate::http::job::{Job, nothing_to_do};
use crate::http::router::Router;
use crate::http::{Code, Family, Problem, Reply, Request};
use crate::identity::{
    Agent, ChatSender, CheckoutSender, Claim, CronCaller, ExtensionUser, KeyHolder, Person, Seller,
    Supplier, TelegramSender, Visitor,
};
use crate::keys::Scope;
use crate::partner::operation::{self, Declared};
use crate::services::Services;

/// A handler that answers from memory or from one indexed read.
pub type Handler<I> = fn(&App, &I, &Request) -> Result<Reply, Problem>;
/// A handler that checks its input and returns a job for the writer.
pub type JobHandler<I> = fn(&App, &I, &Request) -> Result<Job, Problem>;

/// A handler that checks its input and decides how the rest runs.
pub type TodoHandler<I> = fn(&App, &I, &Request) -> Result<Todo<Reply>, Problem>;

/// How a row runs (docs/architecture.md, "A request, from the socket to the answer").
pub enum Run<I: 'static> {
    /// In place, on the async worker: bounded, indexed reads only.
    Read(Handler<I>),
    /// In place, unless the request asks for something costly.
    ReadOrSlow(fn(&Request) -> bool, Handler<I>),
    /// In place, unless the request needs a call to another service.
    ReadOrOutside(fn(&Request) -> bool, Handler<I>),
    /// Checked in place, then a job of the writer; answered after COMMIT.
    Write(JobHandler<I>),
    /// In the lane of our own slow work: aggregates, exports, files.
    Slow(Handler<I>),
    /// In the lane of calls to other services.
    Outside(Handler<I>),
    /// In the lane of passwords.
    Password(Handler<I>),
    /// The same for logins. An address with too many failed logins is answered
    /// by the first function, before its body is read.
    Login(fn(&App, &Request) -> Option<Result<Reply, Problem>>, Handler<I>),
    /// A run of the periodic tasks. They run one at a time; a waiting run uses
    /// no thread.
    InTurn(Handler<I>),
    /// As the handler decides after checking the request: at once, as a job of
    /// the writer, or in a lane.
    Chosen(TodoHandler<I>),
    /// As the operation decides from its arguments.
    Operation(&'static Declared<I>),
}

// Written by hand, because a derive would require `I: Clone` and `I: Copy`.
impl<I> Clone for Run<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Run<I> {}

/// The lane of a handler that cannot run in place.
#[derive(Clone, Copy)]
pub enum LaneKind {
    Slow,
    Outside,
    Password,
    Login,
    InTurn,
}

/// A handler that has run in place, or has to wait for a lane.
pub enum Start<I> {
    /// The part of the handler that runs in place is done.
    Begun(Todo<Reply>),
    /// The handler waits for its turn in a lane.
    InLane(LaneKind, Handler<I>),
}

impl<I> Run<I> {
    /// Runs the handler if it runs in place for this request.
    pub fn start(&self, app: &App, caller: &I, request: &Request) -> Result<Start<I>, Problem> {
        let (kind, handler) = match *self {
            Self::Write(handler) => {
                return handler(app, caller, request).map(|job| Start::Begun(Todo::Write(job)));
            }
            Self::Chosen(handler) => return handler(app, caller, request).map(Start::Begun),
            Self::Operation(operation) => {
                let call = operation::Call { request, tool: None };
                return operation.begin(app, caller, &call).map(Start::Begun);
            }
            Self::ReadOrSlow(costly, handler) if costly(request) => (LaneKind::Slow, handler),
            Self::ReadOrOutside(costly, handler) if costly(request) => (LaneKind::Outside, handler),
            Self::Read(handler)
            | Self::ReadOrSlow(_, handler)
            | Self::ReadOrOutside(_, handler) => {
                return handler(app, caller, request).map(|reply| Start::Begun(Todo::Now(reply)));
            }
            Self::Slow(handler) => (LaneKind::Slow, handler),
            Self::Outside(handler) => (LaneKind::Outside, handler),
            Self::Password(handler) => (LaneKind::Password, handler),
            Self::Login(_, handler) => (LaneKind::Login, handler),
            Self::InTurn(handler) => (LaneKind::InTurn, handler),
        };
        Ok(Start::InLane(kind, handler))
    }
}

/// Largest body of a form. A row with a larger limit of its own is not bound by
/// the setting `max_body_bytes`.
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
    /// The official chat API, by its signature or the token it was given.
    Chat(Run<ChatSender>),
    /// A scheduler, by the cron secret.
    Cron(Run<CronCaller>),
    /// A seller with a partner token and an active API plan.
    Seller(&'static Declared<Seller>),
    /// A supplier with a partner token, an active API plan and a relation to a
    /// seller.
    Supplier(&'static Declared<Supplier>),
    /// A program of an assistant, with a partner token and an active API plan.
    Agent(Run<Agent>),
    /// An integration with an API key of this scope.
    Key(Scope, Run<KeyHolder>),
    /// A browser, with or without a session.
    Visitor(Run<Visitor>),
    /// A person with a browser session.
    Session(Access, Run<Person>),
}

crate::named! {
    /// The people whose session may call a row.
    pub enum Access: text {
        /// Everybody who can sign in.
        Anyone = "anyone";
        Student = "student";
        Supplier = "supplier";
        /// Administrators, and people with access to the agency.
        Agency = "agency";
        Admin = "admin";
    }
}

/// Declares the surfaces, each with the shape of its errors, who may read its answers from
/// another origin, and its tag in the OpenAPI document.
macro_rules! surfaces {
    ($($(#[$doc:meta])* $surface:ident = $family:ident, $cors:ident, $tag:literal;)*) => {
        /// Which API or panel a row belongs to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Surface {
            $($(#[$doc])* $surface,)*
        }

        impl Surface {
            const fn family(self) -> Family {
                match self { $(Self::$surface => Family::$family,)* }
            }

            pub const fn cors(self) -> Cors {
                match self { $(Self::$surface => Cors::$cors,)* }
            }

            pub const fn tag(self) -> &'static str {
                match self { $(Self::$surface => $tag,)* }
            }
        }
    };
}

surfaces! {
    Extension = Internal, Extension, "Extension API";
    /// Served under both base paths of the Partner API.
    Partner = Partner, Any, "Partner API";
    /// The endpoint of assistants.
    Agent = Agent, Agent, "Agents";
    Integration = Integration, Any, "Integration API";
    /// Read by anybody, from anywhere.
    Public = Integration, Any, "Public";
    /// Called by other services when something happened there.
    Webhook = Integration, None, "Inbound webhooks";
    /// Called by the operator's machines.
    Operations = Integration, None, "Operations";
    /// Health probes, accepted with any `Host`.
    Probe = Integration, None, "Operations";
    /// Pages, and what browsers fetch for them.
    Panel = Page, None, "Panel";
    /// Called by programs to get access from a person.
    OAuth = OAuth, Any, "OAuth";
}

impl Surface {
    /// The surface of rows with this caller, unless a row names another one.
    const fn of(call: &Call) -> Self {
        match call {
            Call::Open(_) => Self::Public,
            Call::Extension(_) => Self::Extension,
            Call::Notification(_) | Call::Checkout(_) | Call::Telegram(_) | Call::Chat(_) => {
                Self::Webhook
            }
            Call::Cron(_) => Self::Operations,
            Call::Seller(_) | Call::Supplier(_) => Self::Partner,
            Call::Agent(_) => Self::Agent,
            Call::Key(..) => Self::Integration,
            Call::Visitor(_) | Call::Session(..) => Self::Panel,
        }
    }
}

/// One row of the route table.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a row")]
pub struct Route {
    pub method: Method,
    /// The path under which the row is listed.
    pub path: &'static str,
    pub surface: Surface,
    pub call: Call,
    /// Shape of its errors where the surface does not decide it.
    family: Option<Family>,
    /// Largest body, when it is not the configured one.
    body_bytes: Option<usize>,
    /// A logout: it counts for the sent extension token and is never rejected.
    /// Without a valid token it counts for the address.
    pub logs_out: bool,
    /// A GET that changes state: no HEAD, and the same checks as a POST.
    pub changes_state: bool,
    /// Has no time limit; only a caller that stops sending or reading is
    /// disconnected.
    pub without_timeout: bool,
    /// A GET for the person only, not for an administrator who views the panel
    /// as that person.
    pub in_person: bool,
    /// The path contains a secret, so logs show only the pattern of the path.
    pub secret_path: bool,
    pub docs: Docs,
    /// What it is for, in one sentence.
    pub about: &'static str,
}

/// Methods that set the mark of their name.
macro_rules! marks {
    ($($mark:ident)*) => {$(
        pub const fn $mark(mut self) -> Self {
            self.$mark = true;
            self
        }
    )*};
}

impl Route {
    /// A row with the usual settings.
    pub const fn new(method: Method, path: &'static str, call: Call, about: &'static str) -> Self {
        Self {
            method,
            path,
            surface: Surface::of(&call),
            call,
            family: None,
            body_bytes: None,
            logs_out: false,
            changes_state: false,
            without_timeout: false,
            in_person: false,
            secret_path: false,
            docs: Docs::NONE,
            about,
        }
    }

    /// The row of a partner operation.
    pub fn of_operation<I>(
        operation: &'static Declared<I>,
        call: fn(&'static Declared<I>) -> Call,
    ) -> Self {
        let Declared { method, path, docs, .. } = operation;
        let about = &operation.texts().about.en;
        let row = Self::new(method.clone(), path, call(operation), about);
        let family = docs.media.map(|_| Family::PartnerFile);
        Self { docs: *docs, family, ..row }
    }

    pub const fn on(mut self, surface: Surface) -> Self {
        self.surface = surface;
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

    marks! { logs_out changes_state without_timeout in_person secret_path }

    /// The query has this shape.
    pub const fn asks<T: JsonSchema>(mut self) -> Self {
        self.docs.query = Some(in_place::<T>);
        self
    }

    /// The body has this shape.
    pub const fn takes<T: JsonSchema>(mut self) -> Self {
        self.docs.body = Some(referred::<T>);
        self
    }

    /// The body has this shape as JSON, and the other as a browser form.
    pub const fn takes_described(mut self, body: SchemaOf, form: Option<SchemaOf>) -> Self {
        self.docs.body = Some(body);
        self.docs.form = form;
        self
    }

    /// The answer has this shape.
    pub const fn replies<T: JsonSchema>(mut self) -> Self {
        self.docs.reply = Some(referred::<T>);
        self
    }

    /// The answer has this shape and comes with 201.
    pub const fn creates<T: JsonSchema>(mut self) -> Self {
        self.docs.status = 201;
        self.replies::<T>()
    }

    /// The answer is a file of this media type.
    pub const fn sends(mut self, media: &'static str) -> Self {
        self.docs.media = Some(media);
        self
    }

    /// Sets the errors that only this row has.
    pub const fn may_fail(mut self, errors: &'static [Code]) -> Self {
        self.docs.errors = errors;
        self
    }

    /// Whether programs call the row, so that the OpenAPI document has it.
    pub const fn is_described(&self) -> bool {
        self.docs.reply.is_some() || self.docs.media.is_some()
    }

    /// The shape of the row's errors.
    pub fn family(&self) -> Family {
        self.family.unwrap_or(self.surface.family())
    }

    /// All paths of the row.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        let second =
            if self.surface == Surface::Partner { self.path.strip_prefix("/api") } else { None };
        std::iter::once(self.path).chain(second)
    }

    /// Name of the operation, empty where there is none.
    pub const fn operation(&self) -> &'static str {
        match self.call {
            Call::Seller(operation) => operation.name,
            Call::Supplier(operation) => operation.name,
            _ => "",
        }
    }

    /// Whether answers carry validators, and a caller whose copy is good gets 304.
    pub fn is_conditional(&self) -> bool {
        matches!(self.surface, Surface::Public | Surface::Partner) && self.method == Method::GET
    }

    /// Largest body the row takes.
    pub fn body_limit(&self, services: &Services) -> usize {
        let configured = services.config.server.max_body_bytes;
        match self.body_bytes {
            // The setting is meant for forms and JSON, not for files.
            Some(own) if own > FORMS => own,
            Some(own) => own.min(configured),
            None => configured,
        }
    }

    /// Whether the guard identifies the caller by the head of the request.
    /// Otherwise the body has to prove it, or the row needs no credential.
    pub fn proves_in_head(&self, services: &Services, headers: &HeaderMap) -> bool {
        match self.call {
            Call::Open(_) | Call::Visitor(_) | Call::Notification(_) | Call::Chat(_) => false,
            Call::Checkout(_) => headers.contains_key(&services.config.checkout.token_header),
            _ => true,
        }
    }

    /// Whether the guard found a claim in the head that only the body can prove, and
    /// whose senders put much into one body.
    pub const fn claims_in_head(&self) -> bool {
        matches!(self.call, Call::Chat(_))
    }

    /// Who may call, as the route list names it.
    pub fn caller(&self) -> String {
        match self.call {
            Call::Open(_) => "public".to_owned(),
            Call::Extension(_) => "extension".to_owned(),
            Call::Notification(_) => "marketplace_hook".to_owned(),
            Call::Checkout(_) => "checkout_hook".to_owned(),
            Call::Telegram(_) => "telegram_hook".to_owned(),
            Call::Chat(_) => "chat_hook".to_owned(),
            Call::Cron(_) => "cron".to_owned(),
            Call::Seller(_) => "seller".to_owned(),
            Call::Supplier(_) => "supplier".to_owned(),
            Call::Agent(_) => "agent".to_owned(),
            Call::Key(scope, _) => format!("key:{}", scope.name()),
            Call::Visitor(_) => "visitor".to_owned(),
            Call::Session(access, _) => format!("session:{}", access.name()),
        }
    }

    /// How the row runs, as the route list names it.
    pub const fn runs(&self) -> &'static str {
        const fn name<I>(run: &Run<I>) -> &'static str {
            match run {
                Run::Read(_) | Run::ReadOrSlow(..) => "read",
                Run::Operation(operation) => operation.runs(),
                Run::Write(_) | Run::Chosen(_) => "write",
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
            Call::Chat(run) => name(run),
            Call::Cron(run) => name(run),
            Call::Seller(operation) => operation.runs(),
            Call::Supplier(operation) => operation.runs(),
            Call::Agent(run) => name(run),
            Call::Key(_, run) => name(run),
            Call::Visitor(run) => name(run),
            Call::Session(_, run) => name(run),
        }
    }

    /// Whether calls without an identity count by address.
    pub const fn counts_address(&self) -> bool {
        matches!(self.surface, Surface::Extension | Surface::Public | Surface::OAuth)
    }

    /// What the row counts, as the route list names it.
    pub fn counts(&self) -> &'static str {
        match self.call {
            Call::Seller(_) | Call::Supplier(_) if self.method == Method::POST => "partner_post",
            Call::Seller(_) | Call::Supplier(_) => "partner_get",
            Call::Agent(_) => "agent",
            Call::Extension(_) | Call::Key(..) => "api",
            Call::Open(_) if self.counts_address() => "api",
            Call::Session(..) if self.method != Method::GET || self.changes_state => "session_post",
            _ => "none",
        }
    }
}

/// The router of a table: two rows that match the same request are a mistake.
pub fn router(rows: &[Route]) -> Result<Router, String> {
    let addresses = rows.iter().enumerate().flat_map(|(number, row)| {
        row.paths().map(move |path| (number, &row.method, path, !row.changes_state))
    });
    Router::new(addresses)
}
