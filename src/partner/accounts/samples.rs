//! The pages of the Partner API's accounts with sample data, for `page_samples.rs`.

use super::changes::FORM;
use super::pages::{LIST, usage};
use super::relations::{FORM as PAIR, LIST as RELATIONS};
use super::views::*;
use crate::accounts::views::ApiPlan;
use crate::base::Day;
use crate::fixture::html;
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{Badge, Layout, When};
use crate::partner::hub::samples::connected;
use crate::partner::hub::views::{OperationRow, TokenRow};

const NAMES: [&str; 4] = [
    "Ana Souza",
    "Rui",
    "Distribuidora Nossa Senhora da Conceição do Araguaia Importados",
    "Davi Fornecedor",
];

/// Every page in its states, with this layout and at these instants.
pub fn every(
    layout: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let list =
        |count, search: &str, total| list(layout("/admin/parceiros"), ago, (count, search, total));
    let one = |tokens, faults| one(layout("/admin/parceiros/7"), ago, (tokens, faults));
    vec![
        ("parceiros-vazio", list(0, "", 0)),
        ("parceiros-nada", list(0, "xícara & pires", 0)),
        ("parceiros", list(4, "", 4)),
        ("parceiros-muitos", list(20, "", 12_480)),
        ("relacoes-vazio", relations(layout("/admin/parceiros/relacoes"), ago, (0, 0))),
        ("relacoes", relations(layout("/admin/parceiros/relacoes"), ago, (5, 0))),
        ("relacoes-campos", relations(layout("/admin/parceiros/relacoes"), ago, (1, 1))),
        ("parceiro-conta-vazia", one(0, 0)),
        ("parceiro-conta", one(3, 0)),
        ("parceiro-conta-campos", one(1, 2)),
    ]
}

fn plan(index: usize) -> Option<ApiPlan> {
    let (name, state, until) = [
        ("Starter", Badge::Active, "sem data de término"),
        ("Pro", Badge::Active, "até 31/12/2026"),
        ("Scale", Badge::Expired, "até 31/10/2026"),
    ]
    .get(index % 4)
    .copied()?;
    Some(ApiPlan { name, state, until: until.to_owned(), usage: String::new() })
}

fn list(
    layout: Layout,
    ago: &dyn Fn(i64) -> When,
    (count, search, total): (usize, &str, u64),
) -> String {
    let row = |index: usize| {
        let plan = plan(index);
        AccountRow {
            id: (index + 1).to_string(),
            name: NAMES[index % 4].to_owned(),
            email: "ana.souza@exemplo.com.br".to_owned(),
            photo: String::new(),
            role: "Pro",
            state: plan.as_ref().map_or(Badge::NoPlan, |plan| plan.state),
            calls: usage(
                9_204 >> (2 * (index % 4)),
                plan.is_some().then_some([10_000, 100_000, 1_000_000][index % 3]),
            ),
            plan,
            tokens: (index % 3).to_string(),
            used: (!index.is_multiple_of(3)).then(|| ago(60 << index)),
        }
    };
    html(&AccountsPage {
        layout,
        table: LIST.table(&LIST.first_page(search), LIST.heads, total),
        accounts: (0..count).map(row).collect(),
    })
}

fn relations(layout: Layout, ago: &dyn Fn(i64) -> When, (count, faults): (usize, usize)) -> String {
    let row = |index: usize| RelationRow {
        id: (index + 1).to_string(),
        supplier: NAMES[(index + 2) % 4].to_owned(),
        seller: NAMES[index % 4].to_owned(),
        email: "ana.souza@exemplo.com.br".to_owned(),
        state: [Badge::Active, Badge::Invited, Badge::Closed, Badge::Refused, Badge::Withdrawn]
            [index % 5],
        at: ago(3_600 << index),
        links: "12".to_owned(),
        is_open: index < 2,
    };
    html(&RelationsPage {
        layout,
        table: RELATIONS.table(&RELATIONS.first_page(""), RELATIONS.heads, count as u64),
        relations: (0..count).map(row).collect(),
        form: PAIR.sample(None, faults),
    })
}

fn one(layout: Layout, ago: &dyn Fn(i64) -> When, (tokens, faults): (usize, usize)) -> String {
    let words = BarWords {
        title: "Chamadas por dia",
        unit: "Chamadas",
        value: |calls| format!("{calls} chamadas"),
        mark: |calls| calls.to_string(),
    };
    let month = |label: &str, on| MonthLink {
        label: label.to_owned(),
        href: format!("/admin/parceiros/7?mes={}", &Day(20_758).iso()[..7]),
        on,
    };
    html(&AccountPage {
        layout,
        id: "7".to_owned(),
        name: NAMES[2].to_owned(),
        email: "distribuidora@exemplo.com.br".to_owned(),
        photo: String::new(),
        role: "Fornecedor",
        person: "/admin/equipe/7".to_owned(),
        plan: plan(if tokens > 0 { 1 } else { 3 }),
        state: if tokens > 0 { Badge::Active } else { Badge::NoPlan },
        rate: "120 por minuto, somando todos os tokens".to_owned(),
        calls: usage(86_204, (tokens > 0).then_some(100_000)),
        form: FORM.sample(None, faults),
        apps: (0..tokens.min(2)).map(|index| connected(index, ago)).collect(),
        tokens: (0..tokens)
            .map(|index| TokenRow {
                id: (index + 1).to_string(),
                name: NAMES[index % 4].to_owned(),
                prefix: "ptk_0a1b2c3d".to_owned(),
                created: ago(86_400),
                used: (index > 0).then(|| ago(90)),
                address: if index > 0 { "2001:db8:7:ffff:aaaa:bbbb:cccc:dddd" } else { "" }
                    .to_owned(),
            })
            .collect(),
        months: vec![month("11/2026", true), month("10/2026", false), month("09/2026", false)],
        month: "11/2026".to_owned(),
        chart: BarChart::new(words, Day(20_758), &[3, 0, 900, 301]).filter(|_| tokens > 0),
        operations: (0..tokens)
            .map(|_| OperationRow {
                name: "get_store_metrics",
                about: "Números de uma conta",
                calls: "1.204".to_owned(),
            })
            .collect(),
    })
}
