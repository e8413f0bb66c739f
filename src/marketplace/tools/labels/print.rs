//! Labels of shipments as one file: reads the request, checks whether it is
//! allowed, and fetches the labels.

use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};

use super::{NOT_FOUND, of_cause, refusal, unknown};
use crate::app::App;
use crate::base::{MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{Failure, LABELS_AT_ONCE};
use crate::marketplace::tools::{out_of_reach, told, told_of};

/// Most shipments of one request for which the marketplace is asked who sends
/// them, because no stored order has them.
const MOST_ASKED: usize = 5;

const PDF: HeaderValue = HeaderValue::from_static("application/pdf");

/// Reads the address of a file: shipments, in one parameter or in several, and
/// their account. A form with nothing selected has no shipment.
fn asked(request: &Request) -> Option<(MlUserId, Vec<i64>)> {
    let (mut account, mut shipments) = (None, Vec::new());
    for (name, value) in form_urlencoded::parse(request.query_text().as_bytes()) {
        match &*name {
            "conta" if account.is_none() => account = Some(positive(&value)?),
            "conta" => return None,
            "shipment_id" => {
                for part in value.split(',') {
                    let id = positive(part.trim())?;
                    if !shipments.contains(&id) {
                        shipments.push(id);
                    }
                    if shipments.len() > LABELS_AT_ONCE {
                        return Some((MlUserId(account.unwrap_or(0)), shipments));
                    }
                }
            }
            _ => {}
        }
    }
    Some((MlUserId(account?), shipments))
}

fn positive(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| *number > 0)
}

/// The labels of shipments of one account as one PDF. `owner_of` returns the
/// owner of the account, if the caller may print its labels. Errors are plain
/// text; `lost` is the message for an account whose link is lost.
pub fn print(
    app: &App,
    request: &Request,
    lost: &'static str,
    owner_of: impl FnOnce(&ReadTx<'_>, MlUserId) -> Result<Option<UserId>>,
) -> std::result::Result<Reply, Problem> {
    let Some((account, shipments)) = asked(request) else {
        let said = "O endereço da etiqueta precisa de shipment_id e conta, que são números.";
        return Ok(told((StatusCode::BAD_REQUEST, said)));
    };
    if shipments.is_empty() {
        let said = "Nenhum pacote foi marcado. Volte à página Etiquetas, marque os pacotes e imprima de novo.";
        return Ok(told((StatusCode::BAD_REQUEST, said)));
    }
    if shipments.len() > LABELS_AT_ONCE {
        return Ok(told(of_cause("shipment_ids")));
    }
    let found = app.db.read(request.lane, |tx| {
        let Some(owner) = owner_of(tx, account)? else { return Ok(None) };
        Ok::<_, Problem>(Some((owner, unknown(tx, owner, account, &shipments)?)))
    })?;
    let Some((owner, unknown)) = found.filter(|(_, unknown)| unknown.len() <= MOST_ASKED) else {
        return Ok(told(NOT_FOUND));
    };
    for shipment in unknown {
        if let Err(reply) = is_sent_by(app, owner, account, shipment) {
            return Ok(reply);
        }
    }
    let labels = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.labels(caller, &shipments)
    });
    let refused = &app.marketplace.refused_labels;
    match labels {
        Ok(bytes) => {
            refused.forget(account, &shipments);
            let place = HeaderValue::from_static("inline; filename=\"etiquetas.pdf\"");
            Ok(Reply::of(PDF, bytes).with(CONTENT_DISPOSITION, place))
        }
        Err(error) => {
            tracing::info!(%error, account = account.0, "no label");
            if let CallError::Failed(Failure::Unprintable(failed)) = &error {
                for one in failed {
                    if shipments.contains(&one.shipment) {
                        let why = of_cause(&one.cause).1;
                        refused.note(account, one.shipment, why, request.now);
                    }
                }
            }
            if matches!(error, CallError::LinkLost) {
                return Ok(told((StatusCode::BAD_GATEWAY, lost)));
            }
            let (status, said) = refusal(&error, &shipments);
            Ok(told_of(&error, (status, said.into_owned())))
        }
    }
}

/// Checks that an account sends a shipment, according to the marketplace.
fn is_sent_by(
    app: &App,
    owner: UserId,
    account: MlUserId,
    shipment: i64,
) -> std::result::Result<(), Reply> {
    let sender = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.sender_of(caller, shipment)
    });
    match sender {
        Ok(Some(sender)) if sender == account.0 => Ok(()),
        Ok(_) => Err(told(NOT_FOUND)),
        Err(error) => {
            tracing::info!(%error, account = account.0, "a shipment was not found");
            let refusal = match &error {
                // Whatever the reason, it is not a shipment of this account.
                CallError::NotLinked
                | CallError::Failed(Failure::Refused { status: 400 | 403 | 404, .. }) => NOT_FOUND,
                error => out_of_reach(error),
            };
            Err(told_of(&error, refusal))
        }
    }
}
