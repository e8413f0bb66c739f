//! The form of a product, and reading it from a request.

use super::{MOST_CENTS, MOST_UNITS, Product, ProductEntry, is_ean, store};
use crate::app::Visit;
use crate::http::{Fields, Problem, Request};
use crate::marketplace::books::listings::store::SellerListing;
use crate::panel::{Form, FormView, Sent, form};
use crate::services::Services;

/// The fields of a product's form.
#[derive(Clone, Debug, Default)]
pub struct ProductForm {
    pub product: ProductEntry,
    /// The counted stock. In the panel it is entered for a new product only:
    /// the stock of an existing product changes by movements.
    pub counted: Option<i64>,
}

impl ProductForm {
    /// That of an existing product.
    fn of(product: &Product) -> Self {
        Self { product: product.entry.clone(), counted: None }
    }
}

pub const FORM: Form<ProductForm> = form! {
    "titulo": Line(1..=super::LONGEST_TITLE, |form| &mut form.product.title),
        "Dê um título de 1 a 200 letras.";
    "sku": Line(1..=super::LONGEST_SKU, |form| &mut form.product.sku),
        "Informe um SKU de 1 a 80 letras.";
    "ean": Own(read_ean, |form, _| form.product.ean.clone()),
        "Informe de 8 a 14 números, ou deixe em branco.";
    "custo": Amount(0..=MOST_CENTS, |form| &mut form.product.cost), AMOUNT;
    "preco": Amount(0..=MOST_CENTS, |form| &mut form.product.price), AMOUNT;
    "estoque": Maybe(0..=MOST_UNITS, |form| &mut form.counted),
        "Informe um número de 0 a 10.000.000.";
    "estoque_baixo": Maybe(0..=MOST_UNITS, |form| &mut form.product.low_stock),
        "Informe um número de 0 a 10.000.000, ou deixe em branco.";
};
const AMOUNT: &str = "Informe um valor de 0 a 10.000.000,00, com até duas casas, como 12,50.";
/// The error for a SKU that another product of the same owner has.
pub const SKU_TAKEN: &str = "is the SKU of another product";

fn read_ean(sent: &mut Sent<'_>, name: &'static str, form: &mut ProductForm) {
    form.product.ean = sent.line(name, 0..=40);
    if !form.product.ean.is_empty() && !is_ean(&form.product.ean) {
        sent.check.fail(name, "must have 8 to 14 digits");
    }
}

/// The form of a new product, filled in from a listing that is to sell it.
pub fn for_listing(services: &Services, listing: &SellerListing) -> FormView {
    let row = &listing.row;
    let product = ProductEntry {
        sku: row.sku.clone(),
        ean: Some(row.ean.clone()).filter(|ean| is_ean(ean)).unwrap_or_default(),
        title: row.title.clone(),
        // An amount of zero is an empty field, for people to fill in.
        price: row.price.unwrap_or_default(),
        ..ProductEntry::default()
    };
    FORM.begin(ProductForm { product, counted: None }, services.zone())
}

/// The form of an existing product, with its values.
pub fn typed(services: &Services, product: &Product) -> FormView {
    FORM.show(Some(&ProductForm::of(product)), services.zone())
}

/// Reads the form of a product from a request, and checks it.
pub fn read(visit: Visit<'_>, stored: Option<&Product>) -> Result<ProductForm, Problem> {
    let (app, person, request) = visit;
    let mut sent = Sent::of(request, app.zone())?;
    let form = FORM.read(&mut sent, stored.map(ProductForm::of).as_ref());
    let owner = person.account.user_id;
    let taken = app.db.read(request.lane, |tx| store::by_sku(tx, owner, &form.product.sku))?;
    if taken.is_some_and(|other| stored.is_none_or(|own| own.id != other.id)) {
        sent.check.fail("sku", SKU_TAKEN);
    }
    sent.finish()?;
    Ok(form)
}

/// The form with the values that were sent and the errors.
pub fn again(request: &Request, faults: &Fields) -> FormView {
    let mut form = FORM.again(request, faults);
    if faults.iter().any(|(name, said)| name == "sku" && said == SKU_TAKEN) {
        form.say("sku", "Você já tem um produto com este SKU.");
    }
    form
}
