//! The student's side: competition and history, as pages and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::ranking::{self, Ranked, Ranking, short_name};
use super::rules::{LedgerTotals, Rules, sign};
use super::store::LedgerEntry;
use super::views::{
    ChallengeCard, CompetitionPage, Emblem, EntryLine, HistoryPage, MilestoneCard, RankRow,
    StandingCard, action_icon, days_left, number_words, signed,
};
use super::{
    Action, Challenge, ChallengeEntry, MILESTONES, Milestone, cards, challenges, milestones, store,
};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Day, Instant, UserId, Zone, grouped};
use crate::db::{DbError, ReadTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Filter, ListReply, Listing, Progress, Tab, When};
use crate::wire;

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

/// The full name for the student, a short one for others.
fn name_for(reader: UserId, student: UserId, name: &str) -> String {
    if reader == student { name.to_owned() } else { short_name(name) }
}

/// `GET /painel/competicao`: level, challenges, ranking and milestones.
pub fn competition(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return ranking_json(app, person, request);
    }
    let query = COMPETITION.read(request)?;
    let kind = query.filter("tipo").and_then(Ranking::from_name).unwrap_or(Ranking::Overall);
    let (today, own, window) = (app.day(request.now), person.account.user_id, query.window());
    let seen = app.db.read(request.lane, |tx| Seen::read(tx, (kind, today), own, window))?;
    let level = milestones::level(&seen.all, seen.standing.xp);
    let first = u64::from(window.1) + 1;
    let rows: Vec<RankRow> = seen
        .rows
        .iter()
        .zip(first..)
        .map(|(row, position)| seen.line(own, row, position))
        .collect();
    let is_shown = rows.iter().any(|row| row.mine);
    let table = COMPETITION.table(&query, &[], seen.total);
    Reply::page(&CompetitionPage {
        layout: layout(app, person, request),
        moments: Vec::new(),
        standing: StandingCard {
            level: level_number(level),
            title: level
                .checked_sub(1)
                .map(|place| seen.all[place].title.clone())
                .unwrap_or_default(),
            xp: seen.standing.xp,
            position: match seen.overall {
                (Some((place, _)), total) => format!("{}º de {}", grouped(place), grouped(total)),
                (None, _) => String::new(),
            },
            streak: seen.standing.streak_on(today),
            ahead: cards::ahead(&seen.all, seen.standing.xp),
        },
        challenges: seen
            .cards
            .iter()
            .map(|card| challenge_card(card, &seen.rules, today))
            .collect(),
        tabs: tabs(kind),
        unit: unit(kind),
        nobody: nobody(kind),
        own: seen.place.filter(|_| !is_shown).map(|(position, value)| RankRow {
            position,
            name: person.account.name.clone(),
            level: level_number(level),
            badge: milestones::badge(&seen.all, level).unwrap_or_default().to_owned(),
            value: number_words(value),
            mine: true,
        }),
        own_page: match seen.place.filter(|_| !is_shown) {
            Some((position, _)) => page_of(kind, position, query.per_page),
            None => String::new(),
        },
        rows,
        paging: table.paging,
        wall: wall(&seen.all, seen.standing.xp),
    })
}

/// The data of the competition page.
struct Seen {
    all: Vec<Milestone>,
    rules: Rules,
    standing: LedgerTotals,
    /// The reader's place in the ranking that is shown.
    place: Option<(u64, i64)>,
    /// The reader's place in the overall ranking, and how many students it has.
    overall: (Option<(u64, i64)>, u64),
    rows: Vec<Ranked>,
    total: u64,
    /// For each challenge: whether the reader met it, the reader's progress,
    /// and the challenge.
    cards: Vec<(bool, i64, Challenge)>,
}

impl Seen {
    fn read(
        tx: &ReadTx<'_>,
        (kind, today): (Ranking, Day),
        own: UserId,
        window: (u32, u32),
    ) -> Result<Self, DbError> {
        let standing = store::standing(tx, own)?;
        let place = |kind| match &standing {
            Some(standing) => ranking::place(tx, (kind, today), own, standing),
            None => Ok(None),
        };
        let total = ranking::total(tx, kind, today)?;
        let mut cards = Vec::new();
        for challenge in challenges::active(tx, today)? {
            let done = challenges::progress(tx, own, &challenge.entry)?;
            cards.push((challenges::is_met(tx, own, challenge.id)?, done, challenge));
        }
        Ok(Self {
            all: milestones::all(tx)?,
            rules: Rules::read(tx)?,
            place: place(kind)?,
            overall: (place(Ranking::Overall)?, ranking::total(tx, Ranking::Overall, today)?),
            rows: ranking::page(tx, (kind, today), total, window)?,
            total,
            cards,
            standing: standing.unwrap_or_default(),
        })
    }

    fn line(&self, own: UserId, row: &Ranked, position: u64) -> RankRow {
        let level = milestones::level(&self.all, row.xp);
        RankRow {
            position,
            name: name_for(own, row.student, &row.name),
            level: level_number(level),
            badge: milestones::badge(&self.all, level).unwrap_or_default().to_owned(),
            value: number_words(row.value),
            mine: row.student == own,
        }
    }
}

fn level_number(level: usize) -> i64 {
    i64::try_from(level).unwrap_or(MILESTONES)
}

/// Address of the page of a ranking that shows a position.
fn page_of(kind: Ranking, position: u64, per_page: u32) -> String {
    let page = (position - 1) / u64::from(per_page.max(1)) + 1;
    let mut parts = Vec::new();
    if kind != Ranking::Overall {
        parts.push(format!("tipo={}", kind.name()));
    }
    if page > 1 {
        parts.push(format!("pagina={page}"));
    }
    let query = parts.join("&");
    if query.is_empty() {
        COMPETITION.path.to_owned()
    } else {
        format!("{}?{query}", COMPETITION.path)
    }
}

fn tabs(present: Ranking) -> Vec<Tab> {
    let tab =
        |kind: Ranking| Tab { label: kind.words(), href: page_of(kind, 1, 1), on: kind == present };
    Ranking::ALL.map(tab).into()
}

const fn unit(kind: Ranking) -> &'static str {
    match kind {
        Ranking::Overall => "XP",
        Ranking::Month => "XP no mês",
        Ranking::Week => "XP na semana",
        Ranking::Streak => "Dias seguidos",
        Ranking::Sales => "Vendas",
    }
}

const fn nobody(kind: Ranking) -> &'static str {
    match kind {
        Ranking::Overall => "O primeiro check-in já aparece aqui.",
        Ranking::Month => "O mês acabou de começar. O primeiro check-in já aparece aqui.",
        Ranking::Week => "A semana acabou de começar. O primeiro check-in já aparece aqui.",
        Ranking::Streak => "Um check-in hoje começa a primeira sequência.",
        Ranking::Sales => "A primeira venda de uma conta vinculada aparece aqui.",
    }
}

fn challenge_card(
    (met, done, challenge): &(bool, i64, Challenge),
    rules: &Rules,
    today: Day,
) -> ChallengeCard {
    let entry = &challenge.entry;
    let label = format!(
        "{} de {} {}",
        number_words((*done).clamp(0, entry.goal)),
        number_words(entry.goal),
        entry.action.counted(entry.goal),
    );
    let whole = u64::try_from(entry.goal).unwrap_or(0);
    let done = if *met { whole } else { u64::try_from(*done).unwrap_or(0).min(whole) };
    ChallengeCard {
        id: challenge.id,
        title: entry.title.clone(),
        description: entry.description.clone(),
        progress: Progress::new(label, done, whole, ""),
        left: days_left(entry.ends_on.0 - today.0),
        reward: reward_words(entry, rules),
        met: *met,
    }
}

/// What reaching a challenge's goal brings: `+300 XP e uma caneca`.
pub fn reward_words(entry: &ChallengeEntry, rules: &Rules) -> String {
    let xp = entry.reward_xp.unwrap_or_else(|| rules.points(Action::Challenge, (0, 1)));
    match (xp, &*entry.reward) {
        (0, reward) => reward.to_owned(),
        (xp, "") => signed(xp),
        (xp, reward) => format!("{} e {reward}", signed(xp)),
    }
}

fn wall(all: &[Milestone], xp: i64) -> Vec<MilestoneCard> {
    let level = milestones::level(all, xp);
    let card = |(place, one): (usize, &Milestone)| MilestoneCard {
        emblem: Emblem { number: one.number, earned: place < level },
        title: one.title.clone(),
        badge: one.badge.clone(),
        xp: one.xp,
        reward: one.reward.clone(),
        missing: (one.xp - xp).max(0),
        next: place == level,
    };
    all.iter().enumerate().map(card).collect()
}

/// The list of entries.
const HISTORY: Listing = Listing { path: "/painel/competicao/historico", ..Listing::NONE };

/// `GET /painel/competicao/historico`: what gave and took points, newest first.
pub fn history(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = HISTORY.read(request)?;
    let (student, zone) = (person.account.user_id, app.zone());
    let (standing, entries) = app.db.read(request.lane, |tx| {
        let standing = store::standing(tx, student)?.unwrap_or_default();
        Ok::<_, DbError>((standing, store::history(tx, student, query.window())?))
    })?;
    let count = u64::try_from(standing.entries).unwrap_or(0);
    if request.wants_json() {
        let entries = entries.into_iter().map(|entry| EntryJson::of(entry, zone));
        return ListReply::reply(count, entries.collect());
    }
    Reply::page(&HistoryPage {
        layout: layout(app, person, request),
        total: standing.xp,
        count,
        entries: entries.iter().map(|entry| entry_line(entry, zone, request.now)).collect(),
        paging: HISTORY.table(&query, &[], count).paging,
    })
}

wire! {
    /// An entry of the ledger as programs read it.
    #[derive(Serialize)]
    pub struct EntryJson of(entry: LedgerEntry, zone: Zone) after {
        let action = Action::from_number(entry.action);
        let why = entry.about.or(entry.note);
    } {
        /// An action, or `correcao`.
        acao: &'static str = action.map_or("correcao", Action::name),
        dia: String = entry.day.iso(),
        quando: String = zone.spaced(entry.at),
        xp: i64 = entry.xp,
        /// Whether it takes back what was given.
        estorno: bool = sign(entry.reversals) < 0,
        /// The order, lesson, meet, account or challenge, in words where it has any.
        motivo: Option<String> = why,
        referencia: String = entry.cause.to_string(),
    }
}

/// An entry as its student and the administration read it.
pub fn entry_line(entry: &LedgerEntry, zone: Zone, now: Instant) -> EntryLine {
    let action = Action::from_number(entry.action);
    let is_back = sign(entry.reversals) < 0;
    let order = action == Some(Action::Sale);
    EntryLine {
        icon: action_icon(action.map_or("", Action::name)),
        what: match action {
            None => "Correção".to_owned(),
            Some(Action::Sale) if is_back => "Venda cancelada".to_owned(),
            Some(action) if is_back => format!("{} (estorno)", action.words()),
            Some(action) => action.words().to_owned(),
        },
        why: match (&entry.about, &entry.note, action) {
            (Some(about), ..) => about.clone(),
            (None, Some(note), _) => note.clone(),
            (None, None, Some(Action::Sale)) => format!("Pedido {}", entry.cause),
            (None, None, Some(Action::Lap)) => format!("{} check-ins", number_words(entry.cause)),
            (None, None, _) => String::new(),
        },
        href: if order { format!("/painel/vendas/{}", entry.cause) } else { String::new() },
        xp: entry.xp,
        when: When::new(zone, entry.at, now),
    }
}
