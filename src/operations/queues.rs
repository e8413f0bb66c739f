//! Queues: how much waits in each, and since when the oldest does.
//!
//! Everything here is found by an index or read from totals, however long a queue is.

use super::store;
use crate::base::Instant;
use crate::db::{ReadTx, Result};

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
    Ok([outbox(tx)?, webhooks(tx)?, notifications(tx)?])
}

fn outbox(tx: &ReadTx<'_>) -> Result<Queue> {
    Ok(Queue {
        name: "outbox",
        title: "Mensagens a enviar",
        page: "/admin/mensagens?estado=pendente",
        length: store::outbox_waiting(tx)?,
        oldest: tx.maybe(
            "SELECT created_at FROM outbox WHERE state = 0 ORDER BY message_id LIMIT 1",
            [],
        )?,
    })
}

fn webhooks(tx: &ReadTx<'_>) -> Result<Queue> {
    let due = "SELECT endpoint_id FROM webhook_endpoint INDEXED BY webhook_endpoint_due
               WHERE next_at IS NOT NULL AND state = 1 LIMIT ?1";
    let (mut length, mut oldest) = (0, None);
    for endpoint in tx.values::<i64>(due, [LOOKED_AT])? {
        length += tx.value::<i64>(
            "SELECT coalesce(sum(deliveries), 0) FROM webhook_count
             WHERE endpoint_id = ?1 AND state = 0",
            [endpoint],
        )?;
        let first: Option<Instant> = tx.maybe(
            "SELECT created_at FROM webhook_delivery WHERE endpoint_id = ?1 AND state = 0
             ORDER BY number LIMIT 1",
            [endpoint],
        )?;
        oldest = oldest.into_iter().chain(first).min();
    }
    let (name, title) = ("webhooks", "Entregas de webhooks");
    Ok(Queue { name, title, page: "", length, oldest })
}

fn notifications(tx: &ReadTx<'_>) -> Result<Queue> {
    Ok(Queue {
        name: "notifications",
        title: "Notificações do marketplace",
        page: "/admin/notificacoes?estado=pendente",
        length: store::inbox(tx)?.waiting,
        oldest: tx.value(
            "SELECT min(received_at) FROM (
                 SELECT received_at FROM ml_notification INDEXED BY ml_notification_waiting
                 WHERE state = 0 ORDER BY next_try_at, notification_id LIMIT ?1)",
            [LOOKED_AT],
        )?,
    })
}
