//! Labels: the page of what can be printed, and the file.

use super::FILE;
use super::parcel_page::{self, ParcelPage};
use super::print::print;
use super::views::LabelsPage;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::{is_linked_to, linked_accounts};

const PATH: &str = "/painel/ml/etiquetas";
/// The message for an account whose link is lost.
const LOST: &str = "A conta perdeu o vínculo com o marketplace. Vincule a conta de novo em Contas.";

/// `GET /painel/ml/etiquetas`: the parcels of one account that can be printed.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (wanted, page) = parcel_page::read_query(request)?;
    let owner = person.account.user_id;
    let (accounts, parcels) = app.db.read(request.lane, |tx| {
        let accounts = linked_accounts(tx, owner)?;
        let shown = match wanted {
            Some(id) => {
                let own = accounts.iter().find(|one| one.ml_user_id == id);
                Some(own.ok_or_else(Problem::not_found)?)
            }
            None => accounts.first(),
        };
        let parcels = match shown {
            Some(one) => ParcelPage::read(tx, owner, (one.ml_user_id, one.token_ok), page)?,
            None => ParcelPage::empty(page),
        };
        Ok::<_, Problem>((accounts, parcels))
    })?;
    if request.wants_json() {
        return parcels.json(app, request);
    }
    Reply::page(&LabelsPage {
        layout: layout(app, person, request),
        accounts,
        parcels: parcels.view(app, request, PATH, FILE),
    })
}

/// `GET /painel/ml/etiqueta`: the labels of shipments as one PDF.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    print(app, request, LOST, |tx, account| Ok(is_linked_to(tx, owner, account)?.then_some(owner)))
}
