//! Stock movements: made by hand, by files and by orders.
//!
//! A movement changes the balance of its product in the same transaction, so the
//! two never differ. People cannot take out more units than there are. An order
//! can, because its units were sold already; the balance is then below zero.
//! Decisions catalog-2, catalog-3.

pub mod pages;
mod store;

pub use store::{page, record_movement, total};

use serde_json::json;

use super::MOST_UNITS;
use crate::base::{Instant, OrderId, grouped};
use crate::db::{Result, WriteTx};
use crate::marketplace::books::order_status::SaleState;
use crate::marketplace::books::orders::change::{OrderChange, SoldOrder};
use crate::messages::choices::ChannelSet;
use crate::messages::{News, tell};
use crate::named;
use crate::outbox::MessageKind;
use crate::{row, usual};

pub const LONGEST_REASON: usize = 120;

named! {
    /// Whether a movement adds, removes or corrects.
    pub enum StockMovementKind: number {
        In = 1, "entrada", "Entrada";
        Out = 2, "saida", "Saída";
        /// The units were counted.
        Adjust = 3, "ajuste", "Ajuste";
    }
}

row! {
    /// A movement as it is stored.
    #[derive(Clone, Debug)]
    pub struct Movement {
        /// Of this movement alone, over all products; never given again.
        pub id: i64 = "number",
        pub kind: StockMovementKind,
        /// The number of units that it adds to the balance.
        pub change: i64,
        /// The balance after the movement.
        pub balance: i64,
        pub reason: String,
        pub order_id: Option<OrderId>,
        pub created_at: Instant,
    }
}

usual! {
    /// A movement as a person or a program enters it.
    #[derive(Clone, Debug)]
    pub struct Entered {
        pub kind: StockMovementKind = StockMovementKind::In,
        /// Units; for an adjustment, the counted stock.
        pub quantity: i64,
        pub reason: String,
    }
}

/// Why a movement cannot be made.
#[derive(Clone, Copy, Debug)]
pub enum MovementFault {
    /// There are only so many units.
    TooFew(i64),
    TooMany,
}

impl MovementFault {
    pub fn said(self) -> String {
        match self {
            Self::TooFew(balance) => format!("there are only {} in stock", balance.max(0)),
            Self::TooMany => format!("there can be at most {MOST_UNITS} in stock"),
        }
    }
}

impl Entered {
    /// The change of the balance; an error when the new balance would be out of
    /// bounds.
    pub fn change(&self, balance: i64) -> std::result::Result<i64, MovementFault> {
        let change = match self.kind {
            StockMovementKind::In => self.quantity,
            StockMovementKind::Out => -self.quantity,
            StockMovementKind::Adjust => self.quantity - balance,
        };
        let after = balance + change;
        if self.kind == StockMovementKind::Out && after < 0 {
            return Err(MovementFault::TooFew(balance));
        }
        if after > MOST_UNITS { Err(MovementFault::TooMany) } else { Ok(change) }
    }

    /// Makes the movement of a product with this balance, and warns its owner when little
    /// is left.
    pub fn make(
        &self,
        tx: &WriteTx<'_>,
        channels: ChannelSet,
        product: i64,
        balance: i64,
    ) -> Result<std::result::Result<(), MovementFault>> {
        let change = match self.change(balance) {
            Ok(change) => change,
            Err(fault) => return Ok(Err(fault)),
        };
        record_movement(tx, product, self.kind, change, &self.reason, None)?;
        warn_of_low(tx, channels, product, change).map(Ok)
    }
}

/// Tells the owner of a product that a movement of `change` units has brought its
/// stock down to what the owner wants to be warned of. While it stays there
/// nothing more is told. Decision catalog-11.
pub fn warn_of_low(
    tx: &WriteTx<'_>,
    channels: ChannelSet,
    product: i64,
    change: i64,
) -> Result<()> {
    let Some((owner, stock, title)) = store::fallen(tx, product, change)? else { return Ok(()) };
    let Some(role) = store::role_of_seller(tx, owner)? else { return Ok(()) };
    let movement = store::newest(tx, product)?;
    let page = format!("{}/{product}", super::path_for(role));
    let cause = format!("estoque:{product}:{movement}");
    let left = match stock {
        1 => "Resta 1 unidade.".to_owned(),
        2.. => format!("Restam {} unidades.", grouped(stock)),
        0 => "Acabou o estoque.".to_owned(),
        _ => format!("Foram vendidas {} a mais do que havia.", grouped(stock.unsigned_abs())),
    };
    let news = News {
        title: "Estoque baixo",
        text: &format!("{title}. {left}"),
        reference: Some(&page),
        params: json!({ "product_id": product, "product": title, "left": left }),
        ..News::message(MessageKind::LowStock, channels, &cause)
    };
    tell(tx, owner, news).map(drop)
}

/// [`set_counted_stock`] of a product with this balance, and warns its owner when little is
/// left.
pub fn count_stock(
    tx: &WriteTx<'_>,
    channels: ChannelSet,
    product: i64,
    balance: i64,
    counted: i64,
    reason: &str,
) -> Result<()> {
    set_counted_stock(tx, product, balance, counted, reason)?;
    warn_of_low(tx, channels, product, counted - balance)
}

/// Sets the balance to what was counted, unless it is the same already.
pub fn set_counted_stock(
    tx: &WriteTx<'_>,
    product: i64,
    present: i64,
    counted: i64,
    reason: &str,
) -> Result<()> {
    if present != counted {
        let (kind, change) = (StockMovementKind::Adjust, counted - present);
        record_movement(tx, product, kind, change, reason, None)?;
    }
    Ok(())
}

/// Makes the stock that an order has taken equal to its present state: all
/// units of its product while it is paid, else none. Which states were seen before does not matter. The product is found by the SKU of the order, or
/// else by the SKU of its listing. The order must not be older than the
/// product's record, because the stock entered with the record does not include
/// earlier sales. An order that names the same goods as before keeps the product
/// that it took, whose SKU may have changed since.
pub fn follow_sale(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    let Some(order) = &change.goods() else { return Ok(()) };
    let owner = change.owner;
    let taken = store::taken_by(tx, owner, order.id)?;
    let product = match order.sale {
        SaleState::Paid if order.quantity > 0 => {
            match (store::product_of(tx, owner, order)?, &*taken) {
                (found, [(product, _)])
                    if found != Some(*product) && !change.names_other_goods(tx)? =>
                {
                    Some(*product)
                }
                (found, _) => found,
            }
        }
        _ => None,
    };
    let mut missing = order.quantity;
    for (other, units) in taken {
        if product == Some(other) {
            missing -= units;
        } else {
            move_units(tx, order, other, units)?;
        }
    }
    match product {
        Some(product) if missing != 0 => {
            move_units(tx, order, product, -missing)?;
            warn_of_low(tx, change.context.channel_set, product, -missing)
        }
        _ => Ok(()),
    }
}

/// Moves units of a product for an order: in when there are more than zero, else
/// out.
fn move_units(tx: &WriteTx<'_>, order: &SoldOrder<'_>, product: i64, change: i64) -> Result<()> {
    let (kind, what) = match order.sale {
        _ if change < 0 => (StockMovementKind::Out, ""),
        SaleState::Cancelled => (StockMovementKind::In, " cancelada"),
        SaleState::Paid => (StockMovementKind::In, " alterada"),
        SaleState::Open => (StockMovementKind::In, " não está mais paga"),
    };
    let reason = format!("Venda {}{what}", order.id);
    record_movement(tx, product, kind, change, &reason, Some(order.id)).map(drop)
}
