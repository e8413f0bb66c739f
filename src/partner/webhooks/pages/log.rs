//! The deliveries of an endpoint: the list, one delivery, and sending one again.

use serde::Serialize;
use serde_json::Value;

use super::endpoint::{Change, FLASHES, find};
use super::{audience, base};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, Zone};
use crate::edge::route::Job;
use crate::events::{Audience, EventType};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Filter, Form, ListReply, Listing, Sent, columns, export, form, heads};
use crate::partner::webhooks::attempts::Attempt;
use crate::partner::webhooks::store::{Delivery, DeliveryQuery, FullDelivery};
use crate::partner::webhooks::views::{AttemptRow, DeliveriesPage, DeliveryPage, DeliveryRow};
use crate::partner::webhooks::{DeliveryState, attempts, queue, store};
use crate::wire;

/// `path` is only the last part of the address: each endpoint has its own list,
/// below the endpoint's page.
pub(in crate::partner::webhooks) const OF_SELLERS: Listing = Listing {
    path: "entregas",
    filters: &[BY_STATE, by_kind(&EventType::SELLERS_FILTER)],
    sort_keys: &["-numero"],
    heads: heads!["Evento", "Situação", "Resposta", "Tentativas" numeric, "Quando" => "numero"],
    file: "entregas.csv",
    csv: columns![numero id evento estado criada_em tentativas tentada_em status ms erro],
    flashes: FLASHES,
    ..Listing::NONE
};

const OF_SUPPLIERS: Listing =
    Listing { filters: &[BY_STATE, by_kind(&EventType::SUPPLIERS_FILTER)], ..OF_SELLERS };

const BY_STATE: Filter = Filter::of("estado", "Situação", "Todas", &DeliveryState::FILTER);

const fn by_kind(values: &'static [(&'static str, &'static str)]) -> Filter {
    Filter::of("evento", "Evento", "Todos", values)
}

/// The list of the caller's panel.
fn listing(person: &Person) -> &'static Listing {
    match audience(person) {
        Audience::Seller => &OF_SELLERS,
        Audience::Supplier => &OF_SUPPLIERS,
    }
}

/// The period whose deliveries are sent again.
#[derive(Clone, Copy, Debug)]
pub(in crate::partner::webhooks) struct Span {
    pub(in crate::partner::webhooks) from: Instant,
    pub(in crate::partner::webhooks) to: Instant,
}

impl Default for Span {
    fn default() -> Self {
        Self { from: Instant(0), to: Instant(0) }
    }
}

pub(in crate::partner::webhooks) const SPAN: Form<Span> = form! {
    "de": Own(|sent, name, span| span.from = read_time(sent, name), |_, _| String::new()),
        "Informe o dia e a hora em que o período começa.";
    "ate": Own(|sent, name, span| span.to = read_time(sent, name), |_, _| String::new()),
        "Informe o dia e a hora em que o período acaba, depois do começo.";
};

fn read_time(sent: &mut Sent<'_>, name: &'static str) -> Instant {
    let text: String = sent.required(name);
    sent.zone.read(&text).unwrap_or_else(|| {
        sent.check.fail(name, "must be a civil time that exists, as YYYY-MM-DD HH:MM:SS");
        Instant(0)
    })
}

wire! {
    /// A delivery as its endpoint's owner's programs read it.
    #[derive(Serialize)]
    struct WireDelivery of(delivery: Delivery, zone: Zone) after {
        let spaced = |at| zone.spaced(at);
        let next = delivery.next_try();
    } {
        numero: i64 = delivery.number,
        /// What `webhook-id` says.
        id: String = delivery.message.to_string(),
        evento: &'static str = delivery.kind.name(),
        estado: &'static str = delivery.state.name(),
        criada_em: String = spaced(delivery.created_at),
        /// Null while it waits for an earlier one about the same object.
        proxima_tentativa: Option<String> = next.map(spaced),
        tentativas: i64 = delivery.tries,
        tentada_em: Option<String> = delivery.tried_at.map(spaced),
        status: Option<i64> = delivery.status,
        ms: Option<i64> = delivery.ms,
        erro: Option<String> = delivery.error,
    }
}

#[derive(Serialize)]
struct DeliveryReply {
    #[serde(flatten)]
    delivery: WireDelivery,
    corpo: Value,
    resposta: Option<String>,
    tentadas: Vec<WireAttempt>,
}

wire! {
    #[derive(Serialize)]
    struct WireAttempt of(attempt: &Attempt, zone: Zone) {
        em: String = zone.spaced(attempt.at),
        status: Option<i64> = attempt.status,
        ms: i64 = attempt.ms,
        erro: Option<String> = attempt.error.clone(),
    }
}

/// `GET …/webhooks/{id}/entregas`: the deliveries, newest first, as page, JSON
/// or CSV.
pub fn deliveries(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let endpoint = find(app, person, request)?;
    let list = listing(person);
    let query = list.read(request)?;
    let wanted = DeliveryQuery {
        endpoint: endpoint.id,
        state: query.filter("estado").and_then(DeliveryState::from_name),
        kind: query.filter("evento").and_then(EventType::from_name),
        newest_first: query.descending,
        window: query.window(),
    };
    let (zone, now) = (app.zone(), request.now);
    if query.csv {
        let numbers = app.db.read(request.lane, |tx| store::numbers(tx, &wanted))?;
        return export::list(app, person, list, numbers, move |_, tx, number| {
            let found = store::delivery(tx, endpoint.id, number)?;
            Ok(found.map(|found| WireDelivery::of(found.delivery, zone)))
        });
    }
    let (found, total) = app.db.read(request.lane, |tx| store::deliveries(tx, &wanted))?;
    if request.wants_json() {
        return ListReply::of(total, found, |one| WireDelivery::of(one, zone));
    }
    let path = format!("{}/{}/{}", base(person), endpoint.id, list.path);
    Reply::page(&DeliveriesPage {
        layout: layout(app, person, request).telling(list.flashes, request),
        base: base(person),
        id: endpoint.id.to_string(),
        url: endpoint.entry.url,
        table: list.table(&query, list.heads, total).at(&path),
        deliveries: found.iter().map(|one| DeliveryRow::of(one, zone, now)).collect(),
    })
}

/// The number of a delivery in the path.
fn number_of(request: &Request) -> Result<i64, Problem> {
    request.variable("numero").parse().map_err(|_| Problem::not_found())
}

/// `GET …/webhooks/{id}/entregas/{numero}`: one delivery with its body and the
/// receiver's answer.
pub fn delivery(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let endpoint = find(app, person, request)?;
    let number = number_of(request)?;
    let (found, attempts) = app.db.read(request.lane, |tx| {
        let attempts = attempts::of_delivery(tx, endpoint.id, number)?;
        Ok::<_, Problem>((store::delivery(tx, endpoint.id, number)?, attempts))
    })?;
    let FullDelivery { delivery, body, answer } = found.ok_or_else(Problem::not_found)?;
    let sent: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
    let (zone, now) = (app.zone(), request.now);
    if request.wants_json() {
        return Reply::ok(&DeliveryReply {
            delivery: WireDelivery::of(delivery, zone),
            corpo: sent,
            resposta: answer,
            tentadas: attempts.iter().map(|one| WireAttempt::of(one, zone)).collect(),
        });
    }
    Reply::page(&DeliveryPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        base: base(person),
        id: endpoint.id.to_string(),
        url: endpoint.entry.url,
        message: delivery.message.to_string(),
        attempts: attempts.iter().map(|one| AttemptRow::of(one, zone, now)).collect(),
        row: DeliveryRow::of(&delivery, zone, now),
        body: laid_out(&body),
        answer: answer.unwrap_or_default(),
    })
}

/// JSON with one line for each member, in the original order.
fn laid_out(json: &str) -> String {
    let (mut text, mut depth, mut in_text, mut escaped) = (String::new(), 0_usize, false, false);
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    for letter in json.chars() {
        match letter {
            '}' | ']' if !in_text => {
                depth = depth.saturating_sub(1);
                line(&mut text, depth);
                text.push(letter);
            }
            '{' | '[' if !in_text => {
                depth += 1;
                text.push(letter);
                line(&mut text, depth);
            }
            ',' if !in_text => {
                text.push(letter);
                line(&mut text, depth);
            }
            ':' if !in_text => text.push_str(": "),
            _ => text.push(letter),
        }
        in_text ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
    }
    text
}

/// `POST …/webhooks/{id}/entregas/{numero}/reenviar`: sends one delivery again,
/// with the same id and body.
pub fn replay_one(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let endpoint = find(app, person, request)?;
    let number = number_of(request)?;
    let change = Change::of((app, person, request));
    Ok(Box::new(move |tx| {
        let id = endpoint.id;
        store::one(tx, change.user, id)?.ok_or_else(Problem::not_found)?;
        store::delivery(tx, id, number)?.ok_or_else(Problem::not_found)?;
        if let Err(problem) = change.require_plan(tx) {
            return change.answer.declined(problem, &change.page(id), "sem_plano");
        }
        let is_new = queue::send_again(tx, id, number)?;
        if is_new {
            queue::find_next(tx, id)?;
            let after = serde_json::json!({ "entrega": number });
            change.keeper.note(tx, "webhook.reenviar", id, &endpoint.entry.url, (), &after)?;
        }
        let page = format!("{}/entregas/{number}", change.page(id));
        change.answer.done(number, &page, if is_new { "reenviado" } else { "na_fila" })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_laid_out_in_its_order() {
        let json = r#"{"b":"{\"x\": [1, 2]}\\","a":[1,{"c":null}]}"#;
        let text = laid_out(json);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], r#"  "b": "{\"x\": [1, 2]}\\","#);
        assert_eq!(lines[2], r#"  "a": ["#);
        let same = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(same(&text), same(json));
    }
}
