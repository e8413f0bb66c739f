//! The life of a request, told once and read from top to bottom.
//!
//! accept → host → match → size → guard → body → limit → handler → stamp. The
//! route table says what happens at each step; there are no layers to discover.
//! Handlers are plain functions; here is the only place that awaits.

mod forms;
pub mod guard;
pub mod lanes;
mod perform;
pub mod route;
pub mod stamp;

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_LENGTH, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use hyper::body::{Body as _, Incoming};

use self::guard::{Charge, Charged, Pass, Refused};
use self::stamp::Stamp;
use crate::app::App;
use crate::base::clock::{Instant, Moment};
use crate::db::Lane;
use crate::edge::route::{Call, Route, Run, Start, Surface, Todo};
use crate::http::body::Body;
use crate::http::budget::Who;
use crate::http::cors::Cors;
use crate::http::head::Refusal;
use crate::http::input;
use crate::http::intake;
use crate::http::limit::Verdict;
use crate::http::pack;
use crate::http::request::wants_html;
use crate::http::router::Found;
use crate::http::server::client_address;
use crate::http::{Code, Family, Problem, Reply, Request};
use crate::operations::requests::{Caller, Entry};
use crate::panel::export;
use crate::panel::once::{self, FormSubmission};

use forms::Reader;
use perform::{contained, perform};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Largest caller-given request id.
const MAX_REQUEST_ID: usize = 128;

/// Answers one request of a peer.
///
/// What needs no waiting is done by the call itself, which for most requests
/// is everything: then nothing of the request is kept or moved about, and the
/// connection can use its buffer again.
pub fn answer(
    app: &Arc<App>,
    peer: SocketAddr,
    request: http::Request<Incoming>,
) -> impl Future<Output = Response<Body>> + Send + use<> {
    let (head, body) = request.into_parts();
    let mut visit = Visit::new(app, peer, &head);
    let answer = match visit.serve(app, head, body) {
        Step::Done(result) => Answer::Ready(visit.finish(app, result)),
        Step::Later(work) => {
            let app = Arc::clone(app);
            Answer::Later(Box::pin(async move {
                let done = work.await;
                visit.body_unread = done.body_unread;
                visit.verdict = done.verdict;
                visit.finish(&app, done.result)
            }))
        }
    };
    async move {
        match answer {
            Answer::Ready(response) => response,
            Answer::Later(response) => response.await,
        }
    }
}

enum Answer<F> {
    Ready(Response<Body>),
    Later(Pin<Box<F>>),
}

/// How far a request came without waiting.
enum Step {
    Done(Result<Reply, Problem>),
    Later(Pin<Box<Work>>),
}

/// What came of a request that waited.
struct Worked {
    result: Result<Reply, Problem>,
    verdict: Option<Verdict>,
    body_unread: bool,
}

/// A row of the table with the variables of a path.
type Row = (usize, Vec<(String, String)>);

type Work = dyn Future<Output = Worked> + Send;

/// The answer to a head that never became a request; the connection closes.
pub fn refuse(app: &App, peer: SocketAddr, refusal: &Refusal) -> Response<Body> {
    let message = match refusal.code {
        Code::UriTooLong => "the address is too long",
        Code::HeadersTooLarge => "the headers are too large or too many",
        _ => "the request is not well-formed HTTP/1.1",
    };
    let id = new_request_id();
    let family = Family::of_unknown_path(&refusal.path);
    let problem = Problem::new(refusal.code, message);
    let status = refusal.code.status(family);
    tracing::info!(
        request_id = text(&id),
        path = refusal.path,
        status = status.as_u16(),
        "refused a malformed request"
    );
    let now = app.clock.now();
    if let Some(sampled) = app.requests.admits(None, status, now) {
        app.requests.keep(Entry {
            at: now,
            request_id: text(&id).to_owned(),
            method: String::new(),
            path: app.requests.path(None, &refusal.path).to_owned(),
            status: status.as_u16(),
            us: 0,
            caller: Caller::default(),
            address: Some(peer.ip().to_canonical()),
            sampled,
        });
    }
    let stamp = Stamp::new(app, id, family, now);
    let reply =
        stamp.problem_reply(&problem, false).with(CONNECTION, HeaderValue::from_static("close"));
    app.traffic.count(None, status);
    stamp.reply(reply)
}

/// What is known of a request while it is served.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a request")]
struct Visit {
    method: Method,
    /// What it asked for, once nobody else needs it.
    uri: Uri,
    chunked: bool,
    id: HeaderValue,
    now: Instant,
    came: Moment,
    client: IpAddr,
    origin: Option<HeaderValue>,
    family: Family,
    html: bool,
    /// Whether a page may be sent compressed.
    packs: bool,
    route: Option<usize>,
    verdict: Option<Verdict>,
    identity: Option<(&'static str, i64)>,
    reader: Reader,
    body_unread: bool,
    /// The request's header map, used again for the answer.
    spare: HeaderMap,
}

impl Visit {
    fn new(app: &App, peer: SocketAddr, head: &Parts) -> Self {
        let forwarded = head.headers.get_all(X_FORWARDED_FOR);
        // A stray byte must not hide what the proxy added to the same line.
        let lines: Vec<_> =
            forwarded.iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
        let forwarded = lines.iter().map(|line| &**line);
        let family = Family::of_unknown_path(head.uri.path());
        let (now, came) = app.clock.reading();
        Self {
            method: head.method.clone(),
            uri: Uri::default(),
            chunked: head.headers.contains_key(TRANSFER_ENCODING),
            id: request_id(&head.headers),
            now,
            came,
            client: client_address(peer.ip(), forwarded, &app.config.server.trusted_proxies),
            origin: head.headers.get(ORIGIN).cloned(),
            family,
            html: family == Family::Page && wants_html(&head.headers),
            packs: family == Family::Page && pack::accepts(&head.headers, "gzip"),
            route: None,
            verdict: None,
            identity: None,
            reader: Reader::default(),
            body_unread: head.headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0"),
            spare: HeaderMap::new(),
        }
    }

    fn serve(&mut self, app: &Arc<App>, head: Parts, body: Incoming) -> Step {
        let (row, variables) = match self.find(app, &head) {
            Ok(found) => found,
            Err(answer) => {
                self.uri = head.uri;
                return Step::Done(answer);
            }
        };
        let route = &app.routes[row];
        let request = Request {
            head,
            body: Bytes::new(),
            variables,
            client: self.client,
            id: self.lend_id(),
            now: self.now,
            lane: Lane::InPlace,
            family: self.family,
            notice: None,
        };
        let at = Door { app, route, request, body };
        match &route.call {
            Call::Open(run) => self.pass(run, guard::open(app, route, &at.request), at),
            Call::Extension(run) => self.pass(run, guard::extension(app, &at.request), at),
            Call::Notification(run) => self.pass(run, guard::notification(app, &at.request), at),
            Call::Checkout(run) => self.pass(run, guard::checkout(app, &at.request), at),
            Call::Telegram(run) => self.pass(run, guard::telegram(app, &at.request), at),
            Call::Cron(run) => self.pass(run, guard::cron(app, &at.request), at),
            Call::Seller(operation) => {
                let pass = guard::seller(app, operation, &at.request);
                self.pass(&Run::Operation(*operation), pass, at)
            }
            Call::Supplier(operation) => {
                let pass = guard::supplier(app, operation, &at.request);
                self.pass(&Run::Operation(*operation), pass, at)
            }
            Call::Agent(run) => self.pass(run, guard::agent(app, &at.request), at),
            Call::Key(scope, run) => {
                self.pass(run, guard::key(app, *scope, route, &at.request), at)
            }
            Call::Visitor(run) => self.pass(run, guard::visitor(app, &at.request), at),
            Call::Session(access, run) => {
                self.pass(run, guard::person(app, *access, route, &at.request), at)
            }
        }
    }

    /// The row of a request with its path's variables, or the answer when
    /// there is nothing to call.
    fn find(&mut self, app: &App, head: &Parts) -> Result<Row, Result<Reply, Problem>> {
        let found = app.router.find(&head.method, head.uri.path());
        if !matches!(&found, Found::Row(row, _) if app.routes[*row].surface == Surface::Probe) {
            app.addresses.check_host(head).map_err(Err)?;
        }
        let (row, variables) = match found {
            Found::Row(row, variables) => (row, decoded(&variables)),
            Found::OtherMethods(allow, row) => {
                self.enter(app, row, head);
                return Err(Ok(self.other_method(app, head, allow)));
            }
            Found::Nothing => return Err(Err(Problem::not_found())),
        };
        self.enter(app, row, head);
        let limit = app.routes[row].body_limit(app);
        if declared_length(&head.headers).is_some_and(|length| length > limit as u64) {
            return Err(Err(intake::too_large()));
        }
        Ok((row, variables))
    }

    /// Notes the row, so that whatever happens is answered in its family.
    fn enter(&mut self, app: &App, row: usize, head: &Parts) {
        self.route = Some(row);
        self.family = app.routes[row].family();
        self.html = self.family == Family::Page && wants_html(&head.headers);
        let is_panel = matches!(self.family, Family::Page | Family::File);
        self.packs = is_panel && pack::accepts(&head.headers, "gzip");
    }

    fn other_method(&self, app: &App, head: &Parts, allow: HeaderValue) -> Reply {
        if head.method != Method::OPTIONS {
            let problem = Problem::new(Code::MethodNotAllowed, "this address has other methods");
            let stamp = Stamp::new(app, self.id.clone(), self.family, self.now);
            return stamp.problem_reply(&problem, self.html).with(ALLOW, allow);
        }
        let cors = self.route.map_or(Cors::None, |row| app.routes[row].surface.cors());
        let mut reply = Reply::empty(StatusCode::NO_CONTENT).with(ALLOW, allow);
        reply.headers.extend(cors.preflight(self.origin.as_ref(), &app.addresses));
        reply
    }

    /// From a guard's verdict to the handler's reply.
    fn pass<I: Send + Sync + 'static>(
        &mut self,
        run: &Run<I>,
        pass: Pass<I>,
        at: Door<'_>,
    ) -> Step {
        self.verdict = pass.verdict;
        self.identity = pass.who;
        let Door { app, route, mut request, body } = at;
        let identity = match pass.outcome {
            Ok(identity) => identity,
            Err(Refused::Problem(problem)) => return self.done(request, Err(problem)),
            Err(Refused::Redirect(reply)) => return self.done(request, Ok(reply)),
        };
        let charge = pass.charge;
        // A body that turns out to be too large costs nothing, so a call with
        // a body is counted after it.
        let is_whole = body.is_end_stream();
        let charged =
            if is_whole { charge.count(app, self.now) } else { charge.peek(app, self.now) };
        if let Err(problem) = self.show(charged) {
            return self.done(request, Err(problem));
        }
        if let Some(answer) = answer_without_body(app, run, &request) {
            let charged = if is_whole { Ok(()) } else { self.show(charge.count(app, self.now)) };
            return self.done(request, charged.and(answer));
        }
        if matches!(route.call, Call::Session(..) | Call::Visitor(..)) {
            self.reader = Reader::find(app, &mut request);
        }
        let mut late = Late { request, run: *run, identity, start: None, unread: None };
        if is_whole {
            self.body_unread = false;
            match contained(|| run.start(app, &late.identity, &late.request)) {
                Ok(Start::Begun(Todo::Now(reply))) => return self.done(late.request, Ok(reply)),
                Err(problem) => return self.done(late.request, Err(problem)),
                Ok(start) => late.start = Some(start),
            }
        } else {
            late.unread = Some((body, charge));
        }
        self.later(app, route, late)
    }

    /// What is left of a request that waits: for its body, a lane or the writer.
    fn later<I: Send + Sync + 'static>(
        &mut self,
        app: &Arc<App>,
        route: &Route,
        late: Late<I>,
    ) -> Step {
        let Late { mut request, run, identity, start, unread } = late;
        self.id = request.id.clone();
        self.uri = request.head.uri.clone();
        let (app, limit) = (Arc::clone(app), route.body_limit(app));
        let (who, mut verdict) = (self.identity, self.verdict);
        let proven = who.filter(|_| route.proves_in_head(&app, request.headers()));
        let sender = who.filter(|_| matches!(route.call, Call::Session(..)));
        let patience = if route.patient {
            Duration::MAX
        } else {
            Duration::from_secs(app.config.server.request_timeout_s)
        };
        Step::Later(Box::pin(async move {
            if let Some((body, charge)) = unread {
                let read = app.intake.read(body, limit, proven.map(account)).await;
                let charged = charge.count_body(&app, &read);
                verdict = charged.verdict;
                let body_unread = read.is_err();
                match charged.outcome.and(read) {
                    Ok(body) => request.body = body,
                    Err(problem) => return Worked { result: Err(problem), verdict, body_unread },
                }
            }
            if let Some((_, user)) = sender
                && once::may_bring(&request)
                && let Some(form) = FormSubmission::take(user, &mut request)
            {
                request.head.extensions.insert(form);
            }
            let result = forms::run_once(&app, request, patience, |request| {
                perform(&app, (run, start), (who, identity), request, patience)
            });
            Worked { result: result.await, verdict, body_unread: false }
        }))
    }

    /// Notes what the headers of the answer show.
    fn show(&mut self, charged: Charged) -> Result<(), Problem> {
        self.verdict = charged.verdict;
        charged.outcome
    }

    /// The request id, moved: a second handle of its bytes would cost an
    /// allocation.
    fn lend_id(&mut self) -> HeaderValue {
        std::mem::replace(&mut self.id, HeaderValue::from_static(""))
    }

    /// Ends a request that needs no waiting; its answer uses parts of it again.
    fn done(&mut self, request: Request, result: Result<Reply, Problem>) -> Step {
        self.id = request.id;
        self.uri = request.head.uri;
        self.spare = request.head.headers;
        Step::Done(result)
    }

    /// The answer for the wire, logged.
    fn finish(&mut self, app: &App, result: Result<Reply, Problem>) -> Response<Body> {
        std::mem::take(&mut self.reader).keep(app, &result, self.now);
        let is_head = self.method == Method::HEAD;
        let result = if is_head { result } else { result.and_then(|reply| charged(app, reply)) };
        let mut response = self.stamp(app, result);
        stamp::pack_page(&mut response, self.packs);
        if is_head {
            stamp::drop_body(&mut response);
        }
        if self.chunked || self.body_unread {
            // What is left of the body must not be read as a next request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        app.traffic.count(self.route, response.status());
        if let Some(sampled) = app.requests.admits(self.route, response.status(), self.now) {
            app.requests.keep(self.entry(app, &response, sampled));
        }
        if tracing::enabled!(tracing::Level::INFO) && is_logged(app, response.status()) {
            self.log(app, &response);
        }
        response
    }

    fn stamp(&mut self, app: &App, result: Result<Reply, Problem>) -> Response<Body> {
        if let Err(problem) = &result {
            self.log_cause(problem);
        }
        let stamp = Stamp {
            route: self.route.map(|row| &app.routes[row]),
            verdict: self.verdict,
            origin: self.origin.take(),
            spare: std::mem::take(&mut self.spare),
            ..Stamp::new(app, self.lend_id(), self.family, self.now)
        };
        match result {
            Ok(reply) => stamp.reply(reply),
            Err(problem) => stamp.problem(problem, self.html),
        }
    }

    fn log_cause(&self, problem: &Problem) {
        let Some(cause) = &problem.cause else { return };
        if problem.code == Code::Internal {
            tracing::error!(
                request_id = text(&self.id),
                cause = error_chain(&**cause),
                "a request failed"
            );
        } else {
            tracing::warn!(
                request_id = text(&self.id),
                cause = error_chain(&**cause),
                "a request was turned away"
            );
        }
    }

    /// The answer for the log of requests.
    fn entry(&self, app: &App, response: &Response<Body>, sampled: u32) -> Entry {
        Entry {
            at: self.now,
            request_id: request_id_of(response).to_owned(),
            method: self.method.as_str().to_owned(),
            path: app.requests.path(self.route, self.uri.path()).to_owned(),
            status: response.status().as_u16(),
            us: self.came.elapsed_us(),
            caller: Caller::of(self.identity),
            address: Some(self.client),
            sampled,
        }
    }

    fn log(&self, app: &App, response: &Response<Body>) {
        let (kind, who) = self.identity.unwrap_or(("none", 0));
        tracing::info!(
            request_id = request_id_of(response),
            method = self.method.as_str(),
            path = app.requests.path(self.route, self.uri.path()),
            status = response.status().as_u16(),
            micros = self.came.elapsed_us(),
            client = %self.client,
            kind,
            who,
            "request"
        );
    }
}

/// A request that waits.
struct Late<I: 'static> {
    request: Request,
    run: Run<I>,
    identity: I,
    /// What was done of it, when it has no body.
    start: Option<Start<I>>,
    /// Its body, and what the call costs once that is read.
    unread: Option<(Incoming, Charge)>,
}

/// The answer to a request that is decided before its body is read.
fn answer_without_body<I>(
    app: &App,
    run: &Run<I>,
    request: &Request,
) -> Option<Result<Reply, Problem>> {
    // Before anything walks over them.
    if let Err(problem) = input::check_query(request.query_text()) {
        return Some(Err(problem));
    }
    match run {
        Run::Login(reject_early, _) => reject_early(app, request),
        _ => None,
    }
}

/// A request whose head is known, before its guard.
struct Door<'a> {
    app: &'a Arc<App>,
    route: &'a Route,
    request: Request,
    body: Incoming,
}

/// An answer that is charged to the budget of unsent ones while it is large.
fn charged(app: &App, reply: Reply) -> Result<Reply, Problem> {
    let body = reply.body.charged(&app.unsent).ok_or_else(export::unsent)?;
    Ok(Reply { body, ..reply })
}

/// Whose budgets a caller uses: a person has one account, whatever opens it.
fn account((kind, id): (&'static str, i64)) -> Who {
    match kind {
        "session" | "extension" | "partner" => ("person", id),
        _ => (kind, id),
    }
}

/// Path variables as the handler reads them.
fn decoded(variables: &[(String, &str)]) -> Vec<(String, String)> {
    let decode =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    variables.iter().map(|(name, value)| (name.clone(), decode(value))).collect()
}

fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The caller's request id if it is short printable ASCII, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(stamp::X_REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        (1..=MAX_REQUEST_ID).contains(&bytes.len())
            && bytes.iter().all(|byte| (0x20..=0x7e).contains(byte))
    });
    given.cloned().unwrap_or_else(new_request_id)
}

/// The request id that an answer carries.
fn request_id_of(response: &Response<Body>) -> &str {
    response.headers().get(stamp::X_REQUEST_ID).map_or("", text)
}

/// A demonstration's log shows only what failed: the logins that it printed
/// stay in sight. Who configured it to debug sees everything.
fn is_logged(app: &App, status: StatusCode) -> bool {
    let failed = status.is_client_error() || status.is_server_error();
    failed || app.demo.is_empty() || tracing::enabled!(tracing::Level::DEBUG)
}

/// A request id for the log; ours and those we take are text.
fn text(id: &HeaderValue) -> &str {
    id.to_str().unwrap_or_default()
}

fn new_request_id() -> HeaderValue {
    HeaderValue::from_bytes(&crate::base::ids::request_id())
        .expect("hexadecimal digits fit a header")
}
