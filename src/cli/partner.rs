//! `partner plan` and `partner token`.

use anyhow::{anyhow, bail};

use super::{Context, PartnerCommand, say};
use crate::accounts::store as accounts;
use crate::db::DbError;
use crate::partner::{self, PlanName, store};

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
            let wanted = email.clone();
            let found = context.database()?.write(move |tx| {
                let Some(account) = accounts::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(false);
                };
                store::set_plan(tx, account.user_id, name, until)?;
                Ok(true)
            })?;
            known(found, &email)?;
            match (name, until) {
                (None, _) => say(format_args!("{email} has no API plan")),
                (Some(_), None) => say(format_args!("{email} has the plan {plan}, without an end")),
                (Some(_), Some(day)) => say(format_args!(
                    "{email} has the plan {plan} until {}",
                    day.iso()
                )),
            }
        }
        PartnerCommand::Token { email, name } => {
            let token = partner::new_token();
            let (wanted, kept) = (email.clone(), token.clone());
            let found = context.database()?.write(move |tx| {
                let Some(account) = accounts::by_email(tx, &wanted)? else {
                    return Ok::<_, DbError>(false);
                };
                store::insert_token(tx, account.user_id, &kept, &name)?;
                Ok(true)
            })?;
            known(found, &email)?;
            say(token)
        }
    }
}

fn known(found: bool, email: &str) -> anyhow::Result<()> {
    if !found {
        bail!("nobody has the e-mail address {email}");
    }
    Ok(())
}
