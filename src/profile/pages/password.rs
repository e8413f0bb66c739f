//! Changing one's own password.

use http::header::SET_COOKIE;

use super::PATH;
use crate::accounts::confirm;
use crate::accounts::passwords::LENGTH_WORDS;
use crate::accounts::session::new_session;
use crate::accounts::{passwords, store};
use crate::app::App;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Sent};
use crate::partner::store as partner;
use crate::profile::pages;

const ASKED: &str = "Informe a sua senha atual.";

/// `POST /perfil/senha`: changes the password. All sessions, the extension's
/// token and connected apps end; this browser gets a new session.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let present: String = sent.optional("atual").unwrap_or_default();
    let new: String = sent.optional("senha").unwrap_or_default();
    let revoke = sent.optional("revogar_tokens");
    if present.is_empty() {
        sent.check.fail("atual", ASKED);
    }
    if !passwords::LENGTH.contains(&new.chars().count()) {
        sent.check.fail("senha", LENGTH_WORDS);
    }
    let confirmed =
        sent.finish().and_then(|()| confirm::password((app, person, request), "atual", &present));
    let login = match confirmed {
        Ok(login) => login,
        Err(problem) if request.wants_json() => return Err(problem),
        Err(problem) => return pages::faulty((app, person, request), &problem, |_| {}),
    };
    let password_hash = app.callers.passwords.run(move |hasher| hasher.hash(&new))?;
    let user = person.account.user_id;
    let (session, cookie) = new_session(app, request);
    app.db.write(move |tx| {
        login.note(tx)?;
        store::set_password(tx, user, &password_hash)?;
        if revoke == Some(true) {
            partner::revoke_tokens(tx, user)?;
        }
        store::insert_session(tx, user, &session)?;
        Ok::<_, Problem>(())
    })?;
    let reply = Answer::to(request).done(user, PATH, "senha")?;
    Ok(reply.with(SET_COOKIE, cookie))
}
