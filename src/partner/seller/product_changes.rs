//! `set_stock`, `adjust_stock` and `set_product_price`: what the panel changes of a
//! product, by a token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::products::WireProduct;
use super::stock::StockMovement;
use crate::app::App;
use crate::audit::objects::PRODUCT;
use crate::base::{Cents, Zone};
use crate::catalog::stock::{self, Entered, LONGEST_REASON, MovementFault, StockMovementKind};
use crate::catalog::{
    LONGEST_SKU, MOST_CENTS, MOST_UNITS, Product, is_amount,
    store::{self, ByProduct},
};
use crate::db::{self, ReadTx, WriteTx};
use crate::edge::route::Todo;
use crate::http::{Check, Code, Field, Problem, RowNumber, schema};
use crate::identity::Seller;
use crate::messages::choices::ChannelSet;
use crate::partner::by::By;
use crate::partner::operation::{Begun, Operation};
use crate::partner::products::{named_once, names_once};

/// The highest amount, in BRL.
const MOST_REAIS: i64 = MOST_CENTS / 100;

/// A schema in which a field must be there.
fn with(name: &str) -> Value {
    json!({ "required": [name] })
}

/// How many units of a product there are, as somebody counted them. The product is named
/// by `product_id` or by `sku`.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = names_once)]
pub struct SetStock {
    /// A product of the seller, by its id.
    #[serde(default)]
    product_id: Field<RowNumber>,
    /// A product of the seller, by its SKU.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(1..=LONGEST_SKU)))]
    sku: Field<String>,
    /// Units that were counted.
    #[serde(default)]
    #[schemars(!default, range(min = 0, max = MOST_UNITS))]
    balance: Field<i64>,
    /// Why, in the seller's words; up to 120 characters.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(0..=LONGEST_REASON)))]
    reason: Field<String>,
}

/// Units of a product that came or went. The product is named by `product_id` or by `sku`.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = names_once)]
pub struct AdjustStock {
    /// A product of the seller, by its id.
    #[serde(default)]
    product_id: Field<RowNumber>,
    /// A product of the seller, by its SKU.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(1..=LONGEST_SKU)))]
    sku: Field<String>,
    /// Units that came in; below zero those that went out. Not zero.
    #[serde(default)]
    #[schemars(!default, range(min = -MOST_UNITS, max = MOST_UNITS), extend("not" = json!({ "const": 0 })))]
    quantity: Field<i64>,
    /// Why, in the seller's words; up to 120 characters.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(0..=LONGEST_REASON)))]
    reason: Field<String>,
}

/// What a product sells for, or costs, or both. It is named by `product_id` or by `sku`.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend(
    "if" = json!({ "required": ["product_id"] }),
    "then" = json!({ "not": { "required": ["sku"] }, "if": with("cost"), "else": with("price") }),
    "else" = json!({ "required": ["sku"], "if": with("cost"), "else": with("price") }),
))]
pub struct SetPrice {
    /// A product of the seller, by its id.
    #[serde(default)]
    product_id: Field<RowNumber>,
    /// A product of the seller, by its SKU.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(1..=LONGEST_SKU)))]
    sku: Field<String>,
    /// What the seller asks for it, in BRL; 0 while that is not known.
    #[serde(default)]
    #[schemars(range(min = 0, max = MOST_REAIS))]
    price: Field<Cents>,
    /// What it costs the seller, in BRL; 0 while that is not known.
    #[serde(default)]
    #[schemars(range(min = 0, max = MOST_REAIS))]
    cost: Field<Cents>,
}

/// The stock of a product after a change.
#[derive(Serialize, JsonSchema)]
pub struct ChangedStock {
    /// The seller's own code of the product.
    sku: String,
    /// Number of the product on this platform.
    product_id: String,
    /// What the seller calls it.
    title: String,
    /// Units there were before.
    balance_before: i64,
    /// Units there are now.
    balance: i64,
    /// The movement that this made; empty when there were as many already.
    movements: Vec<StockMovement>,
}

/// The product that the caller means; null is no name.
fn named(check: &mut Check, id: Field<RowNumber>, sku: Field<String>) -> ByProduct {
    let id = check.stated("product_id", id);
    let sku = check.stated_line("sku", sku, LONGEST_SKU);
    named_once(check, id, sku)
}

/// What a change of a product needs besides the transaction.
struct Changing {
    by: By,
    named: ByProduct,
    channels: ChannelSet,
    zone: Zone,
}

impl Changing {
    fn of(app: &App, seller: &Seller, named: ByProduct) -> Self {
        Self { by: By::of(seller), named, channels: ChannelSet::of(&app.config), zone: app.zone() }
    }

    fn product(&self, tx: &ReadTx<'_>) -> Result<Product, Problem> {
        self.named.find(tx, self.by.owner)?.ok_or_else(Problem::not_found)
    }

    /// Audits a change of stock, and says what it came to.
    fn moved(&self, tx: &WriteTx<'_>, before: Product, last: i64) -> Result<ChangedStock, Problem> {
        let newest = stock::page(tx, before.id, 0, 1)?.into_iter().next();
        let movement = newest.filter(|newest| newest.id > last);
        let balance = movement.as_ref().map_or(before.stock, |movement| movement.balance);
        if let Some(movement) = &movement {
            let act = PRODUCT.act("produto.estoque", before.id, &before.entry.sku);
            let (was, is) = (
                json!({ "estoque": before.stock }),
                json!({ "estoque": balance, "motivo": movement.reason }),
            );
            self.by.note(tx, &act, Some(&was), is)?;
        }
        Ok(ChangedStock {
            sku: before.entry.sku,
            product_id: before.id.to_string(),
            title: before.entry.title,
            balance_before: before.stock,
            balance,
            movements: movement.into_iter().map(|one| StockMovement::of(one, self.zone)).collect(),
        })
    }
}

/// Number of a product's newest movement; 0 without one.
fn last(tx: &ReadTx<'_>, product: i64) -> db::Result<i64> {
    Ok(stock::page(tx, product, 0, 1)?.first().map_or(0, |movement| movement.id))
}

impl Operation for SetStock {
    type By = Seller;
    type Reply = ChangedStock;

    /// The product is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let named = named(&mut check, self.product_id, self.sku);
        let counted: i64 = check.required("balance", self.balance);
        if !(0..=MOST_UNITS).contains(&counted) {
            check.fail("balance", format!("must be from 0 to {MOST_UNITS}"));
        }
        let reason = check.stated_line("reason", self.reason, LONGEST_REASON);
        check.finish()?;
        let changing = Changing::of(app, seller, named);
        Ok(Todo::Write(Box::new(move |tx| {
            let before = changing.product(tx)?;
            let last = last(tx, before.id)?;
            let (channels, stock) = (changing.channels, before.stock);
            stock::count_stock(tx, channels, before.id, stock, counted, &reason)?;
            changing.moved(tx, before, last)
        })))
    }
}

impl Operation for AdjustStock {
    type By = Seller;
    type Reply = ChangedStock;

    /// The product is not the caller's, or has not so many units.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::Conflict];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let named = named(&mut check, self.product_id, self.sku);
        let quantity: i64 = check.required("quantity", self.quantity);
        if quantity == 0 || !(-MOST_UNITS..=MOST_UNITS).contains(&quantity) {
            check.fail("quantity", format!("must be from -{MOST_UNITS} to {MOST_UNITS}, not 0"));
        }
        let reason = check.stated_line("reason", self.reason, LONGEST_REASON);
        check.finish()?;
        let kind = if quantity < 0 { StockMovementKind::Out } else { StockMovementKind::In };
        let entered = Entered { kind, quantity: quantity.abs(), reason };
        let changing = Changing::of(app, seller, named);
        Ok(Todo::Write(Box::new(move |tx| {
            let before = changing.product(tx)?;
            let last = last(tx, before.id)?;
            entered.make(tx, changing.channels, before.id, before.stock)?.map_err(impossible)?;
            changing.moved(tx, before, last)
        })))
    }
}

fn impossible(fault: MovementFault) -> Problem {
    Problem::program_conflict(fault.said())
}

impl Operation for SetPrice {
    type By = Seller;
    type Reply = WireProduct;

    /// The product is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let named = named(&mut check, self.product_id, self.sku);
        let price: Option<Cents> = check.stated("price", self.price);
        let cost: Option<Cents> = check.stated("cost", self.cost);
        for (name, amount) in [("price", price), ("cost", cost)] {
            if amount.is_some_and(|amount| !is_amount(amount)) {
                check.fail(name, format!("must be from 0 to {MOST_REAIS}"));
            }
        }
        if price.or(cost).is_none() {
            check.fail("price", "is required, or cost");
        }
        check.finish()?;
        let changing = Changing::of(app, seller, named);
        Ok(Todo::Write(Box::new(move |tx| {
            let before = changing.product(tx)?;
            let mut entry = before.entry.clone();
            entry.price = price.unwrap_or(entry.price);
            entry.cost = cost.unwrap_or(entry.cost);
            let owner = changing.by.owner;
            if entry != before.entry {
                store::update(tx, owner, before.id, &entry)?;
                let act = PRODUCT.act("produto.preco", before.id, &entry.sku);
                let was = json!({ "preco": before.entry.price, "custo": before.entry.cost });
                let is = json!({ "preco": entry.price, "custo": entry.cost });
                changing.by.note(tx, &act, Some(&was), is)?;
            }
            let after = store::product(tx, owner, before.id)?.ok_or_else(Problem::not_found)?;
            Ok(WireProduct::of(after, changing.zone))
        })))
    }
}
