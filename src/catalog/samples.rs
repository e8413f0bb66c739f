//! Every page about products with sample data: none, one, three and many rows,
//! long names, fields with errors. Checked by `page_samples.rs`.

use super::ProductEntry;
use super::entry::{FORM, ProductForm};
use super::stock::pages::FORM as MOVEMENT;
use super::views::{
    ExistingProduct, MovementForm, MovementRow, ProductImportPage, ProductPage, ProductRow,
    ProductsPage, signed, stock_state, units,
};
use crate::base::{Cents, Zone};
use crate::fixture::html;
use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Listing, Notice, Paging, Tone, When};

type Pages = Vec<(&'static str, String)>;

const ZONE: Zone = Zone::SAO_PAULO;
const BASE: &str = "/painel/produtos";
const LIST: Listing = super::pages::OF_SELLERS;
const TITLES: [&str; 3] = [
    "Garrafa térmica 500 ml",
    "Capa impermeável para sofá retrátil de três lugares com elástico reforçado",
    "Pá",
];
const STOCKS: [i64; 4] = [1_240, 0, 38, -2];

fn list(layout: Layout, ago: &dyn Fn(i64) -> When, count: usize, search: &str) -> String {
    let total = if count == 20 { 12_480 } else { count as u64 };
    html(&ProductsPage {
        layout,
        base: BASE,
        purpose: "O que você vende, com custo, preço e estoque. Vendas pagas dão baixa pelo SKU.",
        table: LIST.table(&LIST.first_page(search), LIST.heads, total),
        products: (0..count)
            .map(|index| ProductRow {
                id: (index + 1).to_string(),
                title: TITLES[index % 3].to_owned(),
                codes: ["GAR-500 · 7891234567895", "CAPA-SOFA-3L-CINZA", "PA"][index % 3]
                    .to_owned(),
                cost: "R$ 32,50".to_owned(),
                price: ["R$ 89,90", "R$ 1.119,90"][index % 2].to_owned(),
                stock: units(STOCKS[index % 4]),
                state: stock_state(STOCKS[index % 4]),
                updated: ago(700),
            })
            .collect(),
    })
}

fn product(layout: Layout, ago: &dyn Fn(i64) -> When, movements: usize, faults: usize) -> String {
    let form = ProductForm {
        product: ProductEntry {
            sku: "CAPA-SOFA-3L-CINZA".to_owned(),
            ean: "7891234567895".to_owned(),
            title: TITLES[1].to_owned(),
            cost: Cents(3_250),
            price: Cents(11_990),
        },
        counted: None,
    };
    let mut movement =
        MovementForm { form: MOVEMENT.sample(None, 2 * faults), ..MovementForm::fresh(ZONE) };
    if faults > 0 {
        movement.form.say("quantidade", "Só há 2 em estoque. Conferiu e há mais? Faça um ajuste.");
    } else {
        movement.form = movement.form.unfocused();
    }
    let line = |index: usize| MovementRow {
        kind: [Badge::WentOut, Badge::CameIn, Badge::Counted][index % 3],
        reason: ["Venda 2000001234567890", "", "Importação"][index % 3].to_owned(),
        change: signed([-1, 40, 0][index % 3]),
        balance: units([1_239, 1_240, 1_200][index % 3]),
        when: ago(4_000 * i64::try_from(index + 1).unwrap()),
    };
    html(&ProductPage {
        layout,
        base: BASE,
        existing: Some(ExistingProduct {
            id: "1".to_owned(),
            title: TITLES[1].to_owned(),
            stock: units(if movements == 0 { 0 } else { 1_239 }),
            state: stock_state(i64::from(movements > 0)),
            movement,
            movements: (0..movements).map(line).collect(),
            paging: Paging::new("/painel/produtos/1", &[], 1, 20, movements as u64),
        }),
        form: FORM.sample(Some(&form), 0),
    })
}

fn new_product(layout: Layout, faults: usize) -> String {
    let form = FORM.sample(None, faults);
    html(&ProductPage { layout, base: BASE, existing: None, form })
}

fn import(layout: Layout, faults: usize) -> String {
    let said = "“SKU” precisa ter de 1 a 80 letras; “Preço de venda” precisa ser um valor a partir de 0, com até duas casas, como 12,50.";
    html(&ProductImportPage {
        layout,
        base: BASE,
        alert: (faults > 0).then(|| {
            Notice::new(Tone::Bad, "3 linhas precisam de correção", "Nada foi importado.")
        }),
        file: Field::default(),
        most: "20.000".to_owned(),
        faults: (0..faults).map(|index| ((index * 37 + 1).to_string(), said.to_owned())).collect(),
        more: faults,
    })
}

/// Every page about products.
pub fn every(student: &dyn Fn(&str) -> Layout, ago: &dyn Fn(i64) -> When) -> Pages {
    vec![
        ("produtos-vazio", list(student(BASE), ago, 0, "")),
        ("produtos-nada", list(student(BASE), ago, 0, "xícara & pires")),
        ("produtos", list(student(BASE), ago, 3, "")),
        ("produtos-muitos", list(student(BASE), ago, 20, "")),
        ("produto-novo", new_product(student(BASE), 0)),
        ("produto-campos", new_product(student(BASE), 6)),
        ("produto", product(student(BASE), ago, 20, 0)),
        ("produto-sem-movimento", product(student(BASE), ago, 0, 1)),
        ("produtos-importar", import(student(BASE), 0)),
        ("produtos-importar-linhas", import(student(BASE), 3)),
    ]
}
