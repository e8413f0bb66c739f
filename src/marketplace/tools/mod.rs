//! Tools for sellers: what a sale costs, labels for parcels, fiscal notes.

pub mod fees;
pub mod invoices;
pub mod labels;
pub mod pages;

use bytes::Bytes;
use http::StatusCode;
use http::header::RETRY_AFTER;

use super::client::Failure;
use crate::http::reply::media;
use crate::http::{Code, Problem, Reply};
use crate::marketplace::account::tokens::CallError;

/// A short sentence for the person who asked for a file, and its status.
type Refusal = (StatusCode, &'static str);

/// A message instead of a file, as plain text.
fn told<S: Into<Bytes>>((status, said): (StatusCode, S)) -> Reply {
    Reply::of(media::TEXT, said).status(status)
}

/// The message when a call to the marketplace failed.
pub const fn out_of_reach(error: &CallError) -> Refusal {
    let said = match error {
        CallError::NotLinked => "A conta não está vinculada.",
        CallError::LinkLost => {
            "A conta perdeu o vínculo com o marketplace. Vincule a conta de novo em Contas."
        }
        CallError::Db(_) => {
            let said = "A plataforma não conseguiu atender agora. Tente de novo em um instante.";
            return (StatusCode::INTERNAL_SERVER_ERROR, said);
        }
        CallError::Failed(failure) => match failure {
            Failure::RateLimited { .. } => {
                "O marketplace pediu uma pausa. Tente de novo em alguns minutos."
            }
            Failure::Unreachable => "O marketplace não respondeu. Tente de novo em um instante.",
            Failure::Away { .. } => {
                "O marketplace está fora do ar. Tente de novo em alguns instantes."
            }
            Failure::Expired => {
                "O marketplace não aceitou o acesso desta conta. Se continuar, vincule a conta de novo em Contas."
            }
            Failure::Refused { .. } | Failure::Unprintable(_) => {
                "O marketplace recusou este pedido. Se continuar, vincule a conta de novo em Contas."
            }
            Failure::Garbled(_) => {
                "O marketplace respondeu algo que não se entende. Tente de novo em alguns minutos."
            }
        },
    };
    (StatusCode::BAD_GATEWAY, said)
}

/// The message when a call returned no file, as plain text.
fn told_of<S: Into<Bytes>>(error: &CallError, refusal: (StatusCode, S)) -> Reply {
    let reply = told(refusal);
    match error.retry_after_s() {
        Some(seconds) => reply.with(RETRY_AFTER, seconds.into()),
        None => reply,
    }
}

/// The problem for a failed call, for API clients. It does not contain what the
/// marketplace said.
pub fn unavailable(error: CallError) -> Problem {
    let message = match &error {
        CallError::NotLinked => return Problem::not_found(),
        CallError::Db(_) => return Problem::internal(error),
        CallError::LinkLost => "the account must be linked again",
        CallError::Failed(Failure::Away { .. }) => "the marketplace is away; try again in a moment",
        CallError::Failed(_) => "the marketplace did not answer; try again in a moment",
    };
    Problem {
        retry_after_s: error.retry_after_s(),
        cause: Some(Box::new(error)),
        ..Problem::new(Code::MarketplaceUnavailable, message)
    }
}
