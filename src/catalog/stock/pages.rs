//! Movements made by hand, in the panels of sellers and suppliers.

use serde::Deserialize;

use super::{Kind, LONGEST_REASON, Move};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::catalog::entry::typed;
use crate::catalog::pages::{Change, Found, Window, base};
use crate::catalog::views::{MovementForm, ProductPage, fault_words, kind_ticks, units};
use crate::catalog::{MOST_UNITS, store};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::problem::Fields;
use crate::http::{Problem, Reply, Request};
use crate::panel::form::{self, FormView};
use crate::panel::view::{self, Notice};

/// Fields of the form that hold a text.
pub const FIELDS: [&str; 2] = ["quantidade", "motivo"];

#[derive(Deserialize)]
struct MovementBody {
    #[serde(default)]
    tipo: Field<String>,
    #[serde(default)]
    quantidade: Field<i64>,
    #[serde(default)]
    motivo: Field<String>,
}

/// A movement as it was entered.
struct Entered {
    kind: Kind,
    /// Units; of an adjustment, what was counted.
    quantity: i64,
    reason: String,
}

impl Entered {
    fn read(request: &Request) -> Result<Self, Problem> {
        let body: MovementBody = request.form_or_json()?;
        let mut check = Check::form_or_json(request.headers());
        let name: String = check.required("tipo", body.tipo);
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        if kind.is_none() {
            check.fail("tipo", "must be entrada, saida or ajuste");
        }
        let quantity = check.required("quantidade", body.quantidade);
        let least = i64::from(kind != Some(Kind::Adjust));
        if !(least..=MOST_UNITS).contains(&quantity) {
            check.fail("quantidade", format!("must be from {least} to {MOST_UNITS}"));
        }
        let reason = check.optional_line("motivo", body.motivo, LONGEST_REASON);
        check.finish()?;
        Ok(Self { kind: kind.unwrap_or(Kind::Adjust), quantity, reason })
    }

    /// What it adds to a balance; at fault when that would leave its bounds.
    fn change(&self, balance: i64) -> Result<i64, Problem> {
        let change = match self.kind {
            Kind::In => self.quantity,
            Kind::Out => -self.quantity,
            Kind::Adjust => self.quantity - balance,
        };
        let after = balance + change;
        if self.kind == Kind::Out && after < 0 {
            let said = format!("there are only {} in stock", balance.max(0));
            return Err(Problem::field("quantidade", said));
        }
        if after > MOST_UNITS {
            let said = format!("there can be at most {MOST_UNITS} in stock");
            return Err(Problem::field("quantidade", said));
        }
        Ok(change)
    }
}

/// `POST …/produtos/{id}/movimentos`: notes what came in, went out or was counted.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let found = Found::read(app, person, request, id, Window::FIRST)?;
    let balance = found.product.stock;
    let read = Entered::read(request).and_then(|entered| {
        entered.change(balance)?;
        Ok(entered)
    });
    let entered = match read {
        Ok(entered) => entered,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                again(app, person, request, found, faults)
            });
        }
    };
    let change = Change::of(app, person, request);
    let page = format!("{}/{id}", base(person));
    Ok(Box::new(move |tx| {
        let present = store::product(tx, change.owner, id)?.ok_or_else(Problem::not_found)?;
        let what = Move {
            kind: entered.kind,
            change: entered.change(present.stock)?,
            reason: &entered.reason,
            order: None,
        };
        super::make(tx, id, &what)?;
        change.made(tx);
        let number = super::total(tx, id)?;
        change.answer.made(number, &page, "movimento")
    }))
}

/// The product's page with the movement as it was sent and what is wrong.
fn again(
    app: &App,
    person: &Person,
    request: &Request,
    found: Found,
    faults: &Fields,
) -> Result<Reply, Problem> {
    let mut form = FormView::again(&FIELDS, request, faults, fault_words);
    if faults.iter().any(|(_, said)| said.starts_with("there are only")) {
        let left = units(found.product.stock.max(0));
        form.say(
            "quantidade",
            format!("Só há {left} em estoque. Conferiu e há mais? Faça um ajuste."),
        );
    }
    let kind = form::all_sent(request, "tipo").next().unwrap_or_default();
    let mut movement =
        MovementForm { form, kind: view::Field::default(), kinds: kind_ticks(&kind) };
    if faults.iter().any(|(name, _)| name == "tipo") {
        // It stands first on the page.
        movement.kind = movement.kind.fault(Some(fault_words("tipo")));
        movement.kind.focus = true;
        movement.form = movement.form.unfocused();
        movement.form.alert = Notice::faults(faults.len());
    }
    let form = typed(&found.product.entry);
    Reply::page(&ProductPage {
        layout: layout(app, person, request),
        base: base(person),
        existing: Some(found.existing(app, person, request, movement)),
        form,
    })
}
