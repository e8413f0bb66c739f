//! `list_orders`: the seller's orders, newest first; `get_order`: one of them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::app::App;
use crate::base::ids::{ITEM, item_number};
use crate::base::{Cents, DAY_S, Day, Instant, MlUserId, OffsetTime, OrderId, UserId, Zone};
use crate::changes;
use crate::db::{self, Lane, ReadTx};
use crate::http::schema::{DAY, INSTANT, word_list};
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::order_status::{ORDER_STATES, PARCEL_STATES};
use crate::marketplace::books::orders::list::{
    self, Filter, Order, OrderPage, OrderPosition, ShownLine,
};
use crate::marketplace::books::orders::sold::Wording;
use crate::marketplace::books::words::Words;
use crate::partner::cursor::{CursorPagination, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, days, reading};
use crate::partner::operation::{Begun, Operation};

/// Changes of so many seconds are counted in place; those of longer in the slow lane.
const COUNTED_AT_ONCE_S: i64 = 2 * DAY_S;

list_arguments! {
    /// Which orders are asked for.
    pub struct ListOrders {
        /// States of orders with commas between, such as `paid,cancelled`.
        #[schemars(extend("pattern" = word_list(&ORDER_STATES), "examples" = ["paid", "paid,cancelled"]))]
        status: String,
        /// States of parcels with commas between, such as `ready_to_ship`.
        #[schemars(extend("pattern" = word_list(&PARCEL_STATES), "examples" = ["ready_to_ship"]))]
        shipping_status: String,
        /// Marketplace seller id of one connected account.
        store: MlUserId,
        /// First civil day of `date_created`.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        from: String,
        /// Last civil day of `date_created`; not before `from`.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        to: String,
        /// Marketplace listing id, such as `MLB123`.
        #[schemars(regex(pattern = ITEM))]
        ml_id: String,
        /// Orders that changed here since, this second included, in the order of their changes: a time as `updated_at` has it, or with an offset.
        #[schemars(regex(pattern = INSTANT), extend("examples" = ["2026-11-20T08:41:27"]))]
        updated_since: String,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

impl Operation for ListOrders {
    type By = Seller;
    type Reply = OrderList;

    /// First pages are polled, so they are cached; further pages are rarely
    /// read again.
    const KEEPS: Option<fn(&OrderList) -> bool> = Some(|list| list.is_first);
    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];
    const DATED: bool = true;

    fn begin(self, app: &App, seller: &Seller, check: Check) -> Begun<Self> {
        let (owner, now) = (seller.account.user_id, seller.called_at);
        let asked = self.read(app, owner, check)?;
        let is_slow = asked.is_slow(now);
        reading(app, is_slow, move |app, lane| read(app, lane, owner, now, asked))
    }

    fn last_modified(list: &OrderList) -> Option<Instant> {
        Some(list.changed)
    }
}

/// The orders that are asked for, and the page of them.
struct Asked {
    filter: Filter,
    walk: Walk<OrderPosition>,
}

impl Asked {
    /// Whether reading may take long: far pages, and where orders are counted or passed
    /// over along an index.
    fn is_slow(&self, now: Instant) -> bool {
        let Filter { items, shipping, changed_since, after, .. } = &self.filter;
        let is_narrow = items.is_some() || !shipping.is_empty();
        let is_counted =
            is_narrow || changed_since.is_some_and(|since| now.since(since) > COUNTED_AT_ONCE_S);
        let is_searched = changed_since.is_some()
            && (is_narrow || !self.filter.is_whole() || self.filter.days != (None, None));
        self.walk.window.is_far() || after.is_none() && is_counted || is_searched
    }
}

impl ListOrders {
    fn read(self, app: &App, owner: UserId, mut check: Check) -> Result<Asked, Problem> {
        let zone = app.zone();
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        let status: Vec<String> = owned(check.words("status", self.status, &ORDER_STATES));
        let shipping: Vec<String> =
            owned(check.words("shipping_status", self.shipping_status, &PARCEL_STATES));
        let store = check.optional("store", self.store).map(|MlUserId(store)| store);
        let (from, to) = days(&mut check, self.from, self.to);
        let listing = check.optional("ml_id", self.ml_id);
        let item_id = listing.as_deref().map(item_number);
        if item_id == Some(None) {
            check.fail("ml_id", "must be a listing id, such as MLB123");
        }
        let changed_since = check.instant("updated_since", self.updated_since, zone);
        let window = Window::read(&mut check, self.limit, self.offset);
        let filters =
            format!("{:?}", (&status, &shipping, store, from, to, item_id, changed_since));
        let scope = ListScope::of(app, owner, "orders", &filters);
        let walk: Walk<OrderPosition> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        let starts = |day: Day| zone.start_of(day);
        let db::RowWindow { limit, offset } = walk.rows();
        let filter = Filter {
            status,
            shipping,
            store,
            days: (from, to),
            created: (from.map(starts), to.map(|day| starts(day.plus(1)))),
            items: item_id.flatten().map(|item| vec![item]),
            changed_since,
            after: walk.after,
            offset: offset.into(),
            ..Filter::all(zone, limit.into())
        };
        Ok(Asked { filter, walk })
    }
}

/// Reads a page, and when the seller's orders last changed.
fn read(
    app: &App,
    lane: Lane,
    owner: UserId,
    now: Instant,
    Asked { filter, walk }: Asked,
) -> Result<OrderList, Problem> {
    let issued = &app.marketplace.issued;
    let mut at_most = now;
    loop {
        // Marked before reading, so that later changes get a later time than
        // the one returned here.
        let under_way = issued.mark(owner, at_most);
        let (changed, mut page) = app.db.read(lane, |tx| {
            stores::require(tx, owner, filter.store.map(MlUserId))?;
            let changed = changes::newest(tx, owner)?.unwrap_or(Instant(0));
            let page = list::read_page(tx, &app.marketplace.words, owner, &filter)?;
            Ok::<_, Problem>((changed, page))
        })?;
        if changed <= at_most {
            let total = walk.total(page.total);
            let place = |order: &Order| order.position(&filter);
            return Ok(OrderList {
                pagination: walk.pagination(&mut page.orders, total, place),
                page,
                zone: app.zone(),
                changed: if under_way { changed.minus(1) } else { changed },
                is_first: walk.is_first(),
            });
        }
        at_most = changed;
    }
}

/// Which order is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetOrder {
    /// Number of the order at the marketplace.
    #[schemars(extend("examples" = ["2000012345678901"]))]
    order_id: Field<OrderId>,
}

impl Operation for GetOrder {
    type By = Seller;
    type Reply = OneOrder;

    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let order = check.required("order_id", self.order_id);
        check.finish()?;
        let owner = seller.account.user_id;
        reading(app, false, move |app, lane| {
            let words = &app.marketplace.words;
            let page = app.db.read(lane, |tx| list::read_one(tx, words, owner, order))?;
            if page.orders.is_empty() {
                return Err(Problem::not_found());
            }
            Ok(OneOrder { page, zone: app.zone() })
        })
    }
}

/// An order as it was read; [`OrderItem`] is its JSON.
pub struct OneOrder {
    page: OrderPage,
    zone: Zone,
}

impl Serialize for OneOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let order = self.page.orders.first();
        order.map(|order| OrderItem::of(&self.page, order, self.zone)).serialize(serializer)
    }
}

impl JsonSchema for OneOrder {
    fn schema_name() -> Cow<'static, str> {
        OrderItem::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        OrderItem::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        OrderItem::json_schema(generator)
    }
}

/// One order of a seller as JSON, in the form of the list.
pub(in crate::partner) fn one(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    order: OrderId,
    zone: Zone,
) -> db::Result<Option<String>> {
    let page = list::read_one(tx, words, owner, order)?;
    let shown = page.orders.first().map(|order| OrderItem::of(&page, order, zone));
    Ok(shown.and_then(|shown| serde_json::to_string(&shown).ok()))
}

/// A page of orders as it was read; [`Orders`] is its JSON.
pub struct OrderList {
    page: OrderPage,
    pagination: CursorPagination,
    zone: Zone,
    changed: Instant,
    /// Whether it is the first page of its list.
    is_first: bool,
}

impl Serialize for OrderList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let orders = self.page.orders.iter();
        let data = orders.map(|order| OrderItem::of(&self.page, order, self.zone)).collect();
        Orders { data, pagination: &self.pagination }.serialize(serializer)
    }
}

impl JsonSchema for OrderList {
    fn schema_name() -> Cow<'static, str> {
        Orders::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Orders::json_schema(generator)
    }
}

#[derive(Serialize, JsonSchema)]
struct Orders<'o> {
    /// The entries of this page.
    data: Vec<OrderItem<'o>>,
    /// Where this page stands in the list.
    pagination: &'o CursorPagination,
}

/// An order.
#[derive(Serialize, JsonSchema)]
struct OrderItem<'o> {
    /// Number of the order at the marketplace.
    order_id: OrderId,
    /// Marketplace listing id of what was sold.
    ml_id: &'o str,
    /// Marketplace seller id of the connected account that sold it.
    ml_user_id: MlUserId,
    /// State of the order, such as `paid` or `cancelled`.
    status: &'o str,
    /// What the buyer pays for the goods, without shipping, in `currency`.
    total_amount: Cents,
    /// Currency of the amount, such as `BRL`.
    currency: &'o str,
    /// Units sold, of all lines.
    quantity: i64,
    /// Title of the listing when it was sold.
    title: &'o str,
    /// SKU of what was sold; empty when it has none.
    sku: &'o str,
    /// What was sold, line by line; `ml_id`, `title` and `sku` above are those of the first.
    #[schemars(with = "Vec<LineItem<'o>>")]
    items: Lines<'o>,
    /// The buyer's name at the marketplace.
    buyer_nickname: &'o str,
    /// When the order was made, as civil time of the service.
    date_created: String,
    /// The same instant with its offset from UTC.
    date_created_at: OffsetTime,
    /// When something of what stands here last changed on this platform, as civil time of the service.
    updated_at: String,
    /// The same instant with its offset from UTC.
    updated_at_rfc3339: OffsetTime,
    /// The parcel.
    shipping: Shipping<'o>,
}

/// The lines of an order, written without being put together first: a page has many.
struct Lines<'o> {
    page: &'o OrderPage,
    order: &'o Order,
}

impl Serialize for Lines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.page.lines(self.order).map(LineItem::of))
    }
}

/// A line of an order.
#[derive(Serialize, JsonSchema)]
struct LineItem<'o> {
    /// Marketplace listing id.
    ml_id: &'o str,
    /// Number of the listing's variation; null without variations.
    variation_id: Option<String>,
    /// SKU; empty when it has none.
    sku: &'o str,
    /// Title of the listing when it was sold.
    title: &'o str,
    /// Units of this line.
    quantity: i64,
    /// What one unit cost, after discounts, in `currency` of the order.
    unit_price: Cents,
}

impl<'o> LineItem<'o> {
    fn of(ShownLine { line, wording }: ShownLine<'o>) -> Self {
        let Wording { ml_id, title, sku } = wording;
        let variation_id = line.variation();
        Self { ml_id, variation_id, sku, title, quantity: line.units, unit_price: line.unit }
    }
}

/// The shipment of an order; nulls until there is one.
#[derive(Serialize, JsonSchema)]
struct Shipping<'o> {
    /// Number of the shipment at the marketplace.
    id: Option<String>,
    /// Such as `ready_to_ship` or `delivered`.
    status: Option<&'o str>,
    /// How it travels, such as `drop_off`.
    logistic_type: Option<&'o str>,
}

impl<'o> OrderItem<'o> {
    fn of(page: &'o OrderPage, order: &'o Order, zone: Zone) -> Self {
        let word = |number: i64| page.word(number);
        let Wording { ml_id, title, sku } = page.sold(order);
        Self {
            order_id: order.order_id,
            ml_id,
            ml_user_id: order.ml_user_id,
            status: word(order.status),
            total_amount: order.total,
            currency: word(order.currency),
            quantity: order.quantity,
            title,
            sku,
            items: Lines { page, order },
            buyer_nickname: &order.buyer_nickname,
            date_created: zone.partner(order.created_at),
            date_created_at: zone.with_offset(order.created_at),
            updated_at: zone.partner(order.changed_at()),
            updated_at_rfc3339: zone.with_offset(order.changed_at()),
            shipping: Shipping {
                id: order.shipping_id.map(|id| id.to_string()),
                status: order.shipping_status.map(word),
                logistic_type: order.logistic_type.map(word),
            },
        }
    }
}
