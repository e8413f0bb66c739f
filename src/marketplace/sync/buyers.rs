//! Names of buyers, which searches of orders may leave out.
//!
//! Requested only for orders that changed recently: a year of orders would take
//! as many calls as it has buyers.

use parking_lot::Mutex;
use std::collections::HashMap;

use super::StepContext;
use crate::db::Result;
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::document::OrderDocument;

/// Most buyers that are looked up in a window.
const MOST: usize = 100;

/// Names that were looked up in a window.
#[derive(Default)]
pub struct Names(Mutex<HashMap<i64, String>>);

impl Names {
    /// Adds the buyer's name to orders that lack it, unless the books have it.
    pub fn add(&self, reading: &StepContext<'_>, orders: &mut [OrderDocument]) -> Result<()> {
        for order in orders.iter_mut().filter(|order| order.buyer_nickname.is_empty()) {
            let Some(buyer) = order.buyer_id else {
                continue;
            };
            if !is_known(reading, order)? {
                order.buyer_nickname = self.name(reading, buyer).unwrap_or_default();
            }
        }
        Ok(())
    }

    fn name(&self, reading: &StepContext<'_>, buyer: i64) -> Option<String> {
        let lock = || self.0.lock();
        let known = lock().get(&buyer).cloned();
        if known.is_some() || reading.is_time_over() || lock().len() >= MOST {
            return known;
        }
        let name = reading.call(|client, caller| client.nickname(caller, buyer));
        let name = name.map_err(|error: CallError| {
            tracing::debug!(%error, "a buyer's name is not to be had");
        });
        // A buyer who has no name, or whose request failed, is not requested
        // again.
        let name = name.unwrap_or_default();
        lock().insert(buyer, name.clone());
        Some(name)
    }
}

fn is_known(reading: &StepContext<'_>, order: &OrderDocument) -> Result<bool> {
    let owner = reading.account.owner;
    let named: Option<i64> = reading.look_up(|tx| {
        tx.maybe(
            "SELECT 1 FROM sale_order WHERE order_id = ?1 AND owner_id = ?2 AND buyer_nickname <> ''",
            (order.id, owner),
        )
    })?;
    Ok(named.is_some())
}
