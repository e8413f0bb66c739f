//! Clients in the database.

use std::collections::{BTreeMap, BTreeSet};

use super::{AccountRow, Client, ClientAccount, ClientEntry, ClientFilter, ListedClient, MOST};
use crate::agency::open::{self, Waiting};
use crate::agency::{checkup, days};
use crate::base::{Day, UserId, search_key};
use crate::db::{Column, Filters, ReadTx, Result, RowWindow, WriteTx, sorted};
use crate::http::Problem;
use crate::panel::ListQuery;

/// The order of a list by its next deadline.
pub const BY_DEADLINE: &str = "prazo";

/// What a list of clients is narrowed by besides its query.
pub struct Present {
    /// What waits at each client.
    pub waiting: BTreeMap<i64, Waiting>,
    /// The clients with findings.
    faulty: BTreeSet<i64>,
}

impl Present {
    pub fn read(tx: &ReadTx<'_>) -> Result<Self> {
        Ok(Self {
            waiting: open::of_clients(tx)?,
            faulty: checkup::clients(tx)?.into_iter().collect(),
        })
    }

    pub fn at(&self, client: i64) -> Waiting {
        self.waiting.get(&client).copied().unwrap_or_default()
    }
}

/// A client before it is read: which it is, and whether its accounts were checked
/// and could be read.
type Found = (i64, bool, bool, bool);

fn is_in(filter: ClientFilter, (id, checked, is_bare, failed): Found, present: &Present) -> bool {
    match filter {
        ClientFilter::Waiting => present.at(id).is_any(),
        ClientFilter::Faulty => present.faulty.contains(&id),
        ClientFilter::Ready => checked && !present.faulty.contains(&id),
        ClientFilter::Unread => failed,
        ClientFilter::Bare => is_bare,
    }
}

/// The clients that a query finds.
pub struct Page {
    /// Those of the page.
    pub ids: Vec<i64>,
    pub total: u64,
    /// What waits at all of them.
    pub sum: Waiting,
    /// How many each value of the filter by status has.
    pub counted: Vec<(&'static str, u64)>,
}

/// The clients that a query finds, by name or by their next deadline; `reader` is
/// whose clients are "mine". There are at most [`MOST`].
pub fn page(
    tx: &ReadTx<'_>,
    query: &ListQuery,
    (reader, present): (UserId, &Present),
) -> Result<Page> {
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
    let is_by_deadline = query.sort_key == BY_DEADLINE;
    let order = sorted("search, client_id", query.descending && !is_by_deadline);
    let sql = format!(
        "SELECT client_id,
             EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id AND j.checked_at IS NOT NULL),
             NOT EXISTS (SELECT 1 FROM agency_account j WHERE j.client_id = agency_client.client_id),
             error IS NOT NULL
         FROM agency_client WHERE {} ORDER BY {order}",
        filters.sql()
    );
    let mut found: Vec<Found> = tx.tuples(&sql, filters.values())?;
    let count = |filter: ClientFilter| {
        let count = found.iter().filter(|one| is_in(filter, **one, present)).count();
        (filter.name(), count as u64)
    };
    let counted = ClientFilter::ALL.iter().map(|filter| count(*filter)).collect();
    if let Some(filter) = query.filter("situacao").and_then(ClientFilter::from_name) {
        found.retain(|one| is_in(filter, *one, present));
    }
    let mut ids: Vec<i64> = found.into_iter().map(|(id, ..)| id).collect();
    if is_by_deadline {
        by_deadline(&mut ids, present);
        if query.descending {
            ids.reverse();
        }
    }
    let (total, all) = (ids.len() as u64, ids.iter().filter_map(|id| present.waiting.get(id)));
    let sum = open::sum(all);
    let RowWindow { limit: rows, offset: before } = query.window();
    let ids = ids.into_iter().skip(before as usize).take(rows as usize).collect();
    Ok(Page { ids, total, sum, counted })
}

/// Puts clients into the order of their next deadline: behind those with one are
/// those where something waits without a deadline, then the others.
pub fn by_deadline(ids: &mut [i64], present: &Present) {
    ids.sort_by_key(|id| {
        let waiting = present.at(*id);
        (waiting.next().map_or(i64::MAX, |(_, at)| at.0), !waiting.is_any())
    });
}

pub fn listed(tx: &ReadTx<'_>, id: i64, today: Day) -> std::result::Result<ListedClient, Problem> {
    let (client, accounts) = (existing(tx, id)?, accounts(tx, id)?);
    let waiting = open::sum(accounts.iter().map(|account| &account.waiting));
    Ok(ListedClient { client, accounts, waiting, sold: days::sold(tx, id, today)? })
}

fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Client>> {
    tx.record("FROM agency_client WHERE client_id = ?1", [id])
}

/// One that must be there.
pub fn existing(tx: &ReadTx<'_>, id: i64) -> std::result::Result<Client, Problem> {
    one(tx, id)?.ok_or_else(Problem::not_found)
}

/// The accounts of a client, by number, each with what waits and what is wrong.
pub fn accounts(tx: &ReadTx<'_>, id: i64) -> Result<Vec<ClientAccount>> {
    let rows: Vec<AccountRow> = tx.records(
        "FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
         WHERE j.client_id = ?1 ORDER BY a.ml_user_id",
        [id],
    )?;
    let waiting = open::of_accounts(tx, id)?;
    let whole = |row: AccountRow| {
        let waiting = waiting.get(&row.ml_user_id).copied().unwrap_or_default();
        let findings = checkup::findings(tx, (row.ml_user_id, row.checked_at), &waiting.open)?;
        Ok(ClientAccount { row, waiting, findings })
    };
    rows.into_iter().map(whole).collect()
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
