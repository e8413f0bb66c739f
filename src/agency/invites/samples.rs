//! The pages of invitations and of labels with sample data, checked by
//! `page_samples.rs`.

use super::Ending;
use super::views::{EndPage, InvitationGonePage, InvitationMade, InvitationPage};
use crate::agency::labels::AgencyLabelsPage;
use crate::fixture::html;
use crate::marketplace::tools::samples::some_parcels;
use crate::panel::{Layout, Pick, When};

type Pages = Vec<(&'static str, String)>;

const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

fn invitation(layout: Layout, client: &str, configured: bool) -> String {
    html(&InvitationPage {
        layout,
        action: "/convite/0123456789abcdef".to_owned(),
        client: client.to_owned(),
        configured,
        until: "23/12/2026 14:05".to_owned(),
    })
}

fn labels(
    layout: Layout,
    ago: &dyn Fn(i64) -> When,
    can_print: bool,
    (accounts, parcels): (usize, usize),
) -> String {
    let names = ["Casa da Maré · CASA DA MARÉ".to_owned(), format!("{LONG} · {LONG}")];
    let pick = |index: usize| Pick { value: index.to_string(), label: names[index % 2].clone() };
    html(&AgencyLabelsPage {
        layout,
        shown: "1".to_owned(),
        accounts: (0..accounts).map(pick).collect(),
        parcels: some_parcels(ago, can_print, parcels, "/admin/agencia/etiqueta"),
    })
}

/// The pages, for guests and for the team.
pub fn every(
    outside: &dyn Fn() -> Layout,
    team: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Pages {
    let end = |ending| html(&EndPage::of(outside(), ending, "CASA DA MARÉ"));
    let made = |name: &str| {
        html(&InvitationMade {
            layout: team("/admin/agencia/clientes"),
            client: "7".to_owned(),
            name: name.to_owned(),
            invitation: format!("https://painel.exemplo.com.br/convite/{}", "0a".repeat(32)),
            until: "23/12/2026 14:05".to_owned(),
        })
    };
    let layout = || team("/admin/agencia/etiquetas");
    vec![
        ("convite", invitation(outside(), "Casa da Maré", true)),
        ("convite-nome-comprido", invitation(outside(), LONG, true)),
        ("convite-sem-marketplace", invitation(outside(), "Casa da Maré", false)),
        ("convite-vencido", html(&InvitationGonePage { layout: outside() })),
        ("convite-autorizado", end(Ending::Joined)),
        ("convite-recusado", end(Ending::Refused)),
        ("convite-de-outro", end(Ending::OfAnother)),
        ("convite-cheio", end(Ending::Full)),
        ("convite-atrasado", end(Ending::Expired)),
        ("convite-outro-navegador", end(Ending::Elsewhere)),
        ("convite-sem-resposta", end(Ending::Unavailable)),
        ("convite-novo", made("Casa da Maré")),
        ("convite-novo-comprido", made(LONG)),
        ("agencia-etiquetas", labels(layout(), ago, true, (2, 3))),
        ("agencia-etiquetas-muitas", labels(layout(), ago, true, (300, 50))),
        ("agencia-etiquetas-sem-vinculo", labels(layout(), ago, false, (2, 3))),
        ("agencia-etiquetas-vazio", labels(layout(), ago, true, (2, 0))),
        ("agencia-etiquetas-sem-conta", labels(layout(), ago, true, (0, 0))),
    ]
}
