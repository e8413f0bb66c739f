//! Parsing of updates, and the waiting replies.

use serde_json::{Value, json};

use super::replies::{Replies, Reply};
use super::update::{ChatCommand, Update, UpdateKind, parse};

fn message(text: &Value) -> Value {
    json!({
        "update_id": 7,
        "message": {
            "message_id": 1, "date": 1, "text": text,
            "chat": { "id": 5, "type": "private" },
            "from": { "id": 5, "first_name": " Ana\n", "last_name": "Souza" },
        },
    })
}

fn order_of(text: &str) -> ChatCommand {
    match parse(&message(&json!(text))) {
        Some(Update { id: 7, kind: Some(UpdateKind::Said { chat: 5, name, order }) }) => {
            assert_eq!(name, "Ana Souza");
            order
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn commands_are_told_from_chatter() {
    let start = |code: Option<&str>| ChatCommand::Start { code: code.map(str::to_owned) };
    assert_eq!(order_of("/start abc-_9"), start(Some("abc-_9")));
    assert_eq!(order_of("  /start@a_bot   abc mais"), start(Some("abc")));
    assert_eq!(order_of("/start"), start(None));
    assert_eq!(order_of("/stop"), ChatCommand::Stop);
    assert_eq!(order_of("/stop@a_bot agora"), ChatCommand::Stop);
    for other in ["", " ", "oi", "/started x", "start abc", "/STOP", "@", "/"] {
        assert_eq!(order_of(other), ChatCommand::Other, "{other:?}");
    }
    assert_eq!(order_of(&"á".repeat(100_000)), ChatCommand::Other);
}

#[test]
fn only_private_chats_are_heard() {
    let mut group = message(&json!("/start abc"));
    group["message"]["chat"]["type"] = json!("supergroup");
    assert_eq!(parse(&group), Some(Update { id: 7, kind: None }));
}

#[test]
fn being_blocked_and_back_is_read() {
    let change = |status: &str| {
        json!({
            "update_id": 8,
            "my_chat_member": {
                "chat": { "id": 5, "type": "private" },
                "new_chat_member": { "status": status },
            },
        })
    };
    let blocked =
        |blocked| Some(Update { id: 8, kind: Some(UpdateKind::Blocked { chat: 5, blocked }) });
    assert_eq!(parse(&change("kicked")), blocked(true));
    assert_eq!(parse(&change("member")), blocked(false));
    assert_eq!(parse(&change("?")), Some(Update { id: 8, kind: None }));
}

/// A wrong value in any part of an update breaks nothing. An update with an id
/// can always be confirmed.
#[test]
fn garbage_is_of_no_concern() {
    let odd = [
        json!(null),
        json!([]),
        json!({}),
        json!("x"),
        json!(1.5),
        json!(-1),
        json!(1e300),
        json!([{ "a": [] }]),
    ];
    for value in &odd {
        assert_eq!(parse(value), None, "{value}");
        for place in [
            "/message",
            "/message/chat",
            "/message/chat/id",
            "/message/chat/type",
            "/message/from",
            "/message/from/first_name",
            "/message/text",
        ] {
            let mut update = message(&json!("/start abc"));
            *update.pointer_mut(place).unwrap() = value.clone();
            assert_eq!(parse(&update).map(|update| update.id), Some(7), "{update}");
        }
        let mut update = message(&json!("oi"));
        update["update_id"] = value.clone();
        let number = value.as_i64();
        assert_eq!(parse(&update).map(|update| update.id), number);
    }
}

#[test]
fn answers_that_wait_are_few() {
    let replies = Replies::default();
    let help = |chat| Reply::helping(chat, "ajuda".to_owned());
    replies.add((0..1000).map(help).collect());
    let helped = replies.count();
    assert!(helped <= 10, "{helped}");
    // A reply about a change still fits, and no help follows it.
    replies.add(vec![Reply::telling(1, "feito".to_owned()), help(1)]);
    assert_eq!(replies.count(), helped + 1);
    replies.add((0..1000).map(|_| Reply::telling(1, "feito".to_owned())).collect());
    assert_eq!(replies.count(), 100);
}
