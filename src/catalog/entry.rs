//! What is entered of a product: the form, and reading what was sent.

use serde::Deserialize;

use super::views::fault_words;
use super::{Entry, MOST_UNITS, Product, is_amount, is_ean, store};
use crate::app::App;
use crate::base::money::Cents;
use crate::content::change::Present;
use crate::edge::guard::Person;
use crate::http::input::{Check, Field};
use crate::http::problem::Fields;
use crate::http::{Problem, Request};
use crate::panel::form::FormView;

/// Fields of the form of a new product, and of one that exists: its stock
/// changes by movements.
pub const NEW_FIELDS: [&str; 6] = ["titulo", "sku", "ean", "custo", "preco", "estoque"];
pub const FIELDS: [&str; 5] = ["titulo", "sku", "ean", "custo", "preco"];
/// What is said of a SKU that its owner has used.
pub const SKU_TAKEN: &str = "is the SKU of another product";

/// The form of a product that exists.
pub fn typed(entry: &Entry) -> FormView {
    FormView::new(&FIELDS, |name| match name {
        "titulo" => entry.title.clone(),
        "sku" => entry.sku.clone(),
        "ean" => entry.ean.clone(),
        "custo" => entry.cost.typed(),
        _ => entry.price.typed(),
    })
    .unfocused()
}

#[derive(Deserialize)]
struct ProductBody {
    #[serde(default)]
    titulo: Field<String>,
    #[serde(default)]
    sku: Field<String>,
    #[serde(default)]
    ean: Field<String>,
    #[serde(default)]
    custo: Field<Cents>,
    #[serde(default)]
    preco: Field<Cents>,
    #[serde(default)]
    estoque: Field<i64>,
}

/// What was sent of a product, and what its stock is to be, if anything.
pub fn read(
    app: &App,
    person: &Person,
    request: &Request,
    stored: Option<&Product>,
) -> Result<(Entry, Option<i64>), Problem> {
    let body: ProductBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let present = Present::of(request, stored.map(|product| &product.entry));
    let title = present.keep(&body.titulo, |entry| entry.title.clone());
    let title =
        title.unwrap_or_else(|| check.line("titulo", body.titulo, 1..=super::LONGEST_TITLE));
    let sku = present.keep(&body.sku, |entry| entry.sku.clone());
    let sku = sku.unwrap_or_else(|| check.line("sku", body.sku, 1..=super::LONGEST_SKU));
    let ean = present.keep(&body.ean, |entry| entry.ean.clone());
    let ean = ean.unwrap_or_else(|| check.optional_line("ean", body.ean, 40));
    if !ean.is_empty() && !is_ean(&ean) {
        check.fail("ean", "must have 8 to 14 digits");
    }
    let cost = present.keep(&body.custo, |entry| entry.cost);
    let cost = cost.unwrap_or_else(|| amount(&mut check, "custo", body.custo));
    let price = present.keep(&body.preco, |entry| entry.price);
    let price = price.unwrap_or_else(|| amount(&mut check, "preco", body.preco));
    let stock = check.number("estoque", body.estoque, 0..=MOST_UNITS);
    let owner = person.account.user_id;
    let taken = app.db.read(request.lane, |tx| store::by_sku(tx, owner, &sku))?;
    if taken.is_some_and(|other| stored.is_none_or(|own| own.id != other.id)) {
        check.fail("sku", SKU_TAKEN);
    }
    check.finish()?;
    let entry = Entry { sku, ean, title, cost, price };
    Ok((entry, stock))
}

/// An optional amount; absent is nothing.
fn amount(check: &mut Check, name: &'static str, field: Field<Cents>) -> Cents {
    let amount = check.optional(name, field).unwrap_or_default();
    if !is_amount(amount) {
        check.fail(name, "must be from 0 to 10000000");
    }
    amount
}

/// The form as it was sent, with what is wrong with it.
pub fn again(names: &[&'static str], request: &Request, faults: &Fields) -> FormView {
    let mut form = FormView::again(names, request, faults, fault_words);
    if faults.iter().any(|(name, said)| name == "sku" && said == SKU_TAKEN) {
        form.say("sku", "Você já tem um produto com este SKU.");
    }
    form
}
