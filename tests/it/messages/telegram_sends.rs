//! Messages that are sent by Telegram, and the answers of its Bot API.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::messages::telegram::{QUEUE, RUI, chat_of, send_test};
use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron::{json_of, meet, run};
use crate::support::site::Site;
use crate::support::telegram::{
    ALERTS, ANA, CONNECT, PATIENCE, TOKEN, answer, connect, said, say, start, with_bot,
};
use crate::support::wait::until;
use crate::support::world::World;

/// Advances the clock of a site with real time, for messages that are delayed
/// for a moment.
fn ticking(site: &Site) -> impl FnMut() {
    let mut since = Instant::now();
    move || {
        if since.elapsed() > Duration::from_millis(1100) {
            site.clock().advance_s(2);
            since = Instant::now();
        }
    }
}

/// Waits until a message is in a state, and returns it.
#[track_caller]
fn settled(site: &Site, admin: &Actor<'_>, id: &str, state: &str) -> Value {
    let mut tick = ticking(site);
    until(&format!("message {id} is {state}"), PATIENCE, || {
        tick();
        let found = json_of(admin, &format!("{QUEUE}?estado={state}"));
        let rows = found["dados"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == *id).cloned()
    })
}

#[test]
fn a_reminder_leaves_by_telegram() {
    let world = World::start();
    let site = start(with_bot(&world).config("cron.enabled", false));
    let ana = site.person("ana");
    connect(&world, &ana, ANA);
    meet(&site, "2026-11-21 09:00:00");
    let told = run(&site);
    assert_eq!(told["meets_notif"], 1, "{told}");
    let reminder = answer(&world, ANA, 2);
    assert!(reminder.starts_with("Olá, ana! O encontro Tira-dúvidas"), "{reminder}");
    let sent = site.stored("SELECT channel || ' ' || state || ' ' || provider FROM outbox");
    assert_eq!(sent.len(), 1);
    assert!(sent[0].starts_with("telegram 1 "), "{sent:?}");
    assert_eq!(world.messages().last().unwrap()["to"], ANA.to_string());
}

#[test]
fn what_telegram_says_of_a_chat_is_heeded() {
    let world = World::start();
    let site = start(with_bot(&world));
    let admin = site.administrator();
    connect(&world, &admin, ANA);
    let answers = |body: &Value| {
        let code = body["error_code"].clone();
        world.fault(&json!({
            "path_prefix": "/bot/sendMessage", "kind": "status", "code": code, "body": body,
        }));
    };
    let failed = |code: i64, description: &str| {
        answers(&json!({ "ok": false, "error_code": code, "description": description }));
        let id = send_test(&admin);
        let failed = settled(&site, &admin, &id, "falhou");
        let reason = failed["motivo"].as_str().unwrap().to_owned();
        assert!(reason.contains(description), "{reason}");
        site.clock().advance_s(2);
    };
    failed(400, "Bad Request: can't parse entities");
    assert_eq!(chat_of(&admin)["bloqueado"], false, "the chat is not to blame");
    failed(403, "Forbidden: user is deactivated");
    assert_eq!(chat_of(&admin)["bloqueado"], true);
    say(&world, ANA, "oi");
    until("whoever writes has not blocked", PATIENCE, || {
        (chat_of(&admin)["bloqueado"] == false).then_some(())
    });
    answer(&world, ANA, 2);
    say(&world, RUI, "oi");
    answer(&world, RUI, 1);
    answers(&json!({
        "ok": false, "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": { "migrate_to_chat_id": RUI },
    }));
    let id = send_test(&admin);
    settled(&site, &admin, &id, "enviada");
    assert!(said(&world, RUI).last().unwrap().contains("mensagem de teste"));
    assert_eq!(site.stored("SELECT chat_id || '' FROM telegram_chat"), ["502"]);
    site.clock().advance_s(2);
    failed(400, "Bad Request: chat not found");
    assert_eq!(chat_of(&admin), Value::Null, "forgotten");
}

#[test]
fn trouble_loses_nothing_and_a_pause_is_the_whole_bots() {
    let world = World::start();
    let site = start(with_bot(&world));
    let admin = site.administrator();
    connect(&world, &admin, ANA);
    for fault in [
        json!({ "path_prefix": "/bot/sendMessage", "kind": "status", "code": 500 }),
        json!({ "path_prefix": "/bot/sendMessage", "kind": "garbage" }),
        json!({ "path_prefix": "/bot/sendMessage", "kind": "status", "code": 500, "body": "<html>" }),
    ] {
        world.fault(&fault);
    }
    let id = send_test(&admin);
    // A try is over when its lease has ended.
    let stands = "SELECT attempts || ' ' || (lease IS NULL) FROM outbox";
    for tries in 1..=3 {
        let mut tick = ticking(&site);
        until("the next try failed", PATIENCE, || {
            tick();
            (site.stored(stands) == [format!("{tries} 1")]).then_some(())
        });
        if tries == 3 {
            world.fault(&json!({
                "path_prefix": "/bot/sendMessage", "kind": "rate_limited", "retry_after": 3,
            }));
        }
        site.clock().advance_s(600);
    }
    let mut tick = ticking(&site);
    until("it asked for a pause", PATIENCE, || {
        tick();
        let found = &json_of(&admin, QUEUE)["dados"][0];
        let reason = found["motivo"].as_str().unwrap_or_default();
        (reason.contains("retry after 3") && found["tentativas"] == 3).then_some(())
    });
    site.clock().advance_s(3);
    assert_eq!(settled(&site, &admin, &id, "enviada")["tentativas"], 4);
    let standing = json_of(&admin, &format!("{QUEUE}/canais"));
    let telegram = &standing["dados"].as_array().unwrap()[2];
    assert_eq!((&telegram["canal"], &telegram["em_ordem"]), (&json!("telegram"), &json!(true)));
}

#[test]
fn a_refused_token_stops_the_channel_and_says_so() {
    let world = World::start();
    let site = start(with_bot(&world));
    let admin = site.administrator();
    connect(&world, &admin, ANA);
    world.fault(&json!({
        "path_prefix": "/bot/sendMessage", "kind": "status", "code": 401, "times": 0,
        "body": { "ok": false, "error_code": 401, "description": format!("Unauthorized {TOKEN}") },
    }));
    let id = send_test(&admin);
    let standing = until("the channel is down", PATIENCE, || {
        let standing = json_of(&admin, &format!("{QUEUE}/canais"))["dados"][2].clone();
        (standing["em_ordem"] == false).then_some(standing)
    });
    let reason = standing["motivo"].as_str().unwrap();
    assert!(
        reason.contains("telegram.bot_token") && reason.contains("Unauthorized ***"),
        "{reason}"
    );
    until("it waits, untried", PATIENCE, || {
        let waits = settled(&site, &admin, &id, "pendente");
        (waits["tentativas"] == 0).then_some(())
    });
}

#[test]
fn without_telegram_there_is_no_link_and_the_page_says_so() {
    let site = Site::start();
    let ana = site.person("ana");
    ana.post(CONNECT, &json!({})).expect(404);
    assert!(!ana.get(ALERTS).expect(200).text().contains("Telegram"));
    // An API that does not answer: a closed port.
    let site = start(
        Site::builder()
            .config("telegram.bot_token", TOKEN)
            .config("telegram.api_base", "http://127.0.0.1:9"),
    );
    let ana = site.person("ana");
    let refused = ana.post(CONNECT, &json!({})).expect(503);
    assert_eq!(refused.code(), "unavailable");
    let page = ana.send(Request::new("POST", CONNECT).form(&[])).expect(503);
    assert!(page.text().contains("O Telegram não responde agora"), "{page}");
    assert!(site.stored("SELECT user_id || '' FROM telegram_code").is_empty());
    let checked = site.command(&["check"]).exits(1);
    let row = checked.stdout.lines().find(|line| line.contains("telegram"));
    assert!(row.is_some_and(|row| row.starts_with("FAIL")), "{}", checked.stdout);
}

#[test]
fn check_asks_the_bot_who_it_is() {
    let world = World::start();
    let site = start(with_bot(&world));
    let checked = |site: &Site| {
        let told = site.command(&["check"]).run().stdout;
        let row = told.lines().find(|line| line.contains("  telegram  "));
        row.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    let row = checked(&site);
    assert!(row.starts_with("ok") && row.contains("@escola_de_mentira_bot"), "{row}");
    let refused = with_bot(&world).config("telegram.bot_token", "4242:recusada");
    let row = checked(&refused.start());
    assert!(row.starts_with("FAIL") && row.contains("telegram.bot_token"), "{row}");
}
