//! Queues: how much waits in each, and since when the oldest does.
//!
//! Everything here is found by an index or read from totals, however long a queue is.

use crate::base::Instant;
use crate::db::{ReadTx, Result};
use crate::marketplace::inbox::received::store as inbox;
use crate::outbox;
use crate::partner::webhooks;

/// Endpoints of webhooks, and notifications, that are looked at: those of the first
/// accounts, or those that are due first.
const LOOKED_AT: u32 = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its name in figures.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The page with what waits; may be empty.
    pub page: &'static str,
    pub length: i64,
    /// When the oldest of it came; `None` when nothing waits.
    pub oldest: Option<Instant>,
}

impl Queue {
    /// Seconds since the oldest came; 0 when nothing waits.
    pub fn age_s(&self, now: Instant) -> i64 {
        self.oldest.map_or(0, |oldest| now.since(oldest).max(0))
    }
}

/// All queues.
pub fn all(tx: &ReadTx<'_>) -> Result<[Queue; 3]> {
    let queue = |name, title, page, (length, oldest)| Queue { name, title, page, length, oldest };
    let notifications = (inbox::figures(tx)?.waiting, inbox::oldest_waiting(tx, LOOKED_AT)?);
    Ok([
        queue(
            "outbox",
            "Mensagens a enviar",
            "/admin/mensagens?estado=pendente",
            outbox::all_waiting(tx)?,
        ),
        queue("webhooks", "Entregas de webhooks", "", webhooks::all_waiting(tx, LOOKED_AT)?),
        queue(
            "notifications",
            "Notificações do marketplace",
            "/admin/notificacoes?estado=pendente",
            notifications,
        ),
    ])
}
