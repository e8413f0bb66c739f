//! Pages of orders, at a cost that does not grow with their number.
//!
//! Without filter by state or store a page is a range of the clustered table;
//! with one it is merged from runs (`runs.rs`, which also has the totals).
//! Orders of listings are found, and counted, by `sale_order_of_item`; those of a state of
//! the parcel, and those that changed since, by indexes of their own (`narrow.rs`).

use std::sync::Arc;
use std::sync::LazyLock;

use rusqlite::Row;
use rusqlite::types::Type;

use super::cost::Costs;
use super::effects::and_more;
use super::left::{Earned, Told};
use super::lines::{StoredLine, of_basket};
use super::runs::{self, Window};
use super::sold::{SoldKey, Worded, Wording};
use super::{changed_at, is_sale_status, narrow};
use crate::base::clock::{Day, Instant, Zone};
use crate::base::ids::{MlUserId, OrderId, UserId};
use crate::base::money::Cents;
use crate::db::{DbError, Filters, ReadTx, Record as _, Result};
use crate::marketplace::books::parcel::{Marks, ParcelStage};
use crate::marketplace::books::words::{BRL, Words};
use crate::row;

/// The filters and the page of a list of orders.
#[derive(Clone)]
pub struct Filter {
    /// States of orders; empty for all.
    pub status: Vec<String>,
    /// States of parcels; empty for all, also for orders without a parcel.
    pub shipping: Vec<String>,
    /// Marketplace seller id.
    pub store: Option<i64>,
    /// Only what changed here from this instant on, what changed first at the front.
    pub changed_since: Option<Instant>,
    /// The order after which the page begins.
    pub after: Option<OrderPosition>,
    /// First and last civil day of creation.
    pub days: (Option<Day>, Option<Day>),
    /// The same as instants: from this one on, and before this one.
    pub created: (Option<Instant>, Option<Instant>),
    /// Numbers of listings; `None` for all.
    pub items: Option<Vec<i64>>,
    pub limit: i64,
    pub offset: i64,
    pub oldest_first: bool,
    /// The time zone of the days.
    pub zone: Zone,
    /// Reads only the keys of the orders.
    pub keys_only: bool,
}

impl Filter {
    /// The first `limit` of all orders, the newest at the front.
    pub const fn all(zone: Zone, limit: i64) -> Self {
        Self {
            status: Vec::new(),
            shipping: Vec::new(),
            store: None,
            changed_since: None,
            after: None,
            days: (None, None),
            created: (None, None),
            items: None,
            limit,
            offset: 0,
            oldest_first: false,
            zone,
            keys_only: false,
        }
    }

    /// Whether it asks for all stores and states.
    pub const fn is_whole(&self) -> bool {
        self.status.is_empty() && self.store.is_none()
    }
}

row! {
    /// An order as lists show it.
    #[expect(clippy::struct_field_names, reason = "the marketplace calls it the order id")]
    pub struct Order {
        pub created_at: Instant,
        pub order_id: OrderId,
        pub ml_user_id: MlUserId,
        /// Number of a word, as `currency`, `shipping_status` and
        /// `logistic_type`.
        pub status: i64,
        pub total: Cents = "total_cents",
        pub currency: i64,
        pub quantity: i64,
        /// Empty when the marketplace does not say.
        pub buyer_nickname: String,
        pub shipping_id: Option<i64>,
        pub shipping_status: Option<i64>,
        pub logistic_type: Option<i64>,
        /// What the marketplace takes of it; `None` while it does not tell.
        pub fee: Option<Cents> = "fee_cents",
        pub freight: Option<Cents> = "freight_cents",
        /// What happened when, as far as the marketplace tells.
        pub paid_at: Option<Instant>,
        pub printed_at: Option<Instant>,
        pub sent_at: Option<Instant>,
        pub delivered_at: Option<Instant>,
        /// When what programs see of it changed here, as a number that grows with each change.
        pub changed: i64,
        /// Number of the listing, of several lines that of the first.
        pub item_id: i64,
        variation_id: i64,
        item_version: i64,
        /// Its lines, when it has several.
        basket: Option<i64> = "basket_id",
        pub pack_id: Option<i64>,
        /// Number of a word.
        pub substatus: Option<i64>,
        pub stage: ParcelStage,
        pub marks: Marks,
        /// What of the total the buyer got back.
        pub refunded: Cents = "refunded_cents",
        /// Until when its parcel is to be handed over, when the marketplace says so.
        pub dispatch_by: Option<Instant>,
        /// Index in the page's sold items, which it gets with its place on the page.
        sold: usize = "0" => |_: i64| 0,
        /// Index of its lines in the page's baskets, when it has several.
        lines_at: usize = "0" => |_: i64| 0,
    }
}

/// A line of an order as pages and programs show it.
#[derive(Clone, Copy)]
pub struct ShownLine<'p> {
    pub line: StoredLine,
    pub wording: Wording<'p>,
}

impl Order {
    /// Whether it counts as a sale.
    pub const fn is_sale(&self) -> bool {
        is_sale_status(self.status)
    }

    /// When what programs see of it changed here.
    pub const fn changed_at(&self) -> Instant {
        changed_at(self.changed)
    }

    /// Where it stands in the list of a filter.
    pub fn position(&self, filter: &Filter) -> OrderPosition {
        let at = if filter.changed_since.is_some() { self.changed } else { self.created_at.0 };
        (at, self.order_id.0)
    }
}

impl Order {
    /// Its line, when it has one alone.
    fn only_line(&self) -> StoredLine {
        StoredLine {
            item_id: self.item_id,
            variation_id: self.variation_id,
            item_version: self.item_version,
            units: self.quantity,
            unit: Cents(self.total.0 / self.quantity.max(1)),
            fee: self.fee,
        }
    }
}

/// Creation time and number of an order.
pub type Key = (i64, i64);

/// What a list is sorted by: of an order its time of creation, or the number of its
/// change, and its own number.
pub type OrderPosition = (i64, i64);

#[derive(Default)]
pub struct OrderPage {
    pub total: i64,
    pub orders: Vec<Order>,
    /// Whether more listings match the search than are shown.
    pub has_more: bool,
    /// Keys of orders that were found and are not read yet.
    keys: Vec<Key>,
    /// The words of its orders, each once; there are only a few.
    words: Vec<(i64, Arc<str>)>,
    /// The lines of those of its orders that have several.
    baskets: Vec<Vec<StoredLine>>,
    /// The items that its orders sold, line by line: the keys, and the wordings after all
    /// orders are read.
    sold: Vec<SoldKey>,
    worded: Worded,
}

impl OrderPage {
    /// The word of a number that one of its orders has.
    pub fn word(&self, number: i64) -> &str {
        let known = self.words.iter().find(|(known, _)| *known == number);
        known.map_or("", |(_, text)| text)
    }

    /// The same; empty without a number.
    pub fn word_or_none(&self, number: Option<i64>) -> &str {
        number.map_or("", |number| self.word(number))
    }

    /// The wording of an order's first line.
    pub fn sold(&self, order: &Order) -> Wording<'_> {
        self.worded.at(order.sold)
    }

    /// How many lines an order has.
    pub fn line_count(&self, order: &Order) -> usize {
        order.basket.map_or(1, |_| self.baskets[order.lines_at].len())
    }

    /// The lines of an order.
    pub fn lines<'p>(&'p self, order: &'p Order) -> impl Iterator<Item = ShownLine<'p>> {
        (0..self.line_count(order)).map(move |place| {
            let line = match order.basket {
                Some(_) => self.baskets[order.lines_at][place],
                None => order.only_line(),
            };
            ShownLine { line, wording: self.worded.at(order.sold + place) }
        })
    }

    /// Units of an order's first line.
    pub fn first_units(&self, order: &Order) -> i64 {
        self.lines(order).next().map_or(order.quantity, |shown| shown.line.units)
    }

    /// What stands behind the first line of an order: ` e mais 2 produtos`; empty with one.
    pub fn and_more(&self, order: &Order) -> String {
        and_more(self.line_count(order))
    }

    /// An amount of an order, with its currency, for pages.
    pub fn money(&self, order: &Order, amount: Cents) -> String {
        amount.in_currency(self.word(order.currency))
    }

    /// What each of its orders has earned for a seller with a tax in percent; `None` for
    /// an order that is no sale, or in another currency than costs are.
    pub fn earned(
        &self,
        tx: &ReadTx<'_>,
        words: &Words,
        owner: UserId,
        tax: f64,
    ) -> Result<Vec<Option<Earned>>> {
        let mut costs = Costs::of(tx, words, owner);
        costs.learn(&self.sold)?;
        let mut earned = |order: &Order| {
            if !order.is_sale() || order.currency != BRL {
                return Ok(None);
            }
            let Order { total: price, refunded, fee, freight, .. } = *order;
            let (unit, cost) = if order.basket.is_some() {
                (None, costs.of_lines(&self.baskets[order.lines_at])?)
            } else {
                let unit = costs.unit(order.only_line().key())?;
                (unit, unit.map(|unit| Cents(unit.cents.0.saturating_mul(order.quantity))))
            };
            Ok(Some(Earned::of(Told { price, refunded, fee, freight }, unit, cost, tax)))
        };
        self.orders.iter().map(&mut earned).collect()
    }

    /// The keys of its orders.
    pub fn into_keys(self) -> Vec<Key> {
        let read = self.orders.iter().map(|order| (order.created_at.0, order.order_id.0));
        read.chain(self.keys).collect()
    }
}

/// SQL for the orders that `source` selects. Title and SKU of what was sold are
/// not joined: the cache in memory has nearly all of them.
fn orders(source: &str) -> String {
    format!("SELECT {} FROM sale_order {source}", Order::COLUMNS)
}

/// Reads one page of an owner's orders with their total.
pub fn read_page(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
) -> Result<OrderPage> {
    if filter.changed_since.is_some() || !filter.shipping.is_empty() {
        return narrow::read(tx, words, owner, filter);
    }
    if let Some(items) = &filter.items {
        return read_listings(tx, words, owner, filter, items);
    }
    if filter.is_whole() && filter.after.is_some() {
        // A walk knows since its first page how many there are.
        return OrderPage::of(0, filter).load_span(tx, words, owner, filter, &Window::of(filter));
    }
    let runs = runs::matching_runs(tx, words, owner, filter)?;
    let mut page = OrderPage::of(runs.iter().map(|run| run.orders).sum(), filter);
    let Some(window) = runs::window(tx, owner, filter, &runs, page.total)? else {
        return Ok(page);
    };
    if filter.is_whole() {
        return page.load_span(tx, words, owner, filter, &window);
    }
    page.keys = runs::merged(tx, owner, &runs, &window)?;
    if filter.keys_only { Ok(page) } else { page.load_orders(tx, words, owner) }
}

/// The order that has a key, as a page of at most one.
pub fn read_key(tx: &ReadTx<'_>, words: &Words, owner: UserId, key: Key) -> Result<OrderPage> {
    OrderPage { keys: vec![key], ..OrderPage::default() }.load_orders(tx, words, owner)
}

/// One order of an owner, as a page of at most one.
pub fn read_one(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    order: OrderId,
) -> Result<OrderPage> {
    read_some(tx, words, owner, &[order])
}

/// Some orders of an owner by their numbers, the newest first.
pub fn read_some(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    orders_wanted: &[OrderId],
) -> Result<OrderPage> {
    // The plus sign makes SQLite use the index of order numbers.
    static SQL: LazyLock<String> =
        LazyLock::new(|| orders("WHERE order_id = ?1 AND +owner_id = ?2"));
    let mut page = OrderPage::default();
    for order in orders_wanted {
        tx.each(&SQL, (order, owner), |row| page.take(tx, words, row))?;
    }
    page.orders.sort_by_key(|order| std::cmp::Reverse((order.created_at, order.order_id)));
    page.total = i64::try_from(page.orders.len()).unwrap_or(0);
    page.with_wordings(tx, words, owner)
}

/// Orders of some listings. They are counted and skipped with indexes alone.
/// Orders of several listings are merged from the start of each.
fn read_listings(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
    items: &[i64],
) -> Result<OrderPage> {
    let window = Window::of(filter);
    let states = one_of("status", &numbers(tx, words, &filter.status)?);
    let mut lists: Vec<(&str, i64)> = Vec::new();
    for item in items {
        if let Some(store) = filter.store
            && !sells(tx, owner, store, *item)?
        {
            continue;
        }
        lists.push(("sale_order", *item));
        // Further lines of orders are few, and stand in a table of their own.
        let beside = "SELECT 1 FROM sale_line WHERE owner_id = ?1 AND item_id = ?2 LIMIT 1";
        if tx.maybe::<i64>(beside, (owner, item))?.is_some() {
            lists.push(("sale_line", *item));
        }
    }
    let has_lines = lists.iter().any(|(table, _)| *table == "sale_line");
    let (limit, offset) = window.of_each(lists.len());
    let mut total = 0;
    let mut keys: Vec<Key> = Vec::new();
    for (table, item) in &lists {
        let mut filters = Filters::new(
            "owner_id = :owner AND item_id = :item AND created_at >= :from AND created_at < :before",
            &[
                (":owner", &owner),
                (":item", item),
                (":from", &window.from),
                (":before", &window.before),
            ],
        );
        if !filter.status.is_empty() {
            filters.and(&states, &[]);
        }
        // A walk knows since its first page how many there are.
        if filter.after.is_none() && !has_lines {
            let count = format!("SELECT count(*) FROM {table} WHERE {}", filters.sql());
            total += tx.value::<i64>(&count, filters.values())?;
        }
        filters
            .and(&window.is_beyond(), &[(":after", &window.after.0), (":number", &window.after.1)]);
        let find = format!(
            "SELECT created_at, order_id FROM {table} WHERE {condition}
             ORDER BY created_at {way}, order_id {way} LIMIT :limit OFFSET :offset",
            condition = filters.sql(),
            way = window.way(),
        );
        filters.bind(&[(":limit", &limit), (":offset", &offset)]);
        keys.extend(tx.tuples::<Key>(&find, filters.values())?);
    }
    if has_lines && filter.after.is_none() {
        total =
            count_once(tx, owner, &window, &lists, (!filter.status.is_empty()).then_some(&states))?;
    }
    if lists.len() > 1 {
        // An order that sold two of the listings is one order.
        keys.sort_unstable();
        keys.dedup();
        window.cut(&mut keys);
    }
    OrderPage::of_keys(tx, words, owner, filter, keys, total)
}

/// How many orders some lists of listings have, each once.
fn count_once(
    tx: &ReadTx<'_>,
    owner: UserId,
    window: &Window,
    lists: &[(&str, i64)],
    states: Option<&String>,
) -> Result<i64> {
    let states = states.map(|states| format!(" AND {states}")).unwrap_or_default();
    let parts: Vec<String> = lists
        .iter()
        .map(|(table, item)| {
            format!(
                "SELECT created_at, order_id FROM {table}
                 WHERE owner_id = ?1 AND item_id = {item} AND created_at >= ?2 AND created_at < ?3{states}"
            )
        })
        .collect();
    let sql = format!("SELECT count(*) FROM ({})", parts.join(" UNION "));
    tx.value(&sql, (owner, window.from, window.before))
}

/// The numbers of words; those that nothing here has are left out.
pub(super) fn numbers(tx: &ReadTx<'_>, words: &Words, texts: &[String]) -> Result<Vec<i64>> {
    let mut numbers = Vec::with_capacity(texts.len());
    for text in texts {
        numbers.extend(words.find(tx, text)?);
    }
    Ok(numbers)
}

/// The condition that a column has one of some numbers.
pub(super) fn one_of(column: &str, numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("{column} IN ({})", numbers.join(", "))
}

/// Whether a store has sold from a listing; each listing belongs to one store.
fn sells(tx: &ReadTx<'_>, owner: UserId, store: i64, item: i64) -> Result<bool> {
    let seller: Option<i64> = tx.maybe(
        "SELECT ml_user_id FROM sale_order WHERE owner_id = ?1 AND item_id = ?2 LIMIT 1",
        (owner, item),
    )?;
    let seller = match seller {
        Some(seller) => Some(seller),
        None => tx.maybe(
            "SELECT ml_user_id FROM sale_line WHERE owner_id = ?1 AND item_id = ?2 LIMIT 1",
            (owner, item),
        )?,
    };
    Ok(seller == Some(store))
}

impl OrderPage {
    /// A page without its orders.
    fn of(total: i64, filter: &Filter) -> Self {
        let room = match filter {
            Filter { keys_only: true, .. } => 0,
            Filter { after: Some(_), limit, .. } => *limit,
            Filter { limit, .. } => total.min(*limit),
        };
        let orders = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        Self { total, orders, ..Self::default() }
    }

    /// A page of the orders whose keys were found.
    pub(super) fn of_keys(
        tx: &ReadTx<'_>,
        words: &Words,
        owner: UserId,
        filter: &Filter,
        keys: Vec<Key>,
        total: i64,
    ) -> Result<Self> {
        let page = Self { keys, ..Self::of(total, filter) };
        if filter.keys_only { Ok(page) } else { page.load_orders(tx, words, owner) }
    }

    /// Removes the orders that do not match a filter.
    pub fn keep(&mut self, filter: &Filter) {
        let mut orders = std::mem::take(&mut self.orders);
        orders.retain(|order| {
            let status = self.word(order.status);
            (filter.status.is_empty() || filter.status.iter().any(|wanted| wanted == status))
                && filter.store.is_none_or(|store| store == order.ml_user_id.0)
                && filter.created.0.is_none_or(|from| order.created_at >= from)
                && filter.created.1.is_none_or(|before| order.created_at < before)
        });
        self.orders = orders;
        self.total = i64::try_from(self.orders.len()).unwrap_or(0);
    }

    /// Adds the wordings of the page's orders, which were read without them.
    fn with_wordings(self, tx: &ReadTx<'_>, words: &Words, owner: UserId) -> Result<Self> {
        Ok(Self { worded: words.sold.of(tx, owner, &self.sold)?, ..self })
    }

    /// Reads the orders of a window of all of an owner's orders.
    fn load_span(
        mut self,
        tx: &ReadTx<'_>,
        words: &Words,
        owner: UserId,
        filter: &Filter,
        window: &Window,
    ) -> Result<Self> {
        let rest = format!(
            "WHERE owner_id = ?1 AND created_at >= ?2 AND created_at < ?3
               AND (created_at, order_id) {beyond} (?6, ?7)
             ORDER BY created_at {way}, order_id {way}
             LIMIT ?4 OFFSET ?5",
            beyond = window.beyond(),
            way = window.way(),
        );
        let Window { from, before, limit, offset, after, .. } = *window;
        let asked = (owner, from, before, limit, offset, after.0, after.1);
        if filter.keys_only {
            self.keys =
                tx.tuples(&format!("SELECT created_at, order_id FROM sale_order {rest}"), asked)?;
            return Ok(self);
        }
        tx.each(&orders(&rest), asked, |row| self.take(tx, words, row))?;
        self.with_wordings(tx, words, owner)
    }

    /// Reads the orders whose keys were found.
    fn load_orders(mut self, tx: &ReadTx<'_>, words: &Words, owner: UserId) -> Result<Self> {
        let sql = orders("WHERE owner_id = ?1 AND created_at = ?2 AND order_id = ?3");
        for (created_at, order_id) in std::mem::take(&mut self.keys) {
            tx.each(&sql, (owner, created_at, order_id), |row| self.take(tx, words, row))?;
        }
        self.with_wordings(tx, words, owner)
    }

    fn take(&mut self, tx: &ReadTx<'_>, words: &Words, row: &Row<'_>) -> rusqlite::Result<()> {
        let mut order = Order { sold: self.sold.len(), ..Order::read(row)? };
        match order.basket {
            None => self.sold.push((order.item_id, order.variation_id, order.item_version)),
            Some(basket) => {
                let lines = of_basket(tx, basket).map_err(inside_row)?;
                self.sold.extend(lines.iter().map(StoredLine::key));
                order.lines_at = self.baskets.len();
                self.baskets.push(lines);
            }
        }
        let of_all = [Some(order.status), Some(order.currency)];
        let of_parcel = [order.shipping_status, order.logistic_type, order.substatus];
        for number in of_all.into_iter().chain(of_parcel) {
            self.note_word(tx, words, number)?;
        }
        self.orders.push(order);
        Ok(())
    }

    /// Adds a word that the page does not have yet.
    fn note_word(
        &mut self,
        tx: &ReadTx<'_>,
        words: &Words,
        number: Option<i64>,
    ) -> rusqlite::Result<()> {
        if let Some(number) = number
            && !self.words.iter().any(|(known, _)| *known == number)
        {
            self.words.push((number, words.text(tx, number).map_err(inside_row)?));
        }
        Ok(())
    }
}

/// Turns an error of a lookup into an error of the row that needs it.
fn inside_row(error: DbError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, Box::new(error))
}
