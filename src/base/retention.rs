//! How long data is kept: the one table of all retention times.
//!
//! The audit log is kept, and the data of a person or an order as long as that
//! person or order exists.

use crate::base::clock::{DAY_S, Instant};

/// What happens to data after its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Removed,
    /// Packed by day into the archive, which is kept.
    Archived,
}

/// How long one kind of data is kept.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// The name that people read.
    pub what: &'static str,
    /// Days after the data is no longer in use; for archived logs, full civil days.
    pub days: i64,
    pub then: Then,
}

impl Keep {
    const fn removed(what: &'static str, days: i64) -> Self {
        Self { what, days, then: Then::Removed }
    }

    const fn archived(what: &'static str, days: i64) -> Self {
        Self { what, days, then: Then::Archived }
    }

    /// When data whose use ends now was kept long enough.
    pub const fn after(&self, now: Instant) -> Instant {
        now.plus(self.days * DAY_S)
    }

    /// Data whose use ended before this instant was kept long enough.
    pub const fn before(&self, now: Instant) -> Instant {
        now.minus(self.days * DAY_S)
    }
}

pub const REQUESTS: Keep = Keep::archived("Requisições", 90);
/// Client addresses in what was packed of it; the rest stays.
pub const ADDRESSES: Keep = Keep::removed("Endereços em requisições arquivadas", 180);
pub const MESSAGES: Keep = Keep::archived("Mensagens enviadas, descartadas ou que falharam", 90);
pub const RUNS: Keep = Keep::archived("Histórico do cron", 90);
/// The values in the texts of messages. Without them no message can be resent.
pub const MESSAGE_BODIES: Keep = Keep::removed("Conteúdo dessas mensagens", 30);
pub const NOTIFICATIONS: Keep = Keep::removed("Notificações do marketplace já tratadas", 30);
pub const PURCHASE_BODIES: Keep = Keep::removed("Conteúdo dos eventos de compra", 30);
pub const MESSAGE_COUNTS: Keep = Keep::removed("Contagem de mensagens por dia", 400);
pub const SESSIONS: Keep = Keep::removed("Sessões e tokens da extensão encerrados", 30);
pub const LINKS: Keep = Keep::removed("Links de senha usados ou vencidos", 30);

pub const FORMS: Keep = Keep::removed("Formulários enviados, contra o envio em dobro", 1);
pub const CALLS: Keep = Keep::removed("Respostas da API de parceiros com Idempotency-Key", 1);
pub const NOTICES: Keep = Keep::removed("Avisos enviados pela API de parceiros", 90);
pub const RELATIONS: Keep = Keep::removed("Convites e relações de fornecedores que acabaram", 90);
pub const WEBHOOKS: Keep = Keep::removed("Entregas de webhooks", 30);
pub const STATES: Keep = Keep::removed("Situação da plataforma por dia", 90);
pub const OUTSIDE_CALLS: Keep = Keep::removed("Chamadas a outros serviços", 30);
pub const ERRORS: Keep = Keep::removed("Erros e alertas do log", 30);
pub const FEES: Keep = Keep::removed("Taxas consultadas no marketplace", 1);

pub const NEW_APPS: Keep = Keep::removed("Aplicativos que se apresentaram e ninguém conectou", 1);
/// Counted from the last connection or renewal.
pub const APPS: Keep = Keep::removed("Aplicativos que já foram conectados", 90);

/// The table.
pub const ALL: [Keep; 21] = [
    REQUESTS,
    ADDRESSES,
    MESSAGES,
    RUNS,
    MESSAGE_BODIES,
    MESSAGE_COUNTS,
    NOTIFICATIONS,
    PURCHASE_BODIES,
    SESSIONS,
    LINKS,
    FORMS,
    CALLS,
    NOTICES,
    RELATIONS,
    WEBHOOKS,
    STATES,
    OUTSIDE_CALLS,
    ERRORS,
    FEES,
    NEW_APPS,
    APPS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_tells_of_every_line() {
        let manual = include_str!("../../docs/operations.md");
        for keep in ALL {
            let then = match keep.then {
                Then::Removed => "removed",
                Then::Archived => "archived",
            };
            let line = format!("| {} | {} days | {then} |", keep.what, keep.days);
            assert!(manual.contains(&line), "no line {line:?}");
        }
    }
}
