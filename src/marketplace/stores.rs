//! The accounts of a seller as lists know them: by which they are narrowed,
//! and whose name a row carries.

use super::store;
use crate::db::{self, ReadTx};
use crate::http::input::{Check, Field};
use crate::http::table::Choice;
use crate::http::{Problem, Request};
use crate::ids::{MlUserId, UserId};

/// The parameter of lists.
const NAME: &str = "conta";

/// The linked accounts of a seller.
pub struct Stores(Vec<(MlUserId, String)>);

impl Stores {
    /// The accounts of an owner.
    pub fn of(tx: &ReadTx<'_>, owner: UserId) -> db::Result<Self> {
        let accounts = store::linked_accounts(tx, owner)?.into_iter();
        let named = accounts.map(|account| (account.ml_user_id, account.nickname));
        Ok(Self(named.collect()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What an account is called; one that was unlinked has no name any more.
    pub fn name(&self, account: MlUserId) -> String {
        let known = self.0.iter().find(|(id, _)| *id == account);
        known.map_or_else(
            || "conta desvinculada".to_owned(),
            |(_, nickname)| nickname.clone(),
        )
    }

    /// The filter of a list.
    pub fn choice(&self, asked: Option<MlUserId>) -> Choice {
        let values = self.0.iter();
        Choice {
            name: NAME,
            label: "Conta",
            values: values
                .map(|(id, nickname)| (id.to_string(), nickname.clone()))
                .collect(),
            present: asked.map(|id| id.to_string()).unwrap_or_default(),
        }
    }
}

/// The account to which the address narrows a list.
pub fn asked(request: &Request) -> Result<Option<MlUserId>, Problem> {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    let Some((_, value)) = given.find(|(name, _)| name == NAME) else {
        return Ok(None);
    };
    if value.is_empty() {
        return Ok(None);
    }
    let mut check = Check::text();
    let id = check.number(NAME, Field::of(value.into_owned()), 1..=i64::MAX);
    check.finish()?;
    Ok(id.map(MlUserId))
}
