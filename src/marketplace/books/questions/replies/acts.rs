//! The page of saved replies and its actions, for sellers and for the agency
//! alike.

use serde::Serialize;

use super::views::{RepliesPage, ReplyForm};
use super::{FORM, MOST, ReplyEntry, ReplySet, SavedReply, store};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::{self, Act, Actor};
use crate::db::{self, WriteTx};
use crate::edge::route::Job;
use crate::http::{Fields, ForPeople, Problem, Reply};
use crate::panel::{Answer, Flash, ListReply, flashes, form};
use crate::wire;

const FLASHES: &[Flash] = flashes! {
    "criada": good "Resposta salva", "Ela já aparece ao responder perguntas.";
    "alterada": good "Resposta alterada", "O novo texto já vale.";
    "excluida": good "Resposta excluída", "Ela não aparece mais ao responder perguntas.";
    "cheia": warn "Já há 200 respostas salvas",
        "Nada foi salvo. Exclua uma que não usa mais e tente de novo.";
};

wire! {
    /// A saved reply in JSON.
    #[derive(Serialize)]
    pub struct WireReply of(app: &App, reply: SavedReply) {
        id: String = reply.id.to_string(),
        titulo: String = reply.entry.title,
        texto: String = reply.entry.text,
        alterada_em: String = app.zone().spaced(reply.updated_at),
    }
}

/// The replies of a set, as page or JSON.
pub fn list((app, person, request): Visit<'_>, set: ReplySet) -> Result<Reply, Problem> {
    if request.wants_json() {
        let replies = app.db.read(request.lane, |tx| store::all(tx, set.owner))?;
        let total = replies.len() as u64;
        return ListReply::of(total, replies, |reply| WireReply::of(app, reply));
    }
    page((app, person, request), set, None)
}

/// The page. `wrong` has the errors of one form: that of a reply, or with
/// `None` that of a new one.
fn page(
    (app, person, request): Visit<'_>,
    set: ReplySet,
    wrong: Option<(Option<i64>, &Fields)>,
) -> Result<Reply, Problem> {
    let replies = app.db.read(request.lane, |tx| store::all(tx, set.owner))?;
    let again = |id: Option<i64>| {
        let (_, faults) = wrong.filter(|(whose, _)| *whose == id)?;
        Some(FORM.again(request, faults))
    };
    let mut new = again(None).unwrap_or_else(|| FORM.show(None, app.zone()).unfocused());
    let mut alert = new.alert.take();
    let mut shown = Vec::new();
    for reply in &replies {
        let again = again(Some(reply.id));
        let open = again.is_some();
        let mut form = again.unwrap_or_else(|| FORM.show(Some(&reply.entry), app.zone()));
        alert = alert.or_else(|| form.alert.take());
        shown.push(ReplyForm {
            id: reply.id,
            title: reply.entry.title.clone(),
            text: reply.entry.text.clone(),
            form,
            open,
        });
    }
    Reply::page(&RepliesPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        reply_set: set,
        alert,
        is_full: i64::try_from(replies.len()).unwrap_or(MOST) >= MOST,
        new,
        replies: shown,
    })
}

pub fn create((app, person, request): Visit<'_>, set: ReplySet) -> Result<Job, Problem> {
    let entry = match FORM.entry(request, app.zone(), None) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                page((app, person, request), set, Some((None, faults)))
            });
        }
    };
    let (to, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let Some(id) = store::insert(tx, set.owner, &entry)? else {
            let full = Problem::conflict(ForPeople("Já há 200 respostas salvas. Exclua alguma."));
            return to.refused(full, set.path, "cheia");
        };
        note(tx, &actor, set, "resposta.criar", id, None, Some(&entry))?;
        to.made(id, set.path, "criada")
    }))
}

pub fn change((app, person, request): Visit<'_>, set: ReplySet) -> Result<Job, Problem> {
    let id = request.id()?;
    let present = app.db.read(request.lane, |tx| store::one(tx, set.owner, id))?;
    let present = present.ok_or_else(Problem::not_found)?.entry;
    let entry = match FORM.entry(request, app.zone(), Some(&present)) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                page((app, person, request), set, Some((Some(id), faults)))
            });
        }
    };
    let (to, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = store::one(tx, set.owner, id)?.ok_or_else(Problem::not_found)?.entry;
        store::update(tx, id, &entry)?;
        note(tx, &actor, set, "resposta.alterar", id, Some(&before), Some(&entry))?;
        to.done(id, set.path, "alterada")
    }))
}

pub fn delete((_, person, request): Visit<'_>, set: ReplySet) -> Result<Job, Problem> {
    let id = request.id()?;
    let (to, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = store::one(tx, set.owner, id)?.ok_or_else(Problem::not_found)?.entry;
        store::delete(tx, id)?;
        note(tx, &actor, set, "resposta.excluir", id, Some(&before), None)?;
        to.done(id, set.path, "excluida")
    }))
}

/// Writes changes by the agency's team to the audit log. Changes by a seller
/// are not logged.
fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    set: ReplySet,
    action: &'static str,
    id: i64,
    before: Option<&ReplyEntry>,
    after: Option<&ReplyEntry>,
) -> db::Result<()> {
    if set.owner.is_some() {
        return Ok(());
    }
    let title = after.or(before).map_or("", |entry| &entry.title);
    let act = Act { action, object: "resposta", object_id: id.to_string(), object_name: title };
    audit::note(tx, actor, &act, before, after)
}
