//! "View as student": an administrator looks at the panel as a student sees
//! it, for half an hour, and changes nothing.
//!
//! The view belongs to the administrator's own session; the student does not
//! notice it. It ends when its time is over, when the session ends, and when
//! the student is suspended. Its beginning and its end are in the audit log.
//! Decision accounts-15.

use rusqlite::Params;
use serde::Serialize;

use super::{Account, Viewing, store};
use crate::audit::{self, Act, Actor, ActorKind};
use crate::base::{Instant, TokenHash, UserId};
use crate::db::{Lane, ReadTx, Result, WriteTx};
use crate::row;
use crate::services::Services;

/// The actor in the audit log when a view is closed automatically.
const CLOSING: &str = "fim da visualização";
/// How long a view lasts.
pub const VIEW_S: i64 = 30 * 60;

/// The student of a view; `None` when it is over: in time, or because the
/// student is suspended, gone or no student any more.
pub fn student(services: &Services, viewing: Viewing, now: Instant) -> Result<Option<Account>> {
    if viewing.until <= now {
        return Ok(None);
    }
    let account = services.db.read(Lane::InPlace, |tx| store::by_id(tx, viewing.student))?;
    Ok(account.filter(|account| !account.suspended && account.role.is_student()))
}

/// How a view began, in the audit log.
#[derive(Serialize)]
struct Begun<'b> {
    motivo: &'b str,
    ate: String,
}

/// How a view ended, in the audit log.
#[derive(Serialize)]
struct Ended {
    como: &'static str,
    /// The administrator's number: names are of the entries that they acted in.
    quem_via: UserId,
}

fn act<'a>(action: &'static str, student: UserId, name: &'a str) -> Act<'a> {
    Act { action, object: "aluno", object_id: student.to_string(), object_name: name }
}

/// Begins a view; an earlier one of this session ends.
pub fn begin(
    tx: &WriteTx<'_>,
    actor: &Actor,
    session: &TokenHash,
    student: &Account,
    reason: &str,
) -> Result<Instant> {
    end(tx, actor, session)?;
    let until = tx.now().plus(VIEW_S);
    tx.execute(
        "UPDATE session SET viewing_id = ?2, viewing_until = ?3 WHERE session_hash = ?1",
        (session, student.user_id, until),
    )?;
    let begun = Begun { motivo: reason, ate: until.rfc3339() };
    audit::note(tx, actor, &act("aluno.ver_como", student.user_id, &student.name), (), &begun)?;
    Ok(until)
}

/// Ends the view of a session; returns the student.
pub fn end(tx: &WriteTx<'_>, actor: &Actor, session: &TokenHash) -> Result<Option<UserId>> {
    let Some(over) = one(tx, session)? else {
        return Ok(None);
    };
    close(tx, actor, &over, "encerrada")?;
    Ok(Some(over.student))
}

row! {
    /// A view that is to be closed.
    struct Over {
        session: TokenHash = "s.session_hash" => TokenHash,
        student: UserId = "s.viewing_id",
        student_name: String = "coalesce(v.name, 'Pessoa removida')",
        viewer: UserId = "s.user_id",
        /// The session itself ended.
        left: bool = "s.ended_at IS NOT NULL",
    }
}

const PEOPLE: &str = "LEFT JOIN user v ON v.user_id = s.viewing_id";

fn one(tx: &ReadTx<'_>, session: &TokenHash) -> Result<Option<Over>> {
    let matching = "WHERE s.session_hash = ?1 AND s.viewing_id IS NOT NULL";
    tx.record(&format!("FROM session s {PEOPLE} {matching}"), [session])
}

/// All views that match, by the index of views.
fn all(tx: &ReadTx<'_>, matching: &str, params: impl Params) -> Result<Vec<Over>> {
    let from = format!("FROM session s INDEXED BY session_viewing {PEOPLE}");
    tx.records(&format!("{from} WHERE s.viewing_id IS NOT NULL AND {matching}"), params)
}

fn close(tx: &WriteTx<'_>, actor: &Actor, over: &Over, how: &'static str) -> Result<()> {
    tx.execute(
        "UPDATE session SET viewing_id = NULL, viewing_until = NULL WHERE session_hash = ?1",
        [over.session],
    )?;
    let ended = Ended { como: how, quem_via: over.viewer };
    audit::note(tx, actor, &act("aluno.ver_como_fim", over.student, &over.student_name), (), &ended)
}

/// Closes the views of a student who may no longer be viewed.
pub fn close_of(tx: &WriteTx<'_>, student: UserId) -> Result<()> {
    let all = all(tx, "s.viewing_id = ?1", [student])?;
    let actor = Actor::local(ActorKind::System, CLOSING);
    for over in &all {
        close(tx, &actor, over, "o aluno foi suspenso")?;
    }
    Ok(())
}

/// Closes the views whose time is over and those of ended sessions, so that the
/// audit log shows their end too.
pub fn close_over(services: &Services) -> Result<()> {
    let now = services.clock.now();
    let any = services.db.read(Lane::InPlace, |tx| {
        tx.value::<bool>(
            "SELECT EXISTS (SELECT 1 FROM session INDEXED BY session_viewing
                            WHERE viewing_id IS NOT NULL AND (viewing_until <= ?1 OR ended_at IS NOT NULL))",
            [now],
        )
    })?;
    if !any {
        return Ok(());
    }
    services.db.write(move |tx| {
        let over = "(s.viewing_until <= ?1 OR s.ended_at IS NOT NULL)";
        let all = all(tx, over, [tx.now()])?;
        let actor = Actor::local(ActorKind::System, CLOSING);
        for over in &all {
            let how = if over.left { "a sessão terminou" } else { "o tempo acabou" };
            close(tx, &actor, over, how)?;
        }
        Ok(())
    })
}
