//! The progress of an account's readings, as JSON and in words for its owner.

use serde::Serialize;

use super::Area;
use super::store::AreaState;
use crate::base::Zone;
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::client::Failure;
use crate::wire;

/// The state of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AreaStatus {
    /// It waits for its reading to begin.
    NaFila,
    /// A reading is under way.
    Lendo,
    /// Everything is read.
    EmDia,
    /// The last try failed; it will be retried.
    ComErro,
    /// The account must be linked again.
    Parada,
}

impl AreaStatus {
    /// The state of an area of an account.
    pub const fn of(state: &AreaState, token_ok: bool) -> Self {
        if !token_ok {
            Self::Parada
        } else if state.attempts > 0 {
            Self::ComErro
        } else if state.is_under_way() {
            Self::Lendo
        } else if state.is_wanted {
            Self::NaFila
        } else {
            Self::EmDia
        }
    }
}

wire! {
    /// An area of a linked account, as its owner's pages show it.
    #[derive(Serialize)]
    pub struct AreaJson of(area: Area, state: &AreaState, token_ok: bool, zone: Zone) {
        area: &'static str = area.name,
        titulo: &'static str = area.title,
        estado: AreaStatus = AreaStatus::of(state, token_ok),
        /// Records read by the reading under way, or by the last one.
        feitos: i64 = state.done,
        /// How many there are, as far as the marketplace says.
        esperados: Option<i64> = state.expected,
        iniciada_em: Option<String> = state.started_at.map(|at| zone.spaced(at)),
        terminada_em: Option<String> = state.ended_at.map(|at| zone.spaced(at)),
        /// Why the last try failed.
        erro: Option<String> = state.error.clone(),
    }
}

const REFUSED: &str = "O marketplace recusou esta leitura. Se continuar, vincule a conta de novo.";

/// Whether the words of a failure are those of a refusal: then waiting alone
/// may not help.
pub fn is_refusal(words: &str) -> bool {
    words == REFUSED
}

/// Why a reading has to wait, in words for the account's owner.
pub const fn failure(error: &CallError) -> &'static str {
    match error {
        CallError::NotLinked => "A conta não está vinculada.",
        CallError::LinkLost => "O vínculo se perdeu. Vincule a conta de novo.",
        CallError::Db(_) => {
            "A plataforma não conseguiu guardar o que leu. Ela tenta de novo sozinha."
        }
        CallError::Failed(failure) => match failure {
            Failure::RateLimited { .. } => {
                "O marketplace pediu uma pausa. A leitura continua sozinha."
            }
            Failure::Unreachable | Failure::Away { .. } => {
                "O marketplace não respondeu. A leitura continua sozinha."
            }
            Failure::Expired => {
                "O marketplace não aceitou o acesso para esta leitura. A plataforma tenta de novo sozinha."
            }
            Failure::Refused { .. } | Failure::Unprintable(_) => REFUSED,
            Failure::Garbled(_) => {
                "O marketplace respondeu algo que não se entende. A plataforma tenta de novo sozinha."
            }
        },
    }
}
