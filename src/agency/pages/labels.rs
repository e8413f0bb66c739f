//! Labels for the parcels of all clients: what is to be printed and what was, and the
//! files.

use crate::accounts::page_layout::layout;
use crate::agency::store;
use crate::agency::views::AgencyLabelsPage;
use crate::app::App;
use crate::audit::objects::LABEL;
use crate::audit::{self, Actor, looks};
use crate::base::MlUserId;
use crate::db::{self, ReadTx};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::tools::labels::batches::Batch;
use crate::marketplace::tools::labels::desk::{self, Asked, Desk, LabelStore};
use crate::marketplace::tools::labels::parcel_page::{self, ParcelPage};
use crate::marketplace::tools::labels::press;
use crate::marketplace::tools::labels::print::{print as print_named, print_batch};
use crate::panel::Answer;

/// Message for an account whose link is lost.
const LOST: &str =
    "A conta perdeu o vínculo com o marketplace. Peça ao cliente que autorize a conta de novo.";

const CLIENTS: Desk = Desk {
    path: "/admin/agencia/etiquetas",
    print: "/admin/agencia/etiquetas/imprimir",
    undo: "/admin/agencia/etiquetas/desfazer",
    batch: "/admin/agencia/etiquetas/lote",
    store_word: "Cliente e loja",
    lost: LOST,
    is_agency: true,
};

fn stores(tx: &ReadTx<'_>) -> db::Result<Vec<LabelStore>> {
    let joined = store::all_accounts(tx)?.into_iter();
    let store = |one: store::JoinedAccount| LabelStore {
        owner: one.owner,
        account: one.ml_user_id,
        name: format!("{} · {}", one.client_name, one.nickname),
        can_print: one.token_ok,
    };
    Ok(joined.map(store).collect())
}

/// Whether a batch is of an account that the agency looks after for the owner that
/// it had then.
fn is_joined(tx: &ReadTx<'_>, batch: &Batch) -> db::Result<bool> {
    let joined = store::joined(tx, batch.account)?;
    Ok(joined.is_some_and(|joined| joined.owner == batch.owner))
}

/// `GET /admin/agencia/etiquetas`: the parcels of all clients whose labels are to be
/// printed, and what was printed. As JSON, the parcels of one account.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        let (wanted, page) = parcel_page::read_query(request)?;
        let parcels = app
            .db
            .read(request.lane, |tx| ParcelPage::of_stores(tx, &stores(tx)?, wanted, page))?;
        return parcels.json(app, request);
    }
    let asked = Asked::of(request)?;
    let desk = app
        .db
        .read(request.lane, |tx| desk::show(app, tx, &CLIENTS, stores(tx)?, request, &asked))?;
    let told = request.notice.as_deref().and_then(|word| press::told(&CLIENTS, word));
    Reply::page(&AgencyLabelsPage { layout: layout(app, person, request).with_flash(told), desk })
}

/// `POST /admin/agencia/etiquetas/imprimir`: prints labels, and notes that they were.
pub fn print(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    looks::file(app, person, request, "etiqueta.baixar", "etiqueta");
    let stores = app.db.read(request.lane, stores)?;
    desk::print(app, &CLIENTS, &stores, person.account.user_id, request)
}

/// `POST /admin/agencia/etiquetas/desfazer`: the labels of batches are to be printed again.
pub fn undo(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (named, to) = (desk::named(request)?, Answer::to(request));
    let actor = Actor::person(person, request);
    let batch = named.first().copied().unwrap_or_default();
    Ok(Box::new(move |tx| {
        let labels = desk::undo(tx, &named, is_joined)?;
        audit::note(tx, &actor, &LABEL.act("etiqueta.desfazer_impressao", batch, ""), (), ())?;
        to.done(batch, CLIENTS.path, &format!("desfeita:{labels}"))
    }))
}

/// `GET /admin/agencia/etiquetas/lote/{id}`: the file of a batch.
pub fn batch(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    looks::file(app, person, request, "etiqueta.baixar", "etiqueta");
    print_batch(app, request, &CLIENTS, is_joined)
}

/// `GET /admin/agencia/etiqueta`: the labels of shipments as one PDF.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    looks::file(app, person, request, "etiqueta.baixar", "etiqueta");
    print_named(app, request, LOST, |tx, account: MlUserId| {
        Ok(store::joined(tx, account)?.map(|joined| joined.owner))
    })
}
