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

macro_rules! table {
    ($($(#[$about:meta])* $name:ident = $then:ident($what:literal, $days:literal);)*) => {
        $($(#[$about])* pub const $name: Keep = Keep::$then($what, $days);)*

        /// The table.
        pub const ALL: [Keep; [$(stringify!($name)),*].len()] = [$($name),*];
    };
}

table! {
    REQUESTS = archived("Requisições", 90);
    /// Client addresses in what was packed of it; the rest stays.
    ADDRESSES = removed("Endereços em requisições arquivadas", 180);
    MESSAGES = archived("Mensagens enviadas, descartadas ou que falharam", 90);
    RUNS = archived("Histórico do cron", 90);
    /// The values in the texts of messages. Without them no message can be resent.
    MESSAGE_BODIES = removed("Conteúdo dessas mensagens", 30);
    MESSAGE_COUNTS = removed("Contagem de mensagens por dia", 400);
    NOTIFICATIONS = removed("Notificações do marketplace já tratadas", 30);
    PURCHASE_BODIES = removed("Conteúdo dos eventos de compra", 30);
    SESSIONS = removed("Sessões e tokens da extensão encerrados", 30);
    LINKS = removed("Links de senha usados ou vencidos", 30);
    FORMS = removed("Formulários enviados, contra o envio em dobro", 1);
    CALLS = removed("Respostas da API de parceiros com Idempotency-Key", 1);
    NOTICES = removed("Avisos enviados pela API de parceiros", 90);
    /// Who was told and who read it; the announcements stay.
    ANNOUNCEMENTS = removed("Leitores de comunicados", 400);
    RELATIONS = removed("Convites e relações de fornecedores que acabaram", 90);
    WEBHOOKS = removed("Entregas de webhooks", 30);
    /// But for the newest of each account.
    EVENTS = removed("Eventos para buscar pela API", 30);
    STATES = removed("Situação da plataforma por dia", 90);
    OUTSIDE_CALLS = removed("Chamadas a outros serviços", 30);
    ERRORS = removed("Erros e alertas do log", 30);
    FEES = removed("Taxas consultadas no marketplace", 1);
    LABELS = removed("Quais etiquetas foram impressas, e quando", 90);
    NEW_APPS = removed("Aplicativos que se apresentaram e ninguém conectou", 1);
    /// Counted from the last connection or renewal.
    APPS = removed("Aplicativos que já foram conectados", 90);
}

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
