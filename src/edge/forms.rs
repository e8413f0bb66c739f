//! Steps around the handler of a page or form: a form does its work only once
//! (`panel/once.rs`), and a notice about its result is shown once
//! (`panel/notices.rs`).

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::base::{Instant, TokenHash};
use crate::db::Lane;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::identity::guard;
use crate::panel::notices;
use crate::panel::once::FormSubmission;

/// The session of a page request, and the notice about its last action.
#[derive(Default)]
pub struct PageSession {
    session: Option<TokenHash>,
    /// The page, and the word whose notice it is to show.
    shows: Option<(String, String)>,
}

impl PageSession {
    /// Finds the session, and puts its waiting word into the request.
    pub fn find(app: &App, request: &mut Request) -> Self {
        let cookie = guard::session_cookie(app, request.headers()).ok().flatten();
        let mut reader = Self { session: cookie.map(TokenHash::of), shows: None };
        if let Some(session) = reader.session
            && notices::is_view(request.method(), request.headers())
        {
            request.notice = app.server.notices.take(session, request.path(), request.now);
            let page = request.path().to_owned();
            reader.shows = request.notice.clone().map(|word| (page, word));
        }
        reader
    }

    /// Stores the word of the answer for the next page, and the waiting word
    /// again if this answer did not show it.
    pub fn keep(self, app: &App, result: &Result<Reply, Problem>, now: Instant) {
        let reply = result.as_ref().ok();
        let is_page = |reply: &Reply| reply.media.as_ref() == Some(&media::HTML);
        let unshown = self.shows.filter(|_| !reply.is_some_and(is_page));
        let told = reply.and_then(|reply| reply.notice.as_deref().cloned());
        let fresh = reply.and_then(|reply| guard::session_given(app, &reply.headers));
        let Some(session) = fresh.or(self.session) else { return };
        for (page, word) in unshown.into_iter().chain(told) {
            app.server.notices.put(session, &page, &word, now);
        }
    }
}

/// Handles a request. For a form that was handled before, it returns the stored
/// answer instead. Requests with the same form run one after the other.
pub async fn run_once<F>(
    app: &Arc<App>,
    mut request: Request,
    patience: Duration,
    run: impl FnOnce(Request) -> F,
) -> Result<Reply, Problem>
where
    F: Future<Output = Result<Reply, Problem>>,
{
    let Some(form) = FormSubmission::of(&request).cloned() else {
        return run(request).await;
    };
    let lock = tokio::time::timeout(patience, app.server.form_locks.enter(&form)).await;
    let lock = lock.map_err(|_| Problem::unavailable("this form is being worked on", 5))?;
    let answered = || app.db.read(Lane::InPlace, |tx| form.answered(tx));
    if let Some(reply) = answered()? {
        return Ok(reply);
    }
    request.head.extensions.insert(form.clone().holding(lock));
    let result = run(request).await;
    // An earlier request with this form, whose caller disconnected, may have
    // finished in the meantime.
    let is_fault = result.as_ref().map_or(true, |reply| reply.status.is_client_error());
    if is_fault && let Some(reply) = answered()? {
        return Ok(reply);
    }
    result
}
