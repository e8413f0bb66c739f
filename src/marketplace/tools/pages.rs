//! `GET /painel/vendas/{id}/nota`: the fiscal note of one of the caller's
//! sales. Errors are plain text. If there is no note, a browser is sent back to
//! the page of the sale.

use http::StatusCode;

use super::invoices::{NONE, fetch, refusal};
use super::{Refusal, told, told_of};
use crate::app::App;
use crate::base::OrderId;
use crate::http::request::wants_html;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::orders;

const UNKNOWN: Refusal = (StatusCode::NOT_FOUND, "Esta venda não foi encontrada entre as suas.");

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
    match fetch(app, owner, account, order, shipment) {
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
