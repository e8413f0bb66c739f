//! Clients in the database.

use super::{Client, ClientAccount, ClientEntry, ClientFilter, MOST};
use crate::agency::checkup::{self, Finding};
use crate::base::UserId;
use crate::base::text::search_key;
use crate::db::{Column, Filters, ReadTx, Result, WriteTx, sorted};
use crate::http::Problem;
use crate::panel::ListQuery;

impl ClientFilter {
    const fn condition(self) -> &'static str {
        match self {
            Self::Faulty => {
                "EXISTS (SELECT 1 FROM agency_account j JOIN agency_finding f ON f.ml_user_id = j.ml_user_id
                    WHERE j.client_id = agency_client.client_id)"
            }
            Self::Ready => {
                "EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id AND j.checked_at IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM agency_account j JOIN agency_finding f ON f.ml_user_id = j.ml_user_id
                    WHERE j.client_id = agency_client.client_id)"
            }
            Self::Unread => "error IS NOT NULL",
            Self::Bare => {
                "NOT EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id)"
            }
        }
    }
}

/// One page of the clients, by name, with the total. `reader` is whose clients
/// are "mine".
pub fn page(tx: &ReadTx<'_>, query: &ListQuery, reader: UserId) -> Result<(Vec<Client>, u64)> {
    let key = search_key(&query.search);
    let mut filters = Filters::new("1 = 1", &[]);
    if !key.is_empty() {
        filters.and("holds(search, :key)", &[(":key", &key)]);
    }
    match query.filter("responsavel") {
        Some("eu") => filters.and("keeper_id = :keeper", &[(":keeper", &reader)]),
        Some(_) => filters.and("keeper_id IS NULL", &[]),
        None => {}
    }
    if let Some(standing) = query.filter("situacao").and_then(ClientFilter::from_name) {
        filters.and(standing.condition(), &[]);
    }
    let order = sorted("search, client_id", query.descending);
    filters.page(tx, ("agency_client", ""), &order, query.window())
}

fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Client>> {
    tx.record("FROM agency_client WHERE client_id = ?1", [id])
}

/// One that must be there.
pub fn known(tx: &ReadTx<'_>, id: i64) -> std::result::Result<Client, Problem> {
    one(tx, id)?.ok_or_else(Problem::not_found)
}

/// The accounts of a client, by number.
pub fn accounts(tx: &ReadTx<'_>, id: i64) -> Result<Vec<ClientAccount>> {
    tx.records(
        "FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
         WHERE j.client_id = ?1 ORDER BY a.ml_user_id",
        [id],
    )
}

/// The accounts of a client, each with the findings of its last checkup.
pub fn looked_over(tx: &ReadTx<'_>, id: i64) -> Result<Vec<(ClientAccount, Vec<Finding>)>> {
    let with_findings = |one: ClientAccount| {
        let found = checkup::findings(tx, one.ml_user_id)?;
        Ok((one, found))
    };
    accounts(tx, id)?.into_iter().map(with_findings).collect()
}

/// Makes a client; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &ClientEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM agency_client", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let (now, search) = (tx.now(), searched(entry));
    let more: [Column<'_>; 2] = [("search", &search), ("created_at", &now)];
    tx.put("INSERT INTO agency_client", entry, &more).map(Some)
}

pub fn update(tx: &WriteTx<'_>, id: i64, entry: &ClientEntry) -> Result<()> {
    let search = searched(entry);
    tx.change("agency_client", entry, &[("search", &search)], &[("client_id", &id)]).map(drop)
}

fn searched(entry: &ClientEntry) -> String {
    search_key(&format!("{} {}", entry.name, entry.tags))
}

/// Who can look after clients: administrators, and people with the permission
/// `agencia`.
pub fn team(tx: &ReadTx<'_>) -> Result<Vec<(UserId, String)>> {
    tx.tuples(
        "SELECT user_id, name FROM user
         WHERE suspended_at IS NULL AND (role = 'admin' OR user_id IN (
             SELECT user_id FROM user_permission WHERE permission = 'agencia' AND granted = 1))
         ORDER BY name_key, user_id LIMIT 500",
        [],
    )
}
