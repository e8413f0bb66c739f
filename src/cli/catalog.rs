//! `catalog import`.

use std::fs::File;
use std::io::Read as _;

use anyhow::{Context as _, bail};

use super::user::{Subject, nobody};
use super::{CatalogCommand, Context, say};
use crate::accounts::store as accounts;
use crate::catalog::has_products;
use crate::catalog::import::{self, Counts, ImportError};
use crate::db::Lane;

/// Largest file. As many products as a person can have fit in easily.
const MOST_BYTES: u64 = 64 << 20;

pub fn run(context: &Context, command: CatalogCommand) -> anyhow::Result<()> {
    let CatalogCommand::Import { email, all_faults, file } = command;
    let name = file.display();
    let mut bytes = Vec::new();
    File::open(&file)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("{name} is larger than {} MB", MOST_BYTES >> 20);
    }
    let products = import::read(&bytes)
        .map_err(ImportError::File)
        .with_context(|| format!("cannot import {name}"))?;
    let db = context.database()?;
    let account = db.read(Lane::Slow, |tx| accounts::by_email(tx, &email))?;
    let Some(account) = account else {
        return Err(nobody(&email));
    };
    if !has_products(account.role) {
        bail!("{email} is an administrator; products belong to sellers and suppliers");
    }
    let outcome = import::apply::run(&db, account.user_id, products, move |tx, counts| {
        let actions = ["aluno.importar_produtos", "equipe.importar_produtos"];
        Subject::of(&account).note(tx, "catalog import", actions, None, Some(&counts))?;
        Ok::<_, ImportError>(counts)
    });
    if let Err(ImportError::Rows(bad)) = &outcome
        && all_faults
    {
        bail!("cannot import {name}: {}", bad.told(usize::MAX));
    }
    let Counts { created, changed, unchanged } =
        outcome.with_context(|| format!("cannot import {name}"))?;
    say(format_args!("{created} created, {changed} changed, {unchanged} unchanged"))
}
