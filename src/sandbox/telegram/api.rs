//! The Bot API: `/bot<token>/<method>`.

use std::time::{Duration, Instant as Monotonic};

use serde_json::{Map, Value, json};

use super::{BOT_ID, Line, TEXT_MAX, Telegram, USERNAME, Webhook};
use crate::base::clock::Instant;
use crate::sandbox::chat::{self, Message};
use crate::sandbox::faults::{self, Kind};
use crate::sandbox::http::{Manner, Reply, Request};
use crate::sandbox::state::{Sandbox, Seen, World};

/// Longest that a call for updates waits.
const WAIT_MAX_S: u64 = 50;

/// The path of a call without its token, as faults and the log know it; `None`
/// for other paths.
pub fn path(request: &Request) -> Option<String> {
    let (_, method) = token_and_method(request)?;
    Some(format!("/bot/{method}"))
}

fn token_and_method(request: &Request) -> Option<(&str, &str)> {
    request.path.strip_prefix("/bot")?.split_once('/')
}

/// Whether the token is a bot's, refused, or none at all.
fn checked(token: &str) -> Result<(), Reply> {
    let of_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let parts = token.split_once(':').filter(|(number, key)| {
        number.parse::<u64>().is_ok() && !key.is_empty() && key.chars().all(of_key)
    });
    match parts {
        None => Err(refused(404, "Not Found")),
        Some((_, "recusada")) => Err(refused(401, "Unauthorized")),
        Some(_) => Ok(()),
    }
}

/// Answers a call, or plays the fault that is meant for it.
pub fn answer(sandbox: &Sandbox, request: &Request, path: String) -> Reply {
    let now = sandbox.clock.now();
    let mut world = sandbox.world();
    let fault = faults::take(&mut world.faults, &request.method, &path);
    let reply = match fault.as_ref().map(|kind| (kind, instead(kind))) {
        Some((_, Some(reply))) => reply,
        Some((kind, None)) => dispatch(&mut world, request, now).sent(kind.manner()),
        None => dispatch(&mut world, request, now),
    };
    let number = i64::try_from(world.requests.total()).unwrap_or(i64::MAX) + 1;
    world.requests.push(Seen {
        number,
        at: now.rfc3339(),
        method: request.method.clone(),
        path,
        query: String::new(),
        bearer: false,
        ml_user_id: None,
        status: (!matches!(reply.manner, Manner::Hang(_) | Manner::Lost)).then_some(reply.status),
        fault: fault.map(|kind| kind.name()),
    });
    drop(world);
    sandbox.ring();
    reply
}

/// A fault in this API's shape.
fn instead(kind: &Kind) -> Option<Reply> {
    match kind {
        Kind::Status { code, body: None } => Some(refused(*code, "Internal Server Error")),
        Kind::RateLimited { retry_after } => {
            let seconds = retry_after.unwrap_or(1);
            let body = json!({
                "ok": false, "error_code": 429,
                "description": format!("Too Many Requests: retry after {seconds}"),
                "parameters": { "retry_after": seconds },
            });
            Some(Reply::json(429, &body).header("retry-after", &seconds.to_string()))
        }
        other => other.instead(),
    }
}

fn dispatch(world: &mut World, request: &Request, now: Instant) -> Reply {
    let (token, method) = token_and_method(request).unwrap_or_default();
    if let Err(reply) = checked(token) {
        return reply;
    }
    let parameters = parameters(request);
    let telegram = &mut world.telegram;
    // Methods are known without regard to case.
    match &*method.to_ascii_lowercase() {
        "getme" => done(&json!({
            "id": BOT_ID, "is_bot": true, "first_name": "Escola", "username": USERNAME,
            "can_join_groups": true, "can_read_all_group_messages": false,
        })),
        "sendmessage" => send_message(world, &parameters, now),
        "getupdates" => get_updates(telegram, &parameters),
        "setwebhook" => set_webhook(telegram, &parameters),
        "deletewebhook" => {
            telegram.webhook = None;
            if flag(&parameters, "drop_pending_updates") {
                telegram.updates.clear();
            }
            done(&true)
        }
        "getwebhookinfo" => {
            let hook = telegram.webhook.as_ref();
            let mut info = json!({
                "url": hook.map_or("", |hook| &hook.url),
                "has_custom_certificate": false,
                "pending_update_count": telegram.updates.len(),
            });
            if let Some(error) = hook.and_then(|hook| hook.error.as_ref()) {
                info["last_error_message"] = json!(error);
            }
            done(&info)
        }
        _ => refused(404, "Not Found"),
    }
}

fn done(result: &impl serde::Serialize) -> Reply {
    Reply::json(200, &json!({ "ok": true, "result": result }))
}

fn refused(code: u16, description: &str) -> Reply {
    let body = json!({ "ok": false, "error_code": code, "description": description });
    Reply::json(code, &body)
}

/// Parameters from the query and from a JSON or form body.
fn parameters(request: &Request) -> Map<String, Value> {
    let pairs = request.query.iter().cloned();
    let mut all: Map<String, Value> =
        pairs.map(|(name, value)| (name, Value::String(value))).collect();
    let is_json =
        request.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    if is_json {
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        all.extend::<Map<String, Value>>(body);
    } else {
        let form = request.form().into_iter();
        all.extend(form.map(|(name, value)| (name, Value::String(value))));
    }
    all
}

fn whole(parameters: &Map<String, Value>, name: &str) -> Option<i64> {
    match parameters.get(name)? {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    }
}

fn word<'p>(parameters: &'p Map<String, Value>, name: &str) -> &'p str {
    let value = parameters.get(name).and_then(Value::as_str);
    value.unwrap_or_default()
}

fn flag(parameters: &Map<String, Value>, name: &str) -> bool {
    match parameters.get(name) {
        Some(Value::Bool(set)) => *set,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

fn send_message(world: &mut World, parameters: &Map<String, Value>, now: Instant) -> Reply {
    let text = word(parameters, "text").trim();
    let chat_id = whole(parameters, "chat_id");
    let telegram = &mut world.telegram;
    if text.is_empty() {
        return refused(400, "Bad Request: message text is empty");
    }
    if text.chars().count() > TEXT_MAX {
        return refused(400, "Bad Request: message is too long");
    }
    // Nobody is written to who did not open the chat.
    let Some(chat) = chat_id.and_then(|id| telegram.chats.get_mut(&id)) else {
        return refused(400, "Bad Request: chat not found");
    };
    if chat.blocked {
        return refused(403, "Forbidden: bot was blocked by the user");
    }
    chat.push(Line { at: now.rfc3339(), bot: true, text: text.to_owned() });
    let (chat_id, shown) = (chat.id, chat.as_json());
    let number = telegram.next_message();
    let message = Message::new(now, "telegram", &chat_id.to_string(), text, None);
    chat::keep(world, message, number.to_string());
    done(&json!({
        "message_id": number, "chat": shown, "date": now.0, "text": text,
        "from": { "id": BOT_ID, "is_bot": true, "first_name": "Escola", "username": USERNAME },
    }))
}

fn get_updates(telegram: &mut Telegram, parameters: &Map<String, Value>) -> Reply {
    if telegram.webhook.is_some() {
        return refused(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        );
    }
    allow(telegram, parameters);
    let offset = whole(parameters, "offset").unwrap_or(0);
    if offset < 0 {
        // Only so many of the last.
        let kept = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let forgotten = telegram.updates.len().saturating_sub(kept);
        telegram.updates.drain(..forgotten);
    } else {
        // Those before it are confirmed.
        telegram.updates.retain(|update| update.id >= offset);
    }
    let limit = whole(parameters, "limit").unwrap_or(100).clamp(1, 100);
    let limit = usize::try_from(limit).unwrap_or(100);
    let updates = telegram.updates.iter().take(limit);
    done(&updates.map(|update| &update.body).collect::<Vec<_>>())
}

/// Remembers which kinds of updates the bot asks for, when it says so.
fn allow(telegram: &mut Telegram, parameters: &Map<String, Value>) {
    let named = match parameters.get("allowed_updates") {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => return,
    };
    let kinds = named.as_array().into_iter().flatten();
    telegram.allowed = kinds.filter_map(Value::as_str).map(str::to_owned).collect();
}

fn set_webhook(telegram: &mut Telegram, parameters: &Map<String, Value>) -> Reply {
    let url = word(parameters, "url");
    if flag(parameters, "drop_pending_updates") {
        telegram.updates.clear();
    }
    if url.is_empty() {
        telegram.webhook = None;
        return done(&true);
    }
    // The real one takes no address on the same machine either.
    let is_here =
        ["http://127.0.0.1:", "http://localhost:"].iter().any(|base| url.starts_with(base));
    if !url.starts_with("https://") && !is_here {
        return refused(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
    }
    let secret = word(parameters, "secret_token");
    let of_secret = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if secret.len() > 256 || !secret.chars().all(of_secret) {
        return refused(400, "Bad Request: secret token contains unallowed characters");
    }
    allow(telegram, parameters);
    telegram.webhook = Some(Webhook {
        url: url.to_owned(),
        secret: (!secret.is_empty()).then(|| secret.to_owned()),
        error: None,
        tries: 0,
        due: Monotonic::now(),
    });
    done(&true)
}

/// Lets a call for updates wait for them, as long as it asks for. The reply is
/// that of a call which a newer one has ended.
pub async fn wait(sandbox: &Sandbox, request: &Request) -> Option<Reply> {
    let (_, method) = token_and_method(request)?;
    if !method.eq_ignore_ascii_case("getUpdates") {
        return None;
    }
    let parameters = parameters(request);
    let seconds = whole(&parameters, "timeout").unwrap_or(0);
    let seconds = u64::try_from(seconds).unwrap_or(0).min(WAIT_MAX_S);
    let offset = whole(&parameters, "offset").unwrap_or(0);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(seconds);
    let mut bell = sandbox.telegram_bell.subscribe();
    let mine = {
        let mut world = sandbox.world();
        world.telegram.pollers += 1;
        world.telegram.pollers
    };
    sandbox.ring();
    loop {
        bell.mark_unchanged();
        {
            let world = sandbox.world();
            let telegram = &world.telegram;
            if telegram.pollers != mine {
                return Some(refused(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                ));
            }
            let has_news = telegram.updates.iter().any(|update| update.id >= offset);
            let has_fault = faults::is_meant(&world.faults, &request.method, "/bot/getUpdates");
            if has_news || has_fault || telegram.webhook.is_some() {
                return None;
            }
        }
        // Rung or not, the world is looked at once more; then time is up.
        if tokio::time::timeout_at(deadline, bell.changed()).await.is_err() {
            return None;
        }
    }
}
