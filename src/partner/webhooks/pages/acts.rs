//! Actions on an endpoint: test it, switch it on or off, replace its secret,
//! send deliveries again, remove it.

use serde_json::{Value, json};

use super::endpoint::{Change, find, with_span};
use super::log::SPAN;
use super::secret_page;
use crate::app::App;
use crate::base::Instant;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::partner::webhooks::objects::EventBodyBuilder;
use crate::partner::webhooks::sign::SigningSecret;
use crate::partner::webhooks::{MOST_REPLAYED, OVERLAP_S, queue};

/// Deliveries that one job of the writer sends again.
const BATCH: usize = 50;

/// `POST …/webhooks/{id}/testar`: sends a test.
pub fn test(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = find(app, person, request)?.id;
    let (change, bodies) = (Change::of((app, person, request)), EventBodyBuilder::of(app));
    Ok(Box::new(move |tx| {
        change.keeper.find(tx, id)?;
        if let Err(problem) = change.require_plan(tx) {
            return change.answer.declined(problem, &change.page(id), "sem_plano");
        }
        let number = match change.keeper.test(tx, &bodies, id) {
            Ok(number) => number,
            Err(problem) if problem.code == Code::NotFound => return Err(problem),
            Err(problem) => {
                return change.answer.declined(problem, &change.page(id), "teste_desligado");
            }
        };
        let members = [("id", json!(id.to_string())), ("entrega", json!(number))];
        change.answer.with(&change.page(id), "teste", &members)
    }))
}

/// `POST …/webhooks/{id}/ligar`: switches an endpoint on.
pub fn switch_on(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    switch(app, person, request, true)
}

/// `POST …/webhooks/{id}/desligar`: switches an endpoint off.
pub fn switch_off(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    switch(app, person, request, false)
}

fn switch(app: &App, person: &Person, request: &Request, is_on: bool) -> Result<Job, Problem> {
    let id = find(app, person, request)?.id;
    let change = Change::of((app, person, request));
    Ok(Box::new(move |tx| {
        change.keeper.find(tx, id)?;
        if is_on && let Err(problem) = change.require_plan(tx) {
            return change.answer.declined(problem, &change.page(id), "sem_plano");
        }
        change.keeper.switch(tx, id, is_on)?;
        change.answer.done(id, &change.page(id), if is_on { "ligado" } else { "desligado" })
    }))
}

/// `POST …/webhooks/{id}/segredo`: replaces an endpoint's secret and shows the
/// new one once. The previous secret signs too for a day.
pub fn rotate(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let endpoint = find(app, person, request)?;
    let secret = SigningSecret::random();
    let until = request.now.plus(OVERLAP_S);
    let bodies = secret_page(visit, &secret, &endpoint.entry.url, Some(app.zone().page(until)))?;
    let (change, zone) = (Change::of(visit), app.zone());
    Ok(Box::new(move |tx| {
        let id = endpoint.id;
        change.keeper.rotate(tx, id, &secret)?;
        if let Some(bodies) = bodies {
            return Ok(bodies);
        }
        let until = zone.spaced(tx.now().plus(OVERLAP_S));
        let members = [
            ("id", Value::from(id.to_string())),
            ("segredo", Value::from(secret.text())),
            ("segredo_anterior_ate", Value::from(until)),
        ];
        change.answer.with(&change.page(id), "trocado", &members)
    }))
}

/// `POST …/webhooks/{id}/reenviar`: sends the deliveries of a period again, the
/// oldest first, except those that still wait.
pub fn replay(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    let endpoint = find(app, person, request)?;
    let span = match SPAN.entry(request, app.zone(), None) {
        Ok(span) if span.from <= span.to => Ok(span),
        Ok(_) => Err(Problem::field("ate", "must not be before de")),
        Err(problem) => Err(problem),
    };
    let span = match span {
        Ok(span) => span,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(problem) => {
            let form = SPAN.again(request, &problem.fields);
            let page = with_span(visit, form)?;
            return Ok(page.status(http::StatusCode::UNPROCESSABLE_ENTITY));
        }
    };
    let (change, id) = (Change::of(visit), endpoint.id);
    if let Err(problem) = app.db.read(request.lane, |tx| change.require_plan(tx)) {
        return change.answer.declined(problem, &change.page(id), "sem_plano");
    }
    let (mut seen, mut sent, mut is_all) = ((Instant(i64::MIN), 0), 0, false);
    while !is_all && sent < MOST_REPLAYED {
        let most = BATCH.min(MOST_REPLAYED - sent);
        let (last, count) = app.db.write_piece(move |tx| {
            let found = queue::in_span(tx, id, span.from, span.to, seen, most)?;
            for (_, number) in &found {
                queue::send_again(tx, id, *number)?;
            }
            queue::find_next(tx, id)?;
            Ok::<_, Problem>((found.last().copied(), found.len()))
        })?;
        (seen, is_all) = (last.unwrap_or(seen), count < most);
        sent += count;
    }
    let url = endpoint.entry.url.clone();
    let answer = change.answer;
    let page = change.page(id);
    let (de, ate) = (app.zone().spaced(span.from), app.zone().spaced(span.to));
    app.db.write(move |tx| {
        let after = json!({ "de": de, "ate": ate, "entregas": sent });
        change.keeper.note(tx, "webhook.reenviar", id, &url, (), &after)?;
        Ok::<_, Problem>(())
    })?;
    let word = match (sent, is_all) {
        (0, _) => "nada",
        (_, true) => "reenviadas",
        (_, false) => "em_parte",
    };
    let until = (!is_all).then(|| app.zone().spaced(seen.0));
    answer.with(&page, word, &[("reenviadas", json!(sent)), ("ultima", json!(until))])
}

/// `POST …/webhooks/{id}/excluir`: removes an endpoint with its deliveries.
pub fn remove(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = find(app, person, request)?.id;
    let Change { keeper, answer, base, .. } = Change::of((app, person, request));
    keeper.remove(app, id)?;
    answer.done(id, base, "removido")
}
