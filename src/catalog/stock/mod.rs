//! Stock movements: made by hand, by files and by orders.
//!
//! A movement changes the balance of its product in the same transaction, so the
//! two never differ. People cannot take out more units than there are. An order
//! can, because its units were sold already; the balance is then below zero.
//! Decisions catalog-2, catalog-3.

pub mod pages;
mod store;

pub use store::{movement, page, record_movement, total};

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

/// Makes the stock that an order has taken equal to its present state: the units of each
/// of its lines while its goods are out, else none. Which states were seen before does not
/// matter. The product of a line is found by the SKU on the order, or else by that of its
/// listing. The order must not be older than the product's record, because the stock
/// entered with the record does not include earlier sales. An order that names the same
/// goods as before keeps the products that it took, whose SKUs may have changed since.
pub fn follow_sale(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    if change.is_of_parcel() {
        let (were_out, are_out) = change.are_out(tx)?;
        if were_out == are_out {
            return Ok(());
        }
    }
    let order = change.goods(tx)?;
    let taken = store::taken_by(tx, change.owner, order.id)?;
    if taken.is_empty() && !order.is_out {
        return Ok(());
    }
    let wanted = wanted(tx, change, &order, &taken)?;
    for (product, units) in &taken {
        if !wanted.iter().any(|(wanted, _)| wanted == product) {
            move_units(tx, &order, *product, *units)?;
        }
    }
    for (product, units) in wanted {
        let already =
            taken.iter().find(|(taken, _)| *taken == product).map_or(0, |(_, units)| *units);
        if units != already {
            move_units(tx, &order, product, already - units)?;
            warn_of_low(tx, change.context.channel_set, product, already - units)?;
        }
    }
    Ok(())
}

/// The products of which units of an order are to be out, and how many.
fn wanted(
    tx: &WriteTx<'_>,
    change: &OrderChange<'_>,
    order: &SoldOrder,
    taken: &[(i64, i64)],
) -> Result<Vec<(i64, i64)>> {
    if !order.is_out {
        return Ok(Vec::new());
    }
    let mut found = Vec::with_capacity(order.goods.len());
    for goods in &order.goods {
        found.push((store::product_of(tx, change.owner, order.created_at, goods)?, goods.units));
    }
    // A line whose product is not the one that was taken: when the order names the same
    // goods, and one line and one product are left over, they belong together.
    let is_taken = |product: i64| taken.iter().any(|(taken, _)| *taken == product);
    let is_found = |taken: i64| found.iter().any(|(product, _)| *product == Some(taken));
    let strays: Vec<usize> =
        (0..found.len()).filter(|place| !found[*place].0.is_some_and(is_taken)).collect();
    let left: Vec<i64> =
        taken.iter().map(|(product, _)| *product).filter(|taken| !is_found(*taken)).collect();
    if let ([stray], [product]) = (&*strays, &*left)
        && !change.names_other_goods(tx)?
    {
        found[*stray].0 = Some(*product);
    }
    let mut wanted: Vec<(i64, i64)> = Vec::new();
    for (product, units) in found {
        let Some(product) = product.filter(|_| units > 0) else { continue };
        match wanted.iter_mut().find(|(known, _)| *known == product) {
            Some((_, sum)) => *sum += units,
            None => wanted.push((product, units)),
        }
    }
    Ok(wanted)
}

/// Moves units of a product for an order: in when there are more than zero, else
/// out.
fn move_units(tx: &WriteTx<'_>, order: &SoldOrder, product: i64, change: i64) -> Result<()> {
    let (kind, what) = match order.sale {
        _ if change < 0 => (StockMovementKind::Out, ""),
        SaleState::Cancelled if order.is_divided => (StockMovementKind::In, " dividida"),
        SaleState::Cancelled => (StockMovementKind::In, " cancelada"),
        SaleState::Paid => (StockMovementKind::In, " alterada"),
        SaleState::Open => (StockMovementKind::In, " não está mais paga"),
    };
    let reason = format!("Venda {}{what}", order.id);
    record_movement(tx, product, kind, change, &reason, Some(order.id)).map(drop)
}
