//! Courses and lessons as students see them, as pages and as JSON.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;
use serde_json::json;

use super::views::{StudentCoursePage, StudentCoursesPage, WatchPage};
use super::{StudentCourse, StudentLesson, store, video};
use crate::accounts::Account;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::content::plans::views::Offer;
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request, policy};
use crate::identity::Person;
use crate::panel::form::https;
use crate::panel::{ListReply, Notice, Sent, Tone};
use crate::program::ledger::{self, Cause};
use crate::program::{Action, ProgramSettings};
use crate::wire;

const PATH: &str = "/painel/aulas";
/// Most courses of other plans that are named.
const LOCKED: usize = 12;

wire! {
    /// A course as a student's programs read it.
    #[derive(Serialize)]
    struct StudentCourseJson of(course: StudentCourse) {
        id: String = course.course_id.to_string(),
        titulo: String = course.title,
        descricao: String = course.description,
        total_aulas: u32 = course.lessons,
        feitas: u32 = course.done,
        proxima_aula: Option<String> = course.next.map(|lesson| lesson.to_string()),
    }
}

wire! {
    /// A lesson as a student's programs read it.
    #[derive(Serialize)]
    struct StudentLessonJson of(lesson: StudentLesson) {
        id: String = lesson.lesson_id.to_string(),
        titulo: String = lesson.title,
        professor: Option<String> = lesson.teacher,
        video_url: String = lesson.video_url,
        feita: bool = lesson.done,
    }
}

/// `GET /painel/aulas`: the courses that the student may see.
pub fn courses(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = &person.account;
    let (courses, locked, offer) = app.db.read(request.lane, |tx| {
        let courses = store::courses(tx, account.user_id, account.role)?;
        let (locked, roles) = store::locked(tx, account.role, LOCKED)?;
        let offer = if locked.is_empty() { None } else { Some(Offer::of_roles(tx, &roles)?) };
        Ok::<_, Problem>((courses, locked, offer))
    })?;
    if request.wants_json() {
        return ListReply::of(courses.len() as u64, courses, StudentCourseJson::of);
    }
    let offer = offer.map(|offer| offer.reached_by(&app.config.chat.upgrade_number));
    Reply::page(&StudentCoursesPage {
        layout: layout(app, person, request),
        courses,
        locked,
        offer,
    })
}

fn href(course_id: i64, lesson_id: i64) -> String {
    format!("{PATH}/{course_id}/{lesson_id}")
}

/// `GET /painel/aulas/{curso}`: the lessons of a course.
pub fn course(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let course_id = number(request, "curso")?;
    let (course, lessons) = app.db.read(request.lane, |tx| seen(tx, &person.account, course_id))?;
    if request.wants_json() {
        let lessons: Vec<StudentLessonJson> =
            lessons.into_iter().map(StudentLessonJson::of).collect();
        let body = json!({ "ok": true, "curso": StudentCourseJson::of(course), "total": lessons.len(), "dados": lessons });
        return Reply::json(&body);
    }
    Reply::page(&StudentCoursePage { layout: layout(app, person, request), course, lessons })
}

/// A course with its lessons; one that the student may not see does not exist.
fn seen(
    tx: &ReadTx<'_>,
    account: &Account,
    course_id: i64,
) -> Result<(StudentCourse, Vec<StudentLesson>), Problem> {
    let course = store::course(tx, account.user_id, account.role, course_id)?;
    let course = course.ok_or_else(Problem::not_found)?;
    Ok((course, store::lessons(tx, account.user_id, course_id)?))
}

fn number(request: &Request, name: &str) -> Result<i64, Problem> {
    let number = request.variable(name).parse();
    number.map_err(|_| Problem::not_found())
}

/// The place of a lesson in its course.
fn place_of(lessons: &[StudentLesson], lesson_id: i64) -> Result<usize, Problem> {
    let at = lessons.iter().position(|lesson| lesson.lesson_id == lesson_id);
    at.ok_or_else(Problem::not_found)
}

/// `GET /painel/aulas/{curso}/{aula}`: a lesson to watch. Only this page may
/// frame the players of the configured hosts.
pub fn lesson(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let course_id = number(request, "curso")?;
    let (course, lessons) = app.db.read(request.lane, |tx| seen(tx, &person.account, course_id))?;
    let lesson_id = number(request, "aula")?;
    let at = place_of(&lessons, lesson_id)?;
    let hosts = &app.config.content.video_hosts;
    let page = WatchPage {
        layout: layout(app, person, request).with_flash(flash(request.notice.as_deref(), &course)),
        player: video::player(&lessons[at].video_url, hosts),
        host: https(&lessons[at].video_url)
            .and_then(|uri| uri.host().map(str::to_owned))
            .unwrap_or_default(),
        course,
        lessons,
        at,
    };
    if request.wants_json() {
        let id = |lesson: Option<&StudentLesson>| lesson.map(|lesson| lesson.lesson_id.to_string());
        let lesson = StudentLessonJson::of(page.lesson().clone());
        return Reply::json(&json!({
            "ok": true, "anterior": id(page.before()), "proxima": id(page.after()), "aula": lesson,
        }));
    }
    Ok(Reply::page(&page)?.with(CONTENT_SECURITY_POLICY, policy::page_with_frames(hosts)))
}

fn flash(word: Option<&str>, course: &StudentCourse) -> Option<Notice> {
    (word == Some("feita")).then(|| {
        let title = if course.done == course.lessons {
            "Curso concluído"
        } else {
            "Aula marcada como feita"
        };
        let text = format!("{} de {} aulas feitas.", course.done, course.lessons);
        Notice::new(Tone::Good, title, text)
    })
}

/// `POST /painel/aulas/{curso}/{aula}/feita`: marks a lesson as done, or with
/// `feita` false removes the mark.
pub fn mark(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let lesson_id = number(request, "aula")?;
    let course_id = number(request, "curso")?;
    let (_, lessons) = app.db.read(request.lane, |tx| seen(tx, &person.account, course_id))?;
    place_of(&lessons, lesson_id)?;
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
        place_of(&seen(tx, &account, course_id)?.1, lesson_id)?;
        store::mark(tx, account.user_id, lesson_id, done)?;
        if done {
            // Points are given once: a mark that is removed and set again gives
            // no more.
            let day = settings.zone.day(tx.now());
            let cause = Cause { action: Action::Lesson, id: lesson_id, day };
            ledger::give(tx, settings, account.user_id, cause)?;
        }
        if !wants_json {
            let word = if done { "feita" } else { "" };
            return Reply::back(&href(course_id, lesson_id), word);
        }
        let now = store::course(tx, account.user_id, account.role, course_id)?;
        let now = now.ok_or_else(Problem::not_found)?;
        Reply::json(&json!({
            "ok": true, "feita": done, "feitas": now.done, "total_aulas": now.lessons,
        }))
    }))
}
