//! The parcels of one account that can be printed, as JSON.

use serde::{Deserialize, Serialize};

use super::desk::LabelStore;
use super::{Parcel, parcels};
use crate::app::App;
use crate::base::{MlUserId, OrderId, Zone};
use crate::db::{ReadTx, RowWindow};
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::panel::ListReply;
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
pub fn read_query(request: &Request) -> Result<(Option<MlUserId>, u32), Problem> {
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
        despachar_ate: Option<String> = parcel.due.map(|due| zone.spaced(due)),
        impressa_em: Option<String> = parcel.printed_at.map(|at| zone.spaced(at)),
    }
}

/// One page of an account's parcels.
pub struct ParcelPage {
    /// Zero when there is no account; then there is no row either.
    account: MlUserId,
    rows: Vec<Parcel>,
    total: u64,
}

impl ParcelPage {
    /// A page of the parcels of one of these accounts, else of the first.
    pub fn of_stores(
        tx: &ReadTx<'_>,
        stores: &[LabelStore],
        wanted: Option<MlUserId>,
        page: u32,
    ) -> Result<Self, Problem> {
        let shown = match wanted {
            Some(id) => {
                let own = stores.iter().find(|one| one.account == id);
                Some(own.ok_or_else(Problem::not_found)?)
            }
            None => stores.first(),
        };
        let Some(store) = shown else {
            return Ok(Self { account: MlUserId(0), rows: Vec::new(), total: 0 });
        };
        let window = RowWindow { limit: ROWS, offset: (page - 1) * ROWS };
        let (rows, total) = parcels(tx, store.owner, store.account, window)?;
        Ok(Self { account: store.account, rows, total })
    }

    /// The page as JSON.
    pub fn json(self, app: &App, request: &Request) -> Result<Reply, Problem> {
        let (zone, refused) = (app.zone(), &app.marketplace.refused_labels);
        ListReply::of(self.total, self.rows, |row| {
            let why = refused.why(self.account, row.shipment, request.now);
            ParcelJson::of(row, self.account, zone, why)
        })
    }
}
