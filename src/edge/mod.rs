//! All steps of a request, in their order from top to bottom.
//!
//! accept → row and host → size → guard → limit → body → handler → stamp. The
//! route table says what happens at each step; there is no middleware. Handlers
//! are plain functions; only the steps around them are async.

mod counted;
pub mod docs;
mod door;
mod forms;
pub mod lanes;
mod packed;
mod perform;
mod request_id;
pub mod route;
pub mod stamp;
pub mod todo;

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_LENGTH, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use hyper::body::{Body as _, Incoming};

use self::request_id::{new_request_id, request_id, request_id_of, text};
use self::stamp::Stamp;
use crate::app::App;
use crate::base::clock::{Instant, Moment};
use crate::base::text::error_chain;
use crate::db::Lane;
use crate::edge::route::{Call, Route, Run, Start, Surface, Todo};
use crate::http::budget::AccountKey;
use crate::http::cors::Cors;
use crate::http::head::Refusal;
use crate::http::limit::Verdict;
use crate::http::request::wants_html;
use crate::http::router::Found;
use crate::http::server::client_address;
use crate::http::{Body, Code, Family, Problem, Reply, Request, input, intake, pack};
use crate::identity::guard::{self, Charge, Charged, GuardResult, QuotaHold};
use crate::operations::requests::{Caller, RequestEntry};
use crate::panel::export;
use crate::panel::once::{self, FormSubmission};
use crate::services::Services;

use forms::PageSession;
use perform::{contained, perform};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Answers one request of a peer, or leads it to HTTPS.
///
/// The call itself does everything that needs no waiting; for most requests
/// this is all. Then no part of the request is moved into the returned future,
/// and the connection can reuse its buffer.
pub fn answer(
    app: &Arc<App>,
    peer: SocketAddr,
    request: http::Request<Incoming>,
) -> impl Future<Output = Response<Body>> + Send + use<> {
    let (head, body) = request.into_parts();
    let answer = if let Some(response) = door::moved(app, &head) {
        Answer::Ready(response)
    } else {
        let mut exchange = Exchange::new(app, peer, &head);
        match exchange.serve(app, head, body) {
            Step::Done(result) => Answer::Ready(exchange.finish(app, result)),
            Step::Later(work) => {
                let app = Arc::clone(app);
                Answer::Later(Box::pin(async move {
                    let done = work.await;
                    exchange.body_unread = done.body_unread;
                    exchange.verdict = done.verdict;
                    exchange.held = done.held;
                    exchange.finish(&app, done.result)
                }))
            }
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

/// The state of a request after the steps that need no waiting.
enum Step {
    Done(Result<Reply, Problem>),
    Later(Pin<Box<Work>>),
}

/// The result of a request that had to wait.
struct PendingResult {
    result: Result<Reply, Problem>,
    verdict: Option<Verdict>,
    held: Option<QuotaHold>,
    body_unread: bool,
}

/// The number of a row of the route table, and the variables of the path.
type Row = (usize, Vec<(String, String)>);

type Work = dyn Future<Output = PendingResult> + Send;

/// The answer to a malformed request head; the connection closes after it.
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
    let path = app.health.requests.path(None, &refusal.path);
    tracing::info!(
        request_id = text(&id),
        path = &*path,
        status = status.as_u16(),
        "refused a malformed request"
    );
    let now = app.clock.now();
    if let Some(sampled) = app.health.requests.admits(None, status, now) {
        app.health.requests.keep(RequestEntry {
            at: now,
            request_id: text(&id).to_owned(),
            method: String::new(),
            path: path.into_owned(),
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
    app.health.traffic.count(None, status, 0);
    stamp.reply(reply)
}

/// State of a request while it is handled.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a request")]
struct Exchange {
    method: Method,
    /// The requested address; set late, because the request owns it first.
    uri: Uri,
    chunked: bool,
    id: HeaderValue,
    now: Instant,
    came: Moment,
    client: IpAddr,
    origin: Option<HeaderValue>,
    family: Family,
    html: bool,
    /// Whether the answer may be sent compressed.
    packs: bool,
    route: Option<usize>,
    verdict: Option<Verdict>,
    /// What a 304 gives back.
    held: Option<QuotaHold>,
    identity: Option<(&'static str, i64)>,
    page_session: PageSession,
    body_unread: bool,
    /// The request's header map, reused for the answer.
    spare: HeaderMap,
}

impl Exchange {
    fn new(services: &Services, peer: SocketAddr, head: &Parts) -> Self {
        let forwarded = head.headers.get_all(X_FORWARDED_FOR);
        // An invalid byte must not hide the address that the proxy added to the
        // same line.
        let lines: Vec<_> =
            forwarded.iter().map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
        let forwarded = lines.iter().map(|line| &**line);
        let family = Family::of_unknown_path(head.uri.path());
        let (now, came) = services.clock.reading();
        Self {
            method: head.method.clone(),
            uri: Uri::default(),
            chunked: head.headers.contains_key(TRANSFER_ENCODING),
            id: request_id(&head.headers),
            now,
            came,
            client: client_address(peer.ip(), forwarded, &services.config.server.trusted_proxies),
            origin: head.headers.get(ORIGIN).cloned(),
            family,
            html: family == Family::Page && wants_html(&head.headers),
            packs: pack::accepts(&head.headers, "gzip"),
            route: None,
            verdict: None,
            held: None,
            identity: None,
            page_session: PageSession::default(),
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
        let route = &app.server.routes[row];
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
        let shops = match &route.call {
            Call::Seller(_) | Call::Supplier(_) | Call::Agent(_) => guard::trial(app, &request),
            _ => Ok(None),
        };
        let shops = match shops {
            Ok(shops) => shops,
            Err(problem) => return self.done(request, Err(problem)),
        };
        let app = shops.as_ref().unwrap_or(app);
        let at = MatchedRequest { app, route, request, body };
        match &route.call {
            Call::Open(run) => self.pass(run, guard::open(app, route, &at.request), at),
            Call::Extension(run) => self.pass(run, guard::extension(app, &at.request), at),
            Call::Notification(run) => self.pass(run, guard::notification(app, &at.request), at),
            Call::Checkout(run) => self.pass(run, guard::checkout(app, &at.request), at),
            Call::Telegram(run) => self.pass(run, guard::telegram(app, &at.request), at),
            Call::Chat(run) => self.pass(run, guard::chat(app, &at.request), at),
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

    /// The row of a request with the variables of its path, or the answer when
    /// no handler is to be called.
    fn find(&mut self, app: &App, head: &Parts) -> Result<Row, Result<Reply, Problem>> {
        let found = app.server.router.find(&head.method, head.uri.path());
        if !matches!(&found, Found::Row(row, _) if app.server.routes[*row].surface == Surface::Probe)
        {
            app.server.addresses.check_host(head).map_err(Err)?;
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
        let limit = app.server.routes[row].body_limit(app);
        if declared_length(&head.headers).is_some_and(|length| length > limit as u64) {
            return Err(Err(intake::too_large()));
        }
        Ok((row, variables))
    }

    /// Stores the row, so that from here on every error has the shape of the
    /// row's family.
    fn enter(&mut self, app: &App, row: usize, head: &Parts) {
        self.route = Some(row);
        self.family = app.server.routes[row].family();
        self.html = self.family == Family::Page && wants_html(&head.headers);
    }

    fn other_method(&self, app: &App, head: &Parts, allow: HeaderValue) -> Reply {
        if head.method != Method::OPTIONS {
            let problem = Problem::new(Code::MethodNotAllowed, "this address has other methods");
            let stamp = Stamp::new(app, self.id.clone(), self.family, self.now);
            return stamp.problem_reply(&problem, self.html).with(ALLOW, allow);
        }
        let cors = self.route.map_or(Cors::None, |row| app.server.routes[row].surface.cors());
        let mut reply = Reply::empty(StatusCode::NO_CONTENT).with(ALLOW, allow);
        reply.headers.extend(cors.preflight(self.origin.as_ref(), &app.server.addresses));
        reply
    }

    /// The steps from the guard's result to the handler's reply.
    fn pass<I: Send + Sync + 'static>(
        &mut self,
        run: &Run<I>,
        pass: GuardResult<I>,
        at: MatchedRequest<'_>,
    ) -> Step {
        self.verdict = pass.verdict;
        self.identity = pass.who;
        let MatchedRequest { app, route, mut request, body } = at;
        let identity = match pass.outcome {
            Ok(identity) => identity,
            Err(problem) => return self.done(request, Err(problem)),
        };
        let charge = pass.charge;
        // A call whose body is too large costs nothing, so a call with a body
        // is counted after its body was read.
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
            self.page_session = PageSession::find(app, &mut request);
        }
        let mut pending =
            PendingRequest { request, run: *run, identity, start: None, unread: None };
        if is_whole {
            self.body_unread = false;
            match contained(|| run.start(app, &pending.identity, &pending.request)) {
                Ok(Start::Begun(Todo::Now(reply))) => return self.done(pending.request, Ok(reply)),
                Err(problem) => return self.done(pending.request, Err(problem)),
                Ok(start) => pending.start = Some(start),
            }
        } else {
            pending.unread = Some((body, charge));
        }
        self.later(app, route, pending)
    }

    /// The rest of a request that has to wait for its body, a lane or the writer.
    fn later<I: Send + Sync + 'static>(
        &mut self,
        app: &Arc<App>,
        route: &Route,
        pending: PendingRequest<I>,
    ) -> Step {
        let PendingRequest { mut request, run, identity, start, unread } = pending;
        self.id = request.id.clone();
        self.uri = request.head.uri.clone();
        let (app, limit) = (Arc::clone(app), route.body_limit(app));
        let (who, mut verdict, mut held) = (self.identity, self.verdict, self.held.take());
        let proven = who.filter(|_| route.proves_in_head(&app, request.headers())).map(account);
        let known = proven.or_else(|| route.claims_in_head().then_some(intake::CLAIMED));
        let sender = who.filter(|_| matches!(route.call, Call::Session(..)));
        let patience = if route.without_timeout {
            Duration::MAX
        } else {
            Duration::from_secs(app.config.server.request_timeout_s)
        };
        Step::Later(Box::pin(async move {
            if let Some((body, charge)) = unread {
                let read = app.server.intake.read(body, limit, known).await;
                let charged = charge.count_body(&app, &read);
                (verdict, held) = (charged.verdict, charged.held);
                let body_unread = read.is_err();
                let form = |body| input::checked_form(request.headers(), body);
                match charged.outcome.and(read).and_then(form) {
                    Ok(body) => request.body = body,
                    Err(problem) => {
                        return PendingResult { result: Err(problem), verdict, held, body_unread };
                    }
                }
            }
            if let Some((_, user)) = sender
                && once::may_bring(&request)
                && let Some(form) = FormSubmission::take(user, &mut request)
            {
                request.head.extensions.insert(form);
            }
            let result = forms::run_once(&app, request, patience, |request| {
                perform(&app, run, start, who, identity, request, patience)
            });
            PendingResult { result: result.await, verdict, held, body_unread: false }
        }))
    }

    /// Stores the verdict for the headers of the answer, and what may be given back.
    fn show(&mut self, charged: Charged) -> Result<(), Problem> {
        (self.verdict, self.held) = (charged.verdict, charged.held);
        charged.outcome
    }

    /// Moves the request id out, because cloning it would cost an allocation.
    fn lend_id(&mut self) -> HeaderValue {
        std::mem::replace(&mut self.id, HeaderValue::from_static(""))
    }

    /// Ends a request that needs no waiting; the answer reuses parts of it.
    fn done(&mut self, request: Request, result: Result<Reply, Problem>) -> Step {
        self.id = request.id;
        self.uri = request.head.uri;
        self.spare = request.head.headers;
        Step::Done(result)
    }

    /// Makes the answer that is sent, counts it and logs it.
    fn finish(&mut self, app: &App, result: Result<Reply, Problem>) -> Response<Body> {
        std::mem::take(&mut self.page_session).keep(app, &result, self.now);
        if let Some(held) = self.held.take()
            && matches!(&result, Ok(reply) if reply.status == StatusCode::NOT_MODIFIED)
        {
            self.verdict = Some(held.give_back());
        }
        let is_head = self.method == Method::HEAD;
        let result = result.or_else(Problem::into_answer);
        let result = if is_head { result } else { result.and_then(|reply| charged(app, reply)) };
        let mut response = self.stamp(app, result);
        let turns = &app.sending.turns;
        packed::pack(&mut response, self.family, self.packs, turns);
        if is_head {
            stamp::drop_body(&mut response);
        }
        if self.chunked || self.body_unread {
            // The unread rest of the body must not be read as the next request.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        app.health.traffic.count(self.route, response.status(), self.came.elapsed_us());
        if let Some(sampled) = app.health.requests.admits(self.route, response.status(), self.now) {
            app.health.requests.keep(self.entry(app, &response, sampled));
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
            route: self.route.map(|row| &app.server.routes[row]),
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

    /// The entry for the log of requests.
    fn entry(&self, app: &App, response: &Response<Body>, sampled: u32) -> RequestEntry {
        RequestEntry {
            at: self.now,
            request_id: request_id_of(response).to_owned(),
            method: self.method.as_str().to_owned(),
            path: app.health.requests.path(self.route, self.uri.path()).into_owned(),
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
            path = &*app.health.requests.path(self.route, self.uri.path()),
            status = response.status().as_u16(),
            micros = self.came.elapsed_us(),
            client = %self.client,
            kind,
            who,
            "request"
        );
    }
}

/// A request that has to wait.
struct PendingRequest<I: 'static> {
    request: Request,
    run: Run<I>,
    identity: I,
    /// The started handler, when the request has no body.
    start: Option<Start<I>>,
    /// The unread body, and what the call costs once the body is read.
    unread: Option<(Incoming, Charge)>,
}

/// The answer to a request that can be answered before its body is read.
fn answer_without_body<I>(
    app: &App,
    run: &Run<I>,
    request: &Request,
) -> Option<Result<Reply, Problem>> {
    // Checked before anything iterates over the parameters.
    if let Err(problem) = input::check_query(request.query_text()) {
        return Some(Err(problem));
    }
    match run {
        Run::Login(reject_early, _) => reject_early(app, request),
        _ => None,
    }
}

/// A request whose row was found, before its guard has decided.
struct MatchedRequest<'a> {
    app: &'a Arc<App>,
    route: &'a Route,
    request: Request,
    body: Incoming,
}

/// The answer, charged to the budget of unsent answers if it is large.
fn charged(services: &Services, reply: Reply) -> Result<Reply, Problem> {
    let body = reply.body.charged(&services.sending.unsent).ok_or_else(export::unsent)?;
    Ok(Reply { body, ..reply })
}

/// The owner of the budgets that a caller uses. A person has the same budgets
/// with a session, an extension token or a partner token.
fn account((kind, id): (&'static str, i64)) -> AccountKey {
    match kind {
        "session" | "extension" | "partner" => ("person", id),
        _ => (kind, id),
    }
}

/// Path variables, percent-decoded for the handler.
fn decoded(variables: &[(String, &str)]) -> Vec<(String, String)> {
    let decode =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    variables.iter().map(|(name, value)| (name.clone(), decode(value))).collect()
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether an answer is logged. A demonstration logs only failed requests, so
/// that the logins which it printed stay visible; at the level `debug` it logs
/// all.
fn is_logged(app: &App, status: StatusCode) -> bool {
    let failed = status.is_client_error() || status.is_server_error();
    failed || app.server.demo.is_empty() || tracing::enabled!(tracing::Level::DEBUG)
}
