//! The fiscal note of a sale, fetched with the account's own token.

use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};

use super::{Refusal, told_of};
use crate::app::App;
use crate::base::{MlUserId, OrderId, UserId};
use crate::http::Reply;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::Failure;

pub(super) const NONE: Refusal =
    (StatusCode::NOT_FOUND, "Esta venda ainda não tem nota fiscal no marketplace.");
/// The fiscal note of a sale, fetched with the account's own token.
pub fn fetch(
    app: &App,
    owner: UserId,
    account: MlUserId,
    order: OrderId,
    shipment: Option<i64>,
) -> Result<Reply, CallError> {
    let note = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.invoice(caller, order, shipment)
    });
    let note =
        note.inspect_err(|error| tracing::info!(%error, account = account.0, "no fiscal note"))?;
    let (kind, place) = match &*note.kind {
        "application/pdf" => ("application/pdf", "inline; filename=\"nota-fiscal.pdf\""),
        _ => ("application/xml", "attachment; filename=\"nota-fiscal.xml\""),
    };
    Ok(Reply::of(HeaderValue::from_static(kind), note.bytes)
        .with(CONTENT_DISPOSITION, HeaderValue::from_static(place)))
}

/// The message for a fiscal note that did not come.
pub fn not_fetched(error: &CallError) -> Reply {
    told_of(error, refusal(error))
}

pub(super) fn refusal(error: &CallError) -> Refusal {
    match error {
        CallError::NotLinked => {
            (StatusCode::NOT_FOUND, "A conta desta venda não está mais vinculada.")
        }
        CallError::Failed(Failure::Refused { status: 400 | 404, .. }) => NONE,
        other => super::out_of_reach(other),
    }
}
