//! One claim of a client in the agency's panel: the page that its seller has.

use crate::accounts::page_layout::layout;
use crate::agency::clients::store;
use crate::agency::{page_of, store as accounts, things};
use crate::app::App;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims::pages::WireClaim;
use crate::marketplace::books::claims::views::{ClaimPage, Door};
use crate::panel::PageTime;

/// `GET /admin/agencia/clientes/{id}/reclamacoes/{claim_id}`: one claim of an account
/// that the agency looks after for this client.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let client = request.id()?;
    let claim = request.variable("claim_id").parse().map_err(|_| Problem::not_found())?;
    let (client, stores, found) = app.db.read(request.lane, |tx| {
        let client = store::existing(tx, client)?;
        let found = things::claim_of(tx, client.id, claim)?.ok_or_else(Problem::not_found)?;
        let accounts = accounts::accounts_of(tx, client.id)?.into_iter();
        let stores: Stores = accounts.map(|one| (one.ml_user_id, one.nickname)).collect();
        Ok::<_, Problem>((client, stores, found))
    })?;
    if request.wants_json() {
        return Reply::ok(&WireClaim::of(app, &stores, found));
    }
    let door = Door { list: page_of(client.id), label: client.entry.name, is_own: false };
    let time = PageTime::of(app, request);
    let auth_base = &app.config.marketplace.auth_base;
    let page = ClaimPage::of(layout(app, person, request), found, &stores, time, auth_base, door);
    Reply::page(&page)
}
