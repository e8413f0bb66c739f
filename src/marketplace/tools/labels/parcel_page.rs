//! The parcels of one account that can be printed, as a page and as JSON.

use serde::{Deserialize, Serialize};

use super::views::Parcels;
use super::{Parcel, address_for, parcels};
use crate::app::App;
use crate::base::{MlUserId, OrderId, UserId, Zone};
use crate::db::{ReadTx, Result};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::panel::PageTime;
use crate::panel::{ListReply, Paging};
use crate::wire;

/// Parcels of a page: as many as fit into one file.
const ROWS: u32 = 50;

#[derive(Deserialize)]
struct PageQuery {
    #[serde(default)]
    conta: Field<i64>,
    #[serde(default)]
    pagina: Field<i64>,
}

/// The account that an address asks for, and the page of its list.
pub fn read_query(request: &Request) -> std::result::Result<(Option<MlUserId>, u32), Problem> {
    let query: PageQuery = request.query()?;
    let mut check = Check::text();
    let wanted = check.optional("conta", query.conta).map(MlUserId);
    let page = check.number("pagina", query.pagina, 1..=10_000);
    check.finish()?;
    Ok((wanted, page.and_then(|page| u32::try_from(page).ok()).unwrap_or(1)))
}

wire! {
    /// A parcel as programs read it.
    #[derive(Serialize)]
    struct ParcelJson of(parcel: Parcel, account: MlUserId, zone: Zone, why: Option<&'static str>) {
        shipment_id: String = parcel.shipment.to_string(),
        conta: MlUserId = account,
        pedido_id: OrderId = parcel.order,
        pedidos: i64 = parcel.orders,
        unidades: i64 = parcel.units,
        titulo: String = parcel.title,
        comprador: String = parcel.buyer,
        vendido_em: String = zone.spaced(parcel.sold_at),
        /// Why its label could not be printed of late.
        impedimento: Option<&'static str> = why,
    }
}

/// One page of an account's parcels.
pub struct ParcelPage {
    /// Zero when there is no account; then there is no row either.
    pub account: MlUserId,
    can_print: bool,
    rows: Vec<Parcel>,
    total: u64,
    page: u32,
}

impl ParcelPage {
    /// A page of the parcels of an owner's account. `can_print` says whether
    /// labels of the account can be requested.
    pub fn read(
        tx: &ReadTx<'_>,
        owner: UserId,
        (account, can_print): (MlUserId, bool),
        page: u32,
    ) -> Result<Self> {
        let (rows, total) = parcels(tx, owner, account, (ROWS, (page - 1) * ROWS))?;
        Ok(Self { account, can_print, rows, total, page })
    }

    /// An empty page, when there is no account.
    pub const fn empty(page: u32) -> Self {
        Self { account: MlUserId(0), can_print: true, rows: Vec::new(), total: 0, page }
    }

    /// The page as JSON.
    pub fn json(self, app: &App, request: &Request) -> std::result::Result<Reply, Problem> {
        let (zone, refused) = (app.zone(), &app.marketplace.refused_labels);
        let rows = self.rows.into_iter().map(|row| {
            let why = refused.why(self.account, row.shipment, request.now);
            ParcelJson::of(row, self.account, zone, why)
        });
        ListReply::reply(self.total, rows.collect())
    }

    /// The page for a template, of a list at `path` whose files are at `file`.
    pub fn view(self, app: &App, request: &Request, path: &str, file: &'static str) -> Parcels {
        let refused = &app.marketplace.refused_labels;
        let why = |row: &Parcel| refused.why(self.account, row.shipment, request.now);
        let rows: Vec<_> = self.rows.into_iter().map(|row| (why(&row), row)).collect();
        let printable = rows.iter().filter(|(why, _)| why.is_none());
        let printable: Vec<String> = printable.map(|(_, row)| row.shipment.to_string()).collect();
        let account = self.account.to_string();
        Parcels {
            can_print: self.can_print,
            printable: printable.len(),
            all: address_for(file, self.account, printable.join(",")),
            paging: Paging::new(
                path,
                &[("conta", &account)],
                self.page.into(),
                ROWS.into(),
                self.total,
            ),
            rows,
            account: self.account,
            file,
            time: PageTime::of(app, request),
        }
    }
}
