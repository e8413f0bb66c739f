//! The student's side: competition and history, as pages and as JSON.

use serde_json::{Value, json};

use super::milestones;
use super::ranking::{self, Ranking, short_name};
use crate::app::App;
use crate::base::UserId;
use crate::db::DbError;
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::panel::{Filter, Listing};

/// The page of the competition, which has the ranking.
pub const COMPETITION: Listing = Listing {
    path: "/painel/competicao",
    filters: &[Filter { name: "tipo", label: "Ranking", all: "Geral", values: &Ranking::FILTER }],
    ..Listing::NONE
};

/// `GET /painel/competicao/ranking-json`: a page of a ranking.
pub fn ranking_json(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = COMPETITION.read(request)?;
    let kind = query.filter("tipo").and_then(Ranking::from_name).unwrap_or(Ranking::Overall);
    let (today, own, window) = (app.day(request.now), person.account.user_id, query.window());
    let (all, total, rows) = app.db.read(request.lane, |tx| {
        let total = ranking::total(tx, kind, today)?;
        let rows = ranking::page(tx, (kind, today), total, window)?;
        Ok::<_, DbError>((milestones::all(tx)?, total, rows))
    })?;
    let rows = rows.into_iter().zip(u64::from(window.1) + 1..).map(|(row, position)| {
        let level = milestones::level(&all, row.xp);
        json!({
            "posicao": position,
            "nome": name_for(own, row.student, &row.name),
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

/// The whole name to the student, a short one to the others.
fn name_for(reader: UserId, student: UserId, name: &str) -> String {
    if reader == student { name.to_owned() } else { short_name(name) }
}
