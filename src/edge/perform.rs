//! How a handler runs, as its row says: in place, as a job of the writer, or
//! on a thread of the lane for its kind of work.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::account;
use crate::app::App;
use crate::db::{Lane, WriteTx};
use crate::edge::lanes::{Place, Whose};
use crate::edge::route::Run;
use crate::http::limit::Subject;
use crate::http::{Problem, Reply, Request};
use crate::panel::once::Once;

/// Runs a handler the way its row says, and stores what a form is answered.
pub(super) async fn perform<I: Send + Sync + 'static>(
    app: &Arc<App>,
    run: Run<I>,
    (who, identity): (Option<(&'static str, i64)>, I),
    request: Request,
    patience: Duration,
) -> Result<Reply, Problem> {
    if let Some(handler) = run.in_place(&request) {
        return contained(|| handler(app, &identity, &request));
    }
    let (handler, place, lane) = match run {
        Run::Write(handler) => {
            let job = contained(|| handler(app, &identity, &request))?;
            let job = match Once::of(&request).cloned() {
                Some(once) => Box::new(move |tx: &WriteTx<'_>| once.answer(tx, job)),
                None => job,
            };
            return in_time(patience, app.db.submit(job)).await;
        }
        Run::Read(handler) | Run::Slow(handler) | Run::ReadOrSlow(_, handler) => {
            (handler, app.lanes.slow.enter(whose(who, &request))?, Lane::Slow)
        }
        Run::InTurn(handler) => (handler, app.lanes.runs.enter(whose(who, &request))?, Lane::Slow),
        Run::Outside(handler) | Run::ReadOrOutside(_, handler) => {
            (handler, app.lanes.outside.enter(whose(who, &request))?, Lane::Brief)
        }
        Run::Password(handler) => (handler, at_passwords(app, who, &request)?, Lane::Brief),
        // A session says nothing of who logs in.
        Run::Login(_, handler) => (handler, at_passwords(app, None, &request)?, Lane::Brief),
    };
    let app = Arc::clone(app);
    in_time(patience, async move {
        let turn = place.turn().await.map_err(Problem::internal)?;
        let work = tokio::task::spawn_blocking(move || {
            let _held = turn;
            let request = Request { lane, ..request };
            let result = contained(|| handler(&app, &identity, &request));
            if let (Some(once), Ok(reply)) = (Once::of(&request), &result) {
                once.clone().keep_after(&app.db, reply);
            }
            result
        });
        work.await.map_err(Problem::internal)?
    })
    .await
}

/// Whose places a request takes.
fn whose(who: Option<(&'static str, i64)>, request: &Request) -> Whose {
    match who.map(account) {
        Some((kind, number)) => Whose::Identity(kind, number),
        None => Whose::Address(Subject::address(request.client)),
    }
}

/// A place for a password. Those of people whom we know are apart.
fn at_passwords(
    app: &App,
    who: Option<(&'static str, i64)>,
    request: &Request,
) -> Result<Place, Problem> {
    let is_known = who.is_some() || app.familiar.holds(request.client, request.now);
    let lane = if is_known { &app.lanes.known_passwords } else { &app.lanes.passwords };
    lane.enter(whose(who, request))
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

/// A panic in a handler is the failure of one request, not of the process.
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
