//! The agency's home page, and the page of the checkup.

pub mod labels;
pub mod leaving;
pub mod report;

use serde_json::{Value, json};

use super::charts::{Figures, Span};
use super::checkup::{self, AccountFinding, CheckupTotals, Fault, Narrowed};
use super::clients::store as clients;
use super::clients::views::client_item;
use super::questions::PATH as QUESTIONS;
use super::things::{NamedFinding, named};
use super::views::{CheckupPage, FindingItem, OverviewPage};
use super::{cycle, open, overhaul, store};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::Zone;
use crate::db::{DbError, ReadTx, RowWindow};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{
    Answer, ListReply, Listing, PageTime, QueueItem, columns, export, filters, flashes,
};

/// The agency's home.
const PATH: &str = "/admin/agencia";
/// The page of the findings.
pub const CHECKUP: &str = "/admin/agencia/checkup";
/// The clients where something waits.
const TO_DO: &str = "/admin/agencia/clientes?situacao=a_fazer";
/// Clients, and findings, that the agency's home shows.
const ROWS: u32 = 8;
/// Longest time that a request waits for the checkup it started.
const PATIENCE_S: u64 = 10;

/// The faults as a filter; those that are found most often stand beside the search.
const FAULTS: [(&str, &str); 7] = {
    const fn value(fault: Fault) -> (&'static str, &'static str) {
        (fault.name(), fault.words())
    }
    [
        value(Fault::Questions),
        value(Fault::Claims),
        value(Fault::NoStock),
        value(Fault::LinkLost),
        value(Fault::Unread),
        value(Fault::Reputation),
        value(Fault::NoListings),
    ]
};

pub(super) const LIST: Listing = Listing {
    path: CHECKUP,
    filters: filters! {
        "pendencia": "Pendência", "Todas", &FAULTS;
        "responsavel": "Responsável", "Toda a equipe", &[("eu", "Meus clientes")];
    },
    file: "checkup.csv",
    csv: columns![cliente conta nickname pendencia descricao quantidade desde o_que_fazer],
    flashes: flashes! {
        "verificadas": good "Checkup concluído", "As pendências abaixo são de agora.";
    },
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

/// The clients where something waits, the next deadline first, and how many more
/// than [`ROWS`] there are.
fn queue(
    tx: &ReadTx<'_>,
    present: &clients::Present,
    time: PageTime,
) -> Result<(Vec<QueueItem>, u64), DbError> {
    let names = store::names(tx)?;
    let mut ids: Vec<i64> = names.iter().map(|(id, _)| *id).collect();
    ids.retain(|id| present.at(*id).is_any());
    clients::by_deadline(&mut ids, present);
    let more = ids.len().saturating_sub(ROWS as usize) as u64;
    let item = |id: i64| {
        let found = names.iter().find(|(known, _)| *known == id);
        client_item(time, (id, found.map_or("", |(_, name)| name)), &present.at(id))
    };
    Ok((ids.into_iter().take(ROWS as usize).map(item).collect(), more))
}

/// `GET /admin/agencia`: which clients need somebody, and the sales of all.
pub fn overview(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (today, span) = (app.day(request.now), Span::asked(app, request)?);
    let time = PageTime::of(app, request);
    let (waiting, figures, checkup, progress, queue, rest) = app.db.read(request.lane, |tx| {
        let present = clients::Present::read(tx)?;
        let waiting = open::sum(present.waiting.values());
        let rest = Narrowed { is_rest: true, ..Narrowed::default() };
        let (findings, total) = checkup::all(tx, rest, RowWindow::first(ROWS))?;
        let findings = findings.into_iter().map(|one| named(tx, one));
        Ok::<_, DbError>((
            waiting,
            Figures::read(tx, (0, &waiting.open), span, today)?,
            CheckupTotals::of(tx)?,
            cycle::progress(tx)?,
            queue(tx, &present, time)?,
            (findings.collect::<Result<Vec<_>, _>>()?, total),
        ))
    })?;
    if request.wants_json() {
        return Reply::json(&json!({
            "ok": true, "contas": checkup.accounts, "verificadas": checkup.checked,
            "com_pendencias": checkup.faulty, "vendas_30d": figures.sold.orders,
            "gmv_30d": figures.sold.gross, "dias": figures.shown(), "pendentes": progress.pending,
        }));
    }
    let mut charts = figures.charts(PATH);
    for (stat, href) in charts.stats.iter_mut().zip(["", "", QUESTIONS, TO_DO, ""]) {
        stat.href = href;
    }
    let (queue, more) = queue;
    Reply::page(&OverviewPage {
        layout: layout(app, person, request),
        waiting: waiting.words(),
        queue,
        more,
        charts,
        more_findings: rest.1.saturating_sub(rest.0.len() as u64),
        findings: rest.0.iter().map(|one| FindingItem::of(one, time)).collect(),
        checkup,
        progress: progress.shown(),
    })
}

/// `GET /admin/agencia/checkup`: the findings, each with its client, its
/// beginning and what to do about it.
pub fn checkup_page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (query, zone) = (LIST.read(request)?, app.zone());
    let narrowed = Narrowed {
        fault: query.filter("pendencia").and_then(Fault::from_name),
        keeper: query.filter("responsavel").map(|_| person.account.user_id),
        is_rest: false,
    };
    let is_page = !query.csv && !request.wants_json();
    let ((rows, total), findings, counted, checkup) = app.db.read(request.lane, |tx| {
        let (rows, total) = checkup::all(tx, narrowed, query.window())?;
        let (mut found, mut rows) = (Vec::new(), rows);
        if is_page {
            let all = rows.drain(..).map(|one| named(tx, one));
            found = all.collect::<Result<Vec<NamedFinding>, DbError>>()?;
        }
        Ok::<_, DbError>(((rows, total), found, checkup::counted(tx)?, CheckupTotals::of(tx)?))
    })?;
    if query.csv {
        return export::list(app, person, &LIST, rows, move |_, _, one| {
            Ok(Some(shown(&one, zone)))
        });
    }
    if request.wants_json() {
        return ListReply::of(total, &rows, |one| shown(one, zone));
    }
    let time = PageTime::of(app, request);
    let count = |name: &str| {
        let found = counted.iter().find(|(fault, _)| fault.name() == name);
        u64::try_from(found.map_or(0, |(_, count)| *count)).ok()
    };
    Reply::page(&CheckupPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        time,
        table: LIST.table(&query, &[], total).counted(count),
        findings: findings.iter().map(|one| FindingItem::of(one, time)).collect(),
        checkup,
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
