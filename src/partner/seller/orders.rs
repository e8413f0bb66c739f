//! `list_orders`: the seller's orders, newest first.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::app::App;
use crate::base::clock::{Day, Instant, Zone};
use crate::base::ids::{ITEM, MlUserId, OrderId, UserId, item_number};
use crate::base::money::Cents;
use crate::base::offset_time::OffsetTime;
use crate::changes;
use crate::db::{self, Lane, ReadTx};
use crate::http::input::Check;
use crate::http::schema::DAY;
use crate::http::{Code, Problem};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::order_status::ORDER_STATES;
use crate::marketplace::books::orders::list::{self, Filter, Order, OrderPage};
use crate::marketplace::books::orders::sold::Wording;
use crate::marketplace::books::words::Words;
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation, Pagination};

list_arguments! {
    /// Which orders are asked for.
    pub struct ListOrders {
        /// A state of orders, such as `paid`.
        #[schemars(extend("enum" = ORDER_STATES))]
        status: String,
        /// Marketplace seller id of one connected account.
        store: MlUserId,
        /// First civil day of `date_created`.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        from: String,
        /// Last civil day of `date_created`.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        to: String,
        /// Marketplace listing id, such as `MLB123`.
        #[schemars(regex(pattern = ITEM))]
        ml_id: String,
    }
}

impl Operation for ListOrders {
    type By = Seller;
    type Reply = OrderList;

    /// First pages are polled, so they are cached; further pages are rarely
    /// read again.
    const KEEPS: Option<fn(&OrderList) -> bool> = Some(|list| list.pagination.offset == 0);
    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];
    const DATED: bool = true;

    fn begin(self, app: &App, seller: &Seller, check: Check) -> Begun<Self> {
        let filter = self.filter(check, app.zone())?;
        let (owner, now) = (seller.account.user_id, seller.called_at);
        let window = Window { limit: filter.limit, offset: filter.offset };
        reading(app, filter.items.is_some() || window.is_far(), move |app, lane| {
            read(app, lane, owner, now, &filter)
        })
    }

    fn last_modified(list: &OrderList) -> Option<Instant> {
        Some(list.changed)
    }
}

impl ListOrders {
    fn filter(self, mut check: Check, zone: Zone) -> Result<Filter, Problem> {
        let status: Option<String> = check.optional("status", self.status);
        if status.as_deref().is_some_and(|status| !ORDER_STATES.contains(&status)) {
            check.fail("status", format!("must be one of {}", ORDER_STATES.join(", ")));
        }
        let store = check.optional("store", self.store).map(|MlUserId(store)| store);
        let (from, to) = (check.day("from", self.from), check.day("to", self.to));
        let listing = check.optional("ml_id", self.ml_id);
        let item_id = listing.as_deref().map(item_number);
        if item_id == Some(None) {
            check.fail("ml_id", "must be a listing id, such as MLB123");
        }
        let Window { limit, offset } = Window::read(&mut check, self.limit, self.offset);
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
    let issued = &app.marketplace.issued;
    let mut at_most = now;
    loop {
        // Marked before reading, so that later changes get a later time than
        // the one returned here.
        let under_way = issued.mark(owner, at_most);
        let (changed, page) = app.db.read(lane, |tx| {
            if let Some(store) = filter.store.map(MlUserId)
                && !stores::is_of(tx, owner, store)?
            {
                return Err(Problem::not_found());
            }
            let changed = changes::newest(tx, owner)?.unwrap_or(Instant(0));
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

/// One order of a seller as JSON, in the form of the list.
pub(in crate::partner) fn one(
    tx: &ReadTx<'_>,
    words: &Words,
    (owner, order): (UserId, OrderId),
    zone: Zone,
) -> db::Result<Option<String>> {
    let page = list::read_one(tx, words, owner, order)?;
    let shown = page.orders.first().map(|order| OrderItem::of(&page, order, zone));
    Ok(shown.and_then(|shown| serde_json::to_string(&shown).ok()))
}

/// A page of orders as it was read; [`Orders`] is its JSON.
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
    /// The entries of this page.
    data: Vec<OrderItem<'o>>,
    /// Where this page stands in the list.
    pagination: &'o Pagination,
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
    /// Units sold.
    quantity: i64,
    /// Title of the listing when it was sold.
    title: &'o str,
    /// SKU of what was sold; empty when it has none.
    sku: &'o str,
    /// The buyer's name at the marketplace.
    buyer_nickname: &'o str,
    /// When the order was made, as civil time of the service.
    date_created: String,
    /// The same instant with its offset from UTC.
    date_created_at: OffsetTime,
    /// The parcel.
    shipping: Shipping<'o>,
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
            buyer_nickname: &order.buyer_nickname,
            date_created: zone.partner(order.created_at),
            date_created_at: zone.with_offset(order.created_at),
            shipping: Shipping {
                id: order.shipping_id.map(|id| id.to_string()),
                status: order.shipping_status.map(word),
                logistic_type: order.logistic_type.map(word),
            },
        }
    }
}
