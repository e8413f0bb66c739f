//! What is told of messages, in all orders.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Outcome;
use super::apply::{self, Network};
use super::status::{self, Status, Told};
use crate::base::{Instant, UserId};
use crate::db::WriteTx;
use crate::fixture::{NOW, TestApp, config};
use crate::messages::delivery::chat::cloud::Tracking;
use crate::messages::delivery::chat::sample;
use crate::messages::delivery::{Outlet, SendOutcome};
use crate::outbox::{Receipt, unreachable};

const ANA: UserId = UserId(1);
const ID: &str = "wamid.1";

/// A school with the official API and one student.
fn school() -> TestApp {
    let test = TestApp::new(config(&[
        ("CHAT__GATEWAY", "cloud"),
        ("CHAT__API_KEY", "k"),
        ("CHAT__INSTANCE", "1"),
        ("CHAT__APP_SECRET", "s"),
        ("CHAT__VERIFY_TOKEN", "t"),
    ]));
    test.write(|tx| {
        tx.run(
            "INSERT INTO user (user_id, email, name, role, created_at, chat_number)
             VALUES (1, 'ana@example.com', 'Ana', 'pro', 1, '5531987654321')",
            [],
        )
    });
    test
}

/// A message that the API took, or is being sent for the first time.
fn message(tx: &WriteTx<'_>, id: i64, is_taken: bool) -> crate::db::Result<()> {
    tx.run(
        "INSERT INTO outbox (message_id, channel, user_id, kind, params, dedup_key, state, created_at, run_at,
             attempts, lease, global_id)
         VALUES (?1, 'chat', 1, 'alerta', '{}', 'x-' || ?1, 0, ?2, ?2, 1, 5, 'ab')",
        (id, NOW),
    )?;
    if is_taken {
        tx.run(
            "UPDATE outbox SET state = 1, done_at = ?2, lease = NULL, provider = 'wamid.' || ?1
             WHERE message_id = ?1",
            (id, NOW),
        )?;
    }
    Ok(())
}

fn told(word: &str, id: &str, code: Option<i64>) -> Status {
    let errors = code.map(|code| json!([{ "code": code, "title": "x" }]));
    let one = json!({
        "id": id, "status": word, "timestamp": NOW.0.to_string(), "recipient_id": "553187654321",
        "errors": errors,
    });
    let body = json!({ "entry": [{ "changes": [{ "value": { "statuses": [one] } }] }] });
    status::read(&body).unwrap().remove(0)
}

impl TestApp {
    #[track_caller]
    fn tell(&self, status: &Status) -> Outcome {
        let (network, status) = (Network::of(&self.app).unwrap(), status.clone());
        self.write(move |tx| apply::apply(tx, &network, &status))
    }

    /// State, receipt and reason of the first message.
    fn stands(&self) -> (i64, i64, Option<String>) {
        let sql = "SELECT state, receipt, outcome FROM outbox WHERE message_id = 1";
        self.ask(sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).remove(0)
    }

    fn outlet(&self) -> Arc<Outlet> {
        Network::of(&self.app).unwrap().outlet
    }
}

#[test]
fn documented_webhooks_are_read() {
    let read = |name: &str| status::read(&sample(name)).unwrap().remove(0);
    for (name, receipt) in [
        ("cloud_status_sent", Receipt::SentOn),
        ("cloud_status_delivered", Receipt::Delivered),
        ("cloud_status_read", Receipt::Read),
    ] {
        let status = read(name);
        assert_eq!(status.told, Told::Arrived(receipt), "{name}");
        assert!(status.id.starts_with("wamid.") && status.to == "5511987654321");
        assert_eq!(status.at, Some(Instant(1_795_183_201)));
        let global_id = "0a1b2c3d4e5f60718293a4b5c6d7e8f9".to_owned();
        assert_eq!(status.tracking, Some(Tracking { message: 42, global_id }));
    }
    let said = "a API de chat avisou depois, código 131026: Message undeliverable";
    let failed = Told::Failed(SendOutcome::NotThere(said.to_owned()));
    assert_eq!(read("cloud_status_failed").told, failed);
}

#[test]
fn whatever_is_posted_is_read_or_passed_over() {
    for body in [
        json!(null),
        json!([]),
        json!({ "entry": {} }),
        json!({ "entry": [{ "changes": [{ "value": { "messages": [{ "id": "x" }] } }] }] }),
        json!({ "entry": [{ "changes": [{ "value": { "statuses": [1, { "status": "sent" }] } }] }] }),
        json!({ "entry": [{ "changes": [{ "value": { "statuses": [{ "id": "a", "status": "deleted" }] } }] }] }),
    ] {
        assert_eq!(status::read(&body).unwrap(), [], "{body}");
    }
    let many = |count: usize| {
        let statuses = vec![json!({ "id": "a", "status": "sent" }); count];
        status::read(&json!({ "entry": [{ "changes": [{ "value": { "statuses": statuses } }] }] }))
    };
    assert_eq!(many(1_000).unwrap().len(), 1_000);
    assert!(many(1_001).is_err());
}

/// All orders of what was told.
fn orders<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    if all.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (place, first) in all.iter().enumerate() {
        let mut rest = all.to_vec();
        rest.remove(place);
        for mut order in orders(&rest) {
            order.insert(0, first.clone());
            found.push(order);
        }
    }
    found
}

#[test]
fn the_end_does_not_depend_on_the_order_or_on_repetitions() {
    let test = school();
    let end = |told: &[Status]| {
        test.write(|tx| {
            tx.run("DELETE FROM outbox", [])?;
            message(tx, 1, true)
        });
        for status in told.iter().chain(told) {
            test.tell(status);
        }
        test.stands()
    };
    let one = |word: &str| told(word, ID, (word == "failed").then_some(131_049));
    for (words, state, receipt) in [
        (&["sent", "delivered", "read"][..], 1, 3),
        (&["sent", "delivered"], 1, 2),
        (&["sent", "failed"], 3, 0),
        (&["sent", "delivered", "failed"], 1, 2),
        (&["delivered", "read", "failed"], 1, 3),
    ] {
        let all: Vec<Status> = words.iter().map(|word| one(word)).collect();
        for order in orders(&all) {
            let found = end(&order);
            assert_eq!((found.0, found.1), (state, receipt), "{order:?}");
            assert_eq!(found.2.is_some(), state == 3, "{order:?}");
        }
    }
}

#[test]
fn what_is_unknown_or_of_an_earlier_try_changes_nothing() {
    let test = school();
    test.write(|tx| message(tx, 1, true));
    assert_eq!(test.tell(&told("failed", "wamid.9", Some(131_026))), Outcome::Unknown);
    // Somebody guesses the number of the message, but not its random id.
    let tracking = |global_id: &str| Some(Tracking { message: 1, global_id: global_id.to_owned() });
    let guessed = Status { tracking: tracking("aa"), ..told("failed", "wamid.9", Some(131_026)) };
    assert_eq!(test.tell(&guessed), Outcome::Unknown);
    // The earlier try of a message that went again.
    let earlier = Status { tracking: tracking("ab"), ..told("failed", "wamid.0", Some(131_026)) };
    assert_eq!(test.tell(&earlier), Outcome::Known);
    assert_eq!(test.stands(), (1, 0, None));
    // A failure that is told again after an operator queued the message once more.
    let failed = told("failed", ID, Some(131_026));
    assert_eq!(test.tell(&failed), Outcome::Changed);
    assert_eq!(test.stands().0, 3);
    assert!(test.write(|tx| crate::outbox::try_again(tx, 1)));
    assert_eq!(test.tell(&failed), Outcome::Known);
    assert_eq!(test.stands(), (0, 0, None));
}

#[test]
fn what_is_told_before_the_answer_is_stored_counts() {
    let test = school();
    test.write(|tx| message(tx, 1, false));
    let ours = |word: &str, code| Status {
        tracking: Some(Tracking { message: 1, global_id: "ab".to_owned() }),
        ..told(word, ID, code)
    };
    assert_eq!(test.tell(&ours("sent", None)), Outcome::Changed);
    assert_eq!(test.stands(), (0, 1, None), "the answer is still to come");
    assert_eq!(test.tell(&ours("failed", Some(131_049))), Outcome::Changed);
    assert_eq!(test.stands().0, 3);
    // And one whose answer was lost, because it arrived.
    assert_eq!(test.tell(&ours("delivered", None)), Outcome::Changed);
    assert_eq!(test.stands(), (1, 2, None));
}

#[test]
fn a_failure_that_is_told_again_is_not_that_of_the_next_try() {
    let test = school();
    test.write(|tx| message(tx, 1, false));
    let failed = Status {
        tracking: Some(Tracking { message: 1, global_id: "ab".to_owned() }),
        ..told("failed", ID, Some(131_000))
    };
    assert_eq!(test.tell(&failed), Outcome::Changed, "before the answer was stored");
    test.write(|tx| tx.run("UPDATE outbox SET lease = 6, attempts = 2", []));
    assert_eq!(test.tell(&failed), Outcome::Known);
    let lease = test.ask("SELECT lease FROM outbox", |row| row.get::<_, Option<i64>>(0));
    assert_eq!(lease, [Some(6)], "the next try is under way");
}

#[test]
fn a_number_that_is_refused_three_times_is_silenced_until_something_arrives() {
    let test = school();
    let refusals = || test.read(|tx| unreachable::of(tx, ANA)).map_or(0, |found| found.times);
    for id in 1..=3 {
        test.write(move |tx| message(tx, id, true));
        let id_there = format!("wamid.{id}");
        // The network leaves the ninth digit out.
        assert_eq!(test.tell(&told("failed", &id_there, Some(131_026))), Outcome::Changed);
        assert_eq!(refusals(), id);
    }
    assert!(test.read(|tx| unreachable::of(tx, ANA)).unwrap().is_silenced());
    assert_eq!(test.tell(&told("delivered", ID, None)), Outcome::Changed);
    assert_eq!(refusals(), 0);
    // Of a number that the person has no more nothing is noted.
    test.write(|tx| {
        tx.run("UPDATE user SET chat_number = '5511900000001'", [])?;
        message(tx, 4, true)
    });
    test.tell(&told("failed", "wamid.4", Some(131_026)));
    assert_eq!(refusals(), 0);
}

#[test]
fn who_opted_out_has_chosen_so() {
    let test = school();
    test.write(|tx| message(tx, 1, true));
    test.tell(&told("failed", ID, Some(131_050)));
    assert_eq!(test.stands().0, 3);
    let chosen = "SELECT about || wanted FROM message_choice WHERE user_id = 1";
    assert_eq!(test.ask(chosen, |row| row.get::<_, String>(0)), ["chat0"]);
}

#[test]
fn what_is_the_accounts_fault_waits_and_takes_the_channel_down() {
    for code in [131_005, 131_037, 131_042, 131_045, 130_497] {
        let test = school();
        test.write(|tx| message(tx, 1, true));
        assert_eq!(test.tell(&told("failed", ID, Some(code))), Outcome::Changed);
        let (state, _, reason) = test.stands();
        assert!(state == 0 && reason.unwrap().contains(&code.to_string()), "{code}");
        assert_eq!(test.ask("SELECT attempts FROM outbox", |row| row.get::<_, i64>(0)), [0]);
        let error = test.outlet().gate.error();
        assert!(error.is_some_and(|error| error.contains(&code.to_string())), "{code}");
        // One that leaves shows that it works again.
        test.write(|tx| message(tx, 2, true));
        test.tell(&told("sent", "wamid.2", None));
        assert_eq!(test.outlet().gate.error(), None);
    }
    // Maintenance holds, and is no fault of anybody.
    let test = school();
    test.write(|tx| message(tx, 1, true));
    test.tell(&told("failed", ID, Some(131_057)));
    assert_eq!((test.stands().0, test.outlet().gate.error()), (0, None));
    assert!(!test.outlet().gate.lets_through(NOW));
}

#[test]
fn what_may_pass_is_tried_again_and_given_up_at_last() {
    let test = school();
    test.write(|tx| message(tx, 1, true));
    test.tell(&told("failed", ID, Some(131_000)));
    let waits = test
        .ask("SELECT run_at - ?1 FROM outbox".replace("?1", &NOW.0.to_string()).as_str(), |row| {
            row.get::<_, i64>(0)
        });
    assert!(test.stands().0 == 0 && (1..=30).contains(&waits[0]), "{waits:?}");
    test.write(|tx| {
        tx.run(
            "UPDATE outbox SET state = 1, done_at = ?1, attempts = 8, provider = 'wamid.1'",
            [NOW],
        )
    });
    test.tell(&told("failed", ID, Some(131_000)));
    let (state, _, reason) = test.stands();
    assert!(state == 3 && reason.unwrap().starts_with("8 tentativas falharam"));
}

#[test]
fn a_programs_notification_that_fails_later_says_why() {
    let test = school();
    test.write(|tx| {
        message(tx, 1, true)?;
        tx.run("UPDATE outbox SET kind = 'aviso_de_parceiro'", [])?;
        tx.run(
            "INSERT INTO partner_notification
                 (owner_id, notification_id, message_id, channel, event, title, body, created_at, state, done_at)
             VALUES (1, 1, 1, 'chat', 'custom', 'Um', 'Dois', 1, 1, 1)",
            [],
        )
    });
    let kept = || {
        let kept = test.ask("SELECT state, receipt, outcome FROM partner_notification", |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<String>>(2)?))
        });
        kept[0].clone()
    };
    test.tell(&told("sent", ID, None));
    assert_eq!(kept(), (1, 1, None));
    test.tell(&told("failed", ID, Some(131_026)));
    let (state, receipt, outcome) = kept();
    assert!(state == 3 && receipt == 0 && outcome.unwrap().contains("131026"));
    // It was there all the same.
    test.tell(&told("read", ID, None));
    assert_eq!(kept(), (1, 3, None));
}

/// A value with each of its parts replaced by each of some others.
fn spoiled(value: &Value) -> Vec<Value> {
    let mut found: Vec<Value> =
        [json!(null), json!(1), json!("x"), json!([]), json!({}), json!([[[]]])].into();
    match value {
        Value::Array(parts) => {
            for (place, part) in parts.iter().enumerate() {
                found.extend(spoiled(part).into_iter().map(|part| {
                    let mut parts = parts.clone();
                    parts[place] = part;
                    Value::Array(parts)
                }));
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                found.extend(spoiled(field).into_iter().map(|field| {
                    let mut fields = fields.clone();
                    fields[name] = field;
                    Value::Object(fields)
                }));
            }
        }
        _ => {}
    }
    found
}

#[test]
fn bodies_of_any_kind_are_read_or_passed_over() {
    for name in ["cloud_status_sent", "cloud_status_failed"] {
        for body in spoiled(&sample(name)) {
            assert!(status::read(&body).is_ok_and(|found| found.len() <= 1), "{body}");
        }
    }
}
