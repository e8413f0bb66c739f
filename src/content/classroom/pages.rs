//! Courses and lessons as students see them, as pages and as JSON.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;
use serde_json::json;

use super::views::{ShelfCard, ShelfPage, ShelvesPage, StepLine, WatchPage};
use super::{Shelf, Step, store, video};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::db::ReadTx;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request, policy};
use crate::panel::form::https;
use crate::panel::{ListReply, Notice, Progress, Sent, Tone};
use crate::program::ledger::{self, Cause};
use crate::program::{Action, ProgramSettings};
use crate::wire;

const SHELVES: &str = "/painel/aulas";

wire! {
    /// A course as a student's programs read it.
    #[derive(Serialize)]
    struct ShelfJson of(shelf: Shelf) {
        id: String = shelf.course.to_string(),
        titulo: String = shelf.title,
        descricao: String = shelf.description,
        total_aulas: u32 = shelf.lessons,
        feitas: u32 = shelf.done,
        proxima_aula: Option<String> = shelf.next.map(|lesson| lesson.to_string()),
    }
}

wire! {
    /// A lesson as a student's programs read it.
    #[derive(Serialize)]
    struct StepJson of(step: Step) {
        id: String = step.lesson.to_string(),
        titulo: String = step.title,
        professor: Option<String> = step.teacher,
        video_url: String = step.video_url,
        feita: bool = step.done,
    }
}

/// `GET /painel/aulas`: the courses that the student may see.
pub fn courses(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = &person.account;
    let shelves =
        app.db.read(request.lane, |tx| store::shelves(tx, account.user_id, account.role))?;
    if request.wants_json() {
        let courses: Vec<ShelfJson> = shelves.into_iter().map(ShelfJson::of).collect();
        return ListReply::reply(courses.len() as u64, courses);
    }
    Reply::page(&ShelvesPage {
        layout: layout(app, person, request),
        courses: shelves.into_iter().map(card).collect(),
    })
}

fn card(shelf: Shelf) -> ShelfCard {
    let progress = (shelf.lessons > 0).then(|| {
        let label = format!("{} de {} aulas feitas", shelf.done, shelf.lessons);
        Progress::new(label, shelf.done.into(), shelf.lessons.into(), "")
    });
    ShelfCard {
        id: shelf.course.to_string(),
        next: shelf.next.map(|lesson| href(shelf.course, lesson)).unwrap_or_default(),
        button: if shelf.done == 0 { "Começar" } else { "Continuar" },
        title: shelf.title,
        description: shelf.description,
        progress,
    }
}

fn href(course: i64, lesson: i64) -> String {
    format!("{SHELVES}/{course}/{lesson}")
}

fn line(course: i64, step: &Step, here: i64) -> StepLine {
    StepLine {
        href: href(course, step.lesson),
        title: step.title.clone(),
        teacher: step.teacher.clone().unwrap_or_default(),
        done: step.done,
        here: step.lesson == here,
    }
}

/// `GET /painel/aulas/{curso}`: the lessons of a course.
pub fn course(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (shelf, steps) = app.db.read(request.lane, |tx| find(tx, person, request))?;
    if request.wants_json() {
        let lessons: Vec<StepJson> = steps.into_iter().map(StepJson::of).collect();
        let body = json!({ "ok": true, "curso": ShelfJson::of(shelf), "total": lessons.len(), "dados": lessons });
        return Reply::json(&body);
    }
    let course = shelf.course;
    Reply::page(&ShelfPage {
        layout: layout(app, person, request),
        course: card(shelf),
        lessons: steps.iter().map(|step| line(course, step, 0)).collect(),
    })
}

/// The course of the path with its lessons; a course that the student may
/// not see does not exist.
fn find(
    tx: &ReadTx<'_>,
    person: &Person,
    request: &Request,
) -> Result<(Shelf, Vec<Step>), Problem> {
    let account = &person.account;
    let course = number(request, "curso")?;
    let shelf = store::shelf(tx, account.user_id, account.role, course)?;
    let shelf = shelf.ok_or_else(Problem::not_found)?;
    Ok((shelf, store::steps(tx, account.user_id, course)?))
}

fn number(request: &Request, name: &str) -> Result<i64, Problem> {
    let number = request.variable(name).parse();
    number.map_err(|_| Problem::not_found())
}

/// `GET /painel/aulas/{curso}/{aula}`: a lesson to watch. Only this page may
/// frame the players of the configured hosts.
pub fn lesson(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (shelf, steps) = app.db.read(request.lane, |tx| find(tx, person, request))?;
    let lesson = number(request, "aula")?;
    let at = steps.iter().position(|step| step.lesson == lesson);
    let at = at.ok_or_else(Problem::not_found)?;
    let beside = |at: Option<usize>| at.and_then(|at| steps.get(at));
    let (before, after) = (beside(at.checked_sub(1)), beside(Some(at + 1)));
    let step = &steps[at];
    if request.wants_json() {
        let id = |step: Option<&Step>| step.map(|step| step.lesson.to_string());
        let body = json!({
            "ok": true, "anterior": id(before), "proxima": id(after), "aula": StepJson::of(step.clone()),
        });
        return Reply::json(&body);
    }
    let course = shelf.course;
    let link = |step: Option<&Step>| step.map(|step| href(course, step.lesson)).unwrap_or_default();
    let teacher = step.teacher.as_ref().map(|name| format!(", com {name}"));
    let hosts = &app.config.content.video_hosts;
    let page = Reply::page(&WatchPage {
        layout: layout(app, person, request).with_flash(flash(request.notice.as_deref(), &shelf)),
        title: step.title.clone(),
        place: format!("Aula {} de {}{}", at + 1, steps.len(), teacher.unwrap_or_default()),
        player: video::player(&step.video_url, hosts),
        host: https(&step.video_url)
            .and_then(|uri| uri.host().map(str::to_owned))
            .unwrap_or_default(),
        video_url: step.video_url.clone(),
        mark: format!("{}/feita", href(course, lesson)),
        done: step.done,
        previous: link(before),
        next: link(after),
        lessons: steps.iter().map(|step| line(course, step, lesson)).collect(),
        course: card(shelf),
    })?;
    Ok(page.with(CONTENT_SECURITY_POLICY, policy::page_with_frames(hosts)))
}

fn flash(word: Option<&str>, shelf: &Shelf) -> Option<Notice> {
    (word == Some("feita")).then(|| {
        let title = if shelf.done == shelf.lessons {
            "Curso concluído"
        } else {
            "Aula marcada como feita"
        };
        let text = format!("{} de {} aulas feitas.", shelf.done, shelf.lessons);
        Notice::new(Tone::Good, title, text)
    })
}

/// `POST /painel/aulas/{curso}/{aula}/feita`: marks a lesson as done, or with
/// `feita` false removes the mark.
pub fn mark(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let lesson = number(request, "aula")?;
    let (shelf, steps) = app.db.read(request.lane, |tx| find(tx, person, request))?;
    if !steps.iter().any(|step| step.lesson == lesson) {
        return Err(Problem::not_found());
    }
    let done = if request.body.is_empty() {
        true
    } else {
        let mut sent = Sent::of(request, app.zone())?;
        let done = sent.optional("feita").unwrap_or(true);
        sent.finish()?;
        done
    };
    let (account, wants_json) = (person.account.clone(), request.wants_json());
    let settings = ProgramSettings::of(&app.config);
    Ok(Box::new(move |tx| {
        // The lesson may have been removed since it was found above.
        let course = shelf.course;
        let seen = store::shelf(tx, account.user_id, account.role, course)?;
        seen.ok_or_else(Problem::not_found)?;
        let steps = store::steps(tx, account.user_id, course)?;
        if !steps.iter().any(|step| step.lesson == lesson) {
            return Err(Problem::not_found());
        }
        store::mark(tx, account.user_id, lesson, done)?;
        if done {
            // Points are given once: a mark that is removed and set again gives
            // no more.
            let day = terms.zone.day(tx.now());
            let cause = Cause { action: Action::Lesson, id: lesson, day };
            ledger::give(tx, terms, account.user_id, cause)?;
        }
        if !wants_json {
            let word = if done { "feita" } else { "" };
            return Reply::back(&href(course, lesson), word);
        }
        let now = store::shelf(tx, account.user_id, account.role, course)?;
        let now = now.ok_or_else(Problem::not_found)?;
        Reply::json(&json!({
            "ok": true, "feita": done, "feitas": now.done, "total_aulas": now.lessons,
        }))
    }))
}
