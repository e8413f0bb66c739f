//! Clients and their accounts in the database.

use crate::accounts::store as accounts;
use crate::base::{Cents, Instant, MlUserId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::BRL;
use crate::row;

row! {
    /// An account that the agency looks after.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct JoinedAccount {
        pub ml_user_id: MlUserId = "j.ml_user_id",
        pub nickname: String = "a.nickname",
        /// Who linked the account; the data read from it is in this person's books.
        pub owner: UserId = "j.owner_id",
        pub client: i64 = "j.client_id",
        pub client_name: String = "c.name",
        /// Whether its authorisation works.
        pub token_ok: bool = "a.token_ok",
    }
}

const JOINED: &str = "FROM agency_account j
    JOIN agency_client c ON c.client_id = j.client_id
    JOIN ml_account a ON a.ml_user_id = j.ml_user_id";

/// An account, when the agency looks after it.
pub fn joined(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<JoinedAccount>> {
    tx.record(&format!("{JOINED} WHERE j.ml_user_id = ?1"), [account])
}

/// Every account of a client, by number.
pub fn accounts_of(tx: &ReadTx<'_>, client: i64) -> Result<Vec<JoinedAccount>> {
    tx.records(&format!("{JOINED} WHERE j.client_id = ?1 ORDER BY j.ml_user_id"), [client])
}

/// Every account of every client, by the client's name.
pub fn all_accounts(tx: &ReadTx<'_>) -> Result<Vec<JoinedAccount>> {
    tx.records(&format!("{JOINED} ORDER BY c.search, c.client_id, j.ml_user_id"), [])
}

/// Whether a person may use the agency's pages, and so can look after clients.
pub fn is_of_team(tx: &ReadTx<'_>, person: UserId) -> Result<bool> {
    let account = accounts::by_id(tx, person)?;
    Ok(account.is_some_and(|account| account.is_of_agency() && !account.suspended))
}

/// All clients with their names, by name.
pub fn names(tx: &ReadTx<'_>) -> Result<Vec<(i64, String)>> {
    tx.tuples("SELECT client_id, name FROM agency_client ORDER BY search, client_id", [])
}

/// Makes the agency look after a linked account for a client. Returns false
/// when the account is not linked, or already belongs to a client.
pub fn join(tx: &WriteTx<'_>, client: i64, account: MlUserId) -> Result<bool> {
    let joined = tx.execute(
        "INSERT INTO agency_account (ml_user_id, client_id, owner_id, joined_at)
         SELECT ml_user_id, ?1, owner_id, ?3 FROM ml_account WHERE ml_user_id = ?2
         ON CONFLICT DO NOTHING",
        (client, account, tx.now()),
    )?;
    // A new account makes its client the next one to be read.
    if joined > 0 {
        tx.execute("UPDATE agency_client SET tried_at = NULL WHERE client_id = ?1", [client])?;
    }
    Ok(joined > 0)
}

/// Stops looking after an account; false when it does not belong to the client.
pub fn leave(tx: &WriteTx<'_>, client: i64, account: MlUserId) -> Result<bool> {
    let left = tx.execute(
        "DELETE FROM agency_account WHERE client_id = ?1 AND ml_user_id = ?2",
        (client, account),
    )?;
    Ok(left > 0)
}

/// Listings that a report shows.
const TOP: u32 = 10;

row! {
    /// A listing that sold.
    #[derive(Clone, Debug)]
    pub struct TopListing {
        pub title: String = "max(i.title)",
        pub orders: i64 = "count(DISTINCT sale.order_id)",
        pub units: i64 = "sum(sale.units)",
        pub cents: Cents = "sum(sale.cents)",
    }
}

/// The best-selling listings of a client's accounts since an instant; only paid
/// orders count, line by line, and only amounts in reais are added up.
pub fn top_listings(tx: &ReadTx<'_>, client: i64, since: Instant) -> Result<Vec<TopListing>> {
    let of = format!(
        "o.owner_id = ?1 AND o.created_at >= ?3 AND o.ml_user_id = ?2 AND o.status IN ({sales})",
        sales = OrderStatus::sales_in_sql()
    );
    let best = format!(
        "FROM (SELECT o.order_id, o.item_id, o.variation_id, o.item_version, o.quantity AS units,
                      iif(o.currency = {BRL}, o.total_cents, 0) AS cents
               FROM sale_order o WHERE {of} AND o.basket_id IS NULL
               UNION ALL
               SELECT o.order_id, b.item_id, b.variation_id, b.item_version, b.units,
                      iif(o.currency = {BRL}, b.units * b.unit_cents, 0)
               FROM sale_order o JOIN basket_line b ON b.basket_id = o.basket_id WHERE {of}) sale
         JOIN sold_item i ON i.item_id = sale.item_id AND i.variation_id = sale.variation_id
             AND i.version = sale.item_version
         GROUP BY sale.item_id ORDER BY sum(sale.cents) DESC, sale.item_id LIMIT ?4"
    );
    let mut listings: Vec<TopListing> = Vec::new();
    for account in accounts_of(tx, client)? {
        listings.extend(tx.records(&best, (account.owner, account.ml_user_id, since, TOP))?);
    }
    listings.sort_by_key(|one| std::cmp::Reverse((one.cents.0, one.orders)));
    listings.truncate(TOP as usize);
    Ok(listings)
}

/// Removes the row of a client.
pub fn remove(tx: &WriteTx<'_>, client: i64) -> Result<()> {
    tx.run("DELETE FROM agency_client WHERE client_id = ?1", [client])
}
