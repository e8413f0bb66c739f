//! `user create`, `user password` and `user password-link`; `user list` is in
//! `user_list.rs`.

use std::io::Read as _;

use anyhow::{Context as _, anyhow, bail};
use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::values::{parse_email, parse_name, roles};
use super::{Context, hint, hint_free_port, say, user_list};
use crate::accounts::links;
use crate::accounts::passwords::Hasher;
use crate::accounts::store::{self, NewUser};
use crate::accounts::{Account, Role};
use crate::audit::{self, Act, Actor, ActorKind};
use crate::base::{Secret, UserId, secrets, text};
use crate::db::{DbError, WriteTx};

#[derive(Subcommand)]
pub enum UserCommand {
    /// Makes a person; without --password-stdin a password is made and printed.
    ///
    /// Standard output has the person's number and then the password, a line each.
    Create {
        /// The address the person signs in with.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// The person's full name.
        #[arg(long, value_parser = parse_name)]
        nome: String,
        /// What the person is: a student by plan, a supplier (drop) or an administrator.
        #[arg(long, value_parser = roles())]
        role: Role,
        /// Reads the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Sets a new password and ends the person's sessions and extension tokens.
    Password {
        /// The person's e-mail address.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// Reads the password from standard input; else one is made and printed.
        #[arg(long)]
        password_stdin: bool,
        /// Also revokes the person's partner tokens.
        #[arg(long)]
        revoke_partner_tokens: bool,
    },
    /// Prints a one-time link by which the person chooses a password.
    PasswordLink {
        /// The person's e-mail address.
        #[arg(long, value_parser = parse_email)]
        email: String,
    },
    /// Lists people in the order in which they were made.
    List {
        /// Only people of this role.
        #[arg(long, value_parser = roles())]
        role: Option<Role>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(context: &Context, command: UserCommand) -> anyhow::Result<()> {
    match command {
        UserCommand::Create { email, nome, role, password_stdin } => {
            let (password, made) = password(password_stdin)?;
            let password_hash = Some(Hasher::default().hash(password.reveal()));
            let new = NewUser { email: email.clone(), name: nome, role, password_hash };
            let db = context.database()?;
            let id = db
                .write(move |tx| {
                    let made = store::insert(tx, &new)?;
                    if let Some(id) = made {
                        let NewUser { email, name, role, .. } = &new;
                        let after = NewPerson { nome: name, email, papel: role.name() };
                        let (subject, actions) =
                            (Subject { id, name, role: *role }, ["aluno.criar", "equipe.criar"]);
                        subject.note(tx, "user create", actions, None, Some(&after))?;
                    }
                    Ok::<_, DbError>(made)
                })
                .context("cannot make the person")?;
            let id = id.ok_or_else(|| {
                anyhow!("{email} has an account already; use `user password` to let the person in")
            })?;
            hint(format_args!(
                "made {email}; the first line is the person's number{}",
                if made { ", the second the password, which is not shown again" } else { "" }
            ));
            if text::has_accents(&email) {
                hint(format_args!(
                    "many mail servers take no letters beyond ASCII before the @: messages to {email} may not arrive"
                ));
            }
            say(id)?;
            say_if_made(&password, made)
        }
        UserCommand::Password { email, password_stdin, revoke_partner_tokens } => {
            let (password, made) = password(password_stdin)?;
            let hash = Hasher::default().hash(password.reveal());
            let wanted = email.clone();
            let found = context
                .database()?
                .write(move |tx| set_password(tx, &wanted, &hash, revoke_partner_tokens))?;
            if !found {
                return Err(nobody(&email));
            }
            if made {
                hint(format_args!("the new password of {email}, which is not shown again"));
            }
            say_if_made(&password, made)
        }
        UserCommand::List { role, json } => user_list::run(context, role, json),
        UserCommand::PasswordLink { email } => {
            let wanted = email.clone();
            let made = context.database()?.write(move |tx| link(tx, &wanted))?;
            match made {
                Made::Link(code) => {
                    let base_url = context.base_url();
                    hint_free_port(&base_url);
                    say(links::address(&base_url, &code))
                }
                Made::Suspended => {
                    bail!("{email} is suspended; let the person in again in the panel first")
                }
                Made::Nobody => Err(nobody(&email)),
            }
        }
    }
}

/// False when nobody has the e-mail address.
fn set_password(
    tx: &WriteTx<'_>,
    email: &str,
    hash: &str,
    revoke_partner_tokens: bool,
) -> Result<bool, DbError> {
    let Some(account) = store::by_email(tx, email)? else {
        return Ok(false);
    };
    store::set_password(tx, account.user_id, hash)?;
    store::clear_login_failures(tx, account.user_id)?;
    let tokens = if revoke_partner_tokens {
        crate::partner::store::revoke_tokens(tx, account.user_id)?
    } else {
        0
    };
    let actions = ["aluno.senha", "equipe.senha"];
    let after = json!({ "tokens_de_parceiro_revogados": tokens });
    Subject::of(&account).note(tx, "user password", actions, None, Some(&after))?;
    Ok(true)
}

enum Made {
    Link(String),
    Suspended,
    Nobody,
}

/// A link for the person with this e-mail address. It is valid as long as a link
/// in a message: seven days for a person without a password, else two hours.
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
    let actions = ["aluno.link_de_senha", "equipe.link_de_senha"];
    Subject::of(&account).note(tx, "user password-link", actions, None::<&()>, None)?;
    Ok(Made::Link(link.code))
}

/// A new person in the audit log.
#[derive(Serialize)]
struct NewPerson<'p> {
    nome: &'p str,
    email: &'p str,
    papel: &'static str,
}

/// That nobody has an e-mail address.
pub(super) fn nobody(email: &str) -> anyhow::Error {
    anyhow!("nobody has the e-mail address {email}")
}

/// The person that a command acts on.
pub(super) struct Subject<'p> {
    pub id: UserId,
    pub name: &'p str,
    pub role: Role,
}

impl<'p> Subject<'p> {
    /// An account that was there before.
    pub fn of(account: &'p Account) -> Self {
        Self { id: account.user_id, name: &account.name, role: account.role }
    }

    /// Notes what a command did; the name of the act differs for students and for others.
    pub fn note<T: Serialize>(
        &self,
        tx: &WriteTx<'_>,
        command: &str,
        [student, staff]: [&'static str; 2],
        before: Option<&T>,
        after: Option<&T>,
    ) -> Result<(), DbError> {
        let (action, object) =
            if self.role.is_student() { (student, "aluno") } else { (staff, "equipe") };
        let act = Act { action, object, object_id: self.id.to_string(), object_name: self.name };
        audit::note(tx, &Actor::local(ActorKind::Command, command), &act, before, after)
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

/// A password from standard input, without the line end.
fn password_from_stdin() -> anyhow::Result<Secret> {
    let text = std::io::read_to_string(std::io::stdin().take(4096))
        .context("cannot read the password from standard input")?;
    let password = text.trim_end_matches(['\n', '\r']);
    if !crate::accounts::passwords::LENGTH.contains(&password.chars().count()) {
        bail!("the password must have 10 to 200 characters");
    }
    Ok(Secret::new(password))
}
