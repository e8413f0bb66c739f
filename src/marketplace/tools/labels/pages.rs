//! Labels of a seller: what is to be printed and what was, and the files.

use super::desk::{self, Asked, Desk, LabelStore};
use super::parcel_page::{self, ParcelPage};
use super::press;
use super::print::{print as print_named, print_batch};
use super::views::LabelsPage;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::UserId;
use crate::db::{self, ReadTx};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::{is_linked_to, linked_accounts};
use crate::panel::Answer;

/// The message for an account whose link is lost.
const LOST: &str = "A conta perdeu o vínculo com o marketplace. Vincule a conta de novo em Contas.";

/// The page of a seller's labels.
pub const OWN: Desk = Desk {
    path: "/painel/ml/etiquetas",
    print: "/painel/ml/etiquetas/imprimir",
    undo: "/painel/ml/etiquetas/desfazer",
    batch: "/painel/ml/etiquetas/lote",
    store_word: "Loja",
    lost: LOST,
    is_agency: false,
};

/// The stores of a seller.
pub fn own_stores(tx: &ReadTx<'_>, owner: UserId) -> db::Result<Vec<LabelStore>> {
    let accounts = linked_accounts(tx, owner)?.into_iter();
    let store = |one: crate::marketplace::account::store::LinkedAccount| LabelStore {
        owner,
        account: one.ml_user_id,
        name: one.nickname,
        can_print: one.token_ok,
    };
    Ok(accounts.map(store).collect())
}

/// `GET /painel/ml/etiquetas`: the parcels whose labels are to be printed, and what
/// was printed. As JSON, the parcels of one account that can be printed.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    if request.wants_json() {
        let (wanted, page) = parcel_page::read_query(request)?;
        let parcels = app.db.read(request.lane, |tx| {
            let stores = own_stores(tx, owner)?;
            ParcelPage::of_stores(tx, &stores, wanted, page)
        })?;
        return parcels.json(app, request);
    }
    let asked = Asked::of(request)?;
    let desk = app.db.read(request.lane, |tx| {
        let stores = own_stores(tx, owner)?;
        desk::show(app, tx, &OWN, stores, request, &asked)
    })?;
    let told = request.notice.as_deref().and_then(|word| press::told(&OWN, word));
    Reply::page(&LabelsPage { layout: layout(app, person, request).with_flash(told), desk })
}

/// `POST /painel/ml/etiquetas/imprimir`: prints labels, and notes that they were.
pub fn print(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    let stores = app.db.read(request.lane, |tx| own_stores(tx, owner))?;
    desk::print(app, &OWN, &stores, owner, request)
}

/// `POST /painel/ml/etiquetas/desfazer`: the labels of batches are to be printed again.
pub fn undo(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (owner, named, to) = (person.account.user_id, desk::named(request)?, Answer::to(request));
    let batch = named.first().copied().unwrap_or_default();
    Ok(Box::new(move |tx| {
        let labels = desk::undo(tx, &named, |_, batch| Ok(batch.owner == owner))?;
        to.done(batch, OWN.path, &format!("desfeita:{labels}"))
    }))
}

/// `GET /painel/ml/etiquetas/lote/{id}`: the file of a batch.
pub fn batch(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    print_batch(app, request, &OWN, |_, batch| Ok(batch.owner == owner))
}

/// `GET /painel/ml/etiqueta`: the labels of shipments as one PDF.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    print_named(app, request, LOST, |tx, account| {
        Ok(is_linked_to(tx, owner, account)?.then_some(owner))
    })
}
