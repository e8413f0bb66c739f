//! Labels of shipments as one file: reads the request, checks whether it is
//! allowed, and fetches the labels.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue};

use super::batches::{self, Batch};
use super::desk::Desk;
use super::{BARRED, NOT_FOUND, barred, of_cause, refusal, unknown};
use crate::app::App;
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{Lane, ReadTx, Result};
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{Failure, LABELS_AT_ONCE, Unprinted};
use crate::marketplace::tools::{Refusal, out_of_reach, told, told_of};

/// Most shipments of one request for which the marketplace is asked who sends
/// them, because no stored order has them.
const MOST_ASKED: usize = 5;

const NO_BATCH: Refusal = (
    StatusCode::NOT_FOUND,
    "Este lote não existe mais. Volte à página Etiquetas e imprima de novo.",
);
const ALL_LEFT: Refusal = (
    StatusCode::NOT_FOUND,
    "Todos os pacotes deste lote já saíram, e o marketplace não dá mais a etiqueta.",
);

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
    Ok(ask(app, request, owner, account, &shipments, lost))
}

/// The file of a batch again: what was kept of it, else what the marketplace gives for
/// those of its parcels that have not left. `may` says whether the caller prints for
/// the batch's account.
pub fn print_batch(
    app: &App,
    request: &Request,
    desk: &Desk,
    may: impl FnOnce(&ReadTx<'_>, &Batch) -> Result<bool>,
) -> std::result::Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| {
        let Some(batch) = batches::one(tx, id)? else { return Ok(None) };
        if !may(tx, &batch)? {
            return Ok(None);
        }
        Ok::<_, Problem>(Some((batch, batches::labels(tx, id)?)))
    })?;
    let Some((batch, labels)) = found else { return Ok(told(NO_BATCH)) };
    if let Some(file) = app.marketplace.printed_files.get(id, request.now) {
        return Ok(pdf(file));
    }
    let waiting: Vec<i64> =
        labels.iter().filter(|label| label.waits).map(|label| label.shipment).collect();
    if waiting.is_empty() {
        return Ok(told(ALL_LEFT));
    }
    Ok(ask(app, request, batch.owner, batch.account, &waiting, desk.lost))
}

/// A file of labels.
pub fn pdf(file: impl Into<Bytes>) -> Reply {
    let place = HeaderValue::from_static("inline; filename=\"etiquetas.pdf\"");
    Reply::of(PDF, file).with(CONTENT_DISPOSITION, place)
}

/// The labels of an account's shipments as one PDF, or why there is none.
fn ask(
    app: &App,
    request: &Request,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
    lost: &'static str,
) -> Reply {
    match fetch(app, request.now, owner, account, shipments) {
        Ok(bytes) => pdf(bytes),
        Err(CallError::LinkLost) => told((StatusCode::BAD_GATEWAY, lost)),
        Err(error) => not_printed(&error, shipments),
    }
}

/// The message for labels that did not come.
pub fn not_printed(error: &CallError, shipments: &[i64]) -> Reply {
    let (status, said) = refusal(error, shipments);
    told_of(error, (status, said.into_owned()))
}

/// The labels of an account's shipments as one PDF. Those that the marketplace refuses are
/// noted, so that nobody is offered them for a while.
pub fn fetch(
    app: &App,
    now: Instant,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
) -> std::result::Result<Vec<u8>, CallError> {
    let labels = from_marketplace(app, owner, account, shipments);
    let refused = &app.marketplace.refused_labels;
    match &labels {
        Ok(_) => refused.forget(account, shipments),
        Err(error) => {
            tracing::info!(%error, account = account.0, "no label");
            if let CallError::Failed(Failure::Unprintable(failed)) = error {
                let asked = |one: &&Unprinted| shipments.contains(&one.shipment);
                for one in failed.iter().filter(asked).filter(|one| one.cause != BARRED) {
                    refused.note(account, one.shipment, of_cause(&one.cause).1, now);
                }
            }
        }
    }
    labels
}

/// What the marketplace gives for an account's shipments. It is not asked while one of
/// them must not be sent.
pub fn from_marketplace(
    app: &App,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
) -> std::result::Result<Vec<u8>, CallError> {
    let barred = app.db.read(Lane::Brief, |tx| barred(tx, owner, account, shipments))?;
    if !barred.is_empty() {
        let unprinted = |shipment| Unprinted { shipment, cause: BARRED.to_owned() };
        return Err(Failure::Unprintable(barred.into_iter().map(unprinted).collect()).into());
    }
    with_own_token(app, owner, account, |caller| app.marketplace.client.labels(caller, shipments))
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
