//! Pages on which one plays a person in a chat with the bot. What a link to
//! the bot opens in life is here `/t.me/<bot>?start=<code>`.

use askama::Template;

use super::{USERNAME, people};
use crate::base::clock::{Instant, Zone};
use crate::sandbox::http::{Reply, Request, first};
use crate::sandbox::pages::page;
use crate::sandbox::routes;
use crate::sandbox::state::{Sandbox, World};

const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);
/// Numbers of people that these pages make.
const FIRST_PERSON: i64 = 900_000_001;

#[derive(Template)]
#[template(path = "sandbox/telegram.html", config = "assets/askama.toml")]
struct Overview {
    problem: Option<String>,
    /// The code of the link that led here.
    code: String,
    chats: Vec<Row>,
}

struct Row {
    id: i64,
    name: String,
    blocked: bool,
    last: String,
}

#[derive(Template)]
#[template(path = "sandbox/telegram_chat.html", config = "assets/askama.toml")]
struct Conversation {
    problem: Option<String>,
    id: i64,
    name: String,
    blocked: bool,
    lines: Vec<Said>,
}

struct Said {
    at: String,
    bot: bool,
    text: String,
}

/// Answers `/telegram`, `/telegram/<chat>` and `/t.me/<bot>`.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    if routes::from_elsewhere(request) {
        return Reply::text(403, "O pedido veio da página de outro site.".to_owned());
    }
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    match (request.method.as_str(), segments.as_slice()) {
        ("GET", ["telegram"]) => overview(&sandbox.world(), "", None),
        ("GET", ["t.me", USERNAME]) => {
            let code = request.query("start").unwrap_or_default();
            overview(&sandbox.world(), code, None)
        }
        ("POST", ["telegram"]) => begin(sandbox, request),
        ("GET", ["telegram", chat]) => match chat.parse() {
            Ok(chat) => {
                let reply = conversation(&sandbox.world(), chat, None);
                // What was just said may be answered in a moment.
                if request.query("agora").is_some() {
                    reply.header("refresh", &format!("1; url=/telegram/{chat}"))
                } else {
                    reply
                }
            }
            Err(_) => unknown(),
        },
        ("POST", ["telegram", chat]) => match chat.parse() {
            Ok(chat) => act(sandbox, request, chat),
            Err(_) => unknown(),
        },
        _ => unknown(),
    }
}

fn unknown() -> Reply {
    Reply::text(404, "Esta conversa não existe.".to_owned())
}

/// Somebody opens a chat, or goes on with one, with the code of a link.
fn begin(sandbox: &Sandbox, request: &Request) -> Reply {
    let form = request.form();
    let code = first(&form, "codigo").unwrap_or_default();
    let text = format!("/start {code}");
    let now = sandbox.clock.now();
    let mut world = sandbox.world();
    let chats = &world.telegram.chats;
    let chosen = first(&form, "quem").and_then(|chat| chat.parse().ok());
    let chat = chosen.filter(|chat| chats.contains_key(chat));
    let newest = chats.keys().next_back().copied().unwrap_or_default();
    let chat = chat.unwrap_or((newest + 1).max(FIRST_PERSON));
    let name = first(&form, "nome").unwrap_or_default();
    let said = people::say(&mut world.telegram, chat, name, &text, now);
    if said.is_err() {
        let problem = "Escolha uma pessoa, ou dê um nome de 1 a 64 letras a outra.";
        return overview(&world, code, Some(problem.to_owned()));
    }
    drop(world);
    sandbox.ring();
    Reply::see_other(&format!("/telegram/{chat}?agora=1"))
}

/// The person of a chat says something, blocks the bot or takes that back.
fn act(sandbox: &Sandbox, request: &Request, chat: i64) -> Reply {
    let form = request.form();
    let now = sandbox.clock.now();
    let mut world = sandbox.world();
    let telegram = &mut world.telegram;
    if !telegram.chats.contains_key(&chat) {
        return unknown();
    }
    let text = first(&form, "texto").unwrap_or_default();
    let done = match first(&form, "acao") {
        Some("bloquear") => people::set_blocked(telegram, chat, true, now),
        Some("desbloquear") => people::set_blocked(telegram, chat, false, now),
        Some("parar") => people::say(telegram, chat, "", "/stop", now),
        _ => people::say(telegram, chat, "", text, now),
    };
    if done.is_err() {
        let problem = "Escreva de 1 a 4.096 letras.".to_owned();
        return conversation(&world, chat, Some(problem));
    }
    drop(world);
    sandbox.ring();
    Reply::see_other(&format!("/telegram/{chat}?agora=1"))
}

fn overview(world: &World, code: &str, problem: Option<String>) -> Reply {
    let rows = world.telegram.chats.values().map(|chat| Row {
        id: chat.id,
        name: chat.name.clone(),
        blocked: chat.blocked,
        last: chat
            .lines
            .back()
            .map(|line| crate::base::text::shortened(&line.text, 80).to_owned())
            .unwrap_or_default(),
    });
    let overview = Overview { code: code.to_owned(), chats: rows.collect(), problem };
    let status = if overview.problem.is_some() { 400 } else { 200 };
    page(&overview, status)
}

fn conversation(world: &World, chat: i64, problem: Option<String>) -> Reply {
    let Some(chat) = world.telegram.chats.get(&chat) else {
        return unknown();
    };
    let lines = chat.lines.iter().map(|line| Said {
        at: Instant::parse(&line.at)
            .map(|at| ZONE.civil(at).format("%H:%M").to_string())
            .unwrap_or_default(),
        bot: line.bot,
        text: line.text.clone(),
    });
    let conversation = Conversation {
        id: chat.id,
        name: chat.name.clone(),
        blocked: chat.blocked,
        lines: lines.collect(),
        problem,
    };
    let status = if conversation.problem.is_some() { 400 } else { 200 };
    page(&conversation, status)
}
