//! How a handler runs, as its row says: in place, as a job of the writer, or
//! on a thread of the lane for its kind of work.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::account;
use crate::app::App;
use crate::base::trace;
use crate::db::{Lane, WriteTx};
use crate::edge::lanes::{self, CallerKey, LanePermit};
use crate::edge::route::{LaneKind, Run, SlowWork, Start, Todo};
use crate::http::limit::Subject;
use crate::http::{Problem, Reply, Request};
use crate::panel::once::FormSubmission;

/// Runs a handler as its row says, or finishes a handler that was started. If
/// the request has a form, its answer is stored.
pub(super) async fn perform<I: Send + Sync + 'static>(
    app: &Arc<App>,
    run: Run<I>,
    start: Option<Start<I>>,
    who: Option<(&'static str, i64)>,
    identity: I,
    request: Request,
    patience: Duration,
) -> Result<Reply, Problem> {
    let start = match start {
        Some(start) => start,
        None => contained(|| run.start(app, &identity, &request))?,
    };
    let form = FormSubmission::of(&request).cloned();
    let cause: Option<Arc<str>> = match &start {
        Start::Begun(Todo::Now(_)) => None,
        _ => request.id.to_str().ok().map(Arc::from),
    };
    let (place, work): (LanePermit, SlowWork<Reply>) = match start {
        Start::Begun(Todo::Now(reply)) => return Ok(reply),
        Start::Begun(Todo::Write(job)) => {
            let job = match form {
                Some(form) => Box::new(move |tx: &WriteTx<'_>| form.answer(tx, job)),
                None => job,
            };
            let queued = trace::within(cause, || app.db.submit(job));
            return in_time(patience, queued).await;
        }
        Start::Begun(Todo::Slow(work)) => {
            (app.server.lanes.slow.enter(caller_key(who, &request))?, work)
        }
        Start::Begun(Todo::Outside(work)) => {
            (app.server.lanes.outside.enter(caller_key(who, &request))?, work)
        }
        Start::Begun(Todo::Fetch(work)) => {
            let lanes = [&app.server.lanes.documents, &app.server.lanes.known_documents];
            (enter_by_caller(app, lanes, who, &request)?, work)
        }
        Start::InLane(kind, handler) => {
            let (place, lane) = enter(app, kind, who, &request)?;
            let request = Request { lane, ..request };
            (place, Box::new(move |app| handler(app, &identity, &request)))
        }
    };
    let app = Arc::clone(app);
    in_time(patience, async move {
        let turn = place.turn().await.map_err(Problem::internal)?;
        let work = tokio::task::spawn_blocking(move || {
            let _held = turn;
            let result = trace::within(cause, || contained(|| work(&app)));
            if let (Some(form), Ok(reply)) = (form, &result) {
                form.keep_after(&app.db, reply);
            }
            result
        });
        work.await.map_err(Problem::internal)?
    })
    .await
}

/// A place in the lane of a handler, and the database readers it may use.
fn enter(
    app: &App,
    kind: LaneKind,
    who: Option<(&'static str, i64)>,
    request: &Request,
) -> Result<(LanePermit, Lane), Problem> {
    Ok(match kind {
        LaneKind::Slow => (app.server.lanes.slow.enter(caller_key(who, request))?, Lane::Slow),
        LaneKind::InTurn => (app.server.lanes.runs.enter(caller_key(who, request))?, Lane::Slow),
        LaneKind::Outside => {
            (app.server.lanes.outside.enter(caller_key(who, request))?, Lane::Brief)
        }
        LaneKind::Password => (at_passwords(app, who, request)?, Lane::Brief),
        // The session may belong to another person than the one who logs in.
        LaneKind::Login => (at_passwords(app, None, request)?, Lane::Brief),
    })
}

/// A place for a request with a password.
fn at_passwords(
    app: &App,
    who: Option<(&'static str, i64)>,
    request: &Request,
) -> Result<LanePermit, Problem> {
    let lanes = [&app.server.lanes.passwords, &app.server.lanes.known_passwords];
    enter_by_caller(app, lanes, who, request)
}

/// The caller whose places a request uses.
fn caller_key(who: Option<(&'static str, i64)>, request: &Request) -> CallerKey {
    match who.map(account) {
        Some((kind, number)) => CallerKey::Identity(kind, number),
        None => CallerKey::Address(Subject::site(request.client)),
    }
}

/// A place in the first lane, or in the second one, which known callers have
/// for themselves.
fn enter_by_caller(
    app: &App,
    [unknown, known]: [&lanes::Lane; 2],
    who: Option<(&'static str, i64)>,
    request: &Request,
) -> Result<LanePermit, Problem> {
    let is_known = who.is_some() || app.callers.known_addresses.holds(request.client, request.now);
    let lane = if is_known { known } else { unknown };
    lane.enter(caller_key(who, request))
}

async fn in_time(
    patience: Duration,
    work: impl Future<Output = Result<Reply, Problem>>,
) -> Result<Reply, Problem> {
    tokio::time::timeout(patience, work).await.unwrap_or_else(|_| Err(too_slow()))
}

fn too_slow() -> Problem {
    Problem::unavailable("this took too long; it may still be finished", 5)
}

/// Turns a panic in a handler into an error of this one request.
pub(super) fn contained<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Problem::internal(panic_text(&*panic))))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a handler panicked: {}", text.unwrap_or("without a message"))
}
