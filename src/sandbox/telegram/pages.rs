//! Pages for playing a person in a chat with the bot. The real link to a bot,
//! `https://t.me/<bot>?start=<code>`, is `/t.me/<bot>?start=<code>` here.

use askama::Template;

use super::{Chat, USERNAME, people};
use crate::sandbox::call::{Call, HandlerResult};
use crate::sandbox::http::Reply;
use crate::sandbox::page::page;
use crate::sandbox::state::SandboxState;

/// Number of the first person that these pages create.
const FIRST_PERSON: i64 = 900_000_001;

#[derive(Template)]
#[template(path = "sandbox/telegram.html", config = "assets/askama.toml")]
struct Overview<'w> {
    problem: Option<&'static str>,
    /// The code of the link that led here.
    code: &'w str,
    chats: Vec<&'w Chat>,
}

#[derive(Template)]
#[template(path = "sandbox/telegram_chat.html", config = "assets/askama.toml")]
struct Conversation<'w> {
    problem: Option<&'static str>,
    chat: &'w Chat,
}

/// `GET /telegram`, and `GET /t.me/{bot}` with a code of the platform's.
pub fn chats(call: &mut Call<'_>) -> HandlerResult {
    if !matches!(call.id(), "" | USERNAME) {
        return missing(call);
    }
    Ok(overview(call.state, call.query("start").unwrap_or_default(), None))
}

/// The answer for a chat that does not exist.
pub fn missing(_call: &mut Call<'_>) -> HandlerResult {
    Err(Reply::text(404, "Esta conversa não existe."))
}

/// `GET /telegram/{chat}`.
pub fn chat(call: &mut Call<'_>) -> HandlerResult {
    let Ok(chat) = call.number() else {
        return missing(call);
    };
    let reply = conversation(call, chat, None)?;
    // Reload in a moment: the bot may have answered by then.
    Ok(match call.query("agora") {
        Some(_) => reply.header("refresh", &format!("1; url=/telegram/{chat}")),
        None => reply,
    })
}

/// `POST /telegram`: a person opens or continues a chat, with the code of a link.
pub fn begin(call: &mut Call<'_>) -> HandlerResult {
    let code = call.field("codigo");
    let text = format!("/start {code}");
    let chats = &call.state.telegram.chats;
    let chosen = call.field("quem").parse().ok();
    let chat = chosen.filter(|chat| chats.contains_key(chat));
    let newest = chats.keys().next_back().copied().unwrap_or_default();
    let chat = chat.unwrap_or((newest + 1).max(FIRST_PERSON));
    let name = call.field("nome");
    if people::say(&mut call.state.telegram, chat, &name, &text, call.now).is_err() {
        let problem = "Escolha uma pessoa, ou dê um nome de 1 a 64 letras a outra.";
        return Err(overview(call.state, &code, Some(problem)));
    }
    Ok(Reply::see_other(&format!("/telegram/{chat}?agora=1")))
}

/// `POST /telegram/{chat}`: the person writes, blocks the bot or unblocks it.
pub fn act(call: &mut Call<'_>) -> HandlerResult {
    let Ok(chat) = call.number() else {
        return missing(call);
    };
    let (action, text, now) = (call.field("acao"), call.field("texto"), call.now);
    let telegram = &mut call.state.telegram;
    if !telegram.chats.contains_key(&chat) {
        return missing(call);
    }
    let done = match &*action {
        "bloquear" => people::set_blocked(telegram, chat, true, now),
        "desbloquear" => people::set_blocked(telegram, chat, false, now),
        "parar" => people::say(telegram, chat, "", "/stop", now),
        _ => people::say(telegram, chat, "", &text, now),
    };
    if done.is_err() {
        return conversation(call, chat, Some("Escreva de 1 a 4.096 letras."));
    }
    Ok(Reply::see_other(&format!("/telegram/{chat}?agora=1")))
}

fn overview(state: &SandboxState, code: &str, problem: Option<&'static str>) -> Reply {
    let status = if problem.is_some() { 400 } else { 200 };
    page(&Overview { problem, code, chats: state.telegram.chats.values().collect() }, status)
}

fn conversation(call: &mut Call<'_>, chat: i64, problem: Option<&'static str>) -> HandlerResult {
    let Some(chat) = call.state.telegram.chats.get(&chat) else {
        return missing(call);
    };
    let status = if problem.is_some() { 400 } else { 200 };
    Ok(page(&Conversation { problem, chat }, status))
}
