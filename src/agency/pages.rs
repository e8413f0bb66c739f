//! The agency's home page, and the page of the checkup.

use serde_json::{Value, json};

use super::charts::{Figures, Span};
use super::checkup::{self, AccountFinding, CheckupTotals, Fault};
use super::questions::PATH as QUESTIONS;
use super::views::{CheckupPage, OverviewPage};
use super::{cycle, overhaul};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Zone, grouped};
use crate::db::DbError;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::chart::Stat;
use crate::panel::{Answer, Filter, Flash, ListReply, Listing, PageTime, export};

/// The agency's home.
const PATH: &str = "/admin/agencia";
/// The page of the findings.
pub const CHECKUP: &str = "/admin/agencia/checkup";
/// Findings that the agency's home shows.
const ROWS: u32 = 8;
/// Longest time that a request waits for the checkup it started.
const PATIENCE_S: u64 = 10;

pub(super) const LIST: Listing = Listing {
    path: CHECKUP,
    filters: &[
        Filter { name: "pendencia", label: "Pendência", all: "Todas", values: &Fault::FILTER },
        Filter {
            name: "responsavel",
            label: "Responsável",
            all: "Toda a equipe",
            values: &[("eu", "Meus clientes")],
        },
    ],
    file: "checkup.csv",
    csv: &[
        "cliente",
        "conta",
        "nickname",
        "pendencia",
        "descricao",
        "quantidade",
        "desde",
        "o_que_fazer",
    ],
    flashes: &[Flash::good(
        "verificadas",
        "Checkup concluído",
        "As pendências abaixo são de agora.",
    )],
    ..Listing::NONE
};

fn shown(one: &AccountFinding, zone: Zone) -> Value {
    let finding = &one.finding;
    json!({
        "cliente_id": one.client.to_string(), "cliente": one.client_name,
        "conta": one.ml_user_id, "nickname": one.nickname, "pendencia": finding.fault.name(),
        "descricao": finding.fault.describe(finding.things), "o_que_fazer": finding.fault.remedy(),
        "quantidade": finding.things, "desde": zone.spaced(finding.since),
    })
}

/// `GET /admin/agencia`: the sales of all clients, and what needs attention.
pub fn overview(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (today, span) = (app.day(request.now), Span::asked(app, request)?);
    let (figures, (findings, total), standing, progress) = app.db.read(request.lane, |tx| {
        Ok::<_, DbError>((
            Figures::read(tx, 0, span, today)?,
            checkup::all(tx, (None, None), (ROWS, 0))?,
            CheckupTotals::of(tx)?,
            cycle::progress(tx)?,
        ))
    })?;
    if request.wants_json() {
        return Reply::json(&json!({
            "ok": true, "contas": standing.accounts, "verificadas": standing.checked,
            "com_pendencias": standing.faulty, "vendas_30d": figures.sold.orders,
            "gmv_30d": figures.sold.gross, "dias": figures.shown(), "pendentes": progress.pending,
        }));
    }
    let mut charts = figures.charts(PATH);
    for (stat, href) in charts.stats.iter_mut().zip(["", "", QUESTIONS, CHECKUP, ""]) {
        stat.href = href;
    }
    Reply::page(&OverviewPage {
        layout: layout(app, person, request),
        time: PageTime::of(app, request),
        charts,
        more: total.saturating_sub(findings.len() as u64),
        findings,
        standing,
        progress: progress.shown(),
    })
}

/// `GET /admin/agencia/checkup`: the findings, each with its client, its
/// beginning and what to do about it.
pub fn checkup_page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (query, zone) = (LIST.read(request)?, app.zone());
    let fault = query.filter("pendencia").and_then(Fault::from_name);
    let keeper = query.filter("responsavel").map(|_| person.account.user_id);
    let ((rows, total), counted, standing) = app.db.read(request.lane, |tx| {
        let found = checkup::all(tx, (fault, keeper), query.window())?;
        Ok::<_, DbError>((found, checkup::counted(tx)?, CheckupTotals::of(tx)?))
    })?;
    if query.csv {
        return export::list(app, person, &LIST, rows, move |_, _, one| {
            Ok(Some(shown(&one, zone)))
        });
    }
    if request.wants_json() {
        return ListReply::reply(total, rows.iter().map(|one| shown(one, zone)).collect());
    }
    let stat = |(fault, count): (Fault, i64)| Stat {
        label: fault.words(),
        value: grouped(count.unsigned_abs()),
        note: if count == 1 { "conta" } else { "contas" }.to_owned(),
        ..Stat::default()
    };
    Reply::page(&CheckupPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        time: PageTime::of(app, request),
        table: LIST.table(&query, &[], total),
        stats: counted.into_iter().map(stat).collect(),
        findings: rows,
        standing,
    })
}

/// `POST /admin/agencia/checkup`: checks every account now.
pub fn check_now(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let began = std::time::Instant::now();
    let is_over = || began.elapsed().as_secs() >= PATIENCE_S;
    let tally = overhaul::run(app, request.now, &is_over)?;
    let members = [
        ("verificados", tally.looked_at.into()),
        ("prontos", tally.ready.into()),
        ("pendentes", (tally.looked_at - tally.ready).into()),
    ];
    Answer::to(request).with(CHECKUP, "verificadas", &members)
}
