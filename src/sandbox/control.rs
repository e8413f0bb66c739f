//! The control interface under `/_sandbox/`: JSON in, JSON out, for tests and
//! scripts. It makes things happen at the marketplace, breaks them on purpose,
//! and tells what was asked and delivered. Tokens are never shown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::config::Config;
use super::faults::{FAULTS_MAX, Fault};
use super::http::{Reply, Request, pairs};
use super::oauth::Asked;
use super::shops::no_seller;
use super::state::{Sandbox, World};
use super::telegram::{self, people};
use super::{events, routes, truth};
use crate::base::clock::Instant;

/// Answers a control call; what it changed may be due for delivery at once.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    if routes::from_elsewhere(request) {
        return refused(403, "requests from other sites' pages are refused");
    }
    let now = sandbox.clock.now();
    let outcome = {
        let mut world = sandbox.world();
        act(sandbox, &mut world, request, now)
    };
    sandbox.ring();
    match outcome {
        Ok(value) => Reply::json(200, &value),
        Err(Refusal::NotFound) => refused(404, "no such control; docs/sandbox.md has them all"),
        Err(Refusal::Wrong(problem)) => refused(400, &problem),
    }
}

fn refused(status: u16, problem: &str) -> Reply {
    Reply::json(status, &json!({ "ok": false, "error": problem }))
}

/// Why a control call did nothing.
pub enum Refusal {
    /// There is no such control.
    NotFound,
    /// What is wrong with it.
    Wrong(String),
}

impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self::Wrong(problem)
    }
}

/// What a control call answers.
pub type Outcome = Result<Value, Refusal>;

fn act(sandbox: &Sandbox, world: &mut World, request: &Request, now: Instant) -> Outcome {
    let path = request.path.trim_start_matches("/_sandbox/");
    let segments: Vec<&str> = path.split('/').collect();
    match (request.method.as_str(), segments.as_slice()) {
        ("GET", ["state"]) => Ok(state(world, now)),
        ("GET", ["config"]) => Ok(json!(world.config)),
        ("POST", ["config"]) => configure(world, request),
        ("GET", ["truth"]) => {
            let seller = number(request.query("ml_user_id").unwrap_or_default())?;
            Ok(truth::of(world, seller).ok_or_else(|| no_seller(seller))?)
        }
        ("POST", ["authorize"]) => authorize(sandbox, world, &body(request)?, now),
        ("POST", ["tokens"]) => end_tokens(world, &body(request)?),
        ("GET", ["faults"]) => Ok(json!({ "faults": world.faults })),
        ("POST", ["faults"]) => add_fault(world, body::<Fault>(request)?),
        ("DELETE", ["faults"]) => {
            world.faults.clear();
            Ok(json!({ "ok": true }))
        }
        ("POST", ["chat", "wrote"]) => wrote(world, &body(request)?, now),
        ("GET", ["messages"]) => {
            let entries: Vec<_> = world.messages.iter().collect();
            Ok(json!({ "total": world.messages.total(), "messages": entries }))
        }
        ("GET", ["pushed"]) => {
            let entries: Vec<_> = world.pushed.iter().collect();
            Ok(json!({ "total": world.pushed.total(), "pushed": entries }))
        }
        ("GET", ["telegram"]) => Ok(json!({
            "bot": telegram::USERNAME,
            "webhook": world.telegram.webhook.as_ref().map(|hook| {
                json!({ "url": hook.url, "secret": hook.secret, "error": hook.error })
            }),
            "pollers": world.telegram.pollers,
            "waiting": world.telegram.updates.len(),
            "chats": world.telegram.chats.values().collect::<Vec<_>>(),
        })),
        ("POST", ["telegram", act]) => in_chat(world, act, request, now),
        (method, [log @ ("requests" | "deliveries" | "violations")]) => {
            show_or_clear(world, method, log)
        }
        ("POST", segments) => events::act(world, segments, request, now),
        _ => Err(Refusal::NotFound),
    }
}

/// Reads the body of a control call.
pub fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Refusal> {
    serde_json::from_slice(&request.body)
        .map_err(|error| Refusal::Wrong(format!("the body does not fit: {error}")))
}

/// Reads an id in an address.
pub fn number(text: &str) -> Result<i64, Refusal> {
    text.parse().map_err(|_| Refusal::Wrong(format!("not a number: {text}")))
}

fn show_or_clear(world: &mut World, method: &str, log: &str) -> Outcome {
    match (method, log) {
        ("GET", "requests") => {
            let entries: Vec<_> = world.requests.iter().collect();
            Ok(json!({ "total": world.requests.total(), "requests": entries }))
        }
        ("GET", "deliveries") => {
            let entries: Vec<_> = world.deliveries.iter().collect();
            let (total, waiting) = (world.deliveries.total(), world.queue.len() + world.in_flight);
            Ok(json!({ "total": total, "waiting": waiting, "deliveries": entries }))
        }
        ("GET", _) => {
            let entries: Vec<_> = world.violations.iter().collect();
            Ok(json!({ "total": world.violations.total(), "violations": entries }))
        }
        ("DELETE", log) => {
            match log {
                "requests" => world.requests.clear(),
                "deliveries" => world.deliveries.clear(),
                _ => world.violations.clear(),
            }
            Ok(json!({ "ok": true }))
        }
        _ => Err(Refusal::NotFound),
    }
}

fn state(world: &World, now: Instant) -> Value {
    let sellers: Vec<Value> = world
        .sellers
        .values()
        .map(|seller| {
            let orders = world.orders.values().filter(|o| o.seller == seller.id);
            let items: Vec<Value> = world
                .items
                .values()
                .filter(|item| item.seller == seller.id)
                .map(|item| {
                    json!({ "id": item.id(), "title": item.title, "price": item.price,
                        "stock": item.stock, "sold": item.sold, "status": item.status,
                        "sku": item.sku, "ean": item.ean })
                })
                .collect();
            json!({
                "ml_user_id": seller.id, "nickname": seller.nickname,
                "reputation": seller.reputation, "orders": orders.count(), "items": items,
                "connected": world.grants.connected(seller.id, now),
            })
        })
        .collect();
    json!({
        "now": now.rfc3339(), "sellers": sellers, "orders": world.orders.len(),
        "waiting": world.queue.len() + world.in_flight, "config": world.config,
        "questions": world.questions.len(), "claims": world.claims.len(),
        "silenced": world.silenced,
        "most_calls": world.load.most, "most_calls_of_seller": world.load.most_of_seller,
    })
}

/// Changes the switches that the body names and leaves the rest.
fn configure(world: &mut World, request: &Request) -> Outcome {
    let changes: serde_json::Map<String, Value> = body(request)?;
    let mut merged = json!(world.config);
    for (name, value) in changes {
        merged[name] = value;
    }
    let config: Config = serde_json::from_value(merged)
        .map_err(|error| Refusal::Wrong(format!("the switches do not fit: {error}")))?;
    set_config(world, config)?;
    Ok(json!(world.config))
}

/// Takes new switches over after checking them.
pub fn set_config(world: &mut World, config: Config) -> Result<(), String> {
    if !matches!(config.separator, ';' | ',') {
        return Err("separator must be ; or ,".to_owned());
    }
    if !(1..=20).contains(&config.attempts) {
        return Err("attempts must be from 1 to 20".to_owned());
    }
    if !(0.0..=1.0).contains(&config.retry_scale) {
        return Err("retry_scale must be from 0 to 1".to_owned());
    }
    if !(1..=60_000).contains(&config.answer_within_ms) {
        return Err("answer_within_ms must be from 1 to 60000".to_owned());
    }
    if config.delay_ms > 600_000 {
        return Err("delay_ms must be at most 600000".to_owned());
    }
    if let Some(url) = &config.notify_url
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        return Err(format!("notify_url must begin with http:// or https://: {url}"));
    }
    world.config = config;
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Consent {
    ml_user_id: i64,
    /// The authorization address, or its query.
    query: String,
    #[serde(default)]
    refuse: bool,
}

/// What the consent page does, without a browser.
fn authorize(sandbox: &Sandbox, world: &mut World, consent: &Consent, now: Instant) -> Outcome {
    let query = consent.query.split_once('?').map_or(consent.query.as_str(), |(_, query)| query);
    let asked = Asked::read(sandbox, world, &pairs(query.as_bytes()))?;
    if !world.sellers.contains_key(&consent.ml_user_id) {
        return Err(format!("there is no seller {}", consent.ml_user_id).into());
    }
    let location =
        if consent.refuse { asked.refuse() } else { asked.accept(world, consent.ml_user_id, now) };
    Ok(json!({ "ok": true, "location": location }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InChat {
    chat_id: i64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    text: String,
}

/// What a person does in a chat with the bot: `say`, `block`, `unblock`; or an
/// update as it is: `updates`.
fn in_chat(world: &mut World, act: &str, request: &Request, now: Instant) -> Outcome {
    let telegram = &mut world.telegram;
    if act == "updates" {
        people::tell_raw(telegram, body(request)?)?;
        return Ok(json!({ "ok": true }));
    }
    let what: InChat = body(request)?;
    match act {
        "say" => people::say(telegram, what.chat_id, &what.name, &what.text, now)?,
        "block" => people::set_blocked(telegram, what.chat_id, true, now)?,
        "unblock" => people::set_blocked(telegram, what.chat_id, false, now)?,
        _ => return Err(Refusal::NotFound),
    }
    Ok(json!({ "ok": true }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndTokens {
    ml_user_id: i64,
    action: TokenAction,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum TokenAction {
    /// The seller revokes the application.
    Revoke,
    /// The seller has a new password, which ends every token.
    PasswordChange,
    /// Access tokens end, the refresh token stays.
    ExpireAccess,
    /// The refresh token ends, access tokens stay.
    ExpireRefresh,
}

fn end_tokens(world: &mut World, what: &EndTokens) -> Outcome {
    if !world.sellers.contains_key(&what.ml_user_id) {
        return Err(format!("there is no seller {}", what.ml_user_id).into());
    }
    match what.action {
        TokenAction::Revoke | TokenAction::PasswordChange => {
            world.grants.revoke(what.ml_user_id);
        }
        TokenAction::ExpireAccess => world.grants.expire_access(what.ml_user_id),
        TokenAction::ExpireRefresh => world.grants.expire_refresh(what.ml_user_id),
    }
    Ok(json!({ "ok": true }))
}

/// Numbers that may have written.
const NUMBERS_MAX: usize = 1_000;

#[derive(Deserialize)]
struct Wrote {
    number: String,
}

/// Somebody writes to us by chat, which opens the window for free text.
fn wrote(world: &mut World, what: &Wrote, now: Instant) -> Outcome {
    if world.wrote.len() >= NUMBERS_MAX {
        return Err(format!("at most {NUMBERS_MAX} numbers write").into());
    }
    world.wrote.insert(what.number.clone(), now);
    Ok(json!({ "ok": true }))
}

fn add_fault(world: &mut World, fault: Fault) -> Outcome {
    if world.faults.len() >= FAULTS_MAX {
        return Err(format!("at most {FAULTS_MAX} faults wait; clear them first").into());
    }
    if !fault.path_prefix.starts_with('/') {
        return Err("path_prefix must begin with /".to_owned().into());
    }
    if let Some(problem) = fault.kind.problem() {
        return Err(problem.to_owned().into());
    }
    world.faults.push(fault);
    Ok(json!({ "ok": true, "faults": world.faults }))
}
