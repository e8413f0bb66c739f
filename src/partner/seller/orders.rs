//! `list_orders`: the seller's orders, newest first.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use crate::app::App;
use crate::base::clock::{Day, Instant, Zone};
use crate::base::ids::{MlUserId, OrderId, UserId};
use crate::base::money::Cents;
use crate::changes::{self, Topic};
use crate::db::Lane;
use crate::edge::guard::Seller;
use crate::edge::route::Todo;
use crate::http::input::{Check, Field};
use crate::http::schema::DAY;
use crate::http::{Code, Problem};
use crate::marketplace::account::stores;
use crate::marketplace::books::orders::list::{self, Filter, Order, OrderPage};
use crate::marketplace::books::words::ORDER_STATES;
use crate::partner::operation::{Operation, Pagination};

/// Offsets beyond this are read in the slow lane.
const FAR_OFFSET: i64 = 10_000;
/// Orders of a page, unless the caller wants another number, and at most.
const ORDERS: i64 = 50;
const MOST_ORDERS: i64 = 200;
/// Largest offset.
const MAX_OFFSET: i64 = 1_000_000_000;

/// The operation.
pub struct ListOrders;

/// What orders are asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery {
    /// A state of orders, such as `paid`.
    #[serde(default)]
    #[schemars(extend("enum" = ORDER_STATES))]
    status: Field<String>,
    /// Marketplace seller id of one connected account.
    #[serde(default)]
    #[schemars(range(min = 1, max = i64::MAX))]
    store: Field<i64>,
    /// First civil day of `date_created`.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    from: Field<String>,
    /// Last civil day of `date_created`.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    to: Field<String>,
    /// Marketplace listing id, such as `MLB123`.
    #[serde(default)]
    #[schemars(regex(pattern = list::ITEM))]
    ml_id: Field<String>,
    /// Most orders of the page.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_ORDERS), extend("default" = ORDERS))]
    limit: Field<i64>,
    /// Orders to pass over.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_OFFSET), extend("default" = 0))]
    offset: Field<i64>,
}

impl Operation for ListOrders {
    type By = Seller;
    type Args = OrdersQuery;
    type Reply = OrderList;

    /// First pages are asked for again and again; further ones rarely are.
    const KEEPS: Option<fn(&OrderList) -> bool> = Some(|list| list.pagination.offset == 0);
    /// A store that is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(app: &App, seller: &Seller, query: OrdersQuery) -> Result<Todo<OrderList>, Problem> {
        let filter = query.filter(app.zone())?;
        let (owner, now) = (seller.account.user_id, seller.called_at);
        Ok(if filter.items.is_some() || filter.offset > FAR_OFFSET {
            Todo::Slow(Box::new(move |app| read(app, Lane::Slow, owner, now, &filter)))
        } else {
            Todo::Now(read(app, Lane::InPlace, owner, now, &filter)?)
        })
    }

    fn last_modified(list: &OrderList) -> Option<Instant> {
        Some(list.changed)
    }
}

impl OrdersQuery {
    fn filter(self, zone: Zone) -> Result<Filter, Problem> {
        let mut check = Check::query();
        let status: Option<String> = check.optional("status", self.status);
        if status.as_deref().is_some_and(|status| !ORDER_STATES.contains(&status)) {
            check.fail("status", format!("must be one of {}", ORDER_STATES.join(", ")));
        }
        let store = check.number("store", self.store, 1..=i64::MAX);
        let mut day = |name, field: Field<String>| {
            let text: String = check.optional(name, field)?;
            let day = Day::parse(&text);
            if day.is_none() {
                check.fail(name, "must be a day as YYYY-MM-DD");
            }
            day
        };
        let (from, to) = (day("from", self.from), day("to", self.to));
        let listing = check.optional("ml_id", self.ml_id);
        let item_id = listing.as_deref().map(list::item_number);
        if item_id == Some(None) {
            check.fail("ml_id", "must be a listing id, such as MLB123");
        }
        let limit = check.number("limit", self.limit, 1..=MOST_ORDERS).unwrap_or(ORDERS);
        let offset = check.number("offset", self.offset, 0..=MAX_OFFSET).unwrap_or(0);
        check.finish()?;
        let starts = |day: Day| zone.start_of(day);
        Ok(Filter {
            status,
            store,
            days: (from, to),
            created: (from.map(starts), to.map(|day| starts(day.plus(1)))),
            items: item_id.flatten().map(|item| vec![item]),
            limit,
            offset,
            oldest_first: false,
            zone,
            keys_only: false,
        })
    }
}

/// Reads a page, and when the seller's orders last changed.
fn read(
    app: &App,
    lane: Lane,
    owner: UserId,
    now: Instant,
    filter: &Filter,
) -> Result<OrderList, Problem> {
    let given = &app.marketplace.given;
    let mut at_most = now;
    loop {
        // Said before reading: a change from now on is stamped later than what is given out.
        let under_way = given.mark(owner, Topic::Orders, at_most);
        let (changed, page) = app.db.read(lane, |tx| {
            if let Some(store) = filter.store.map(MlUserId)
                && !stores::is_of(tx, owner, store)?
            {
                return Err(Problem::not_found());
            }
            let changed = changes::newest(tx, owner, Topic::Orders)?.unwrap_or(Instant(0));
            Ok((changed, list::read_page(tx, &app.marketplace.words, owner, filter)?))
        })?;
        if changed <= at_most {
            let Filter { limit, offset, .. } = *filter;
            return Ok(OrderList {
                pagination: Pagination { total: page.total, limit, offset },
                page,
                zone: app.zone(),
                changed: if under_way { changed.minus(1) } else { changed },
            });
        }
        at_most = changed;
    }
}

/// A page of orders as it was read; on the wire it is [`Orders`].
pub struct OrderList {
    page: OrderPage,
    pagination: Pagination,
    zone: Zone,
    changed: Instant,
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
    data: Vec<OrderItem<'o>>,
    pagination: &'o Pagination,
}

/// An order on the wire (specification, "Partner order"; contract §9).
#[derive(Serialize, JsonSchema)]
struct OrderItem<'o> {
    order_id: OrderId,
    /// Marketplace listing id.
    ml_id: &'o str,
    ml_user_id: MlUserId,
    status: &'o str,
    total_amount: Cents,
    currency: &'o str,
    quantity: i64,
    title: &'o str,
    sku: &'o str,
    buyer_nickname: &'o str,
    /// Civil time.
    date_created: String,
    shipping: Shipping<'o>,
}

/// The shipment of an order; nulls until there is one.
#[derive(Serialize, JsonSchema)]
struct Shipping<'o> {
    id: Option<String>,
    status: Option<&'o str>,
    logistic_type: Option<&'o str>,
}

impl<'o> OrderItem<'o> {
    fn of(page: &'o OrderPage, order: &'o Order, zone: Zone) -> Self {
        let word = |place: usize| page.word(place);
        Self {
            order_id: order.order_id,
            ml_id: &order.ml_id,
            ml_user_id: order.ml_user_id,
            status: word(order.status),
            total_amount: order.total,
            currency: word(order.currency),
            quantity: order.quantity,
            title: &order.title,
            sku: &order.sku,
            buyer_nickname: &order.buyer_nickname,
            date_created: zone.partner(order.created_at),
            shipping: Shipping {
                id: order.shipping_id.map(|id| id.to_string()),
                status: order.shipping_status.map(word),
                logistic_type: order.logistic_type.map(word),
            },
        }
    }
}
