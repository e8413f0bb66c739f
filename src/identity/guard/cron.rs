//! Schedulers that run the periodic tasks: the cron secret, in the query or
//! as Bearer.

use std::sync::Once;

use super::{Class, GuardResult, bearer, browser, is_ours, turned_away};
use crate::app::App;
use crate::http::{Problem, Request};
use crate::identity::{CronCaller, Seal};
use crate::services::Services;
use crate::settings;

/// The row that runs the periodic tasks.
pub fn cron(app: &App, request: &Request) -> GuardResult<CronCaller> {
    // A page of another origin, or a browser's prefetch, must not run them.
    if let Err(problem) = browser::same_origin(app, request) {
        return GuardResult::refused(problem);
    }
    match is_right(app, request) {
        Ok(true) => GuardResult { who: Some(("cron", 0)), ..GuardResult::of(CronCaller(Seal)) },
        Ok(false) => turned_away(app, request, Class::ApiAddress, Problem::unauthorized()),
        Err(problem) if is_ours(&problem) => GuardResult::refused(problem),
        Err(problem) => turned_away(app, request, Class::ApiAddress, problem),
    }
}

fn is_right(services: &Services, request: &Request) -> Result<bool, Problem> {
    let configured = &services.config.cron.secret;
    let secret = if configured.is_empty() {
        services
            .db
            .read(request.lane, |tx| settings::secret(tx, &services.sealer, "cron_secret"))?
    } else {
        Some(configured.clone())
    };
    let Some(secret) = secret.filter(|secret| !secret.is_empty()) else {
        return Ok(false);
    };
    let mut in_query = form_urlencoded::parse(request.query_text().as_bytes())
        .filter(|(name, _)| name == "token")
        .map(|(_, value)| value);
    let (token, second) = (in_query.next(), in_query.next());
    // With two values it is unclear which one is meant.
    if second.is_some() {
        return Ok(false);
    }
    if let Some(token) = token {
        warn_of_query();
        return Ok(secret.matches(&token));
    }
    Ok(bearer(request).is_some_and(|token| secret.matches(token)))
}

/// Warns once per process: proxies and browsers store addresses, and with them
/// the secret.
fn warn_of_query() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        tracing::warn!(
            "the cron secret came in the query, which proxies may log; send it as `Authorization: Bearer …`"
        );
    });
}
