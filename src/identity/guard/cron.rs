//! Schedulers that run the periodic tasks: the cron secret, in the query or
//! as Bearer.

use std::borrow::Cow;
use std::sync::Once;

use super::{Class, GuardResult, bearer, browser, passed};
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
    let found = prove(app, request);
    let found = found.map(|()| GuardResult::of(CronCaller(Seal)).known_as("cron", 0));
    passed(app, request, Class::ApiAddress, found)
}

fn prove(services: &Services, request: &Request) -> Result<(), Problem> {
    let configured = &services.config.cron.secret;
    let secret = if configured.is_empty() {
        services
            .db
            .read(request.lane, |tx| settings::secret(tx, &services.sealer, "cron_secret"))?
    } else {
        Some(configured.clone())
    };
    let Some(secret) = secret.filter(|secret| !secret.is_empty()) else {
        return Err(Problem::unauthorized());
    };
    let mut in_query = form_urlencoded::parse(request.query_text().as_bytes())
        .filter(|(name, _)| name == "token")
        .map(|(_, value)| value);
    let given = match (in_query.next(), in_query.next()) {
        // With two values it is unclear which one is meant.
        (_, Some(_)) => None,
        (None, None) => bearer(request).map(Cow::from),
        (token, None) => token.inspect(|_| warn_of_query()),
    };
    let is_right = given.is_some_and(|given| secret.matches(&given));
    if is_right { Ok(()) } else { Err(Problem::unauthorized()) }
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
