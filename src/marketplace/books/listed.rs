//! Lists of the books in the seller's panel, as page, JSON or CSV: the common
//! part of the lists of listings, questions and claims.

use serde::Serialize;

use super::words::Words;
use crate::app::Visit;
use crate::base::ids::item_number;
use crate::base::text::{like_beginning, search_key};
use crate::base::{MlUserId, UserId};
use crate::db::{self, Filters, Page, ReadTx, Record};
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::{self, Stores};
use crate::panel::{ListQuery, ListReply, Listing, PageTime, Table, export, list};
use crate::services::Services;

/// A record of the books that its owner sees in a list. Its table has the
/// columns `owner_id` and `ml_user_id`.
pub trait Listed: Record + 'static {
    /// Its row in JSON and CSV.
    type Wire: Serialize;

    const LIST: &'static Listing;
    const TABLE: &'static str;
    /// Names of the columns with the marketplace's number and with the state.
    const ID: &'static str;
    const STATE: &'static str = "state";
    /// SQL that counts the rows of a list without a search, up to its WHERE, where
    /// that is not their number in the table.
    const COUNT_ALL: Option<&'static str> = None;

    /// The value of the state filter that means all states; empty when there is
    /// none.
    const ALL: &'static str = "";

    /// The stored number of a state that the address names.
    fn state(tx: &ReadTx<'_>, words: &Words, name: &str) -> db::Result<i64>;

    /// Narrows a list to what a search finds.
    fn search<'w>(filters: &mut Filters<'w>, wanted: &'w RecordFilter);

    /// The column of a sort order that the address names.
    fn column(order: &str) -> &'static str;

    fn wire(self, services: &Services, stores: &Stores) -> Self::Wire;
}

/// The filters and the search of a list.
pub struct RecordFilter {
    owner: UserId,
    store: Option<MlUserId>,
    state: Option<i64>,
    is_search: bool,
    /// The search text: for a search by words, and by the beginning of a code.
    pub key: String,
    pub beginning: String,
    /// The search text as a number; -1, which no record has, when it is not
    /// one.
    pub number: i64,
    /// The number of the listing that the search text names, such as `MLB123`; else -1.
    pub item: i64,
}

/// A page of a list, as templates print it.
pub struct Found<T> {
    pub rows: Vec<T>,
    pub stores: Stores,
    pub table: Table,
    pub time: PageTime,
}

impl RecordFilter {
    fn filters<T: Listed>(&self) -> Filters<'_> {
        let mut filters = Filters::new("owner_id = :owner", &[(":owner", &self.owner)]);
        filters.and_if(&format!("{} = :state", T::STATE), ":state", &self.state);
        filters.and_if("ml_user_id = :store", ":store", &self.store);
        if self.is_search {
            T::search(&mut filters, self);
        }
        filters
    }
}

/// Whether a list must read all rows of its owner.
pub fn needs_slow_lane(request: &Request) -> bool {
    list::asks_for_much(request) || list::searches(request)
}

/// Answers a request for a list; `page` makes the page.
pub fn answer<T: Listed>(
    (app, person, request): Visit<'_>,
    page: impl FnOnce(Found<T>) -> Result<Reply, Problem>,
) -> Result<Reply, Problem> {
    let query = T::LIST.read(request)?;
    let (owner, store) = (person.account.user_id, stores::asked(request)?);
    let (stores, ids, rows, total) = app.db.read(request.lane, |tx| {
        let state = query.filter("estado").filter(|name| *name != T::ALL);
        let state = state.map(|name| T::state(tx, &app.marketplace.words, name)).transpose()?;
        let wanted = RecordFilter {
            owner,
            store,
            state,
            is_search: !query.search.is_empty(),
            key: search_key(&query.search),
            beginning: like_beginning(&query.search),
            number: query.search.parse().unwrap_or(-1),
            item: item_number(&query.search.to_ascii_uppercase()).unwrap_or(-1),
        };
        let (filters, order) = (wanted.filters::<T>(), order::<T>(&query));
        let shown = Page { table: T::TABLE, order: &order, window: query.window() };
        let stores = Stores::narrowed(tx, owner, store)?;
        if query.csv {
            let ids: Vec<i64> = filters.rows(tx, &shown, T::ID, |row| row.get(0))?;
            return Ok::<_, Problem>((stores, ids, Vec::new(), 0));
        }
        let total = match T::COUNT_ALL.filter(|_| !wanted.is_search) {
            Some(count) => filters.count(tx, count)?,
            None => filters.count(tx, &format!("SELECT count(*) FROM {}", T::TABLE))?,
        };
        let rows = filters.rows(tx, &shown, T::COLUMNS, T::read)?;
        Ok((stores, Vec::new(), rows, total))
    })?;
    if query.csv {
        return export::list(app, person, T::LIST, ids, move |app, tx, id| {
            Ok(one::<T>(tx, owner, id)?.map(|row| row.wire(app, &stores)))
        });
    }
    if request.wants_json() {
        return ListReply::of(total, rows, |row| row.wire(app, &stores));
    }
    let table = T::LIST.table_by(&query, T::LIST.heads, total, &stores.choice(store), None);
    page(Found { rows, stores, table, time: PageTime::of(app, request) })
}

fn order<T: Listed>(query: &ListQuery) -> String {
    let (column, id) = (T::column(query.sort_key), T::ID);
    let way = if query.descending { "DESC" } else { "ASC" };
    format!("{column} {way}, {id} {way}")
}

pub fn one<T: Listed>(tx: &ReadTx<'_>, owner: UserId, id: i64) -> db::Result<Option<T>> {
    let rest = format!("FROM {} WHERE {} = ?1 AND owner_id = ?2", T::TABLE, T::ID);
    tx.record(&rest, (id, owner))
}
