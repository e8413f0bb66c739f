//! `drop_get_label` and `drop_get_invoice`: files of the marketplace, fetched with
//! the seller's own connection. Other data of the marketplace is not passed on.

use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, HeaderValue, RETRY_AFTER};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::base::ids::{MlUserId, OrderId, UserId};
use crate::db::Lane;
use crate::dropshipping::orders;
use crate::edge::route::SlowWork;
use crate::http::reply::media;
use crate::http::{Check, Field, Problem, Reply, RowNumber};
use crate::identity::Supplier;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::Failure;
use crate::marketplace::tools::labels::{self, print};
use crate::marketplace::tools::out_of_reach;
use crate::partner::operation::FileOperation;

const PDF: HeaderValue = HeaderValue::from_static("application/pdf");
const XML: HeaderValue = HeaderValue::from_static("application/xml");

/// Which label is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetLabel {
    /// The parcel, as `shipping.id` of a drop order.
    #[serde(default)]
    #[schemars(!default)]
    ship_id: Field<RowNumber>,
    /// The seller who sends it.
    #[serde(default)]
    #[schemars(!default)]
    seller_id: Field<UserId>,
}

/// Which fiscal note is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetInvoice {
    /// The marketplace's order.
    #[serde(default)]
    #[schemars(!default)]
    order_id: Field<OrderId>,
    /// The seller whose order it is.
    #[serde(default)]
    #[schemars(!default)]
    seller_id: Field<UserId>,
}

impl FileOperation for GetLabel {
    type By = Supplier;

    const MEDIA: &'static str = "application/pdf";

    fn begin(
        self,
        _: &App,
        supplier: &Supplier,
        mut check: Check,
    ) -> Result<SlowWork<Reply>, Problem> {
        let RowNumber(shipment) = check.required("ship_id", self.ship_id);
        let seller: UserId = check.required("seller_id", self.seller_id);
        check.finish()?;
        let owner = supplier.account.user_id;
        Ok(Box::new(move |app| label(app, owner, seller, shipment)))
    }
}

impl FileOperation for GetInvoice {
    type By = Supplier;

    const MEDIA: &'static str = "application/pdf, application/xml";

    fn begin(
        self,
        _: &App,
        supplier: &Supplier,
        mut check: Check,
    ) -> Result<SlowWork<Reply>, Problem> {
        let order: OrderId = check.required("order_id", self.order_id);
        let seller: UserId = check.required("seller_id", self.seller_id);
        check.finish()?;
        let owner = supplier.account.user_id;
        Ok(Box::new(move |app| invoice(app, owner, seller, order)))
    }
}

/// The label of a parcel that contains a product of the supplier; otherwise the
/// reason, as plain text.
pub fn label(app: &App, supplier: UserId, seller: UserId, shipment: i64) -> Result<Reply, Problem> {
    let account = || {
        app.db.read(Lane::Brief, |tx| {
            let account = orders::account_of_shipment(tx, supplier, seller, shipment)?;
            account.map(MlUserId).ok_or_else(Problem::not_found)
        })
    };
    let own = account()?;
    let label = print::from_marketplace(app, seller, own, &[shipment]);
    // Checked again: the relation may have ended during the call.
    account()?;
    match label {
        Ok(bytes) => Ok(file(PDF, "inline; filename=\"etiqueta.pdf\"", bytes)),
        Err(error) => {
            let (status, said) = labels::refusal(&error, &[shipment]);
            Ok(error_reply(&error, status, said.into_owned()))
        }
    }
}

/// The fiscal note of an order for which the seller owes the supplier;
/// otherwise the reason, as plain text.
pub fn invoice(
    app: &App,
    supplier: UserId,
    seller: UserId,
    order: OrderId,
) -> Result<Reply, Problem> {
    let place = || {
        app.db.read(Lane::Brief, |tx| {
            let place = orders::account_of_order(tx, supplier, seller, order)?;
            place.ok_or_else(Problem::not_found)
        })
    };
    let (account, shipment) = place()?;
    let note = with_own_token(app, seller, MlUserId(account), |caller| {
        app.marketplace.client.invoice(caller, order, shipment)
    });
    place()?;
    match note {
        Ok(note) if &*note.kind == "application/pdf" => {
            Ok(file(PDF, "inline; filename=\"nota-fiscal.pdf\"", note.bytes))
        }
        Ok(note) => Ok(file(XML, "attachment; filename=\"nota-fiscal.xml\"", note.bytes)),
        Err(error) => {
            let (status, said) = match &error {
                CallError::Failed(Failure::Refused { status: 400 | 404, .. }) => {
                    (StatusCode::BAD_REQUEST, "Este pedido ainda não tem nota fiscal.")
                }
                other => out_of_reach(other),
            };
            Ok(error_reply(&error, status, said.to_owned()))
        }
    }
}

fn file(kind: HeaderValue, place: &'static str, bytes: Vec<u8>) -> Reply {
    Reply::of(kind, bytes).with(CONTENT_DISPOSITION, HeaderValue::from_static(place))
}

/// The reason that is sent instead of a file. Only the seller can link the
/// account again.
fn error_reply(error: &CallError, status: StatusCode, said: String) -> Reply {
    let said = match error {
        CallError::NotLinked | CallError::LinkLost | CallError::Failed(Failure::Expired) => {
            "O vendedor precisa vincular a conta dele ao marketplace de novo.".to_owned()
        }
        _ => said,
    };
    tracing::info!(%error, "no file for a supplier");
    let reply = Reply::of(media::TEXT, said).status(status);
    match error.retry_after_s() {
        Some(seconds) => reply.with(RETRY_AFTER, seconds.into()),
        None => reply,
    }
}
