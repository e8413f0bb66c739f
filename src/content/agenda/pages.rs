//! Meets as students see them: a page, JSON, and a file for a calendar.

use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde::Serialize;

use super::PERMISSION;
use super::calendar::{self, Event};
use super::views::AgendaPage;
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::App;
use crate::base::{Instant, Zone};
use crate::content::meets::{Meet, store};
use crate::content::plans::views::Offer;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::Noun as _;
use crate::panel::ListReply;
use crate::program::ledger::{self, Cause};
use crate::program::{Action, ProgramSettings};
use crate::wire;

/// Most future and past meets that the page shows.
const COMING: u32 = 50;
const PAST: u32 = 5;
/// Joining a meet counts as attending it from this many seconds before its
/// beginning.
const EARLY_S: i64 = 15 * 60;

const CALENDAR: HeaderValue = HeaderValue::from_static("text/calendar; charset=utf-8");

wire! {
    /// A meet as a student's programs read it.
    #[derive(Serialize)]
    struct MeetJson of(meet: Meet, may: bool, zone: Zone, now: Instant) after {
        let link = Some(link(&meet, may).to_owned()).filter(|link| !link.is_empty());
    } {
        id: String = meet.id.to_string(),
        titulo: String = meet.entry.title,
        descricao: String = meet.entry.description,
        professor: Option<String> = meet.teacher,
        data_hora: String = zone.spaced(meet.entry.starts_at),
        duracao_minutos: i64 = meet.entry.minutes,
        /// Negative once it has begun.
        minutos_restantes: i64 = meet.entry.starts_at.minute() - now.minute(),
        /// Null when the student may not join, or nobody knows it yet.
        link: Option<String> = link,
    }
}

/// The address at which to join; empty if the meet is not public and the person
/// may not join every meet (`may`).
fn link(meet: &Meet, may: bool) -> &str {
    if may || meet.entry.public { &meet.entry.link } else { "" }
}

/// `GET /painel/meets`: running and future meets, and the last past ones.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (account, zone, now) = (&person.account, app.zone(), request.now);
    let (may, offer, coming, past) = app.db.read(request.lane, |tx| {
        let may = accounts::may(tx, account.user_id, account.role, PERMISSION)?;
        let offer = if may { None } else { Some(Offer::of_permission(tx, PERMISSION)?) };
        Ok::<_, Problem>((
            may,
            offer,
            store::not_over(tx, now, COMING)?,
            store::over(tx, now, PAST)?,
        ))
    })?;
    if request.wants_json() {
        let wire = |meet| MeetJson::of(meet, may, zone, now);
        return ListReply::of(coming.len() as u64, coming, wire);
    }
    let layout = layout(app, person, request);
    let offer = offer.map(|offer| offer.reached_by(&app.config.chat.upgrade_number));
    Reply::page(&AgendaPage { layout, may, offer, coming, past, zone, now })
}

/// `GET /painel/meets/{id}/entrar`: redirects to the meet. Joining shortly
/// before it begins, or while it is running, counts as attending it.
pub fn join(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (account, id, now) = (person.account.clone(), request.id()?, request.now);
    let settings = ProgramSettings::of(&app.config);
    Ok(Box::new(move |tx| {
        let may = accounts::may(tx, account.user_id, account.role, PERMISSION)?;
        let meet = Meet::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let link = link(&meet, may);
        if link.is_empty() {
            return Err(Problem::not_found());
        }
        if (meet.entry.starts_at.minus(EARLY_S)..meet.ends_at()).contains(&now) {
            let day = settings.zone.day(now);
            let cause = Cause { action: Action::Meet, id, day };
            ledger::give(tx, settings, account.user_id, cause)?;
        }
        Reply::redirect(link)
    }))
}

/// `GET /painel/meets/{id}.ics`: the meet for the student's own calendar.
pub fn file(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = &person.account;
    let id = request.id()?;
    let (may, meet) = app.db.read(request.lane, |tx| {
        let may = accounts::may(tx, account.user_id, account.role, PERMISSION)?;
        Ok::<_, Problem>((may, Meet::one(tx, id)?.ok_or_else(Problem::not_found)?))
    })?;
    let base = &app.server.addresses.base_url;
    let host = base.split("://").nth(1).unwrap_or(base);
    let held = meet.teacher.as_ref().map(|name| format!("Com {name}."));
    let about = [held.unwrap_or_default(), meet.entry.description.clone()];
    let about = about.into_iter().filter(|text| !text.is_empty());
    let text = calendar::file(
        &app.config.server.name,
        &Event {
            uid: &format!("meet-{id}@{host}"),
            stamp: meet.updated_at,
            starts_at: meet.entry.starts_at,
            ends_at: meet.ends_at(),
            summary: &meet.entry.title,
            description: &about.collect::<Vec<_>>().join("\n"),
            url: link(&meet, may),
        },
    );
    let place = format!("attachment; filename=\"encontro-{id}.ics\"");
    let place = HeaderValue::try_from(place).map_err(Problem::internal)?;
    Ok(Reply::of(CALENDAR, text).with(CONTENT_DISPOSITION, place))
}
