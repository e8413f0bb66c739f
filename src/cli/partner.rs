//! `partner plan`, `partner token` and `partner relate`.

use anyhow::{anyhow, bail};
use clap::Subcommand;
use serde::Serialize;

use super::user::Subject;
use super::values::{parse_day, parse_email, parse_token_name};
use super::{Context, hint, say};
use crate::accounts::{Account, Role, store as accounts};
use crate::audit::{self, Actor, ActorKind};
use crate::base::Day;
use crate::db::{DbError, WriteTx};
use crate::dropshipping::relations;
use crate::partner::{self, PlanName, store};

#[derive(Subcommand)]
pub enum PartnerCommand {
    /// Sets an account's API plan.
    Plan {
        /// The account's e-mail address.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// The plan; none takes it away.
        #[arg(long, value_parser = ["starter", "pro", "scale", "none"])]
        plan: String,
        /// Last day it is valid, YYYY-MM-DD.
        #[arg(long, value_parser = parse_day)]
        until: Option<Day>,
    },
    /// Makes a partner token and prints it, this once.
    Token {
        /// The account's e-mail address.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// What it is for.
        #[arg(long, default_value = "command line", value_parser = parse_token_name)]
        name: String,
    },
    /// Relates a supplier and a seller, as an accepted invitation does.
    Relate {
        /// The supplier's e-mail address.
        #[arg(long, value_parser = parse_email)]
        supplier: String,
        /// The seller's e-mail address.
        #[arg(long, value_parser = parse_email)]
        seller: String,
    },
}

pub fn run(context: &Context, command: PartnerCommand) -> anyhow::Result<()> {
    match command {
        PartnerCommand::Plan { email, plan, until } => {
            let name = match &*plan {
                "none" => None,
                name => Some(
                    PlanName::from_name(name)
                        .ok_or_else(|| anyhow!("--plan must be starter, pro, scale or none"))?,
                ),
            };
            if let Some(day) = until.filter(|day| *day < context.today()) {
                bail!("--until {} is over already; choose today or later", day.iso());
            }
            let wanted = email.clone();
            let found = context.database()?.write(move |tx| {
                let Some(account) = accounts::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(false);
                };
                let before = store::plan(tx, account.user_id)?;
                store::set_plan(tx, account.user_id, name, until)?;
                let before = before.map(|(name, until)| Plan::of(name, until));
                let after = name.map(|name| Plan::of(name, until));
                note(
                    tx,
                    &account,
                    ["aluno.plano_de_api", "equipe.plano_de_api"],
                    before.as_ref(),
                    after.as_ref(),
                )?;
                Ok(true)
            })?;
            known(found, &email)?;
            match (name, until) {
                (None, _) => say(format_args!("{email} has no API plan")),
                (Some(_), None) => say(format_args!("{email} has the plan {plan}, without an end")),
                (Some(_), Some(day)) => {
                    say(format_args!("{email} has the plan {plan} until {}", day.iso()))
                }
            }
        }
        PartnerCommand::Token { email, name } => {
            let token = partner::new_token();
            let (wanted, kept) = (email.clone(), token.clone());
            let today = context.today();
            let opens = context.database()?.write(move |tx| {
                let Some(account) = accounts::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(None);
                };
                let plan = store::plan(tx, account.user_id)?;
                let opens = plan.is_some_and(|(_, until)| until.is_none_or(|day| day >= today));
                store::insert_token(tx, account.user_id, &kept, &name)?;
                note(
                    tx,
                    &account,
                    ["aluno.token_de_parceiro", "equipe.token_de_parceiro"],
                    None,
                    Some(&Token { nome: name }),
                )?;
                Ok(Some(opens))
            })?;
            known(opens.is_some(), &email)?;
            if opens == Some(false) {
                hint(format_args!(
                    "{email} has no API plan in force, so this token opens nothing yet; give one with `partner plan --email {email} --plan starter`"
                ));
            }
            say(token)
        }
        PartnerCommand::Relate { supplier, seller } => relate(context, &supplier, &seller),
    }
}

fn relate(context: &Context, supplier: &str, seller: &str) -> anyhow::Result<()> {
    let emails = [supplier, seller].map(str::to_owned);
    let made = context.database()?.write(move |tx| {
        let mut people = Vec::new();
        for (email, fits) in emails.iter().zip([is_supplier, Role::is_student]) {
            match accounts::by_email(tx, email)? {
                Some(account) if fits(account.role) => people.push(account),
                Some(_) => return Ok::<_, DbError>(Err(Unfit::Role(email.clone()))),
                None => return Ok(Err(Unfit::Unknown(email.clone()))),
            }
        }
        let [from, to] = &people[..] else { return Ok(Ok(false)) };
        let is_new = relations::relate(tx, from.user_id, to.user_id, &to.email)?;
        if is_new {
            let actor = Actor::local(ActorKind::Command, "partner");
            relations::note(tx, &actor, ("relacao.criar", to.user_id.0), (&to.email, &from.email))?;
        }
        Ok(Ok(is_new))
    })?;
    match made {
        Err(Unfit::Unknown(email)) => bail!("nobody has the e-mail address {email}"),
        Err(Unfit::Role(email)) if email == supplier => {
            bail!("{email} is no supplier; the role of a supplier is drop")
        }
        Err(Unfit::Role(email)) => bail!("{email} is no seller; sellers are students"),
        Ok(true) => say(format_args!("{supplier} and {seller} are related")),
        Ok(false) => say(format_args!("{supplier} and {seller} were related already")),
    }
}

fn is_supplier(role: Role) -> bool {
    role == Role::Drop
}

/// Why two people cannot be related.
enum Unfit {
    /// Nobody has this address.
    Unknown(String),
    /// The person with this address has another role.
    Role(String),
}

/// An API plan in the audit log.
#[derive(Serialize)]
struct Plan {
    plano: &'static str,
    ate: Option<String>,
}

impl Plan {
    fn of(name: PlanName, until: Option<Day>) -> Self {
        Self { plano: name.name(), ate: until.map(Day::iso) }
    }
}

/// A partner token in the audit log.
#[derive(Serialize)]
struct Token {
    nome: String,
}

fn note<T: Serialize>(
    tx: &WriteTx<'_>,
    account: &Account,
    actions: [&'static str; 2],
    before: Option<&T>,
    after: Option<&T>,
) -> Result<(), DbError> {
    let person = Subject::of(account);
    let actor = Actor::local(ActorKind::Command, "partner");
    audit::note(tx, &actor, &person.act(actions), before, after)
}

fn known(found: bool, email: &str) -> anyhow::Result<()> {
    if !found {
        bail!("nobody has the e-mail address {email}");
    }
    Ok(())
}
