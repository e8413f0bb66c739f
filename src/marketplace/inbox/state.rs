//! How far a notification is.

use crate::named;

named! {
    pub enum NotificationState: number {
        Waiting = 0, "pendente", "Pendentes";
        Done = 1, "processada", "Processadas";
        Ignored = 2, "ignorada", "Ignoradas";
        Failed = 3, "falhou", "Falharam";
        /// Of a topic without a handler, kept by an older version.
        Kept = 4, "guardada", "Guardadas";
    }
}
