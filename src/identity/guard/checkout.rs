//! The checkout platform: a shared token, in a header or in the body.
//!
//! There is no signature, so a sender with the token can send any content.
//! Several tokens may be valid while one is being replaced.

use super::{Class, GuardResult, turned_away};
use crate::app::App;
use crate::base::secrets::Secret;
use crate::http::{Problem, Request};
use crate::identity::{CheckoutSender, Seal};
use crate::services::Services;
use crate::settings;

/// The checkout receiver: a token in the header is checked before the body is
/// read.
pub fn checkout(app: &App, request: &Request) -> GuardResult<CheckoutSender> {
    let mut presented = request.headers().get_all(&app.config.checkout.token_header).iter();
    let outcome = match (presented.next(), presented.next()) {
        (None, _) => Ok(false),
        // With two headers of this name it is unclear which one is meant.
        (Some(token), None) => is_accepted(app, request, token.to_str().unwrap_or_default()),
        (Some(_), Some(_)) => Err(Problem::unauthorized()),
    };
    match outcome {
        Ok(is_proven) => GuardResult {
            who: Some(("checkout", 0)),
            ..GuardResult::of(CheckoutSender { _seal: Seal, is_proven })
        },
        Err(problem) if super::is_ours(&problem) => GuardResult::refused(problem),
        Err(problem) => turned_away(app, request, Class::ApiAddress, problem),
    }
}

/// Checks the token that came in a body; a wrong or missing one counts
/// against the address.
pub fn prove_in_body(app: &App, request: &Request, presented: Option<&str>) -> Result<(), Problem> {
    match is_accepted(app, request, presented.unwrap_or_default()) {
        Ok(_) => Ok(()),
        Err(problem) if super::is_ours(&problem) => Err(problem),
        Err(problem) => Err(super::refused_late(app, request, problem)),
    }
}

/// True, or the refusal.
fn is_accepted(services: &Services, request: &Request, presented: &str) -> Result<bool, Problem> {
    let configured = &services.config.checkout.tokens;
    let is_good = if configured.is_empty() {
        generated(services, request)?.is_some_and(|token| token.matches(presented))
    } else {
        // All are compared, so that the time does not show which one is right.
        let good = configured.iter().filter(|token| token.matches(presented));
        good.count() > 0
    };
    if is_good { Ok(true) } else { Err(Problem::unauthorized()) }
}

/// The token that was made at the first start.
fn generated(services: &Services, request: &Request) -> Result<Option<Secret>, Problem> {
    let kept = services
        .db
        .read(request.lane, |tx| settings::secret(tx, &services.sealer, "checkout_token"))?;
    Ok(kept)
}
