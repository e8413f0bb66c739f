//! `drop_mark_paid` and `drop_mark_unpaid`, and both for many orders at once: what the
//! supplier says of payments, as in the panel. Who said it by which token is audited in
//! the transaction that notes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::orders::WireDropOrder;
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::base::money::{BRL, Cents};
use crate::base::{OrderId, UserId};
use crate::db::{self, WriteTx};
use crate::dropshipping::orders::{self, DropOrder, DropState, Whose};
use crate::dropshipping::payments::{self, Batch};
use crate::edge::route::Todo;
use crate::http::schema::or_null;
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Supplier;
use crate::partner::operation::{Begun, Operation};

/// Most orders of a call.
const MOST: usize = 200;

const PAY: &str = "pedido.pagar";
const UNPAY: &str = "pedido.desfazer_pagamento";

/// The drop order that was paid.
#[derive(Deserialize, JsonSchema)]
pub struct MarkPaid {
    /// The marketplace's order, as `drop_list_orders` shows it.
    #[serde(default)]
    #[schemars(!default)]
    order_id: Field<OrderId>,
}

/// The drop order that was not paid after all.
#[derive(Deserialize, JsonSchema)]
pub struct MarkUnpaid {
    /// The marketplace's order, as `drop_list_orders` shows it.
    #[serde(default)]
    #[schemars(!default)]
    order_id: Field<OrderId>,
}

/// The drop orders that were paid.
#[derive(Deserialize, JsonSchema)]
pub struct MarkManyPaid {
    /// The marketplace's orders, as `drop_list_orders` shows them: 1 to 200.
    #[serde(default)]
    #[schemars(!default, length(min = 1, max = MOST))]
    order_ids: Field<Vec<OrderId>>,
}

/// The drop orders that were not paid after all: some by their orders, or all that one
/// call marked as paid.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend(
    "if" = json!({ "required": ["batch_id"] }),
    "then" = json!({ "not": { "required": ["order_ids"] } }),
    "else" = json!({ "required": ["order_ids"] }),
))]
pub struct MarkManyUnpaid {
    /// The marketplace's orders, as `drop_list_orders` shows them: 1 to 200.
    #[serde(default)]
    #[schemars(length(min = 1, max = MOST))]
    order_ids: Field<Vec<OrderId>>,
    /// What `drop_mark_paid_bulk` answered, to take back that call.
    #[serde(default)]
    #[schemars(extend("pattern" = "^[0-9]{1,19}$"))]
    batch_id: Field<String>,
}

/// What became of orders that were marked as paid.
#[derive(Serialize, JsonSchema)]
pub struct MarkedPaid {
    /// Drop orders that were marked by this call.
    paid: usize,
    /// Drop orders that were marked before.
    unchanged: usize,
    /// Orders that could not be marked.
    failed: usize,
    /// What was marked by this call comes to, in `currency`.
    amount: Cents,
    /// Currency of the amount.
    #[schemars(extend("const" = BRL))]
    currency: &'static str,
    /// Takes this call back by `drop_mark_unpaid_bulk`; null when it marked nothing.
    batch_id: Option<String>,
    /// Each order, as they were sent.
    rows: Vec<MarkedRow>,
}

/// What became of orders whose payment was taken back.
#[derive(Serialize, JsonSchema)]
pub struct MarkedUnpaid {
    /// Drop orders whose payment was taken back by this call.
    unpaid: usize,
    /// Drop orders that were not marked as paid.
    unchanged: usize,
    /// Orders that could not be marked.
    failed: usize,
    /// Each order, as they were sent, or those of the batch.
    rows: Vec<MarkedRow>,
}

/// What became of an order.
#[derive(Serialize, JsonSchema)]
struct MarkedRow {
    /// The marketplace's order.
    order_id: OrderId,
    /// Number of the drop order; null when there is none.
    drop_order_id: Option<String>,
    /// What became of it.
    #[schemars(extend("enum" = ["paid", "unpaid", "unchanged", "failed"]))]
    status: &'static str,
    /// Why it failed, for programs; null when it did not.
    #[schemars(extend("enum" = or_null(Fault::ALL.map(Fault::code))))]
    code: Option<&'static str>,
    /// Why it failed, in words; null when it did not.
    error: Option<&'static str>,
}

/// Why an order cannot be marked.
#[derive(Clone, Copy)]
enum Fault {
    Missing,
    Cancelled,
}

impl Fault {
    const ALL: [Self; 2] = [Self::Missing, Self::Cancelled];

    const fn code(self) -> &'static str {
        match self {
            Self::Missing => "not_found",
            Self::Cancelled => "cancelled",
        }
    }

    const fn said(self) -> &'static str {
        match self {
            Self::Missing => "there is no such drop order",
            Self::Cancelled => "the order was cancelled; nothing is owed",
        }
    }

    fn problem(self) -> Problem {
        match self {
            Self::Missing => Problem::not_found(),
            Self::Cancelled => Problem::program_conflict(self.said()),
        }
    }
}

/// Which way orders are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// As paid, by a batch when there are many.
    Paid(Option<Batch>),
    Unpaid,
}

/// Who marks, and by which token.
struct Marker {
    supplier: UserId,
    actor: Actor,
    token: String,
}

impl Marker {
    fn of(supplier: &Supplier) -> Self {
        Self {
            supplier: supplier.account.user_id,
            actor: Actor::program(supplier),
            token: supplier.token.name.clone(),
        }
    }

    /// Marks the drop order of an order of a related seller; whether that changed it.
    fn mark(
        &self,
        tx: &WriteTx<'_>,
        order: OrderId,
        mark: Mark,
    ) -> db::Result<Result<(DropOrder, bool), Fault>> {
        let Some(order) = orders::of_order(tx, self.supplier, order)? else {
            return Ok(Err(Fault::Missing));
        };
        let is_new = match (order.state, mark) {
            (DropState::Cancelled, _) => return Ok(Err(Fault::Cancelled)),
            (DropState::Pending, Mark::Paid(batch)) => {
                payments::pay(tx, self.supplier, order.id, batch)?;
                true
            }
            (DropState::Paid, Mark::Unpaid) => payments::unpay(tx, self.supplier, order.id)?,
            (DropState::Paid, Mark::Paid(_)) | (DropState::Pending, Mark::Unpaid) => false,
        };
        Ok(Ok((order, is_new)))
    }

    /// Marks one, and audits it; returns it as it is then.
    fn one(&self, tx: &WriteTx<'_>, order: OrderId, mark: Mark) -> Result<DropOrder, Problem> {
        let (before, is_new) = self.mark(tx, order, mark)?.map_err(Fault::problem)?;
        let after = orders::of_order(tx, self.supplier, order)?.ok_or_else(Problem::not_found)?;
        if is_new {
            let number = after.order_id.to_string();
            let act = objects::DROP_ORDER.act(action(mark), after.id, &number);
            let state = |order: &DropOrder| order.status(tx.now()).words();
            let (before, after) = (
                json!({ "status": state(&before) }),
                json!({ "status": state(&after), "valor": after.amount, "token": self.token }),
            );
            audit::note(tx, &self.actor, &act, &before, &after)?;
        }
        Ok(after)
    }

    /// Marks many; what cannot be marked stops no other. Returns the rows, and what is
    /// new comes to.
    fn many(
        &self,
        tx: &WriteTx<'_>,
        orders: &[OrderId],
        mark: Mark,
    ) -> Result<(Vec<MarkedRow>, Cents), Problem> {
        let (mut rows, mut amount) = (Vec::with_capacity(orders.len()), Cents(0));
        for order in orders {
            let marked = self.mark(tx, *order, mark)?;
            if let Ok((order, true)) = &marked {
                amount = amount + order.amount;
            }
            rows.push(MarkedRow::of(*order, marked, mark));
        }
        Ok((rows, amount))
    }

    /// Audits what a call changed of many orders.
    fn note(
        &self,
        tx: &WriteTx<'_>,
        rows: &[MarkedRow],
        mark: Mark,
        more: Value,
    ) -> db::Result<()> {
        let changed = rows.iter().filter(|row| row.status == name(mark));
        let changed: Vec<OrderId> = changed.map(|row| row.order_id).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let about = match changed.len() {
            1 => "1 pedido".to_owned(),
            many => format!("{many} pedidos"),
        };
        let mut after = more;
        after["pedidos"] = json!(changed);
        after["token"] = json!(self.token);
        let act = objects::DROP_ORDER.act(action(mark), "", &about);
        audit::note(tx, &self.actor, &act, None::<&Value>, &after)
    }
}

impl MarkedRow {
    fn of(order_id: OrderId, marked: Result<(DropOrder, bool), Fault>, mark: Mark) -> Self {
        let (known, fault) = match marked {
            Ok(known) => (Some(known), None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            order_id,
            drop_order_id: known.as_ref().map(|(order, _)| order.id.to_string()),
            status: match known {
                None => "failed",
                Some((_, false)) => "unchanged",
                Some((_, true)) => name(mark),
            },
            code: fault.map(Fault::code),
            error: fault.map(Fault::said),
        }
    }

    fn undone((drop_order, order_id): (i64, OrderId)) -> Self {
        Self {
            order_id,
            drop_order_id: Some(drop_order.to_string()),
            status: name(Mark::Unpaid),
            code: None,
            error: None,
        }
    }
}

/// The state of a row that was marked.
const fn name(mark: Mark) -> &'static str {
    match mark {
        Mark::Paid(_) => "paid",
        Mark::Unpaid => "unpaid",
    }
}

const fn action(mark: Mark) -> &'static str {
    match mark {
        Mark::Paid(_) => PAY,
        Mark::Unpaid => UNPAY,
    }
}

fn count(rows: &[MarkedRow], status: &str) -> usize {
    rows.iter().filter(|row| row.status == status).count()
}

fn begin_one(
    app: &App,
    supplier: &Supplier,
    mut check: Check,
    order: Field<OrderId>,
    mark: Mark,
) -> Result<Todo<WireDropOrder>, Problem> {
    let order: OrderId = check.required("order_id", order);
    check.finish()?;
    let (marker, zone) = (Marker::of(supplier), app.zone());
    Ok(Todo::Write(Box::new(move |tx| {
        let order = marker.one(tx, order, mark)?;
        Ok(WireDropOrder::of(order, tx.now(), zone))
    })))
}

/// The orders of a call, checked.
fn numbers(check: &mut Check, field: Field<Vec<OrderId>>) -> Vec<OrderId> {
    let orders: Vec<OrderId> = check.required("order_ids", field);
    if !(1..=MOST).contains(&orders.len()) {
        check.fail("order_ids", format!("must be 1 to {MOST} orders"));
    }
    orders
}

impl Operation for MarkPaid {
    type By = Supplier;
    type Reply = WireDropOrder;

    /// There is no such drop order, or it was cancelled.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::Conflict];

    fn begin(self, app: &App, supplier: &Supplier, check: Check) -> Begun<Self> {
        begin_one(app, supplier, check, self.order_id, Mark::Paid(None))
    }
}

impl Operation for MarkUnpaid {
    type By = Supplier;
    type Reply = WireDropOrder;

    /// There is no such drop order, or it was cancelled.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::Conflict];

    fn begin(self, app: &App, supplier: &Supplier, check: Check) -> Begun<Self> {
        begin_one(app, supplier, check, self.order_id, Mark::Unpaid)
    }
}

impl Operation for MarkManyPaid {
    type By = Supplier;
    type Reply = MarkedPaid;

    fn begin(self, _: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let orders = numbers(&mut check, self.order_ids);
        check.finish()?;
        let (marker, batch) = (Marker::of(supplier), Batch::draw());
        Ok(Todo::Write(Box::new(move |tx| {
            let mark = Mark::Paid(Some(batch));
            let (rows, amount) = marker.many(tx, &orders, mark)?;
            let batch = batch.0.to_string();
            marker.note(tx, &rows, mark, json!({ "valor": amount, "lote": batch }))?;
            let paid = count(&rows, name(mark));
            Ok(MarkedPaid {
                paid,
                unchanged: count(&rows, "unchanged"),
                failed: count(&rows, "failed"),
                amount,
                currency: BRL,
                batch_id: (paid > 0).then_some(batch),
                rows,
            })
        })))
    }
}

impl Operation for MarkManyUnpaid {
    type By = Supplier;
    type Reply = MarkedUnpaid;

    /// There is nothing to take back of the batch.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, _: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let has_orders = self.order_ids.has_value();
        let batch: Option<String> = check.optional("batch_id", self.batch_id);
        let orders = if has_orders || batch.is_none() {
            numbers(&mut check, self.order_ids)
        } else {
            Vec::new()
        };
        match &batch {
            Some(_) if has_orders => check.fail("batch_id", "must not be there beside order_ids"),
            Some(id) if !is_batch(id) => check.fail("batch_id", "must be 1 to 19 digits"),
            _ => {}
        }
        check.finish()?;
        let marker = Marker::of(supplier);
        Ok(Todo::Write(Box::new(move |tx| {
            let (rows, more) = match &batch {
                Some(batch) => (undo(tx, marker.supplier, batch)?, json!({ "lote": batch })),
                None => (marker.many(tx, &orders, Mark::Unpaid)?.0, json!({})),
            };
            marker.note(tx, &rows, Mark::Unpaid, more)?;
            Ok(MarkedUnpaid {
                unpaid: count(&rows, name(Mark::Unpaid)),
                unchanged: count(&rows, "unchanged"),
                failed: count(&rows, "failed"),
                rows,
            })
        })))
    }
}

fn is_batch(text: &str) -> bool {
    (1..=19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes back what one call, or one press in the panel, marked as paid.
fn undo(tx: &WriteTx<'_>, supplier: UserId, batch: &str) -> Result<Vec<MarkedRow>, Problem> {
    // A number that is too large is nobody's.
    let batch = Batch(batch.parse().map_err(|_| Problem::not_found())?);
    let undone = payments::unpay_some(tx, Whose::Related(supplier), batch, MOST + 1)?;
    match undone.len() {
        0 => Err(Problem::not_found()),
        1..=MOST => Ok(undone.into_iter().map(MarkedRow::undone).collect()),
        // The job is undone with the error.
        _ => Err(Problem::field("batch_id", "has more than 200 orders; take it back in the panel")),
    }
}
