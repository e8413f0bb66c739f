//! The pages of the tools with sample data, for `page_samples.rs`.

use super::fees::Remains;
use super::fees::views::{Calculated, CalculatorPage, Card};
use super::labels::of_cause;
use super::labels::views::{AccountTab, LabelsPage, ParcelRow, Parcels};
use crate::base::Cents;
use crate::fixture::html;
use crate::marketplace::client::Fee;
use crate::panel::{Badge, FormView, Layout, Notice, Paging, Pick, Tone, When};

type Pages = Vec<(&'static str, String)>;

const NAMES: [&str; 2] =
    ["CASA DA MARÉ", "LOJA-DE-NOME-COMPRIDO-SEM-ESPACO-PARA-QUEBRAR-A-LINHA-123456"];

fn outcome(price: Cents, fixed: Cents) -> Calculated {
    let card = |name, id, percent| {
        let fee = Fee { percent, fixed };
        Card::new(name, id, price, fee, &Remains::of(price, fee, 5.0, 6.0))
    };
    Calculated {
        price: price.page(),
        account: NAMES[1].to_owned(),
        reputation: Badge::ReputationBest,
        discount: "5%".to_owned(),
        tax: "6%".to_owned(),
        cards: vec![card("Clássico", "classico", 14.0), card("Premium", "premium", 19.5)],
    }
}

fn calculator(
    layout: Layout,
    accounts: usize,
    outcome: Option<Calculated>,
    faults: usize,
) -> String {
    let names = ["conta", "preco", "categoria", "logistica"];
    let mut form = FormView::new(&names, |_| String::new()).unfocused();
    if faults > 0 {
        form.find_fault(&names[..faults], |_| "Confira este campo.");
    }
    let pick = |value: &str, label: &str| Pick { value: value.to_owned(), label: label.to_owned() };
    html(&CalculatorPage {
        layout,
        may: accounts < 9,
        alert: (faults > 0).then(|| Notice::new(Tone::Bad, "Não deu para calcular", "")),
        form,
        accounts: NAMES.iter().take(accounts).map(|name| pick(name, name)).collect(),
        logistics: vec![pick("drop_off", "Mercado Envios, você leva à agência")],
        tax: FormView::new(&["imposto"], |_| String::new()).unfocused(),
        tax_help: "Em porcentagem, como 6,5. Em branco vale a taxa da plataforma, 6%.".to_owned(),
        outcome,
    })
}

/// Some parcels of an account, with their files at `file`.
pub fn some_parcels(
    ago: &dyn Fn(i64) -> When,
    can_print: bool,
    parcels: usize,
    file: &'static str,
) -> Parcels {
    let parcel = |index: usize| ParcelRow {
        shipment: (44_000_000_000 + index).to_string(),
        href: format!("{file}?conta=1&shipment_id={}", 44_000_000_000 + index),
        title: [
            "1× Garrafa térmica 500 ml",
            "12× Capa impermeável para sofá retrátil de três lugares e mais 2 pedidos",
        ][index % 2]
            .to_owned(),
        refused: (index == 1).then(|| of_cause("not_printable_status").1),
        buyer: ["COMPRADOR_DE_NOME_COMPRIDO_123456", ""][index % 2].to_owned(),
        sold: ago(3_000 * i64::try_from(index).unwrap()),
    };
    Parcels {
        account: "1".to_owned(),
        file,
        can_print,
        printable: parcels.min(parcels.saturating_sub(1).max(1)),
        all: format!("{file}?conta=1&shipment_id=1,2"),
        rows: (0..parcels).map(parcel).collect(),
        paging: Paging::new(&format!("{file}s"), &[], 1, 50, parcels as u64 * 2),
    }
}

fn labels(
    layout: Layout,
    ago: &dyn Fn(i64) -> When,
    can_print: bool,
    accounts: usize,
    parcels: usize,
) -> String {
    let tab = |(index, name): (usize, &&str)| AccountTab {
        label: (*name).to_owned(),
        href: format!("/painel/ml/etiquetas?conta={index}"),
        on: index == 0,
    };
    html(&LabelsPage {
        layout,
        is_linked: accounts > 0,
        tabs: NAMES.iter().enumerate().take(accounts).map(tab).collect(),
        parcels: some_parcels(ago, can_print, parcels, "/painel/ml/etiqueta"),
    })
}

/// The pages of all tools.
pub fn every(student: &dyn Fn(&str) -> Layout, ago: &dyn Fn(i64) -> When) -> Pages {
    let fees = || student("/painel/ml/calculadora");
    let parcels = || student("/painel/ml/etiquetas");
    let (usual, loss) = (outcome(Cents(8_990), Cents(0)), outcome(Cents(800), Cents(700)));
    vec![
        ("calculadora", calculator(fees(), 2, None, 0)),
        ("calculadora-resultado", calculator(fees(), 2, Some(usual), 0)),
        ("calculadora-prejuizo", calculator(fees(), 1, Some(loss), 0)),
        ("calculadora-campos", calculator(fees(), 2, None, 4)),
        ("calculadora-sem-conta", calculator(fees(), 0, None, 0)),
        ("calculadora-sem-plano", calculator(fees(), 9, None, 0)),
        ("etiquetas", labels(parcels(), ago, true, 2, 3)),
        ("etiquetas-sem-vinculo", labels(parcels(), ago, false, 2, 3)),
        ("etiquetas-muitas", labels(parcels(), ago, true, 1, 50)),
        ("etiquetas-vazio", labels(parcels(), ago, true, 2, 0)),
        ("etiquetas-sem-conta", labels(parcels(), ago, true, 0, 0)),
    ]
}
