//! The SQL that all nouns have in common.

use super::Noun;
use crate::base::text::like_pattern;
use crate::db::{Column, Filters, ReadTx, Result, Stored, WriteTx, sorted};
use crate::http::ForPeople;
use crate::panel::ListQuery;

/// Where a noun is stored.
pub struct Rows {
    pub table: &'static str,
    /// Its number.
    pub key: &'static str,
    /// What is joined to it, with the tables of the other columns.
    pub joins: &'static str,
    /// Columns in which a search looks.
    pub searched: &'static [&'static str],
    /// The columns of each order of the list, by its name.
    pub orders: &'static [(&'static str, &'static str)],
    /// How many there may be, and the words for one more.
    pub most: (i64, ForPeople<&'static str>),
}

impl Rows {
    /// For a noun of which there may be any number.
    pub const ANY_NUMBER: (i64, ForPeople<&str>) = (i64::MAX, ForPeople(""));

    /// The condition of a search for the pattern `?1`.
    fn matching(&self) -> String {
        let like = |column: &&str| format!("{column} LIKE ?1 ESCAPE '\\'");
        let any = self.searched.iter().map(like).collect::<Vec<_>>().join(" OR ");
        format!("({any})")
    }
}

/// One page of a list, narrowed by its search and by conditions with a value
/// each, with the total.
pub fn page<N: Noun>(
    tx: &ReadTx<'_>,
    query: &ListQuery,
    narrowed: &[(&str, Column<'_>)],
) -> Result<(Vec<N>, u64)> {
    let Rows { table, key, joins, orders, .. } = N::ROWS;
    let pattern = like_pattern(&query.search);
    let mut filters = Filters::new(&N::ROWS.matching(), &[("?1", &pattern)]);
    for (condition, value) in narrowed {
        filters.and(condition, &[*value]);
    }
    let order = orders.iter().find(|(name, _)| *name == query.sort_key);
    let order = sorted(order.map_or(key, |(_, columns)| columns), query.descending);
    filters.page(tx, table, joins, &order, query.window())
}

pub fn one<N: Noun>(tx: &ReadTx<'_>, id: i64) -> Result<Option<N>> {
    let Rows { table, key, joins, .. } = N::ROWS;
    tx.record(&format!("FROM {table} {joins} WHERE {table}.{key} = ?1"), [id])
}

/// Whether there may be one more.
pub fn has_room<N: Noun>(tx: &ReadTx<'_>) -> Result<bool> {
    let there: i64 = tx.value(&format!("SELECT count(*) FROM {}", N::ROWS.table), [])?;
    Ok(there < N::ROWS.most.0)
}

/// Makes one whose entry is columns of its table; `None` when there are too many.
pub fn insert<N: Noun<Entry: Stored>>(tx: &WriteTx<'_>, entry: &N::Entry) -> Result<Option<i64>> {
    if !has_room::<N>(tx)? {
        return Ok(None);
    }
    let (into, now) = (format!("INSERT INTO {}", N::ROWS.table), tx.now());
    tx.put(&into, entry, &[("created_at", &now), ("updated_at", &now)]).map(Some)
}

/// Changes one whose entry is columns of its table.
pub fn update<N: Noun<Entry: Stored>>(tx: &WriteTx<'_>, id: i64, entry: &N::Entry) -> Result<()> {
    let Rows { table, key, .. } = N::ROWS;
    tx.change(table, entry, &[("updated_at", &tx.now())], &[(key, &id)]).map(drop)
}

pub fn delete<N: Noun>(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    let Rows { table, key, .. } = N::ROWS;
    tx.run(&format!("DELETE FROM {table} WHERE {key} = ?1"), [id])
}
