//! The overview of the program, and two commands that process all students:
//! creating missing program data, and comparing students with the ledger.

use std::time::Duration;

use serde_json::{Value, json};

use super::rules::shown;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor, objects};
use crate::base::UserId;
use crate::db::{DbError, Lane};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, When, flashes};
use crate::program::admin::views::{CHART_DAYS, MigratePage, OverviewPage};
use crate::program::ledger::LedgerAccount;
use crate::program::ranking::{self, Ranking};
use crate::program::recounting::{self, RecountRun};
use crate::program::rules::Rules;
use crate::program::{ProgramSettings, challenges, milestones, store};
use crate::services::Services;

/// Students that are read at a time.
const PIECE: usize = 250;
/// How long a call may take; the next call continues.
const BUDGET: Duration = Duration::from_secs(15);
/// How long an answer waits for the end of a comparison.
const PATIENCE: Duration = Duration::from_secs(5);

/// Students at risk of leaving, by days since their last check-in.
const LEAVING: std::ops::RangeInclusive<i64> = 2..=14;
const LEAVING_ROWS: u32 = 10;

const FLASHES: &[Flash] = flashes! {
    "migrados": good "Dados criados", "Todos os alunos estão no programa.";
    "migrados_em_parte": warn "Dados criados em parte",
        "São muitos alunos de uma vez. Peça de novo para continuar de onde parou.";
    "recalculado": good "Conferência concluída", "O resultado está abaixo.";
    "recalculando": good "Conferência em andamento",
        "Ela continua mesmo que você saia desta página.";
};

/// `GET /admin/gamificacao`: the overview of the program.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let today = app.day(request.now);
    let (first, last) = (today.plus(-LEAVING.end()), today.plus(-LEAVING.start()));
    let layout = layout(app, person, request).telling(FLASHES, request);
    let page = app.db.read(request.lane, |tx| {
        let (students, enrolled) = store::enrolled(tx)?;
        let (leaving, leaving_count) = store::leaving(tx, first, last, LEAVING_ROWS)?;
        let recount = recounting::last(tx)?;
        let ended = recount.and_then(|run| run.ended_at);
        Ok::<_, DbError>(OverviewPage {
            layout,
            today,
            rules: Rules::read(tx)?,
            milestones: milestones::all(tx)?,
            challenges: challenges::all(tx)?,
            students,
            enrolled,
            sums: store::days(tx, today.plus(1 - 2 * CHART_DAYS), today)?,
            streaks: ranking::total(tx, Ranking::Streak, today)?,
            leaving,
            leaving_count,
            recount,
            recounted: ended.map(|at| When::new(app.zone(), at, request.now)),
        })
    })?;
    if !request.wants_json() {
        return Reply::page(&page);
    }
    let milestones: Vec<Value> = page.milestones.iter().map(super::milestones::shown).collect();
    Reply::json(&json!({
        "ok": true, "total": page.students, "migrados": page.enrolled,
        "pendentes": page.without(), "config": shown(&page.rules), "milestones": milestones,
        "recalculo": page.recount.map(|run| run_json(app, &run)),
    }))
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
        audit::note(tx, &actor, &act("programa.migrar"), (), json!({ "alunos": made }))
    })?;
    let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
    if is_browser(request) {
        let word = if students == enrolled { "migrados" } else { "migrados_em_parte" };
        return Reply::back(crate::program::admin::PATH, word);
    }
    Reply::json(&json!({
        "ok": true, "migrados_agora": made, "total": students, "migrados": enrolled,
        "pendentes": students - enrolled,
    }))
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
    app.db.write(move |tx| audit::note(tx, &actor, &act("programa.recalcular"), (), ()))?;
    let run = app.work.recount.ask(app, PATIENCE)?;
    let word = if run.ended_at.is_some() { "recalculado" } else { "recalculando" };
    let shown = run_json(app, &run);
    let members: Vec<(&str, Value)> = ["concluido", "alunos", "conferidos", "corrigidos"]
        .map(|name| (name, shown[name].clone()))
        .into();
    Answer::to(request).with(crate::program::admin::PATH, word, &members)
}

fn act(action: &'static str) -> Act<'static> {
    objects::PROGRAM.act(action, "alunos", "Alunos do programa")
}
