//! Clients in the database.

use super::{Client, ClientAccount, ClientEntry, Keeper, MOST, Sold};
use crate::agency::checkup::{self, Finding};
use crate::base::text::search_key;
use crate::base::{Day, UserId};
use crate::db::{Filters, ReadTx, Result, WriteTx};

/// Filters of the list.
#[derive(Debug, Default)]
pub struct ClientQuery<'w> {
    pub search: &'w str,
    pub keeper: Keeper,
    /// One of [`STANDINGS`].
    pub standing: Option<&'w str>,
}

/// Values of the status filter: name, label and SQL condition.
pub const STANDINGS: [(&str, &str, &str); 4] = [
    ("pendente", "Com pendências", "EXISTS (SELECT 1 FROM agency_account j JOIN agency_finding f ON f.ml_user_id = j.ml_user_id
        WHERE j.client_id = agency_client.client_id)"),
    ("pronto", "Em dia", "EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id AND j.checked_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM agency_account j JOIN agency_finding f ON f.ml_user_id = j.ml_user_id
            WHERE j.client_id = agency_client.client_id)"),
    ("erro", "Com erro de leitura", "error IS NOT NULL"),
    ("sem_conta", "Sem conta", "NOT EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id)"),
];

/// One page of the clients, by name, with the total.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &ClientQuery<'_>,
    descending: bool,
    window: (u32, u32),
) -> Result<(Vec<Client>, u64)> {
    let key = search_key(wanted.search);
    let mut filters = Filters::new("1 = 1", &[]);
    if !key.is_empty() {
        filters.and("holds(search, :key)", &[(":key", &key)]);
    }
    match &wanted.keeper {
        Keeper::Person(person) => filters.and("keeper_id = :keeper", &[(":keeper", person)]),
        Keeper::Nobody => filters.and("keeper_id IS NULL", &[]),
        Keeper::Anybody => {}
    }
    if let Some((.., condition)) = STANDINGS.iter().find(|one| Some(one.0) == wanted.standing) {
        filters.and(condition, &[]);
    }
    let order = if descending { "search DESC, client_id DESC" } else { "search, client_id" };
    filters.page(tx, ("agency_client", ""), order, window)
}

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Client>> {
    tx.record("FROM agency_client WHERE client_id = ?1", [id])
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
    let with_findings = |account: ClientAccount| {
        let found = checkup::findings(tx, account.ml_user_id)?;
        Ok((account, found))
    };
    accounts(tx, id)?.into_iter().map(with_findings).collect()
}

/// What a client sold in the last `days` and in as many before; client 0 means
/// all clients.
pub fn sold(tx: &ReadTx<'_>, client: i64, today: Day, days: i64) -> Result<Sold> {
    let (now_from, before_from) = (today.plus(1 - days), today.plus(1 - 2 * days));
    let (orders, gross, orders_before, gross_before) = tx.one(
        "SELECT coalesce(sum(orders) FILTER (WHERE day >= ?3), 0), coalesce(sum(gross_cents) FILTER (WHERE day >= ?3), 0),
                coalesce(sum(orders) FILTER (WHERE day < ?3), 0), coalesce(sum(gross_cents) FILTER (WHERE day < ?3), 0)
         FROM agency_day WHERE client_id = ?1 AND day BETWEEN ?2 AND ?4",
        (client, before_from, now_from, today),
        |row| row.try_into(),
    )?;
    Ok(Sold { orders, gross, orders_before, gross_before })
}

/// Makes a client; `None` when there are too many.
pub fn insert(tx: &WriteTx<'_>, entry: &ClientEntry) -> Result<Option<i64>> {
    let there: i64 = tx.value("SELECT count(*) FROM agency_client", [])?;
    if there >= MOST {
        return Ok(None);
    }
    let (now, search) = (tx.now(), searched(entry));
    let id =
        tx.put("INSERT INTO agency_client", entry, &[("search", &search), ("created_at", &now)])?;
    Ok(Some(id))
}

pub fn update(tx: &WriteTx<'_>, id: i64, entry: &ClientEntry) -> Result<()> {
    let search = searched(entry);
    tx.change("agency_client", entry, &[("search", &search)], &[("client_id", &id)])?;
    Ok(())
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
