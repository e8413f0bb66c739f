//! Texts of messages in the operator's panel: shown, changed, previewed with
//! example values, and reset to the default.

use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use super::views::{TextPage, TextRow, TextsPage};
use super::{
    LONGEST_BODY, LONGEST_SUBJECT, Template, Words, fault, fill, placeholders, shipped, store,
};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::base::{DAY_S, Instant};
use crate::db::WriteTx;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::tabs;
use crate::outbox::MessageKind;
use crate::panel::{Answer, Flash, ListReply, Notice, Sent, When, flashes, view};
use crate::services::Services;
use crate::wire;

/// The list's address.
pub const PATH: &str = "/admin/mensagens/textos";

wire! {
    #[derive(Serialize)]
    struct WireText of(services: &Services, kind: MessageKind, text: (Template, Option<Instant>)) {
        tipo: &'static str = kind.name(),
        #[serde(flatten)]
        template: Template = text.0,
        campos: Vec<&'static str> = placeholders(kind).iter().map(|one| one.name).collect(),
        alterado_em: Option<String> = text.1.map(|at| services.zone().spaced(at)),
    }
}

/// `GET /admin/mensagens/textos`: the texts, as page or JSON.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let texts = app.db.read(request.lane, |tx| {
        let texts = MessageKind::editable().map(|kind| Ok((kind, super::of(tx, kind)?)));
        texts.collect::<Result<Vec<_>, Problem>>()
    })?;
    if request.wants_json() {
        return ListReply::of(texts.len() as u64, texts, |(kind, text)| {
            WireText::of(app, kind, text)
        });
    }
    let row = |(kind, (template, changed)): (MessageKind, (Template, Option<Instant>))| TextRow {
        kind,
        changed: changed.map(|at| When::new(app.zone(), at, request.now)),
        subject: template.subject,
    };
    Reply::page(&TextsPage {
        layout: layout(app, person, request),
        tabs: tabs(PATH),
        texts: texts.into_iter().map(row).collect(),
    })
}

fn kind_of(request: &Request) -> Result<MessageKind, Problem> {
    let kind = MessageKind::from_name(request.variable("tipo"));
    kind.filter(|kind| kind.row().editable).ok_or_else(Problem::not_found)
}

/// `GET /admin/mensagens/textos/{tipo}`: one text with an example, as page or JSON.
pub fn text(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let kind = kind_of(request)?;
    let text = app.db.read(request.lane, |tx| super::of(tx, kind))?;
    if request.wants_json() {
        return Reply::ok(&WireText::of(app, kind, text));
    }
    let (template, changed) = text;
    let mut page = page((app, person, request), kind, template);
    page.changed = changed.map(|at| When::new(app.zone(), at, request.now));
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

/// What the page says of the last action.
const FLASHES: &[Flash] = flashes! {
    "salvo": good "Texto salvo", "Vale para as mensagens que saírem a partir de agora.";
    "restaurado": good "Texto original de volta";
};

fn page((app, person, request): Visit<'_>, kind: MessageKind, template: Template) -> TextPage {
    TextPage {
        layout: layout(app, person, request),
        alert: None,
        kind,
        shown: Some(example(app, request.now, kind, &template)),
        subject: view::Field::of(template.subject),
        body: view::Field::of(template.body),
        changed: None,
        draft: false,
    }
}

/// A text filled in with example values.
fn example(app: &App, now: Instant, kind: MessageKind, template: &Template) -> Template {
    let params = json!({
        "paid_until": now.plus(5 * DAY_S).0,
        "grace_days": app.config.checkout.late_grace_days,
        "title": "Mentoria de anúncios",
        "starts_at": now.plus(DAY_S).0,
        "days": app.config.program.inactive_days,
        "streak": 12,
        "question": "Serve na bicicleta?",
        "listing": "Garrafa térmica",
        "store": "LOJA DA ANA",
        "page": "/painel/perguntas/1",
    });
    let link = format!("{}/senha?codigo=…", app.server.addresses.base_url);
    let has_link = placeholders(kind).iter().any(|one| one.name == "link");
    let words = Words {
        name: "Ana Souza",
        platform: &app.config.server.name,
        address: &app.server.addresses.base_url,
        link: if has_link { &link } else { "" },
        until: app.zone().page(now.plus(7 * DAY_S)),
        params: &params,
    };
    fill(template, &words, app.zone())
}

/// What is wrong with a text, by field.
fn faults(kind: MessageKind, template: &Template) -> Vec<(&'static str, String)> {
    let Template { subject, body } = template;
    let mut faults = Vec::new();
    let is_line = !subject.chars().any(char::is_control);
    if !(1..=LONGEST_SUBJECT).contains(&subject.chars().count()) || !is_line {
        let said = format!("Escreva o assunto em uma linha, com até {LONGEST_SUBJECT} letras.");
        faults.push(("assunto", said));
    } else if let Some(said) = fault(kind, subject, false) {
        faults.push(("assunto", said));
    }
    let is_text = |letter: char| letter == '\n' || !letter.is_control();
    if !(1..=LONGEST_BODY).contains(&body.chars().count()) || !body.chars().all(is_text) {
        let said = format!("Escreva o texto, com até {LONGEST_BODY} letras.");
        faults.push(("texto", said));
    } else if let Some(said) = fault(kind, body, true) {
        faults.push(("texto", said));
    }
    faults
}

/// `POST /admin/mensagens/textos/{tipo}`: changes a text, or with `acao=ver`
/// only shows it filled in.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let kind = kind_of(request)?;
    let mut sent = Sent::of(request, app.zone())?;
    let [action, subject, body] =
        ["acao", "assunto", "texto"].map(|name| sent.optional::<String>(name).unwrap_or_default());
    let template = Template {
        subject: subject.trim().to_owned(),
        body: body.replace("\r\n", "\n").trim().to_owned(),
    };
    for (name, said) in faults(kind, &template) {
        sent.check.fail(name, said);
    }
    if !matches!(&*action, "" | "ver" | "salvar") {
        sent.check.fail("acao", "must be salvar or ver");
    }
    let visit = (app, person, request);
    match sent.finish() {
        Err(problem) if request.wants_json() => return Err(problem),
        Err(problem) => {
            return faulty(page(visit, kind, template), &problem.fields).map(nothing_to_do);
        }
        Ok(()) if action == "ver" => return look(visit, kind, template).map(nothing_to_do),
        Ok(()) => {}
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (before, _) = super::of(tx, kind)?;
        if before != template {
            store::set(tx, kind, &template)?;
            note(tx, &actor, "texto.alterar", kind, (&before, &template))?;
        }
        answer.done(kind.name(), &address_of(kind), "salvo")
    }))
}

/// `POST /admin/mensagens/textos/{tipo}/restaurar`: resets a text to the
/// default.
pub fn reset(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let kind = kind_of(request)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (before, _) = super::of(tx, kind)?;
        if store::reset(tx, kind)? {
            note(tx, &actor, "texto.restaurar", kind, (&before, &shipped(kind)))?;
        }
        answer.done(kind.name(), &address_of(kind), "restaurado")
    }))
}

fn address_of(kind: MessageKind) -> String {
    format!("{PATH}/{}", kind.name())
}

fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    action: &'static str,
    kind: MessageKind,
    (before, after): (&Template, &Template),
) -> Result<(), Problem> {
    let act = objects::TEXT.act(action, kind.name(), kind.words());
    Ok(audit::note(tx, actor, &act, before, after)?)
}

/// A preview of a text, which is not saved.
fn look(visit: Visit<'_>, kind: MessageKind, template: Template) -> Result<Reply, Problem> {
    let (app, _, request) = visit;
    if request.wants_json() {
        return Reply::ok(&example(app, request.now, kind, &template));
    }
    Reply::page(&TextPage { draft: true, ..page(visit, kind, template) })
}

/// The form again after wrong input, with what was typed.
fn faulty(mut page: TextPage, faults: &Fields) -> Result<Reply, Problem> {
    (page.draft, page.shown) = (true, None);
    for (name, field) in [("assunto", &mut page.subject), ("texto", &mut page.body)] {
        let fault = faults.iter().find(|(known, _)| known == name);
        field.error = fault.map(|(_, said)| said.to_string());
    }
    let count = view::focus_first([&mut page.subject, &mut page.body]);
    page.alert = Notice::faults(count);
    Ok(Reply::page(&page)?.status(StatusCode::UNPROCESSABLE_ENTITY))
}
