//! The pages of the hub with sample data, for `page_samples.rs`.

use super::pages::calls_to;
use super::views::*;
use crate::accounts::views::ApiPlan;
use crate::base::Day;
use crate::drop::views::InvitationRow;
use crate::fixture::html;
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{Badge, FormView, Layout, When};
use crate::partner::oauth::views::{AppRow, access};

const ADDRESS: &str = "https://escola.example/api/v1/partner/orders?limit=5";
const NAMES: [&str; 2] =
    ["Planilha", "Integração-de-nome-comprido-sem-espaço-para-quebrar-a-linha-nem-no-celular"];

/// Every page in its states, with this layout and at these instants.
pub fn every(
    layout: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let page = |plan: bool, tokens: usize, faults: usize, supplier: bool| {
        let mut form = FormView::new(&["nome"], |_| String::new()).unfocused();
        if faults > 0 {
            form.find_fault(&["nome"], |_| "Dê um nome de 1 a 80 letras.");
        }
        html(&HubPage {
            layout: layout("/painel/parceiro"),
            plan: plan.then(|| ApiPlan {
                name: "Pro",
                state: Badge::Active,
                until: "até 31/12/2026".to_owned(),
                usage: "1.204 de 100.000 chamadas neste mês".to_owned(),
            }),
            rate: "120 por minuto, somando todos os tokens".to_owned(),
            left: "restam 98.796 até 30/11/2026".to_owned(),
            chart: BarChart::new(words(), Day(20_758), &[3, 0, 900, 301]).filter(|_| tokens > 0),
            operations: (0..tokens)
                .map(|_| OperationRow {
                    name: "get_store_metrics",
                    about: "Números de uma conta",
                    calls: "1.204".to_owned(),
                })
                .collect(),
            form,
            tokens: (0..tokens).map(|index| token(index, ago)).collect(),
            apps: (0..tokens).map(|index| connected(index, ago)).collect(),
            connector: "https://dev.escola.example/mcp".to_owned(),
            calls: calls_to(ADDRESS, "$TOKEN", supplier),
            path: "/painel/parceiro",
            is_supplier: supplier,
            invitations: (0..tokens).map(|index| invitation(index, ago)).collect(),
            related: (0..tokens).map(|index| related(index, ago)).collect(),
        })
    };
    vec![
        ("parceiro-sem-plano", page(false, 0, 0, false)),
        ("parceiro-vazio", page(true, 0, 0, false)),
        ("parceiro", page(true, 2, 0, false)),
        ("parceiro-campos", page(true, 2, 1, false)),
        ("parceiro-fornecedor", page(true, 2, 0, true)),
        (
            "parceiro-token-feito",
            html(&TokenMade {
                layout: layout("/painel/parceiro"),
                name: NAMES[1].to_owned(),
                token: format!("ptk_{}", "0a1b2c3d".repeat(6)),
                calls: calls_to(ADDRESS, &format!("ptk_{}", "0a1b2c3d".repeat(6)), false),
                path: "/painel/parceiro",
            }),
        ),
    ]
}

fn words() -> BarWords {
    BarWords {
        title: "Chamadas neste mês",
        unit: "Chamadas",
        value: |calls| format!("{calls} chamadas"),
        mark: |calls| calls.to_string(),
    }
}

fn token(index: usize, ago: &dyn Fn(i64) -> When) -> TokenRow {
    TokenRow {
        id: (index + 1).to_string(),
        name: NAMES[index % 2].to_owned(),
        prefix: "ptk_0a1b2c3d".to_owned(),
        created: ago(86_400),
        used: (index > 0).then(|| ago(90)),
        address: if index > 0 { "2001:db8:7:ffff:aaaa:bbbb:cccc:dddd" } else { "" }.to_owned(),
    }
}

/// A connected app.
pub fn connected(index: usize, ago: &dyn Fn(i64) -> When) -> AppRow {
    AppRow {
        id: (index + 1).to_string(),
        name: ["Claude", NAMES[1]][index % 2].to_owned(),
        access: access(!index.is_multiple_of(2)),
        since: ago(86_400 * 3),
        used: (index > 0).then(|| ago(90)),
        address: if index > 0 { "2001:db8:7:ffff:aaaa:bbbb:cccc:dddd" } else { "" }.to_owned(),
        ends: "20/12/2026".to_owned(),
    }
}

/// An invitation without an answer.
pub fn invitation(index: usize, ago: &dyn Fn(i64) -> When) -> InvitationRow {
    InvitationRow {
        id: (index + 1).to_string(),
        email: "fornecedora-de-nome-comprido@exemplo.com.br".to_owned(),
        supplier: ["Rui Prado", NAMES[1]][index % 2].to_owned(),
        made: ago(7_200),
    }
}

fn related(index: usize, ago: &dyn Fn(i64) -> When) -> RelatedRow {
    RelatedRow {
        id: (index + 1).to_string(),
        name: ["Rui Prado", NAMES[1]][index % 2].to_owned(),
        links: "1.204".to_owned(),
        since: ago(86_400 * 40),
    }
}
