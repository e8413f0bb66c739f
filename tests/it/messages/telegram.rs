//! Telegram: chats linked by a link with a code, and what people say to the
//! bot, against the sandbox's Bot API. Messages are in `telegram_sends.rs`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::cron::json_of;
use crate::support::site::Site;
use crate::support::telegram::{
    ALERTS, ANA, CONNECT, PATIENCE, TOKEN, answer, code, connect, said, say, start, with_bot,
};
use crate::support::wait::until;
use crate::support::world::World;

pub const QUEUE: &str = "/admin/mensagens";
const HOOK: &str = "/api/v1/webhook/telegram";
pub const RUI: i64 = 502;

#[track_caller]
fn block(world: &World, chat: i64, act: &str) {
    world.control(&format!("/_sandbox/telegram/{act}"), &json!({ "chat_id": chat }));
}

pub fn chat_of(person: &Actor<'_>) -> Value {
    json_of(person, ALERTS)["telegram"].clone()
}

/// Queues a test message to the operator and returns its id.
#[track_caller]
pub fn send_test(admin: &Actor<'_>) -> String {
    let made = admin.post(&format!("{QUEUE}/canais/telegram/teste"), &json!({})).expect(201);
    made.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_link_connects_whoever_opens_it_once() {
    let world = World::start();
    let site = start(with_bot(&world));
    let ana = site.person("ana");
    assert_eq!(chat_of(&ana), Value::Null);
    let told = ana.post(CONNECT, &json!({})).ok();
    assert_eq!(told["vale_ate"], "2026-11-20 09:15:00");
    let link = told["link"].as_str().unwrap();
    let (bot, code) = link.split_once("?start=").unwrap();
    assert_eq!(bot, format!("http://{}/t.me/escola_de_mentira_bot", world.address()));
    assert!(code.len() == 43, "{code}");
    site.keep_secret("code", code);
    say(&world, ANA, &format!("/start {code}"));
    assert_eq!(
        answer(&world, ANA, 1),
        "Tudo certo: os avisos da Seller Platform para ana da Silva chegam agora por aqui.\n\n\
         Para parar de recebê-los, envie /stop."
    );
    assert_eq!(
        chat_of(&ana),
        json!({ "nome": "Pessoa 501", "desde": "2026-11-20 09:00:00", "bloqueado": false })
    );
    let page = ana.send(Request::new("GET", ALERTS).header("Accept", "text/html"));
    assert!(page.text().contains("<strong>Pessoa 501</strong>"), "{page}");
    // The code is used up, for the same chat and for others.
    for chat in [ANA, RUI] {
        let before = said(&world, chat).len();
        say(&world, chat, &format!("/start {code}"));
        let told = answer(&world, chat, before + 1);
        assert!(told.starts_with("Este link não vale mais."), "{told}");
    }
    assert_eq!(site.stored("SELECT hex(hash) FROM telegram_code"), Vec::<String>::new());
    assert!(world.violations().is_empty());
}

#[test]
fn a_browser_gets_the_link_on_the_page() {
    let world = World::start();
    let site = start(with_bot(&world));
    for (name, role) in [("ana", "free"), ("rui", "drop"), ("bia", "admin")] {
        let person = site.person_as(name, role);
        let page = person.get(ALERTS).expect(200).text();
        assert!(page.contains("Conectar Telegram"), "{role}: {page}");
        let page = person.send(Request::new("POST", CONNECT).form(&[])).expect(200);
        assert!(page.text().contains("/t.me/escola_de_mentira_bot?start="), "{page}");
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    // A newer link replaces an earlier one.
    let ana = site.person("ana");
    let (first, second) = (code(&ana), code(&ana));
    say(&world, ANA, &format!("/start {first}"));
    assert!(answer(&world, ANA, 1).starts_with("Este link não vale mais."));
    say(&world, ANA, &format!("/start {second}"));
    assert!(answer(&world, ANA, 2).starts_with("Tudo certo"));
    let gone = ana.send(Request::new("POST", "/perfil/telegram/desconectar").form(&[]));
    let gone = gone.expect(303);
    assert_eq!(gone.header("location"), Some("/perfil/avisos"));
    assert_eq!(chat_of(&ana), Value::Null);
}

#[test]
fn a_code_ends_after_a_quarter_of_an_hour_and_with_its_person() {
    let world = World::start();
    let site = start(with_bot(&world));
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    let (old, suspended) = (code(&ana), code(&rui));
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/suspender", &json!({ "email": "rui@example.com" })).ok();
    say(&world, RUI, &format!("/start {suspended}"));
    assert!(answer(&world, RUI, 1).starts_with("Este link não vale mais."));
    site.clock().advance_s(15 * 60);
    say(&world, ANA, &format!("/start {old}"));
    assert!(answer(&world, ANA, 1).starts_with("Este link não vale mais."));
    let fresh = code(&ana);
    site.clock().advance_s(15 * 60 - 1);
    say(&world, ANA, &format!("/start {fresh}"));
    assert!(answer(&world, ANA, 2).starts_with("Tudo certo"));
}

#[test]
fn a_chat_of_somebody_else_is_not_moved() {
    let world = World::start();
    let site = start(with_bot(&world));
    let (ana, rui) = (site.person("ana"), site.person("rui"));
    connect(&world, &ana, ANA);
    let theirs = code(&rui);
    say(&world, ANA, &format!("/start {theirs}"));
    let told = answer(&world, ANA, 2);
    assert!(told.contains("já está conectada a outra conta"), "{told}");
    assert_eq!((chat_of(&rui), chat_of(&ana)["bloqueado"].clone()), (Value::Null, json!(false)));
    // As the answer says: /stop, and then the link again.
    say(&world, ANA, "/stop");
    assert!(answer(&world, ANA, 3).starts_with("Desconectado"));
    assert_eq!(chat_of(&ana), Value::Null);
    say(&world, ANA, &format!("/start {theirs}"));
    assert!(answer(&world, ANA, 4).starts_with("Tudo certo"));
    // When a person links another chat, the first one is unlinked and gets a
    // message.
    connect(&world, &rui, RUI);
    assert!(answer(&world, ANA, 5).contains("passaram para outra conversa"));
    assert_eq!(chat_of(&rui)["nome"], "Pessoa 502");
    say(&world, ANA, "/stop");
    assert!(answer(&world, ANA, 6).starts_with("Esta conversa não está conectada"));
}

#[test]
fn who_blocks_the_bot_is_not_written_to_until_it_is_back() {
    let world = World::start();
    let site = start(with_bot(&world));
    let admin = site.administrator();
    connect(&world, &admin, ANA);
    block(&world, ANA, "block");
    until("it is noted", PATIENCE, || (chat_of(&admin)["bloqueado"] == true).then_some(()));
    let page = admin.get(ALERTS).expect(200).text();
    assert!(page.contains("Você bloqueou o bot"), "{page}");
    let refused = admin.post(&format!("{QUEUE}/canais/telegram/teste"), &json!({}));
    assert_eq!(refused.expect(409).code(), "conflict");
    block(&world, ANA, "unblock");
    until("it is back", PATIENCE, || (chat_of(&admin)["bloqueado"] == false).then_some(()));
    send_test(&admin);
    until("it arrives", PATIENCE, || {
        let newest = said(&world, ANA).pop()?;
        newest.contains("mensagem de teste").then_some(())
    });
}

#[test]
fn strangers_leave_nothing_behind() {
    let world = World::start();
    let site = start(with_bot(&world));
    let ana = site.person("ana");
    let tell = |update: &Value| {
        world.control("/_sandbox/telegram/updates", update);
    };
    for (number, odd) in (0..).zip([
        json!({}),
        json!({ "message": null }),
        json!({ "message": { "chat": { "id": "x", "type": "private" }, "text": ["/start"] } }),
        json!({ "message": { "chat": { "id": -9, "type": "group" }, "text": "/start abc" } }),
        json!({ "my_chat_member": { "chat": { "id": 1e40, "type": "private" } } }),
        json!({ "edited_message": { "chat": { "id": 9, "type": "private" }, "text": "/stop" } }),
    ]) {
        let mut update = odd;
        update["update_id"] = json!(700_000_000 + number);
        tell(&update);
    }
    for stranger in 1..=60 {
        for text in ["/start", "/start abc", "/stop", "oi", "'; DROP TABLE user"] {
            let said = json!({ "chat": { "id": stranger, "type": "private" }, "text": text });
            tell(&json!({ "message": said }));
        }
    }
    // Later updates of other people are still handled.
    let code = code(&ana);
    say(&world, ANA, &format!("/start {code}"));
    until("ana is connected", PATIENCE, || (chat_of(&ana) != Value::Null).then_some(()));
    assert_eq!(site.stored("SELECT user_id || '' FROM telegram_chat").len(), 1);
    assert!(site.stored("SELECT user_id || '' FROM telegram_code").is_empty());
    let kept = site
        .stored("SELECT (length(value) < 2000) || '' FROM setting WHERE name = 'telegram_updates'");
    assert_eq!(kept, ["1"]);
}

#[test]
fn a_stop_does_not_wait_for_the_next_update() {
    let world = World::start();
    let site = start(with_bot(&world));
    until("it asks for updates", PATIENCE, || {
        let asked = world.telegram()["pollers"].as_u64()? > 0;
        asked.then_some(())
    });
    let begun = Instant::now();
    site.stop();
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn an_update_counts_once_however_often_it_comes() {
    let world = World::start();
    let site = start(with_bot(&world));
    let ana = site.person("ana");
    let code = code(&ana);
    let update = |id: i64, text: &str| {
        let chat = json!({ "id": ANA, "type": "private" });
        let update = json!({ "update_id": id, "message": { "chat": chat, "text": text } });
        world.control("/_sandbox/telegram/updates", &update);
    };
    say(&world, ANA, "oi");
    answer(&world, ANA, 1);
    let (start, stop) = (format!("/start {code}"), "/stop");
    update(900_000_001, &start);
    answer(&world, ANA, 2);
    update(900_000_002, stop);
    answer(&world, ANA, 3);
    site.kill();
    // Updates that were applied but not confirmed are sent again, with new ones.
    let again = code_after_restart(&site, &ana);
    update(900_000_001, &start);
    update(900_000_002, stop);
    update(900_000_003, &format!("/start {again}"));
    update(900_000_002, stop);
    update(900_000_003, &format!("/start {again}"));
    assert!(answer(&world, ANA, 4).starts_with("Tudo certo"));
    update(900_000_004, "oi");
    assert!(answer(&world, ANA, 5).contains("só envia avisos"), "still connected");
    assert_eq!(said(&world, ANA).len(), 5);
}

/// Starts the server again and asks for a link.
#[track_caller]
fn code_after_restart(site: &Site, person: &Actor<'_>) -> String {
    site.start_again();
    code(person)
}

fn post_update(site: &Site, secret: Option<&str>, body: &str) -> Reply {
    let request = Request::new("POST", HOOK).body("application/json", body.as_bytes());
    let request = match secret {
        Some(secret) => request.header("X-Telegram-Bot-Api-Secret-Token", secret),
        None => request,
    };
    site.anonymous().send(request)
}

#[test]
fn updates_that_are_sent_need_the_secret() {
    let world = World::start();
    let site = start(with_bot(&world).config("telegram.updates", "webhook"));
    let hook = until("the address is given", PATIENCE, || {
        let hook = world.telegram()["webhook"].clone();
        (!hook.is_null()).then_some(hook)
    });
    assert_eq!(hook["url"], format!("http://{}{HOOK}", site.address()));
    let secret = hook["secret"].as_str().unwrap().to_owned();
    site.keep_secret("webhook secret", &secret);
    assert_eq!(secret.len(), 64);
    let ana = site.person("ana");
    connect(&world, &ana, ANA);
    // Updates are not polled in addition.
    assert_eq!(world.telegram()["pollers"], 0);
    let stop = json!({
        "update_id": 1, "message": { "chat": { "id": ANA, "type": "private" }, "text": "/stop" },
    });
    let stop = stop.to_string();
    let last = if secret.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &secret[..63]);
    for presented in [None, Some(""), Some("x"), Some(&*wrong), Some(TOKEN)] {
        let refused = post_update(&site, presented, &stop).expect(401);
        assert_eq!(
            (refused.code(), refused.json()["success"].clone()),
            ("unauthorized".into(), json!(false))
        );
    }
    assert_ne!(chat_of(&ana), Value::Null);
    for bad in ["", "{", "[]", "{}", r#"{"update_id":"1"}"#, r#"{"update_id":1.5}"#] {
        post_update(&site, Some(&secret), bad).expect(422);
    }
    for _ in 0..2 {
        post_update(&site, Some(&secret), &stop).expect(200);
    }
    assert!(answer(&world, ANA, 2).starts_with("Desconectado"));
    assert_eq!(chat_of(&ana), Value::Null);
    // A whole number is accepted in any form; an update without meaning is ignored.
    let odd = r#"{"update_id":2.0,"message":[],"my_chat_member":7}"#;
    post_update(&site, Some(&secret), odd).expect(200);
    // After a restart the secret is the same, with the new address.
    site.stop();
    say(&world, ANA, "oi");
    site.start_again();
    answer(&world, ANA, 3);
    assert_eq!(world.telegram()["webhook"]["secret"], secret);
    assert_eq!(said(&world, ANA).len(), 3, "said once");
}

#[test]
fn updates_that_are_asked_for_take_no_sent_ones() {
    let world = World::start();
    let site = start(with_bot(&world).config("telegram.updates", "webhook"));
    let secret = until("the address is given", PATIENCE, || {
        let hook = world.telegram()["webhook"]["secret"].clone();
        hook.as_str().map(str::to_owned)
    });
    site.stop();
    let folder = site.folder().join("seller-platform.toml");
    let text = std::fs::read_to_string(&folder).unwrap();
    std::fs::write(&folder, text.replace("\"webhook\"", "\"polling\"")).unwrap();
    site.start_again();
    post_update(&site, Some(&secret), r#"{"update_id":1}"#).expect(401);
    // The old webhook is removed; otherwise no updates would arrive.
    let ana = site.person("ana");
    connect(&world, &ana, ANA);
    assert_eq!(world.telegram()["webhook"], Value::Null);
}
