//! `/painel/fornecedores`: what a seller owes to which supplier, and by when;
//! and the seller's answers to invitations.

use serde::Serialize;

use super::asked;
use super::orders::{BY_STANDING, OrderJson, row, wanted};
use super::views::{OwedPage, SupplierRow};
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::App;
use crate::audit::Actor;
use crate::base::{UserId, grouped};
use crate::dropshipping::orders::{self, Owed, Whose};
use crate::dropshipping::relations::{self, RelatedSupplier};
use crate::dropshipping::views::invitation_rows;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::list::Choice;
use crate::panel::{Answer, Head, ListReply, Listing, export};

/// The page where invitations are answered.
const HUB: &str = "/painel/parceiro";
const SUPPLIER: &str = "fornecedor";

pub(super) const LIST: Listing = Listing {
    path: "/painel/fornecedores",
    hint: "Pedido, SKU ou produto",
    filters: &[BY_STANDING],
    sort_keys: &["-data", "vencimento"],
    heads: &[
        Head::sorts("Pedido", "data"),
        Head::plain("Fornecedor"),
        Head::plain("Valor").numeric(),
        Head::sorts("Vencimento", "vencimento"),
        Head::plain("Situação"),
    ],
    file: "fornecedores.csv",
    csv: &[
        "id",
        "pedido",
        "fornecedor",
        "sku",
        "produto",
        "quantidade",
        "custo",
        "valor",
        "situacao",
        "vence_em",
        "pago_em",
    ],
    ..Listing::NONE
};

/// The list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let supplier = asked(request, SUPPLIER)?;
    let whose = Whose::Seller(owner);
    let wanted = wanted(whose, &query, supplier, now);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| orders::ids(tx, &wanted))?;
        return export::list(app, person, &LIST, ids, move |_, tx, id| {
            Ok(orders::one(tx, whose, id)?.map(|order| OrderJson::of(order, zone, now)))
        });
    }
    let email = &person.account.email;
    let (suppliers, owed, invitations, (rows, total)) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((
            relations::suppliers(tx, owner)?,
            orders::owed_by_other(tx, whose, now)?,
            relations::invitations_to(tx, email)?,
            orders::page(tx, &wanted, query.window())?,
        ))
    })?;
    if request.wants_json() {
        let rows = rows.into_iter().map(|order| OrderJson::of(order, zone, now));
        return ListReply::reply(total, rows.collect());
    }
    let choice = Choice {
        name: SUPPLIER,
        label: "Fornecedor",
        values: suppliers.iter().map(|one| (one.id.to_string(), one.name.clone())).collect(),
        present: supplier.map_or_else(String::new, |id| id.to_string()),
    };
    Reply::page(&OwedPage {
        layout: layout(app, person, request),
        table: LIST.table_by(&query, LIST.heads, total, (&choice, None)),
        orders: rows.into_iter().map(|order| row(order, zone, now)).collect(),
        invitations: invitation_rows(invitations, app.zone(), request.now),
        suppliers: suppliers.into_iter().map(|one| supplier_row(one, &owed)).collect(),
    })
}

fn supplier_row(supplier: RelatedSupplier, owed: &[(UserId, Owed)]) -> SupplierRow {
    let found = owed.iter().find(|(id, _)| *id == supplier.id);
    let owed = found.map(|(_, owed)| *owed).unwrap_or_default();
    SupplierRow {
        id: supplier.id.to_string(),
        name: supplier.name,
        links: grouped(supplier.links),
        pending: owed.pending.amount.page(),
        overdue: (owed.overdue.orders > 0).then(|| owed.overdue.amount.page()),
    }
}

/// An answer to an invitation.
#[derive(Clone, Copy, Serialize)]
enum Said {
    Yes,
    No,
}

/// `POST /painel/parceiro/convites/{id}/aceitar`.
pub fn accept(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    answer_to(app, person, request, Said::Yes)
}

/// `POST /painel/parceiro/convites/{id}/recusar`.
pub fn refuse(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    answer_to(app, person, request, Said::No)
}

fn answer_to(_: &App, person: &Person, request: &Request, said: Said) -> Result<Job, Problem> {
    let id = request.id()?;
    let (owner, email) = (person.account.user_id, person.account.email.clone());
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let found = relations::inviter(tx, &email, id)?;
        let (supplier, name) = found.ok_or_else(Problem::not_found)?;
        let (action, word) = match said {
            Said::Yes => {
                relations::accept(tx, supplier, owner, id)?;
                ("relacao.aceitar", "aceito")
            }
            Said::No => {
                relations::refuse(tx, id)?;
                ("relacao.recusar", "recusado")
            }
        };
        relations::note(tx, &actor, (action, id), (&email, &name))?;
        answer.done(id, HUB, word)
    }))
}

/// `POST /painel/parceiro/fornecedores/{id}/encerrar`: ends the relation with a supplier.
pub fn end(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (supplier, owner) = (UserId(request.id()?), person.account.user_id);
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let name = person.account.name.clone();
    relations::end_links(&app.db, supplier, owner)?;
    app.db.write(move |tx| {
        if !relations::end(tx, supplier, owner)? {
            return Err(Problem::not_found());
        }
        let other = accounts::by_id(tx, supplier)?.map(|one| one.name).unwrap_or_default();
        relations::note(tx, &actor, ("relacao.encerrar", supplier.0), (&name, &other))?;
        answer.done(supplier, HUB, "encerrado")
    })
}
