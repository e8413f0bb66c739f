//! The page of a person's notifications, for students and for administrators.

pub mod channels;
pub mod unsubscribe;

use super::api::MarkReadReply;
use super::views::{NewsRow, NotificationsPage};
use super::wire::WireNotification;
use super::{api, reading, store};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::edge::route::Todo;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{ListReply, Paging, Sent, address};

const STUDENT: &str = "/painel/avisos";
const STAFF: &str = "/admin/avisos";
const PER_PAGE: u32 = 30;
/// The last page that can be requested.
const MOST_PAGES: i64 = 1_000;

/// The path of the list that a request is about; both lists work the same way.
fn list_of(request: &Request) -> &'static str {
    if request.path().starts_with(STAFF) { STAFF } else { STUDENT }
}

/// The number of a page that was sent.
fn page_of(sent: &mut Sent<'_>) -> Option<i64> {
    let field = sent.take("pagina");
    sent.check.number("pagina", field, 1..=MOST_PAGES)
}

/// `GET /painel/avisos`, `GET /admin/avisos`: the notifications, newest first.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of_query(request, app.zone())?;
    let page = page_of(&mut sent).unwrap_or(1);
    sent.finish()?;
    let page = u32::try_from(page).unwrap_or(1);
    let owner = person.account.user_id;
    let (unread, total, news) = app.db.read(request.lane, |tx| {
        let news = store::page(tx, owner, PER_PAGE, (page - 1) * PER_PAGE)?;
        Ok::<_, Problem>((store::unread_count(tx, owner)?, store::count(tx, owner)?, news))
    })?;
    if request.wants_json() {
        let wire = |one| WireNotification::of(one, app.zone());
        return ListReply::of(total, news, wire);
    }
    let path = list_of(request);
    Reply::page(&NotificationsPage {
        layout: layout(app, person, request),
        unread,
        news: news.iter().map(|one| NewsRow::of(one, app.zone(), request.now)).collect(),
        page,
        path,
        purpose: if path == STAFF {
            "O que a plataforma precisa que alguém veja, do mais novo para o mais antigo."
        } else {
            "O que aconteceu com as suas contas, do mais novo para o mais antigo."
        },
        of_staff: path == STAFF,
        paging: Paging::new(path, &[], page.into(), PER_PAGE.into(), total),
    })
}

/// `POST /painel/avisos/lidos`, `POST /admin/avisos/lidos`: marks the
/// notifications of `ids` as read, or all of them without `ids`.
pub fn mark_read(app: &App, person: &Person, request: &Request) -> Result<Todo<Reply>, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let ids: Option<Vec<String>> = sent.optional("ids");
    let ids = ids.map(|ids| api::read_ids(&mut sent.check, &ids));
    let page = page_of(&mut sent);
    sent.finish()?;
    let wants_json = request.wants_json();
    let list = match page {
        Some(page @ 2..) => address(list_of(request), &[("pagina", &page.to_string())]),
        _ => list_of(request).to_owned(),
    };
    reading::mark(app, person.account.user_id, ids, move |marked| {
        if wants_json { MarkReadReply::reply(marked) } else { Reply::redirect(&list) }
    })
}
