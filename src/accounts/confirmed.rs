//! The password once more, for what an open session alone must not do: taking
//! all data of a person along, or erasing it. Once right, it counts for ten
//! minutes in its session.
//!
//! Signing in does not count: whoever finds a browser open has not typed it.

use super::login;
use crate::app::App;
use crate::base::TokenHash;
use crate::db::{Lane, ReadTx, WriteTx};
use crate::edge::guard::Person;
use crate::http::{Code, Problem, Request};

/// For how long a password counts.
pub const FOR_S: i64 = 600;
/// The field with the password.
pub const FIELD: &str = "confirmacao";

const ASKED: &str = "Informe a sua senha para continuar.";
const WRONG: &str = "A senha não confere.";

/// Whether the password was right in this session within the last ten minutes.
pub fn is_confirmed(tx: &ReadTx<'_>, session: &TokenHash) -> crate::db::Result<bool> {
    let sql = "SELECT confirmed_at > ?2 FROM session
               WHERE session_hash = ?1 AND confirmed_at IS NOT NULL";
    Ok(tx.maybe(sql, (session, tx.now().minus(FOR_S)))?.unwrap_or(false))
}

/// Requires that the password was right of late, or that it is sent now.
pub fn require(
    app: &App,
    person: &Person,
    request: &Request,
    password: &str,
) -> Result<(), Problem> {
    if password.is_empty() {
        let session = person.session;
        let is_confirmed = app.db.read(Lane::Brief, |tx| is_confirmed(tx, &session))?;
        return if is_confirmed { Ok(()) } else { Err(Problem::field(FIELD, ASKED)) };
    }
    // The account of the session, also where an administrator looks as somebody else.
    let login =
        login::check(app, &person.account.email, password, request).map_err(
            |problem| match problem.code {
                Code::InvalidCredentials => Problem::field(FIELD, WRONG),
                _ => problem,
            },
        )?;
    let session = person.session;
    app.db.write(move |tx| {
        login.note(tx)?;
        Ok::<_, Problem>(note(tx, &session)?)
    })
}

fn note(tx: &WriteTx<'_>, session: &TokenHash) -> crate::db::Result<()> {
    tx.run("UPDATE session SET confirmed_at = ?2 WHERE session_hash = ?1", (session, tx.now()))
}
