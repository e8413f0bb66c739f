//! Every page of the agency with sample data, checked by `page_samples.rs`.

use super::charts::{self, Span};
use super::checkup::{CheckupTotals, Fault, Finding};
use super::clients::pages::{ACCOUNT_FORM, FORM, LIST as CLIENT_LIST};
use super::clients::views::{
    AccountLine, ClientForm, ClientPage, ClientRow, ClientsPage, FindingLine, standing,
};
use super::clients::{Client, ClientAccount, ClientEntry, Sold};
use super::days::DayRow;
use super::pages::LIST as CHECKUP_LIST;
use super::report::{ReportPage, TopListing};
use super::views::{CheckupPage, FindingRow, OverviewPage};
use crate::base::{Cents, DAY_S, Day, Instant, MlUserId, Zone};
use crate::fixture::html;
use crate::panel::{Layout, Listing, Pick, Table, When};

type Pages = Vec<(&'static str, String)>;

/// The frame of the team's page at an address.
type Frame<'f> = &'f dyn Fn(&str) -> Layout;

const ZONE: Zone = Zone::SAO_PAULO;
const NOW: Instant = Instant(1_795_183_200);
const LONG: &str = "Distribuidora Nossa Senhora da Conceição do Araguaia Importados";

fn table(list: &Listing, rows: usize) -> Table {
    list.table(&list.first_page(""), list.heads, rows as u64)
}

fn daily_series() -> Vec<DayRow> {
    let first = Day::parse("2026-11-20").unwrap().plus(-29);
    let day = |number: i64| DayRow {
        day: first.plus(number),
        orders: 20 + number * 7 % 13,
        gross: Cents(180_000 + number * 13_337 % 90_000),
        listings: 140,
        claims: 2,
        questions: 5 + number % 4,
        seen: i64::from(number > 3),
    };
    (0..30).map(day).collect()
}

fn sold() -> Sold {
    Sold {
        orders: 790,
        gross: Cents(7_123_456),
        orders_before: 640,
        gross_before: Cents(6_001_020),
    }
}

fn client(id: i64, name: &str, accounts: i64, findings: i64) -> Client {
    Client {
        id,
        entry: ClientEntry {
            name: name.to_owned(),
            keeper: Some(2),
            tags: "moda, full".to_owned(),
            notes: "Liga às segundas.\nPrefere chat.".to_owned(),
        },
        keeper_name: "Bia Lima".to_owned(),
        created_at: NOW.minus(90 * DAY_S),
        invited_until: (accounts == 0).then(|| NOW.plus(DAY_S)),
        synced_at: (accounts > 0).then(|| NOW.minus(600)),
        error: (findings > 2).then(|| "O marketplace recusou a leitura.".to_owned()),
        accounts,
        lost: 0,
        checked: accounts,
        findings,
        questions: findings * 3,
        claims: findings,
    }
}

fn account(number: i64, nickname: &str) -> ClientAccount {
    ClientAccount {
        ml_user_id: MlUserId(1_480_233_719 + number),
        nickname: nickname.to_owned(),
        student: if number == 0 { "Ana Souza".to_owned() } else { String::new() },
        token_ok: number < 2,
        reputation: ["5_green", "2_orange", ""][usize::try_from(number % 3).unwrap()].to_owned(),
        open_questions: 12 * number,
        open_claims: number,
        synced_at: Some(NOW.minus(600)),
        checked_at: Some(NOW.minus(3600)),
    }
}

fn findings() -> Vec<Finding> {
    let one =
        |(fault, things): (Fault, i64)| Finding { fault, since: NOW.minus(things * DAY_S), things };
    Fault::ALL.into_iter().zip(1..).map(one).collect()
}

fn rows() -> Vec<FindingRow> {
    let row = |one: Finding| FindingRow {
        line: FindingLine::new(&one, (ZONE, NOW)),
        client: 1,
        client_name: LONG.to_owned(),
        nickname: "CASA & VIDA UTILIDADES".to_owned(),
        answers: match one.fault {
            Fault::Questions => "/admin/agencia/central-perguntas?cliente=1".to_owned(),
            _ => String::new(),
        },
    };
    findings().into_iter().map(row).collect()
}

fn all_well(checked: i64, faulty: i64) -> CheckupTotals {
    CheckupTotals { accounts: checked, checked, faulty, oldest: Some(NOW.minus(7200)) }
}

fn clients(frame: Frame<'_>, pending: u64) -> String {
    let rows = [(LONG, 3, 4), ("Tec Minas", 1, 0), ("Zé", 0, 0)];
    let row = |(id, (name, accounts, findings)): (i64, (&str, i64, i64))| {
        let own: Vec<_> = (0..accounts).map(|number| account(number, "CASA & VIDA")).collect();
        ClientRow::new(client(id, name, accounts, findings), &own, sold(), (ZONE, NOW))
    };
    html(&ClientsPage {
        layout: frame("/admin/agencia/clientes"),
        clients: (1..).zip(rows).map(row).collect(),
        table: table(&CLIENT_LIST, 3),
        progress: charts::cycle_progress(pending, 12),
        can_read: true,
    })
}

fn one_client(frame: Frame<'_>, accounts: i64) -> String {
    let client = client(1, LONG, accounts, accounts);
    let names = ["CASA & VIDA UTILIDADES", "PET FELIZ CURITIBA", "TEC MINAS"];
    let line = |(number, name): (i64, &str)| {
        let found = if number == 1 { findings() } else { Vec::new() };
        AccountLine::new(account(number, name), &found, (ZONE, NOW))
    };
    html(&ClientPage {
        layout: frame("/admin/agencia/clientes/1"),
        is_admin: accounts != 1,
        standing: standing(&client),
        invited: client.invited_until.is_some(),
        charts: charts::of(&daily_series(), Span::Month, sold(), "/admin/agencia/clientes/1"),
        accounts: (0..accounts).zip(names).map(line).collect(),
        synced: client.synced_at.map(|at| When::new(ZONE, at, NOW)),
        client,
    })
}

fn form(frame: Frame<'_>, faults: usize, existing: bool) -> String {
    let entry = client(1, LONG, 1, 0).entry;
    html(&ClientForm {
        layout: frame("/admin/agencia/clientes/novo"),
        existing: existing.then(|| (1, LONG.to_owned())),
        is_admin: existing,
        team: vec![Pick { value: String::new(), label: "Ninguém".to_owned() }],
        form: FORM.sample(existing.then_some(&entry), faults),
        account: ACCOUNT_FORM.sample(None, usize::from(existing)),
    })
}

fn report(frame: Frame<'_>, sells: bool) -> String {
    let top = TopListing {
        title: "Garrafa térmica de aço inoxidável de 1 litro com alça e copo".to_owned(),
        orders: 120,
        units: 1_204,
        cents: Cents(1_234_567),
    };
    let daily_series = if sells { daily_series() } else { Vec::new() };
    html(&ReportPage {
        layout: frame("/admin/agencia/clientes/1/relatorio"),
        back: "/admin/agencia/clientes/1".to_owned(),
        name: LONG.to_owned(),
        agency: "Seller Platform".to_owned(),
        period: "22/10/2026 a 20/11/2026".to_owned(),
        made: "20/11/2026 09:00".to_owned(),
        charts: charts::of(&daily_series, Span::Month, sold(), ""),
        accounts: if sells {
            vec![AccountLine::new(account(1, "PET FELIZ"), &findings(), (ZONE, NOW))]
        } else {
            Vec::new()
        },
        top: if sells { vec![top] } else { Vec::new() },
    })
}

/// All pages of the agency, as the team sees them.
pub fn every(frame: Frame<'_>) -> Pages {
    let overview = |found: Vec<FindingRow>, checked, pending| {
        html(&OverviewPage {
            layout: frame("/admin/agencia"),
            charts: charts::of(&daily_series(), Span::Month, sold(), "/admin/agencia"),
            more: if found.is_empty() { 0 } else { 12 },
            standing: all_well(checked, i64::try_from(found.len()).unwrap()),
            findings: found,
            progress: charts::cycle_progress(pending, 12),
        })
    };
    let checkup = |found: Vec<FindingRow>, checked| {
        html(&CheckupPage {
            layout: frame("/admin/agencia/checkup"),
            table: table(&CHECKUP_LIST, found.len()),
            stats: Vec::new(),
            standing: all_well(checked, i64::try_from(found.len()).unwrap()),
            findings: found,
            oldest: Some(When::new(ZONE, NOW.minus(7200), NOW)),
        })
    };
    vec![
        ("agencia", overview(rows(), 20, 7)),
        ("agencia-em-dia", overview(Vec::new(), 20, 0)),
        ("agencia-vazia", overview(Vec::new(), 0, 0)),
        ("agencia-clientes", clients(frame, 7)),
        ("agencia-cliente", one_client(frame, 3)),
        ("agencia-cliente-equipe", one_client(frame, 1)),
        ("agencia-cliente-convidado", one_client(frame, 0)),
        ("agencia-cliente-novo", form(frame, 0, false)),
        ("agencia-cliente-novo-faltas", form(frame, 3, false)),
        ("agencia-cliente-editar", form(frame, 0, true)),
        ("agencia-checkup", checkup(rows(), 20)),
        ("agencia-checkup-em-dia", checkup(Vec::new(), 20)),
        ("agencia-checkup-vazio", checkup(Vec::new(), 0)),
        ("agencia-relatorio", report(frame, true)),
        ("agencia-relatorio-vazio", report(frame, false)),
    ]
}
