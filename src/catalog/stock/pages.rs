//! Movements made by hand, in the panels of sellers and suppliers.

use super::{Entered, LONGEST_REASON, MovementFault, StockMovementKind};
use crate::app::{App, Visit};
use crate::catalog::entry::typed;
use crate::catalog::pages::{Change, Found, Window, base, product_page};
use crate::catalog::views::{MovementForm, kind_ticks, units};
use crate::catalog::{MOST_UNITS, store};
use crate::edge::route::Job;
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Form, Sent, form};

/// The form of a movement.
pub const FORM: Form<Entered> = form! {
    "tipo": Own(read_kind, |entered, _| entered.kind.name().to_owned()),
        "Escolha entrada, saída ou ajuste.";
    "quantidade": Own(read_quantity, |_, _| String::new()),
        "Informe um número de 1 a 10.000.000; num ajuste, o que foi contado, a partir de 0.";
    "motivo": Line(0..=LONGEST_REASON, |entered| &mut entered.reason),
        "Informe o motivo em até 120 letras.";
};

fn read_kind(sent: &mut Sent<'_>, name: &'static str, entered: &mut Entered) {
    let word: String = sent.required(name);
    match StockMovementKind::from_name(&word) {
        Some(kind) => entered.kind = kind,
        None => sent.check.fail(name, "must be entrada, saida or ajuste"),
    }
}

fn read_quantity(sent: &mut Sent<'_>, name: &'static str, entered: &mut Entered) {
    entered.quantity = sent.required(name);
    let least = i64::from(entered.kind != StockMovementKind::Adjust);
    if !(least..=MOST_UNITS).contains(&entered.quantity) {
        sent.check.fail(name, format!("must be from {least} to {MOST_UNITS}"));
    }
}

fn refused(fault: MovementFault) -> Problem {
    Problem::field("quantidade", fault.said())
}

/// `POST …/produtos/{id}/movimentos`: records a movement.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let found = Found::read((app, person, request), id, Window::FIRST)?;
    let balance = found.product.stock;
    let read = FORM.entry(request, app.zone(), None).and_then(|entered| {
        entered.change(balance).map_err(refused)?;
        Ok(entered)
    });
    let entered = match read {
        Ok(entered) => entered,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                again((app, person, request), found, faults)
            });
        }
    };
    let change = Change::of(app, person, request);
    let page = format!("{}/{id}", base(person));
    Ok(Box::new(move |tx| {
        let present = store::product(tx, change.owner, id)?.ok_or_else(Problem::not_found)?;
        entered.make(tx, change.channels, id, present.stock)?.map_err(refused)?;
        let made = super::page(tx, id, 0, 1)?;
        let number = made.first().map_or(0, |movement| movement.id);
        change.answer.made(number, &page, "movimento")
    }))
}

/// The product's page, with the movement form as it was sent and its errors.
fn again(visit: Visit<'_>, found: Found, faults: &Fields) -> Result<Reply, Problem> {
    let (app, _, request) = visit;
    let mut form = FORM.again(request, faults);
    if faults.iter().any(|(_, said)| said.starts_with("there are only")) {
        let left = units(found.product.stock.max(0));
        form.say(
            "quantidade",
            format!("Só há {left} em estoque. Conferiu e há mais? Faça um ajuste."),
        );
    }
    let kind = form::all_sent(request, "tipo").next().unwrap_or_default();
    let movement = MovementForm { form, kinds: kind_ticks(&kind) };
    let form = typed(app, &found.product);
    product_page(visit, Some(found), form, movement)
}
