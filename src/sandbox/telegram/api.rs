//! The Bot API: `/bot<token>/<method>`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Line, TEXT_MAX, Telegram, Webhook, bot_json};
use crate::sandbox::call::{Call, HandlerResult};
use crate::sandbox::faults::{self, FaultKind};
use crate::sandbox::http::{Reply, Request};
use crate::sandbox::logs::ChatMessage;
use crate::sandbox::retries::Retries;
use crate::sandbox::state::Sandbox;

/// Longest wait of a `getUpdates` call.
const WAIT_MAX_S: u64 = 50;

/// The path of a call without its token, for faults and the log.
pub fn path(request: &Request) -> String {
    let (_, method) = token_and_method(request).unwrap_or_default();
    format!("/bot/{method}")
}

fn token_and_method(request: &Request) -> Option<(&str, &str)> {
    request.path.strip_prefix("/bot")?.split_once('/')
}

/// Checks the token: 404 when it is malformed, 401 when its key is `recusada`.
fn check_token(token: &str) -> Result<(), Reply> {
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

/// The answer of a fault, in the format of this API.
pub fn instead(kind: &FaultKind) -> Option<Reply> {
    match kind {
        FaultKind::Status { code, body: None } => Some(refused(*code, "Internal Server Error")),
        FaultKind::RateLimited { retry_after } => {
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

/// `/bot{token}/{method}`.
pub fn answer(call: &mut Call<'_>) -> HandlerResult {
    let (token, method) = token_and_method(call.request).unwrap_or_default();
    check_token(token)?;
    let parameters = parameters(call.request);
    let telegram = &mut call.state.telegram;
    // Names of methods are case-insensitive.
    match &*method.to_ascii_lowercase() {
        "getme" => {
            let mut bot = bot_json();
            bot["can_join_groups"] = json!(true);
            bot["can_read_all_group_messages"] = json!(false);
            done(&bot)
        }
        "sendmessage" => send_message(call, &parameters),
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
            if let Some(error) = hook.and_then(|hook| hook.retries.error.as_ref()) {
                info["last_error_message"] = json!(error);
            }
            done(&info)
        }
        _ => Err(refused(404, "Not Found")),
    }
}

fn done(result: &impl serde::Serialize) -> HandlerResult {
    Ok(Reply::json(200, &json!({ "ok": true, "result": result })))
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

fn send_message(call: &mut Call<'_>, parameters: &Map<String, Value>) -> HandlerResult {
    let text = word(parameters, "text").trim();
    let chat_id = whole(parameters, "chat_id");
    let telegram = &mut call.state.telegram;
    if text.is_empty() {
        return Err(refused(400, "Bad Request: message text is empty"));
    }
    if text.chars().count() > TEXT_MAX {
        return Err(refused(400, "Bad Request: message is too long"));
    }
    // A bot cannot write first: the person has to open the chat.
    let chat = chat_id.and_then(|id| telegram.chats.get_mut(&id));
    let chat = chat.ok_or_else(|| refused(400, "Bad Request: chat not found"))?;
    if chat.blocked {
        return Err(refused(403, "Forbidden: bot was blocked by the user"));
    }
    chat.push(Line { at: call.now.rfc3339(), bot: true, text: text.to_owned() });
    let (to, shown) = (chat.id.to_string(), chat.as_json());
    let number = telegram.next_message();
    call.state.messages.push(ChatMessage {
        at: call.now.rfc3339(),
        gateway: "telegram",
        to,
        text: text.to_owned(),
        template: None,
        id: number.to_string(),
    });
    done(&json!({
        "message_id": number, "chat": shown, "date": call.now.0, "text": text,
        "from": bot_json(),
    }))
}

fn get_updates(telegram: &mut Telegram, parameters: &Map<String, Value>) -> HandlerResult {
    if telegram.webhook.is_some() {
        return Err(refused(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        ));
    }
    allow(telegram, parameters);
    let offset = whole(parameters, "offset").unwrap_or(0);
    if offset < 0 {
        // A negative offset keeps only so many of the newest updates.
        let kept = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let forgotten = telegram.updates.len().saturating_sub(kept);
        telegram.updates.drain(..forgotten);
    } else {
        // Updates before the offset are confirmed.
        telegram.updates.retain(|update| update.id >= offset);
    }
    let limit = whole(parameters, "limit").unwrap_or(100).clamp(1, 100);
    let limit = usize::try_from(limit).unwrap_or(100);
    let updates = telegram.updates.iter().take(limit);
    done(&updates.map(|update| &update.body).collect::<Vec<_>>())
}

/// Stores the kinds of updates that the bot wants, if the call names them.
fn allow(telegram: &mut Telegram, parameters: &Map<String, Value>) {
    let named = match parameters.get("allowed_updates") {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => return,
    };
    let kinds = named.as_array().into_iter().flatten();
    telegram.allowed = kinds.filter_map(Value::as_str).map(str::to_owned).collect();
}

fn set_webhook(telegram: &mut Telegram, parameters: &Map<String, Value>) -> HandlerResult {
    let url = word(parameters, "url");
    if flag(parameters, "drop_pending_updates") {
        telegram.updates.clear();
    }
    if url.is_empty() {
        telegram.webhook = None;
        return done(&true);
    }
    // The real API accepts no address on the same machine; the sandbox does.
    let is_here =
        ["http://127.0.0.1:", "http://localhost:"].iter().any(|base| url.starts_with(base));
    if !url.starts_with("https://") && !is_here {
        let problem = "Bad Request: bad webhook: An HTTPS URL must be provided for webhook";
        return Err(refused(400, problem));
    }
    let secret = word(parameters, "secret_token");
    let of_secret = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if secret.len() > 256 || !secret.chars().all(of_secret) {
        return Err(refused(400, "Bad Request: secret token contains unallowed characters"));
    }
    allow(telegram, parameters);
    telegram.webhook = Some(Webhook {
        url: url.to_owned(),
        secret: (!secret.is_empty()).then(|| secret.to_owned()),
        retries: Retries::new(),
    });
    done(&true)
}

/// Makes a `getUpdates` call wait for updates, at most for its `timeout`. Returns a
/// reply only when a newer call has ended this one.
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
        let mut state = sandbox.state();
        state.telegram.pollers += 1;
        state.telegram.pollers
    };
    sandbox.ring();
    loop {
        bell.mark_unchanged();
        {
            let state = sandbox.state();
            let telegram = &state.telegram;
            if telegram.pollers != mine {
                return Some(refused(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                ));
            }
            let has_news = telegram.updates.iter().any(|update| update.id >= offset);
            let has_fault = faults::is_meant(&state.faults, &request.method, "/bot/getUpdates");
            if has_news || has_fault || telegram.webhook.is_some() {
                return None;
            }
        }
        // After the timeout the call is answered with the updates there are.
        if tokio::time::timeout_at(deadline, bell.changed()).await.is_err() {
            return None;
        }
    }
}
