//! `user create` and `user password`.

use anyhow::{Context as _, anyhow, bail};

use super::{Context, UserCommand, password_from_stdin, say};
use crate::accounts::passwords::Hasher;
use crate::accounts::store::{self, NewUser};
use crate::db::DbError;
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
    }
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
