//! A Telegram bot, and chats with it.

use std::time::Duration;

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;
use crate::support::world::World;

pub const TOKEN: &str = "4242:AA-segredo_do_bot";
pub const ALERTS: &str = "/perfil/avisos";
pub const CONNECT: &str = "/perfil/telegram/conectar";

/// The longest wait for anything here.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Numbers of people's chats.
pub const ANA: i64 = 501;

pub fn with_bot(world: &World) -> Builder {
    let address = format!("http://{}", world.address());
    Site::builder()
        .unlimited()
        .world(world)
        .config("cron.enabled", true)
        .config("telegram.bot_token", TOKEN)
        .config("telegram.api_base", address.clone())
        .config("telegram.link_base", format!("{address}/t.me"))
}

#[track_caller]
pub fn start(builder: Builder) -> Site {
    let site = builder.start();
    site.keep_secret("bot token", TOKEN);
    site
}

/// The code of a fresh link.
#[track_caller]
pub fn code(person: &Actor<'_>) -> String {
    let told = person.post(CONNECT, &json!({})).ok();
    let (_, code) = told["link"].as_str().unwrap().split_once("?start=").unwrap();
    code.to_owned()
}

#[track_caller]
pub fn say(world: &World, chat: i64, text: &str) {
    let said = json!({ "chat_id": chat, "name": format!("Pessoa {chat}"), "text": text });
    world.control("/_sandbox/telegram/say", &said);
}

/// The messages of the bot in a chat.
pub fn said(world: &World, chat: i64) -> Vec<String> {
    let shown = world.telegram();
    let chats = shown["chats"].as_array().unwrap();
    let chat = chats.iter().find(|one| one["chat_id"] == chat);
    let lines = chat.map_or(&json!([]), |chat| &chat["lines"]).clone();
    let lines = lines.as_array().unwrap().iter();
    lines
        .filter(|line| line["bot"] == true)
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits until the bot has sent `count` messages in a chat; returns the newest.
#[track_caller]
pub fn answer(world: &World, chat: i64, count: usize) -> String {
    until(&format!("the bot said {count} things in {chat}"), PATIENCE, || {
        let said = said(world, chat);
        (said.len() >= count).then(|| said[count - 1].clone())
    })
}

/// Links a chat without any messages.
#[track_caller]
pub fn connect(world: &World, person: &Actor<'_>, chat: i64) {
    say(world, chat, &format!("/start {}", code(person)));
    let told = answer(world, chat, 1);
    assert!(told.starts_with("Tudo certo"), "{told}");
}
