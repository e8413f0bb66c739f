//! `user create`, `user password` and `user password-link`.

use anyhow::{Context as _, anyhow, bail};

use super::{Context, UserCommand, password_from_stdin, say};
use crate::accounts::links;
use crate::accounts::passwords::Hasher;
use crate::accounts::store::{self, NewUser};
use crate::audit::{self, Act, Actor, Kind};
use crate::db::{DbError, WriteTx};
use crate::secrets::{self, Secret};

pub fn run(context: &Context, command: UserCommand) -> anyhow::Result<()> {
    match command {
        UserCommand::Create {
            email,
            nome,
            role,
            password_stdin,
        } => {
            let (password, made) = password(password_stdin)?;
            let password_hash = Some(Hasher::default().hash(password.reveal()));
            let new = NewUser {
                email: email.clone(),
                name: nome,
                role,
                password_hash,
            };
            let db = context.database()?;
            let id = db
                .write(move |tx| store::insert(tx, &new))
                .context("cannot make the person")?;
            let id = id.ok_or_else(|| {
                anyhow!("{email} has an account already; use `user password` to let the person in")
            })?;
            say(id)?;
            say_if_made(&password, made)
        }
        UserCommand::Password {
            email,
            password_stdin,
            revoke_partner_tokens,
        } => {
            let (password, made) = password(password_stdin)?;
            let hash = Hasher::default().hash(password.reveal());
            let db = context.database()?;
            let wanted = email.clone();
            let found = db.write(move |tx| {
                let Some(account) = store::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(false);
                };
                store::set_password(tx, account.user_id, &hash)?;
                store::clear_login_failures(tx, account.user_id)?;
                if revoke_partner_tokens {
                    crate::partner::store::revoke_tokens(tx, account.user_id)?;
                }
                Ok(true)
            })?;
            if !found {
                bail!("nobody has the e-mail address {email}");
            }
            say_if_made(&password, made)
        }
        UserCommand::PasswordLink { email } => {
            let wanted = email.clone();
            let made = context.database()?.write(move |tx| link(tx, &wanted))?;
            match made {
                Made::Link(code) => say(links::address(&context.base_url(), &code)),
                Made::Suspended => {
                    bail!("{email} is suspended; let the person in again in the panel first")
                }
                Made::Nobody => bail!("nobody has the e-mail address {email}"),
            }
        }
    }
}

enum Made {
    Link(String),
    Suspended,
    Nobody,
}

/// A link for whoever has the address. It lives as long as a message's would:
/// seven days for somebody who never chose a password, else two hours.
fn link(tx: &WriteTx<'_>, email: &str) -> Result<Made, DbError> {
    let Some(account) = store::by_email(tx, email)? else {
        return Ok(Made::Nobody);
    };
    if account.suspended {
        return Ok(Made::Suspended);
    }
    let user = account.user_id;
    let life = match store::password_hash(tx, user)? {
        Some(_) => links::FORGOTTEN_S,
        None => links::FIRST_S,
    };
    let link = links::make(tx, user, tx.now().plus(life), None)?;
    let act = Act {
        action: "pessoa.link_de_senha",
        object: "pessoa",
        object_id: user.to_string(),
        object_name: &account.name,
    };
    let actor = Actor::local(Kind::Command, "user password-link");
    audit::note(tx, &actor, &act, None::<&()>, None::<&()>)?;
    Ok(Made::Link(link.code))
}

/// The password from standard input, or a new one that must be printed.
fn password(from_stdin: bool) -> anyhow::Result<(Secret, bool)> {
    if from_stdin {
        return Ok((password_from_stdin()?, false));
    }
    Ok((Secret::new(secrets::random_hex::<10>()), true))
}

fn say_if_made(password: &Secret, made: bool) -> anyhow::Result<()> {
    if made { say(password.reveal()) } else { Ok(()) }
}
