//! Messages that the demonstration seems to have sent: reminders and alerts of
//! the last weeks, so that the page of messages is not empty.

use serde_json::json;

use crate::accounts::Role;
use crate::accounts::store::{self as accounts, NewUser};
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{Result, WriteTx};
use crate::outbox::{self, Channel, MessageKind, MessageState, NewMessage};

/// Number of messages on each of the last days.
const DAYS: [i64; 29] =
    [6, 9, 11, 4, 2, 12, 8, 7, 10, 13, 3, 2, 9, 8, 12, 7, 6, 1, 3, 10, 9, 5, 8, 7, 2, 1, 6, 4, 5];

/// The students who got them.
const STUDENTS: [(&str, Role, &str); 6] = [
    ("Amanda Cruz", Role::Pro, "5511987650101"),
    ("Breno Tavares", Role::Vip, "5521987650102"),
    ("Cíntia Moreira", Role::Pro, "5531987650103"),
    ("Diego Fontes", Role::PilotoPro, "5541987650104"),
    ("Estela Guedes", Role::Pro, "5551987650105"),
    ("Flávio Meira", Role::Vip, "5561987650106"),
];

/// Enters the students and their messages.
pub fn fill(tx: &WriteTx<'_>) -> Result<()> {
    let now = tx.now();
    let students = STUDENTS.into_iter().zip(1..);
    let students: Vec<UserId> = students
        .filter_map(|(student, number)| enter(tx, student, number).transpose())
        .collect::<Result<_>>()?;
    let mut turns = students.iter().cycle();
    for (ago, count) in (1..).zip(DAYS).collect::<Vec<_>>().into_iter().rev() {
        for number in 0..count {
            let Some(user) = turns.next() else {
                return Ok(());
            };
            let at = now.minus(ago * DAY_S).plus(number * 97);
            sent(tx, *user, number, at)?;
        }
    }
    Ok(())
}

fn enter(
    tx: &WriteTx<'_>,
    (name, role, chat_number): (&str, Role, &str),
    number: i64,
) -> Result<Option<UserId>> {
    let new = NewUser {
        email: format!("veterano{number}@exemplo.com"),
        name: name.to_owned(),
        role,
        password_hash: None,
    };
    let user = accounts::insert(tx, &new)?;
    if let Some(user) = user {
        let seen_at = tx.now().minus(number * 3_700);
        tx.execute(
            "UPDATE user SET chat_number = ?2, created_at = ?3, last_access_at = ?4 WHERE user_id = ?1",
            (user, chat_number, tx.now().minus(90 * DAY_S).0, seen_at.0),
        )?;
    }
    Ok(user)
}

/// A message that left at an instant; one in eleven did not reach anybody.
fn sent(tx: &WriteTx<'_>, user: UserId, number: i64, at: Instant) -> Result<()> {
    let (kind, params) = if number % 3 == 0 {
        (MessageKind::Inactivity, json!({ "days": 3 + number }))
    } else {
        let starts_at = at.plus(DAY_S);
        let params = json!({ "title": "Tira-dúvidas da semana", "starts_at": starts_at.0 });
        (MessageKind::MeetReminder, params)
    };
    let new = NewMessage {
        user,
        kind,
        cause: &format!("demonstracao:{}:{number}", at.0),
        params,
        run_at: Some(at),
        expires_at: None,
    };
    let Some(id) = outbox::queue(tx, &new, Channel::Chat)? else {
        return Ok(());
    };
    let (became, provider, outcome) = if number == 10 {
        (MessageState::GivenUp, None, Some("o número não está na rede de chat"))
    } else {
        (MessageState::Sent, Some(format!("evolution-{id}")), None)
    };
    tx.run(
        "UPDATE outbox SET state = ?2, created_at = ?3, done_at = ?3, attempts = 1, provider = ?4, outcome = ?5
         WHERE message_id = ?1",
        (id, became, at.0, provider, outcome),
    )
}
