//! The checkout platform: a shared token, in a header or in the body.
//!
//! There is no signature, so a sender with the token can send any content.
//! Several tokens may be valid while one is being replaced.

use super::{Class, GuardResult, is_ours, passed, refused_late};
use crate::app::App;
use crate::http::{Problem, Request};
use crate::identity::{CheckoutSender, Seal};
use crate::services::Services;
use crate::settings;

/// The checkout receiver: a token in the header is checked before the body is
/// read.
pub fn checkout(app: &App, request: &Request) -> GuardResult<CheckoutSender> {
    let mut presented = request.headers().get_all(&app.config.checkout.token_header).iter();
    let proven = match (presented.next(), presented.next()) {
        (None, _) => Ok(false),
        // With two headers of this name it is unclear which one is meant.
        (Some(_), Some(_)) => Err(Problem::unauthorized()),
        (Some(token), None) => {
            prove(app, request, token.to_str().unwrap_or_default()).map(|()| true)
        }
    };
    let sender = |is_proven| CheckoutSender { _seal: Seal, is_proven };
    let found = proven.map(|is| GuardResult::of(sender(is)).known_as("checkout", 0));
    passed(app, request, Class::ApiAddress, found)
}

/// Checks the token that came in a body; a wrong or missing one counts
/// against the address.
pub fn prove_in_body(app: &App, request: &Request, presented: Option<&str>) -> Result<(), Problem> {
    prove(app, request, presented.unwrap_or_default()).map_err(|problem| {
        if is_ours(&problem) { problem } else { refused_late(app, request, problem) }
    })
}

fn prove(services: &Services, request: &Request, presented: &str) -> Result<(), Problem> {
    let configured = &services.config.checkout.tokens;
    let is_good = if configured.is_empty() {
        // The token that was made at the first start.
        let generated = services
            .db
            .read(request.lane, |tx| settings::secret(tx, &services.sealer, "checkout_token"))?;
        generated.is_some_and(|token| token.matches(presented))
    } else {
        // All are compared, so that the time does not show which one is right.
        let good = configured.iter().filter(|token| token.matches(presented));
        good.count() > 0
    };
    if is_good { Ok(()) } else { Err(Problem::unauthorized()) }
}
