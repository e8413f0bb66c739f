//! `GET /painel/vendas/{id}/nota`: the fiscal note of one of the caller's
//! sales, fetched with the account's own token. Errors are plain
//! text. If there is no note, a browser is sent back to the page of the sale.

use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};

use super::{Refusal, told, told_of};
use crate::app::App;
use crate::base::{MlUserId, OrderId, UserId};
use crate::http::request::wants_html;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::books::orders;
use crate::marketplace::client::Failure;

const UNKNOWN: Refusal = (StatusCode::NOT_FOUND, "Esta venda não foi encontrada entre as suas.");
const NONE: Refusal =
    (StatusCode::NOT_FOUND, "Esta venda ainda não tem nota fiscal no marketplace.");
/// The notice for the page of a sale that has no note.
pub const NO_NOTE: &str = "sem-nota";

/// Fetches the note.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let order = OrderId(request.id()?);
    let owner = person.account.user_id;
    let sale = app.db.read(request.lane, |tx| orders::parcel_of(tx, owner, order))?;
    let Some((account, shipment)) = sale else {
        return Ok(told(UNKNOWN));
    };
    match fetch(app, owner, (account, order, shipment)) {
        Ok(note) => Ok(note),
        Err(error) => {
            let refusal = refusal(&error);
            // In a browser, the message is shown on the page that has the link.
            if refusal == NONE && wants_html(request.headers()) {
                let sale = format!("/painel/vendas/{order}");
                return Reply::back(&sale, NO_NOTE);
            }
            Ok(told_of(&error, refusal))
        }
    }
}

/// The fiscal note of a sale, fetched with the account's own token.
pub fn fetch(
    app: &App,
    owner: UserId,
    (account, order, shipment): (MlUserId, OrderId, Option<i64>),
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

fn refusal(error: &CallError) -> Refusal {
    match error {
        CallError::NotLinked => {
            (StatusCode::NOT_FOUND, "A conta desta venda não está mais vinculada.")
        }
        CallError::Failed(Failure::Refused { status: 400 | 404, .. }) => NONE,
        other => super::out_of_reach(other),
    }
}
