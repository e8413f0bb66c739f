//! `person export` and `person erase`.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Subcommand;

use super::check_copies::copies;
use super::user::nobody;
use super::values::parse_email;
use super::{Context, agrees, say, seal};
use crate::audit::{Actor, ActorKind};
use crate::db::{Lane, is_left};
use crate::privacy::erase::{Eraser, Refusal};
use crate::privacy::{Owner, by_email, export};

#[derive(Subcommand)]
pub enum PersonCommand {
    /// Writes everything that is kept about a person into a ZIP of JSON files.
    Export {
        /// The person's e-mail address.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// Where to; no file of that name may be there.
        #[arg(value_name = "FILE.zip")]
        file: PathBuf,
    },
    /// Erases a person and everything that names them, for good.
    Erase {
        /// The person's e-mail address; also one without an account that something names.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// Agrees to it without being asked.
        #[arg(long)]
        yes: bool,
    },
}

pub fn run(context: &Context, command: PersonCommand) -> anyhow::Result<()> {
    match command {
        PersonCommand::Export { email, file } => export_to(context, &email, &file),
        PersonCommand::Erase { email, yes } => erase(context, &email, yes),
    }
}

fn export_to(context: &Context, email: &str, path: &Path) -> anyhow::Result<()> {
    let db = context.database()?;
    let owner = db.read(Lane::Slow, |tx| by_email(tx, email))?.ok_or_else(|| nobody(email))?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(
        |error| match error.kind() {
            ErrorKind::AlreadyExists => anyhow!(
                "{} is there already and is not replaced: choose another name, or remove it first",
                path.display()
            ),
            _ => anyhow::Error::new(error).context(format!("cannot make {}", path.display())),
        },
    )?;
    let zone = context.config().server.timezone;
    let written = export::write(&db, zone, &owner, BufWriter::new(&file))
        .map_err(anyhow::Error::from)
        .and_then(|written| {
            file.sync_all()?;
            let (actor, id) = (Actor::local(ActorKind::Command, "person export"), owner.id);
            db.write(move |tx| export::note(tx, &actor, id))?;
            Ok(written)
        });
    let written = written.inspect_err(|_| {
        // Half a file says nothing.
        let _ = std::fs::remove_file(path);
    })?;
    for (name, records) in &written {
        say(format_args!("{name}.json: {records}"))?;
    }
    say(format_args!("written to {}", path.display()))
}

fn erase(context: &Context, email: &str, agreed: bool) -> anyhow::Result<()> {
    let db = context.database()?;
    let owner = db.read(Lane::Slow, |tx| by_email(tx, email))?;
    let sealer = seal::key(context)?;
    if !agreed {
        ask(email)?;
    }
    let eraser = Eraser { sealer, database: context.config().database.path.clone(), db };
    // What an earlier call has begun is finished with it.
    if let Err(error) = eraser.resume() {
        tracing::error!(%error, "an earlier erasure is not finished");
    }
    let actor = Actor::local(ActorKind::Command, "person erase");
    let done = match &owner {
        Some(owner) => eraser.erase(owner.id, &actor),
        None => eraser.erase_address(email, &actor),
    };
    match done {
        Ok(()) => {
            say(match owner {
                Some(Owner { id, .. }) => {
                    format!("erased: the account {id} and everything that named the person")
                }
                None => {
                    "erased: everything that named the address, which had no account".to_owned()
                }
            })?;
            say(
                "kept: amounts of purchases, number and act of audit entries, a keyed digest against copies of before",
            )?;
            older_files(context).into_iter().try_for_each(say)
        }
        Err(Refusal::Db(error)) => Err(error.into()),
        Err(refused) => bail!("{email}: {refused}"),
    }
}

/// Files of before, which still have the person.
fn older_files(context: &Context) -> Vec<String> {
    let (database, replica) = (&context.config().database, &context.config().replica);
    let is_older = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        is_left(&name) || name.ends_with(".of-replaced")
    };
    let older = context.files_around().into_iter().filter(is_older);
    let mut lines: Vec<_> = older
        .map(|path| format!("still there, from before: {}; remove it", path.display()))
        .collect();
    lines.sort();
    if let Some(folder) = database.backup_dir.as_deref() {
        let copies = copies(context).len();
        if copies > 0 {
            lines.push(format!(
                "still there, from before: {copies} copies in {}, until newer ones take their place",
                folder.display()
            ));
        }
    }
    if replica.url.is_some() {
        let hours = replica.retention_h;
        lines.push(format!("still there, from before: the replica's history, for {hours} h"));
    }
    lines
}

fn ask(email: &str) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("nothing was erased: without a terminal say `person erase --email {email} --yes`");
    }
    if !agrees(&format!("Erase {email} and everything that names them, for good?"))? {
        bail!("nothing was erased");
    }
    Ok(())
}
