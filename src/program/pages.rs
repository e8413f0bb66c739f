//! The student's side: competition and history, as pages and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::ranking::{self, Ranked, Ranking, short_name};
use super::rules::Rules;
use super::store::LedgerEntry;
use super::views::{CompetitionPage, HistoryPage, OwnChallenge};
use super::{Action, cards, challenges, milestones, store};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Day, UserId, Zone};
use crate::db::{DbError, ReadTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Filter, ListQuery, ListReply, Listing, PageTime, Tab, address};
use crate::wire;

/// The page of the competition, which has the ranking.
pub const COMPETITION: Listing = Listing {
    path: "/painel/competicao",
    filters: &[Filter::of("tipo", "Ranking", "Geral", &Ranking::FILTER)],
    ..Listing::NONE
};

fn kind_of(query: &ListQuery) -> Ranking {
    query.filter("tipo").and_then(Ranking::from_name).unwrap_or(Ranking::Overall)
}

/// `GET /painel/competicao/ranking-json`: a page of a ranking.
pub fn ranking_json(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = COMPETITION.read(request)?;
    let (kind, today, own) = (kind_of(&query), app.day(request.now), person.account.user_id);
    let (all, total, rows) = app.db.read(request.lane, |tx| {
        let total = ranking::total(tx, kind, today)?;
        Ok::<_, DbError>((
            milestones::all(tx)?,
            total,
            rows(tx, (kind, today), own, total, &query)?,
        ))
    })?;
    let rows = rows.into_iter().map(|(position, row)| {
        let level = milestones::level(&all, row.xp);
        json!({
            "posicao": position,
            "nome": row.name,
            "nivel": level,
            "xp": if kind.is_in_points() { row.value } else { row.xp },
            "badge": milestones::badge(&all, level),
            "eu": row.student == own,
            "valor": row.value,
        })
    });
    let rows: Vec<Value> = rows.collect();
    Reply::json(&json!({
        "ok": true, "tipo": kind.name(), "pagina": query.page,
        "por_pagina": query.per_page, "total": total, "ranking": rows,
    }))
}

/// The rows of a page with their positions, and names as `own` may read them.
fn rows(
    tx: &ReadTx<'_>,
    order: (Ranking, Day),
    own: UserId,
    total: u64,
    query: &ListQuery,
) -> Result<Vec<(u64, Ranked)>, DbError> {
    let rows = ranking::page(tx, order, total, query.window())?.into_iter().map(|row| {
        let name = if row.student == own { row.name } else { short_name(&row.name) };
        Ranked { name, ..row }
    });
    Ok((u64::from(query.window().offset) + 1..).zip(rows).collect())
}

/// `GET /painel/competicao`: level, challenges, ranking and milestones.
pub fn competition(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return ranking_json(app, person, request);
    }
    let query = COMPETITION.read(request)?;
    let (kind, today, own) = (kind_of(&query), app.day(request.now), person.account.user_id);
    let layout = layout(app, person, request);
    let page = app.db.read(request.lane, |tx| {
        let milestones = milestones::all(tx)?;
        let progress = cards::student_progress(tx, own, today, &milestones)?;
        let mut own_challenges = Vec::new();
        for challenge in challenges::active(tx, today)? {
            let done = challenges::progress(tx, own, &challenge.entry)?;
            let met = challenges::is_met(tx, own, challenge.id)?;
            own_challenges.push(OwnChallenge { challenge, done, met });
        }
        let total = ranking::total(tx, kind, today)?;
        let rows = rows(tx, (kind, today), own, total, &query)?;
        let is_shown = rows.iter().any(|(_, row)| row.student == own);
        let place = ranking::place(tx, (kind, today), own, &progress.totals)?;
        let own_row = place.filter(|_| !is_shown).map(|(position, value)| {
            let (name, xp) = (person.account.name.clone(), progress.totals.xp);
            let row = Ranked { student: own, name, xp, value };
            (position, row, page_of(kind, position, query.per_page))
        });
        Ok::<_, DbError>(CompetitionPage {
            layout,
            reader: own,
            today,
            rules: Rules::read(tx)?,
            challenges: own_challenges,
            tabs: tabs(kind),
            kind,
            rows,
            own: own_row,
            paging: COMPETITION.table(&query, &[], total).paging,
            milestones,
            progress,
        })
    })?;
    Reply::page(&page)
}

/// Address of the page of a ranking that shows a position.
fn page_of(kind: Ranking, position: u64, per_page: u32) -> String {
    let page = ((position - 1) / u64::from(per_page.max(1)) + 1).to_string();
    let kind = if kind == Ranking::Overall { "" } else { kind.name() };
    address(COMPETITION.path, &[("tipo", kind), ("pagina", if page == "1" { "" } else { &page })])
}

fn tabs(present: Ranking) -> Vec<Tab> {
    let tab =
        |kind: Ranking| Tab { label: kind.words(), href: page_of(kind, 1, 1), on: kind == present };
    Ranking::ALL.map(tab).into()
}

/// The list of entries.
const HISTORY: Listing = Listing { path: "/painel/competicao/historico", ..Listing::NONE };

/// `GET /painel/competicao/historico`: what gave and took points, newest first.
pub fn history(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = HISTORY.read(request)?;
    let (student, zone) = (person.account.user_id, app.zone());
    let (totals, entries) = app.db.read(request.lane, |tx| {
        let totals = store::ledger_totals(tx, student)?.unwrap_or_default();
        Ok::<_, DbError>((totals, store::history(tx, student, query.window())?))
    })?;
    if request.wants_json() {
        return entries_json(totals.entries.unsigned_abs(), entries, zone);
    }
    Reply::page(&HistoryPage {
        layout: layout(app, person, request),
        entries,
        time: PageTime::of(app, request),
        paging: HISTORY.table(&query, &[], totals.entries.unsigned_abs()).paging,
        totals,
    })
}

/// A page of a student's entries as programs read it, with the number of all.
pub fn entries_json(all: u64, entries: Vec<LedgerEntry>, zone: Zone) -> Result<Reply, Problem> {
    ListReply::of(all, entries, |entry| EntryJson::of(entry, zone))
}

wire! {
    /// An entry of the ledger as programs read it.
    #[derive(Serialize)]
    struct EntryJson of(entry: LedgerEntry, zone: Zone) after {
        let (action, is_back) = (entry.action(), entry.is_back());
        let why = entry.about.or(entry.note);
    } {
        /// An action, or `correcao`.
        acao: &'static str = action.map_or("correcao", Action::name),
        dia: String = entry.day.iso(),
        quando: String = zone.spaced(entry.at),
        xp: i64 = entry.xp,
        /// Whether it takes back what was given.
        estorno: bool = is_back,
        /// The order, lesson, meet, account or challenge, in words where it has any.
        motivo: Option<String> = why,
        referencia: String = entry.cause.to_string(),
    }
}
