//! `partner plan`, `partner token` and `partner relate`.

use anyhow::{anyhow, bail};
use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::user::{Subject, nobody};
use super::values::{parse_day, parse_email, parse_token_name};
use super::{Context, hint, say};
use crate::accounts::{Role, store as accounts};
use crate::audit::{Actor, ActorKind};
use crate::base::Day;
use crate::db::DbError;
use crate::dropshipping::relations;
use crate::partner::{self, PlanName, store};

const COMMAND: &str = "partner";

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
        /// Lets it also change stock and prices, answer buyers and fetch labels.
        #[arg(long)]
        write: bool,
        /// Opens a shop of sample data, and nothing of the account.
        #[arg(long)]
        test: bool,
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
                let actions = ["aluno.plano_de_api", "equipe.plano_de_api"];
                let subject = Subject::of(&account);
                subject.note(tx, COMMAND, actions, before.as_ref(), after.as_ref())?;
                Ok(true)
            })?;
            if !found {
                return Err(nobody(&email));
            }
            match (name, until) {
                (None, _) => say(format_args!("{email} has no API plan")),
                (Some(_), None) => say(format_args!("{email} has the plan {plan}, without an end")),
                (Some(_), Some(day)) => {
                    say(format_args!("{email} has the plan {plan} until {}", day.iso()))
                }
            }
        }
        PartnerCommand::Token { email, name, write, test } => {
            let token = if test { partner::new_test_token() } else { partner::new_token() };
            let (wanted, kept) = (email.clone(), token.clone());
            let today = context.today();
            let opens = context.database()?.write(move |tx| {
                let Some(account) = accounts::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(None);
                };
                let plan = store::plan(tx, account.user_id)?;
                let opens = plan.is_some_and(|(_, until)| until.is_none_or(|day| day >= today));
                store::insert_token(tx, account.user_id, &kept, &name, write)?;
                let actions = ["aluno.token_de_parceiro", "equipe.token_de_parceiro"];
                let mut after = json!({ "nome": name });
                for (word, is_so) in [("escrita", write), ("teste", test)] {
                    if is_so {
                        after[word] = true.into();
                    }
                }
                Subject::of(&account).note(tx, COMMAND, actions, None, Some(&after))?;
                Ok(Some(opens))
            })?;
            if !opens.ok_or_else(|| nobody(&email))? {
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
        let [from, to] = &emails;
        let Some(from) = accounts::by_email(tx, from)? else {
            return Ok::<_, DbError>(Err(nobody(from)));
        };
        if from.role != Role::Drop {
            let email = from.email;
            return Ok(Err(anyhow!("{email} is no supplier; the role of a supplier is drop")));
        }
        let Some(to) = accounts::by_email(tx, to)? else {
            return Ok(Err(nobody(to)));
        };
        if !to.role.is_student() {
            return Ok(Err(anyhow!("{} is no seller; sellers are students", to.email)));
        }
        let is_new = relations::relate(tx, from.user_id, to.user_id, &to.email)?;
        if is_new {
            let actor = Actor::local(ActorKind::Command, COMMAND);
            relations::note(tx, &actor, "relacao.criar", to.user_id.0, &to.email, &from.email)?;
        }
        Ok(Ok(is_new))
    })?;
    let were = if made? { "are related" } else { "were related already" };
    say(format_args!("{supplier} and {seller} {were}"))
}

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
