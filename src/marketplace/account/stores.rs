//! The accounts of a seller, as lists use them: for the filter by account, and
//! for the account's name in each row.

use super::store;
use crate::base::{MlUserId, UserId};
use crate::db::{self, ReadTx};
use crate::http::{Problem, Request};
use crate::panel::list::Choice;

/// The query parameter that selects an account.
const NAME: &str = "conta";

/// The accounts of a seller: the linked ones. For lists of orders also the
/// unlinked ones that still have orders.
pub struct Stores(Vec<(MlUserId, String)>);

impl FromIterator<(MlUserId, String)> for Stores {
    fn from_iter<I: IntoIterator<Item = (MlUserId, String)>>(named: I) -> Self {
        Self(named.into_iter().collect())
    }
}

impl Stores {
    /// The linked accounts of an owner.
    pub fn of(tx: &ReadTx<'_>, owner: UserId) -> db::Result<Self> {
        let accounts = store::linked_accounts(tx, owner)?.into_iter();
        let named = accounts.map(|account| (account.ml_user_id, account.nickname));
        Ok(named.collect())
    }

    /// The same for a list filtered by an account; 404 when the owner has no
    /// such account.
    pub fn narrowed(
        tx: &ReadTx<'_>,
        owner: UserId,
        asked: Option<MlUserId>,
    ) -> Result<Self, Problem> {
        Self::of(tx, owner)?.holding(asked)
    }

    /// The same for a list of orders. Orders stay when an account is unlinked,
    /// so unlinked accounts that still have orders are included.
    pub fn of_orders(
        tx: &ReadTx<'_>,
        owner: UserId,
        asked: Option<MlUserId>,
    ) -> Result<Self, Problem> {
        let mut stores = Self::of(tx, owner)?;
        let mut last = MlUserId(0);
        while let Some(next) = next_sold(tx, owner, last)? {
            if !stores.has(next) {
                stores.0.push((next, unlinked(next)));
            }
            last = next;
        }
        stores.holding(asked)
    }

    fn holding(self, asked: Option<MlUserId>) -> Result<Self, Problem> {
        match asked {
            Some(account) if !self.has(account) => Err(Problem::not_found()),
            _ => Ok(self),
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = MlUserId> {
        self.0.iter().map(|(id, _)| *id)
    }

    fn has(&self, account: MlUserId) -> bool {
        self.0.iter().any(|(id, _)| *id == account)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nickname of an account, or a substitute when it was unlinked.
    pub fn name(&self, account: MlUserId) -> String {
        let known = self.0.iter().find(|(id, _)| *id == account);
        known.map_or_else(|| unlinked(account), |(_, nickname)| nickname.clone())
    }

    /// The filter by account, for a list.
    pub fn choice(&self, asked: Option<MlUserId>) -> Choice {
        let values = self.0.iter();
        Choice {
            name: NAME,
            label: "Conta",
            all: "Todas",
            values: values.map(|(id, nickname)| (id.to_string(), nickname.clone())).collect(),
            present: asked.map(|id| id.to_string()).unwrap_or_default(),
        }
    }
}

/// Refuses an account that is not linked to an owner, unless it was and still has orders.
pub fn require(tx: &ReadTx<'_>, owner: UserId, account: Option<MlUserId>) -> Result<(), Problem> {
    let Some(account) = account else { return Ok(()) };
    let before = MlUserId(account.0.saturating_sub(1));
    let is_of =
        store::is_linked_to(tx, owner, account)? || next_sold(tx, owner, before)? == Some(account);
    if is_of { Ok(()) } else { Err(Problem::not_found()) }
}

/// The name shown for an account that was unlinked.
pub fn unlinked(account: MlUserId) -> String {
    format!("Conta desvinculada {account}")
}

/// The first account after `last` that has orders of an owner. It is found by
/// one index seek, however many orders there are.
fn next_sold(tx: &ReadTx<'_>, owner: UserId, last: MlUserId) -> db::Result<Option<MlUserId>> {
    tx.maybe(
        "SELECT ml_user_id FROM order_count WHERE owner_id = ?1 AND ml_user_id > ?2
         ORDER BY ml_user_id LIMIT 1",
        (owner, last),
    )
}

/// The account by which the address filters a list.
pub fn asked(request: &Request) -> Result<Option<MlUserId>, Problem> {
    Ok(request.number_of(NAME)?.map(MlUserId))
}
