//! The pages of suppliers with sample data, for `page_samples.rs`.

use super::views::*;
use super::{links, orders, owed, unmatched};
use crate::accounts::views::ApiPlan;
use crate::drop::orders::Standing;
use crate::fixture::html;
use crate::panel::chart::Stat;
use crate::panel::list::Choice;
use crate::panel::view::Field;
use crate::panel::{Badge, FormView, Layout, Listing, Notice, Pick, Table, Tone, When};
use crate::partner::hub::samples::invitation;

const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

type Frame<'f> = &'f dyn Fn(&str) -> Layout;
type Ago<'f> = &'f dyn Fn(i64) -> When;

/// Every page in its states, in these frames and at these instants.
pub fn every(supplier: Frame<'_>, student: Frame<'_>, ago: Ago<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("fornecedor", home(supplier, ago, 3)),
        ("fornecedor-sem-pedidos", home(supplier, ago, 0)),
        ("fornecedor-sem-vendedores", html(&SupplierHome { sellers: 0, ..empty_home(supplier) })),
        ("fornecedor-convite", html(&SupplierHome { invitations: 1, ..empty_home(supplier) })),
        ("vendedores-vazio", sellers(supplier, ago, 0, 0)),
        ("vendedores", sellers(supplier, ago, 3, 0)),
        ("vendedores-campos", sellers(supplier, ago, 1, 1)),
        ("vinculos-sem-vendedores", linked(supplier, ago, (0, 0, 0))),
        ("vinculos-vazio", linked(supplier, ago, (1, 0, 0))),
        ("vinculos", linked(supplier, ago, (2, 20, 0))),
        ("vinculos-campos", linked(supplier, ago, (2, 3, 3))),
        ("vinculos-importar", preview(supplier, 0, None)),
        ("vinculos-importar-previa", preview(supplier, 4, None)),
        ("vinculos-importar-falha", preview(supplier, 0, Some("O arquivo não tem linhas."))),
        ("conferencia-sem-vendedores", audit(supplier, false, 0, "")),
        ("conferencia-vazia", audit(supplier, true, 0, "")),
        ("conferencia", audit(supplier, true, 5, "")),
        ("pedidos-sem-vendedores", placed(supplier, ago, (false, 0, ""))),
        ("pedidos-vazio", placed(supplier, ago, (true, 0, ""))),
        ("pedidos-nada", placed(supplier, ago, (true, 0, "xícara & pires"))),
        ("pedidos", placed(supplier, ago, (true, 20, ""))),
        ("fornecedores-vazio", debts(student, ago, (0, 0))),
        ("fornecedores-convite", debts(student, ago, (0, 1))),
        ("fornecedores", debts(student, ago, (12, 0))),
    ]
}

fn empty_home(supplier: Frame<'_>) -> SupplierHome {
    SupplierHome {
        layout: supplier("/fornecedor"),
        greeting: "Boa tarde, Rui".to_owned(),
        today: "sexta-feira, 20 de novembro".to_owned(),
        tasks: Vec::new(),
        stats: Vec::new(),
        sellers: 0,
        invitations: 0,
        links: "0".to_owned(),
        newest: Vec::new(),
        api_plan: None,
    }
}

fn home(supplier: Frame<'_>, ago: Ago<'_>, count: usize) -> String {
    let stat = |label, value: &str| Stat {
        label,
        value: value.to_owned(),
        note: "12 pedidos".to_owned(),
        href: "/fornecedor/pedidos",
        lead: true,
        ..Stat::default()
    };
    html(&SupplierHome {
        tasks: vec![Task {
            tone: Tone::Warn,
            title: "3 pedidos em atraso".to_owned(),
            text: "R$ 1.204,00 já venceram. Lembre os vendedores.".to_owned(),
            href: "/fornecedor/pedidos?situacao=vencido",
        }],
        stats: vec![
            stat("A vencer", "R$ 1.204,00"),
            stat("Vencido", "R$ 93,10"),
            stat("Pago neste mês", "R$ 120.480,00"),
        ],
        sellers: 3,
        invitations: 1,
        links: "1.204".to_owned(),
        newest: rows(count, ago),
        api_plan: (count > 0).then(|| ApiPlan {
            name: "Starter",
            state: Badge::Active,
            until: "até 31/12/2026".to_owned(),
            usage: "1.204 de 10.000 chamadas neste mês".to_owned(),
        }),
        ..empty_home(supplier)
    })
}

fn rows(count: usize, ago: Ago<'_>) -> Vec<OrderRow> {
    let row = |index: usize| {
        let standing = Standing::ALL[index % Standing::ALL.len()];
        let is_open = matches!(standing, Standing::Pending | Standing::Overdue);
        OrderRow {
            id: (index + 1).to_string(),
            order: (2_000_003_508_419_013_u64 + index as u64).to_string(),
            title: ["2× Copo térmico 473 ml com tampa", LONG][index % 2].to_owned(),
            sku: "RP-COPO-473".to_owned(),
            seller: ["Ana Souza", LONG][index % 2].to_owned(),
            supplier: ["Rui Prado", LONG][index % 2].to_owned(),
            amount: "R$ 1.077,80".to_owned(),
            due: "23/11/2026".to_owned(),
            state: orders::badge(standing),
            is_open,
            is_paid: standing == Standing::Paid,
            has_label: is_open,
            paid: (standing == Standing::Paid).then(|| ago(3_600)),
            reminded: (index % 4 == 1).then(|| ago(90)),
        }
    };
    (0..count).map(row).collect()
}

fn sellers(supplier: Frame<'_>, ago: Ago<'_>, count: usize, faults: usize) -> String {
    let mut form = FormView::new(&["email"], |_| String::new()).unfocused();
    if faults > 0 {
        form.find_fault(&["email"], |_| "Informe o e-mail com que a pessoa entra na plataforma.");
    }
    let seller = |index: usize| SellerRow {
        id: (index + 1).to_string(),
        name: ["Ana Souza", LONG][index % 2].to_owned(),
        email: "ana.souza.de.nome.comprido@exemplo.com.br".to_owned(),
        links: "1.204".to_owned(),
        pending: "R$ 1.077,80".to_owned(),
        overdue: index.is_multiple_of(2).then(|| "R$ 93,10".to_owned()),
        since: ago(86_400 * 40),
    };
    html(&SellersPage {
        layout: supplier("/fornecedor/vendedores"),
        form,
        sellers: (0..count).map(seller).collect(),
        invitations: (0..count).map(|index| invitation(index, ago)).collect(),
    })
}

fn table(list: &'static Listing, search: &str, total: usize) -> Table {
    let choice = Choice {
        name: super::SELLER,
        label: "Vendedor",
        values: vec![("1".to_owned(), "Ana Souza".to_owned()), ("2".to_owned(), LONG.to_owned())],
        present: String::new(),
    };
    list.table_by(&list.first_page(search), list.heads, total as u64, (&choice, None))
}

fn linked(
    supplier: Frame<'_>,
    ago: Ago<'_>,
    (sellers, count, faults): (usize, usize, usize),
) -> String {
    let row = |index: usize| LinkRow {
        id: (index + 1).to_string(),
        listing: ["Copo térmico com tampa", LONG][index % 2].to_owned(),
        ml_id: "MLB3508419013".to_owned(),
        product: "Copo térmico 473 ml com tampa".to_owned(),
        sku: "RP-COPO-473".to_owned(),
        product_href: "/fornecedor/produtos/1".to_owned(),
        seller: ["Ana Souza", LONG][index % 2].to_owned(),
        made: ago(86_400),
    };
    let pick = |index: usize| Pick {
        value: (index + 1).to_string(),
        label: ["Ana Souza", LONG][index % 2].to_owned(),
    };
    let form = links::FORM.sample(None, faults);
    html(&LinksPage {
        layout: supplier("/fornecedor/vinculos"),
        sellers: (0..sellers).map(pick).collect(),
        form: if faults > 0 { form } else { form.unfocused() },
        table: table(&links::LIST, "", count),
        links: (0..count).map(row).collect(),
    })
}

fn preview(supplier: Frame<'_>, count: usize, fault: Option<&str>) -> String {
    let row = |index: usize| PreviewRow {
        line: index + 1,
        listing: "MLB3508419013".to_owned(),
        seller: "12".to_owned(),
        sku: "RP-COPO-473".to_owned(),
        state: [Badge::ToLink, Badge::Exists, Badge::Faulty][index % 3],
        why: ["", "", "O vendedor não tem este anúncio."][index % 3],
    };
    let rows: Vec<PreviewRow> = (0..count).map(row).collect();
    html(&PreviewPage {
        layout: supplier("/fornecedor/vinculos/importar"),
        alert: fault.map(|said| Notice::new(Tone::Bad, "O arquivo não foi lido", said)),
        file: Field::default().fault(fault),
        csv: "seller_id;ml_id;sku\n12;MLB3508419013;RP-COPO-473\n".to_owned(),
        new: 2,
        known: 1,
        faulty: 1,
        rows,
    })
}

fn audit(supplier: Frame<'_>, has_sellers: bool, count: usize, search: &str) -> String {
    let row = |index: usize| UnmatchedRow {
        seller_id: "12".to_owned(),
        seller: ["Ana Souza", LONG][index % 2].to_owned(),
        ml_id: format!("MLB{}", 3_508_419_013_u64 + index as u64),
        title: ["Copo térmico com tampa", LONG][index % 2].to_owned(),
        codes: ["SKU COPO-1 · EAN 7891234567895", ""][index % 2].to_owned(),
        reason: ["SKU que não está nos seus produtos", "Sem SKU e sem EAN"][index % 2],
    };
    html(&UnmatchedPage {
        layout: supplier("/fornecedor/conferencia"),
        has_sellers,
        table: table(&unmatched::LIST, search, count),
        rows: (0..count).map(row).collect(),
    })
}

fn placed(
    supplier: Frame<'_>,
    ago: Ago<'_>,
    (has_sellers, count, search): (bool, usize, &str),
) -> String {
    html(&OrdersPage {
        layout: supplier("/fornecedor/pedidos"),
        table: table(&orders::LIST, search, count),
        orders: rows(count, ago),
        overdue: (count > 0).then(|| "3 pedidos, R$ 1.204,00".to_owned()),
        wait: (count > 0).then(|| "14:05:30".to_owned()),
        has_sellers,
    })
}

fn debts(student: Frame<'_>, ago: Ago<'_>, (count, invitations): (usize, usize)) -> String {
    let supplier = |index: usize| SupplierRow {
        id: (index + 1).to_string(),
        name: ["Rui Prado", LONG][index % 2].to_owned(),
        links: "1.204".to_owned(),
        pending: "R$ 1.077,80".to_owned(),
        overdue: index.is_multiple_of(2).then(|| "R$ 93,10".to_owned()),
    };
    html(&OwedPage {
        layout: student("/painel/fornecedores"),
        table: table(&owed::LIST, "", count),
        orders: rows(count, ago),
        invitations: (0..invitations).map(|index| invitation(index, ago)).collect(),
        suppliers: (0..count.min(2)).map(supplier).collect(),
    })
}
