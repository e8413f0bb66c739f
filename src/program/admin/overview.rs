//! The overview of the program, and two commands that process all students:
//! creating missing program data, and comparing students with the ledger.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::rules::shown;
use super::views::{
    CHECKINS, ENDED, LeavingRow, MigratePage, OverviewPage, RecountCard, RecountOutcome, Totals,
    state_of,
};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor, objects};
use crate::base::{Day, UserId};
use crate::db::{DbError, Lane};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::chart::BarChart;
use crate::panel::{Answer, Badge, Flash, When};
use crate::program::ledger::LedgerAccount;
use crate::program::ranking::{self, Ranking};
use crate::program::recounting::{self, RecountRun};
use crate::program::rules::Rules;
use crate::program::store::{self, DaySum, Leaving};
use crate::program::views::points;
use crate::program::{Action, Challenge, Milestone, ProgramSettings, challenges, milestones};
use crate::services::Services;

/// Students that are read at a time.
const PIECE: usize = 250;
/// How long a call may take; the next call continues.
const BUDGET: Duration = Duration::from_secs(15);
/// How long an answer waits for the end of a comparison.
const PATIENCE: Duration = Duration::from_secs(5);

/// Days of the charts.
const CHART_DAYS: i64 = 30;
/// Students at risk of leaving, by days since their last check-in.
const LEAVING: std::ops::RangeInclusive<i64> = 2..=14;
const LEAVING_ROWS: u32 = 10;

const FLASHES: &[Flash] = &[
    Flash::good("migrados", "Dados criados", "Todos os alunos estão no programa."),
    Flash::warn(
        "migrados_em_parte",
        "Dados criados em parte",
        "São muitos alunos de uma vez. Peça de novo para continuar de onde parou.",
    ),
    Flash::good("recalculado", "Conferência concluída", "O resultado está abaixo."),
    Flash::good(
        "recalculando",
        "Conferência em andamento",
        "Ela continua mesmo que você saia desta página.",
    ),
];

/// The data of the page.
struct Seen {
    rules: Rules,
    all: Vec<Milestone>,
    enrolled: (u64, u64),
    run: Option<RecountRun>,
    /// By day and action: entries and points.
    days: Vec<DaySum>,
    streaks: u64,
    leaving: (Vec<Leaving>, u64),
    challenges: Vec<Challenge>,
}

/// `GET /admin/gamificacao`: the overview of the program.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let today = app.day(request.now);
    let lost = (today.plus(-LEAVING.end()), today.plus(-LEAVING.start()));
    let seen = app.db.read(request.lane, |tx| {
        Ok::<_, DbError>(Seen {
            rules: Rules::read(tx)?,
            all: milestones::all(tx)?,
            enrolled: store::enrolled(tx)?,
            run: recounting::last(tx)?,
            days: store::days(tx, today.plus(1 - 2 * CHART_DAYS), today)?,
            streaks: ranking::total(tx, Ranking::Streak, today)?,
            leaving: store::leaving(tx, lost, LEAVING_ROWS)?,
            challenges: challenges::all(tx)?,
        })
    })?;
    let (students, enrolled) = seen.enrolled;
    if request.wants_json() {
        let milestones: Vec<Value> = seen.all.iter().map(super::milestones::shown).collect();
        return Reply::json(&json!({
            "ok": true, "total": students, "migrados": enrolled, "pendentes": students - enrolled,
            "config": shown(&seen.rules), "milestones": milestones,
            "recalculo": seen.run.map(|run| run_json(app, &run)),
        }));
    }
    let first = today.plus(1 - CHART_DAYS);
    let by_day = |action: i64| -> Vec<i64> {
        let of = |day: Day| {
            let found = seen.days.iter().find(|sum| sum.day == day && sum.action == action);
            found.map_or(0, |sum| sum.entries)
        };
        (0..CHART_DAYS).map(|ahead| of(first.plus(ahead))).collect()
    };
    let given = |from: Day, to: Day| {
        let within = seen.days.iter().filter(|sum| (from..=to).contains(&sum.day));
        within.map(|sum| sum.xp).sum()
    };
    let checkins = by_day(Action::CheckIn.number().into());
    Reply::page(&OverviewPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        totals: Totals {
            enrolled,
            without: students - enrolled,
            checkins_today: checkins.last().copied().unwrap_or(0),
            streaks: seen.streaks,
            points_30: given(first, today),
            points_before: given(first.plus(-CHART_DAYS), first.plus(-1)),
        },
        checkins: BarChart::new(CHECKINS, first, &checkins),
        ended: BarChart::new(ENDED, first, &by_day(store::ENDED_STREAKS)),
        leaving: seen.leaving.0.iter().map(|one| leaving_row(one, &seen.all, today)).collect(),
        leaving_words: "Sem check-in há 2 a 14 dias, depois de uma sequência de 7 ou mais."
            .to_owned(),
        leaving_count: seen.leaving.1,
        recount: recount_card(seen.run.as_ref(), app, request),
        rules_words: rules_words(&seen.rules),
        challenges_words: challenges_words(&seen.challenges, today),
        milestones_words: milestones_words(&seen.all),
    })
}

fn leaving_row(one: &Leaving, all: &[Milestone], today: Day) -> LeavingRow {
    LeavingRow {
        id: one.student.0,
        name: one.name.clone(),
        away: today.0 - one.last_checkin.0,
        best: one.best_streak,
        level: i64::try_from(milestones::level(all, one.xp)).unwrap_or(0),
    }
}

fn recount_card(run: Option<&RecountRun>, services: &Services, request: &Request) -> RecountCard {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    match run {
        None => RecountCard::default(),
        Some(run) => match run.ended_at {
            None => RecountCard {
                running: Some(RecountCard::progress(number(run.compared), number(run.students))),
                last: None,
            },
            Some(at) => RecountCard {
                running: None,
                last: Some(RecountOutcome {
                    when: When::new(services.zone(), at, request.now),
                    students: number(run.compared),
                    mended: number(run.mended),
                }),
            },
        },
    }
}

fn rules_words(rules: &Rules) -> String {
    let limit = match rules.day_limit {
        0 => "sem limite por dia".to_owned(),
        limit => format!("até {} por dia", points(limit)),
    };
    let give = |action: Action| points(rules.points(action, (0, 1)));
    format!("Check-in {}, venda {}, {limit}", give(Action::CheckIn), give(Action::Sale))
}

fn challenges_words(all: &[Challenge], today: Day) -> String {
    let count = |badge: Badge| {
        let of =
            |one: &&Challenge| state_of(today, one.entry.starts_on, one.entry.ends_on).0 == badge;
        all.iter().filter(of).count()
    };
    let (active, coming) = (count(Badge::Active), count(Badge::Scheduled));
    let active = match active {
        0 => "Nenhum ativo".to_owned(),
        1 => "1 ativo".to_owned(),
        many => format!("{many} ativos"),
    };
    match coming {
        0 => active,
        1 => format!("{active}, 1 agendado"),
        many => format!("{active}, {many} agendados"),
    }
}

fn milestones_words(all: &[Milestone]) -> String {
    match (all.first(), all.last()) {
        (Some(first), Some(last)) => format!(
            "Do marco {}, com {}, ao {}, com {}",
            first.number,
            points(first.xp),
            last.number,
            points(last.xp)
        ),
        _ => String::new(),
    }
}

fn run_json(services: &Services, run: &RecountRun) -> Value {
    let zone = services.zone();
    json!({
        "inicio": zone.spaced(run.begun_at), "fim": run.ended_at.map(|at| zone.spaced(at)),
        "concluido": run.ended_at.is_some(), "alunos": run.students,
        "conferidos": run.compared, "corrigidos": run.mended,
    })
}

/// `GET /admin/gamificacao/status`: how many students have the program's data.
pub fn status(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
    Reply::json(&json!({
        "ok": true, "total": students, "migrados": enrolled, "pendentes": students - enrolled,
    }))
}

/// `GET /admin/gamificacao/migrar`: creates the program data of students who
/// have none. A browser first gets a page that asks for confirmation, and sends
/// the request again with `confirmar=1`.
pub fn migrate(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let confirmed = request.query_text().split('&').any(|pair| pair == "confirmar=1");
    if is_browser(request) && !confirmed {
        let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
        return Reply::page(&MigratePage {
            layout: layout(app, person, request),
            without: students - enrolled,
            enrolled,
        });
    }
    let settings = ProgramSettings::of(&app.config);
    let began = std::time::Instant::now();
    let (mut after, mut made) = (UserId(0), 0_usize);
    loop {
        let next = app.db.read(Lane::Slow, |tx| store::not_enrolled(tx, after, PIECE))?;
        if next.is_empty() {
            break;
        }
        let (more, last) = app.db.write_piece(move |tx| {
            let (mut made, mut last) = (0, after);
            for student in next {
                if let Some(account) = LedgerAccount::open(tx, settings, student)? {
                    account.close()?;
                    made += 1;
                }
                last = student;
                if tx.is_spent() {
                    break;
                }
            }
            Ok::<_, DbError>((made, last))
        })?;
        (made, after) = (made + more, last);
        if began.elapsed() > BUDGET {
            break;
        }
    }
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        let act = act("programa.migrar");
        audit::note(tx, &actor, &act, None::<&()>, Some(&json!({ "alunos": made })))
    })?;
    let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
    let members = [
        ("migrados_agora", made.into()),
        ("total", students.into()),
        ("migrados", enrolled.into()),
        ("pendentes", (students - enrolled).into()),
    ];
    if is_browser(request) {
        let word = if students == enrolled { "migrados" } else { "migrados_em_parte" };
        return Reply::back(super::PATH, word);
    }
    let mut body = Map::from_iter([("ok".to_owned(), true.into())]);
    body.extend(members.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
    Reply::json(&body)
}

/// Whether the client asks for a page. A program without an `Accept` header
/// gets JSON.
fn is_browser(request: &Request) -> bool {
    let accept = request.headers().get(http::header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !request.wants_json()
}

/// `POST /admin/gamificacao/recalcular`: compares the stored sums of all
/// students with the ledger, and corrects differences. Waits a few seconds for
/// the end.
pub fn recount(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        audit::note(tx, &actor, &act("programa.recalcular"), None::<&()>, None::<&()>)
    })?;
    let run = app.work.recount.ask(app, PATIENCE)?;
    let word = if run.ended_at.is_some() { "recalculado" } else { "recalculando" };
    let shown = run_json(app, &run);
    let members: Vec<(&str, Value)> = ["concluido", "alunos", "conferidos", "corrigidos"]
        .map(|name| (name, shown[name].clone()))
        .into();
    Answer::to(request).with(super::PATH, word, &members)
}

fn act(action: &'static str) -> Act<'static> {
    objects::PROGRAM.act(action, "alunos", "Alunos do programa")
}
