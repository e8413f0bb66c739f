//! The supplier's panel, and what sellers see of their suppliers.
//!
//! The rules and the SQL are in `dropshipping/`. Labels and fiscal notes come through
//! `partner/supplier/files.rs`, as for API clients.

pub mod pages;
pub mod views;

use crate::accounts::store as accounts;
use crate::app::Visit;
use crate::audit::Actor;
use crate::base::UserId;
use crate::dropshipping::debts::Owed;
use crate::dropshipping::relations::{self, Related};
use crate::http::{Problem, Reply, Request};
use crate::panel::Answer;
use crate::panel::list::Choice;

const SELLER: &str = "vendedor";

/// The person that a parameter of the address names.
fn asked(request: &Request, name: &'static str) -> Result<Option<UserId>, Problem> {
    Ok(request.number_of(name)?.map(UserId))
}

/// The filter by the person on the other side: what the parameter and the filter are called.
fn choice(
    name: &'static str,
    label: &'static str,
    people: &[Related],
    present: Option<UserId>,
) -> Choice {
    Choice {
        name,
        label,
        all: "Todos",
        values: people.iter().map(|one| (one.id.to_string(), one.name.clone())).collect(),
        present: present.map_or_else(String::new, |id| id.to_string()),
    }
}

/// People with what is owed to or by each.
fn with_owed(people: Vec<Related>, owed: &[(UserId, Owed)]) -> Vec<(Related, Owed)> {
    let of = |one: Related| {
        let found = owed.iter().find(|(id, _)| *id == one.id);
        (one, found.map(|(_, owed)| *owed).unwrap_or_default())
    };
    people.into_iter().map(of).collect()
}

/// Ends the relation of a person with the one that the path names; back to `page`.
fn end_relation(
    (app, person, request): Visit<'_>,
    is_supplier: bool,
    page: &'static str,
) -> Result<Reply, Problem> {
    let (own, other) = (person.account.user_id, UserId(request.id()?));
    let (supplier, seller) = if is_supplier { (own, other) } else { (other, own) };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let name = person.account.name.clone();
    relations::end_links(&app.db, supplier, seller)?;
    app.db.write(move |tx| {
        if !relations::end(tx, supplier, seller)? {
            return Err(Problem::not_found());
        }
        let found = accounts::by_id(tx, other)?.map(|one| one.name).unwrap_or_default();
        let (seller, supplier) = if is_supplier { (&*found, &*name) } else { (&*name, &*found) };
        relations::note(tx, &actor, "relacao.encerrar", other.0, seller, supplier)?;
        answer.done(other, page, "encerrado")
    })
}
