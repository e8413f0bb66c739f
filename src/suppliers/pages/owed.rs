//! `/painel/fornecedores`: what a seller owes to which supplier, and by when;
//! and the seller's answers to invitations.

use super::orders::{LIST as SUPPLIERS_LIST, OrderJson, row, wanted};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::Actor;
use crate::dropshipping::debts;
use crate::dropshipping::orders::{self, Whose};
use crate::dropshipping::relations;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, ListReply, Listing, PageTime, columns, export, heads};
use crate::suppliers::views::OwedPage;
use crate::suppliers::{asked, choice, end_relation, with_owed};

/// The page where invitations are answered.
const HUB: &str = "/painel/parceiro";
const SUPPLIER: &str = "fornecedor";

pub(in crate::suppliers) const LIST: Listing = Listing {
    path: "/painel/fornecedores",
    heads: heads![
        "Pedido" => "data", "Fornecedor", "Valor" numeric, "Vencimento" => "vencimento", "Situação",
    ],
    file: "fornecedores.csv",
    csv: columns![
        id pedido fornecedor sku produto quantidade custo valor situacao vence_em pago_em
    ],
    flashes: &[],
    ..SUPPLIERS_LIST
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
            debts::owed_by_other(tx, whose, now)?,
            relations::invitations_to(tx, email)?,
            orders::page(tx, &wanted, query.window())?,
        ))
    })?;
    if request.wants_json() {
        return ListReply::of(total, rows, |order| OrderJson::of(order, zone, now));
    }
    let choice = choice(SUPPLIER, "Fornecedor", &suppliers, supplier);
    Reply::page(&OwedPage {
        layout: layout(app, person, request),
        table: LIST.table_by(&query, LIST.heads, total, &choice, None),
        orders: rows.into_iter().map(|order| row(order, zone, now)).collect(),
        invitations,
        time: PageTime::of(app, request),
        suppliers: with_owed(suppliers, &owed),
    })
}

/// `POST /painel/parceiro/convites/{id}/aceitar`.
pub fn accept(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    answer_to(person, request, true)
}

/// `POST /painel/parceiro/convites/{id}/recusar`.
pub fn refuse(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    answer_to(person, request, false)
}

fn answer_to(person: &Person, request: &Request, accepts: bool) -> Result<Job, Problem> {
    let id = request.id()?;
    let (owner, email) = (person.account.user_id, person.account.email.clone());
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let found = relations::inviter(tx, &email, id)?;
        let (supplier, name) = found.ok_or_else(Problem::not_found)?;
        let (action, word) = if accepts {
            relations::accept(tx, supplier, owner, id)?;
            ("relacao.aceitar", "aceito")
        } else {
            relations::refuse(tx, id)?;
            ("relacao.recusar", "recusado")
        };
        relations::note(tx, &actor, action, id, &email, &name)?;
        answer.done(id, HUB, word)
    }))
}

/// `POST /painel/parceiro/fornecedores/{id}/encerrar`: ends the relation with a supplier.
pub fn end(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    end_relation((app, person, request), false, HUB)
}
