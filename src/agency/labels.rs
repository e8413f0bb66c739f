//! Labels for the parcels of clients: the list of an account, and the file.

use super::store;
use super::views::AgencyLabelsPage;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::looks;
use crate::base::MlUserId;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::tools::labels::parcel_page::{self, ParcelPage};
use crate::marketplace::tools::labels::print::print;

const PATH: &str = "/admin/agencia/etiquetas";
const FILE: &str = "/admin/agencia/etiqueta";
/// Message for an account whose link is lost.
const LOST: &str =
    "A conta perdeu o vínculo com o marketplace. Peça ao cliente que autorize a conta de novo.";

/// `GET /admin/agencia/etiquetas`: the parcels of one account that can be printed.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (wanted, page) = parcel_page::read_query(request)?;
    let (accounts, parcels) = app.db.read(request.lane, |tx| {
        let accounts = store::all_accounts(tx)?;
        let shown = match wanted {
            Some(id) => {
                let joined = accounts.iter().find(|one| one.ml_user_id == id);
                Some(joined.ok_or_else(Problem::not_found)?)
            }
            None => accounts.first(),
        };
        let parcels = match shown {
            Some(one) => ParcelPage::read(tx, one.owner, (one.ml_user_id, one.token_ok), page)?,
            None => ParcelPage::empty(page),
        };
        Ok::<_, Problem>((accounts, parcels))
    })?;
    if request.wants_json() {
        return parcels.json(app, request);
    }
    Reply::page(&AgencyLabelsPage {
        layout: layout(app, person, request),
        shown: parcels.account,
        accounts,
        parcels: parcels.view(app, request, PATH, FILE),
    })
}

/// `GET /admin/agencia/etiqueta`: the labels of shipments as one PDF.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    looks::file(app, (person, request), "etiqueta.baixar", "etiqueta");
    print(app, request, LOST, |tx, account: MlUserId| {
        Ok(store::joined(tx, account)?.map(|joined| joined.owner))
    })
}
