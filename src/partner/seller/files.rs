//! `get_label`, `get_labels`, `get_invoice`: the seller's own files of the marketplace, as
//! the panel fetches them; `mark_labels_printed` says which labels were printed.
//!
//! To fetch a label does not mark it: a file can be asked for twice, be lost on its way or
//! never reach a printer, and what is marked is no longer offered in the panel.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::audit::objects::{INVOICE, LABEL};
use crate::base::ids::{MlUserId, OrderId, UserId};
use crate::db::{Lane, ReadTx};
use crate::edge::route::{SlowWork, Todo};
use crate::http::{Check, Code, Field, Problem, Reply};
use crate::identity::Seller;
use crate::marketplace::books::orders;
use crate::marketplace::client::LABELS_AT_ONCE;
use crate::marketplace::tools::invoices;
use crate::marketplace::tools::labels::press::labels as words;
use crate::marketplace::tools::labels::{batches, print};
use crate::partner::by::By;
use crate::partner::operation::{Begun, FileOperation, Operation};

/// Orders with commas between them: as many as the panel prints into one file.
const ORDER_LIST: &str = "^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17}){0,49}$";

/// Which order's label is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetLabel {
    /// Number of the order at the marketplace.
    #[schemars(extend("examples" = ["2000012345678901"]))]
    order_id: Field<OrderId>,
}

/// Which order's fiscal note is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetInvoice {
    /// Number of the order at the marketplace.
    #[schemars(extend("examples" = ["2000012345678901"]))]
    order_id: Field<OrderId>,
}

/// Which orders' labels are asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetLabels {
    /// Numbers of 1 to 50 orders of one account, with commas between.
    #[serde(default)]
    #[schemars(!default, regex(pattern = ORDER_LIST), extend("examples" = ["2000012345678901,2000012345678902"]))]
    order_ids: Field<String>,
}

/// The orders whose labels were printed.
#[derive(Deserialize, JsonSchema)]
pub struct MarkPrinted {
    /// Numbers of 1 to 50 orders of one account.
    #[serde(default)]
    #[schemars(!default, length(min = 1, max = LABELS_AT_ONCE))]
    order_ids: Field<Vec<OrderId>>,
}

/// What became of labels that were printed.
#[derive(Serialize, JsonSchema)]
pub struct MarkedPrinted {
    /// Parcels that were marked by this call.
    printed: usize,
    /// Parcels that were marked before.
    unchanged: usize,
}

/// The parcels of some orders, which are of one account.
struct Parcels {
    account: MlUserId,
    /// Each with its first order, in the order in which they were asked for.
    shipments: Vec<(i64, OrderId)>,
}

impl Parcels {
    /// Reads them for orders, which come with the name of their field.
    fn read(
        tx: &ReadTx<'_>,
        owner: UserId,
        (name, orders): (&'static str, &[OrderId]),
    ) -> Result<Self, Problem> {
        let mut all: BTreeMap<i64, Self> = BTreeMap::new();
        for order in orders {
            let (account, shipment) =
                orders::parcel_of(tx, owner, *order)?.ok_or_else(Problem::not_found)?;
            let Some(shipment) = shipment else {
                let said = format!("order {order} has no parcel");
                return Err(Problem::field(name, said));
            };
            let of_account = all.entry(account.0);
            let parcels = of_account.or_insert(Self { account, shipments: Vec::new() });
            if !parcels.shipments.iter().any(|(known, _)| *known == shipment) {
                parcels.shipments.push((shipment, *order));
            }
        }
        let first = all.pop_first().map(|(_, parcels)| parcels);
        match first {
            Some(parcels) if all.is_empty() => Ok(parcels),
            Some(_) => Err(Problem::field(name, "must be of one account; ask once for each")),
            None => Err(Problem::not_found()),
        }
    }
}

/// The labels of some orders as one PDF; otherwise the reason, as plain text.
fn labels(app: &App, by: By, asked: (&'static str, &[OrderId])) -> Result<Reply, Problem> {
    let owner = by.owner;
    let parcels = app.db.read(Lane::Brief, |tx| Parcels::read(tx, owner, asked))?;
    let shipments: Vec<i64> = parcels.shipments.iter().map(|(shipment, _)| *shipment).collect();
    match print::fetch(app, app.clock.now(), owner, parcels.account, &shipments) {
        Ok(file) => {
            let (about, orders) = (words(shipments.len() as u64), json!({ "pedidos": asked.1 }));
            app.db.write(move |tx| {
                by.note(tx, &LABEL.act("etiqueta.baixar", "", &about), None, orders)
            })?;
            Ok(print::pdf(file))
        }
        Err(error) => Ok(print::not_printed(&error, &shipments)),
    }
}

impl FileOperation for GetLabel {
    type By = Seller;

    const MEDIA: &'static str = "application/pdf";

    fn begin(self, _: &App, seller: &Seller, mut check: Check) -> Result<SlowWork<Reply>, Problem> {
        let order: OrderId = check.required("order_id", self.order_id);
        check.finish()?;
        let by = By::of(seller);
        Ok(Box::new(move |app| labels(app, by, ("order_id", &[order]))))
    }
}

impl FileOperation for GetLabels {
    type By = Seller;

    const MEDIA: &'static str = "application/pdf";

    fn begin(self, _: &App, seller: &Seller, mut check: Check) -> Result<SlowWork<Reply>, Problem> {
        let list: String = check.required("order_ids", self.order_ids);
        let orders = list.split(',').map(|part| Field::<OrderId>::of(part.trim().to_owned()));
        let orders: Vec<_> = orders.take(LABELS_AT_ONCE + 1).collect();
        let is_long = orders.len() > LABELS_AT_ONCE;
        let orders: Vec<OrderId> =
            orders.into_iter().map(|order| check.required("order_ids", order)).collect();
        if is_long {
            check.fail("order_ids", format!("must be at most {LABELS_AT_ONCE} orders"));
        }
        check.finish()?;
        let by = By::of(seller);
        Ok(Box::new(move |app| labels(app, by, ("order_ids", &orders))))
    }
}

impl FileOperation for GetInvoice {
    type By = Seller;

    const MEDIA: &'static str = "application/pdf, application/xml";

    fn begin(self, _: &App, seller: &Seller, mut check: Check) -> Result<SlowWork<Reply>, Problem> {
        let order: OrderId = check.required("order_id", self.order_id);
        check.finish()?;
        let by = By::of(seller);
        Ok(Box::new(move |app| invoice(app, by, order)))
    }
}

/// The fiscal note of an order; otherwise the reason, as plain text.
fn invoice(app: &App, by: By, order: OrderId) -> Result<Reply, Problem> {
    let owner = by.owner;
    let sale = app.db.read(Lane::Brief, |tx| orders::parcel_of(tx, owner, order))?;
    let (account, shipment) = sale.ok_or_else(Problem::not_found)?;
    match invoices::fetch(app, owner, account, order, shipment) {
        Ok(note) => {
            app.db.write(move |tx| {
                by.note(tx, &INVOICE.act("nota.baixar", order, &order.to_string()), None, json!({}))
            })?;
            Ok(note)
        }
        Err(error) => Ok(invoices::not_fetched(&error)),
    }
}

impl Operation for MarkPrinted {
    type By = Seller;
    type Reply = MarkedPrinted;

    /// An order is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, _: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let orders: Vec<OrderId> = check.required("order_ids", self.order_ids);
        if !(1..=LABELS_AT_ONCE).contains(&orders.len()) {
            check.fail("order_ids", format!("must have 1 to {LABELS_AT_ONCE} orders"));
        }
        check.finish()?;
        let by = By::of(seller);
        Ok(Todo::Write(Box::new(move |tx| {
            let (owner, Parcels { account, mut shipments }) =
                (by.owner, Parcels::read(tx, by.owner, ("order_ids", &orders))?);
            let asked = shipments.len();
            let mut is_new = Vec::with_capacity(asked);
            for (shipment, _) in &shipments {
                is_new.push(!batches::is_printed(tx, owner, account, *shipment)?);
            }
            let mut is_new = is_new.into_iter();
            shipments.retain(|_| is_new.next().unwrap_or(false));
            let printed = shipments.len();
            if printed > 0 {
                let batch = batches::add(tx, owner, account, owner, &shipments)?;
                let (about, orders) = (words(printed as u64), json!({ "pedidos": orders }));
                by.note(tx, &LABEL.act("etiqueta.imprimir", batch, &about), None, orders)?;
            }
            Ok(MarkedPrinted { printed, unchanged: asked - printed })
        })))
    }
}
