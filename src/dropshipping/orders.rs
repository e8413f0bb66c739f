//! Drop orders: what a seller owes a supplier for an order of a linked listing.
//!
//! A drop order follows the state of its order, whatever events led there. It
//! is created once when the order is paid, cancelled when the order is
//! cancelled, and restored when the order is paid again. Price and title are
//! those of the product when the drop order was created.

use super::RELATED;
use crate::base::{Cents, DAY_S, Instant, OrderId, UserId};
use crate::db::{Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx, sorted};
use crate::events::{self, EventType};
use crate::marketplace::books::order_status::SaleState;
use crate::marketplace::books::orders::change::{OrderChange, SoldOrder};
use crate::named;
use crate::panel::Badge;
use crate::row;

named! {
    /// The stored state of a drop order; overdue ones are stored as pending.
    /// SQL has the numbers as literals, because a partial index needs that.
    pub enum DropState: number {
        Pending = 1, "pending";
        Paid = 2, "paid";
        Cancelled = 3, "cancelled";
    }
}

named! {
    /// The state of a drop order as people and programs see it.
    #[derive(Hash)]
    pub enum DropOrderStatus: text {
        Pending = "pending", "A vencer";
        Overdue = "overdue", "Em atraso";
        Paid = "paid", "Pago";
        Cancelled = "cancelled", "Cancelado";
    }
}

impl DropOrderStatus {
    /// Whether it is still to be paid.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Overdue)
    }

    pub const fn badge(self) -> Badge {
        match self {
            Self::Pending => Badge::Due,
            Self::Overdue => Badge::Overdue,
            Self::Paid => Badge::Settled,
            Self::Cancelled => Badge::CalledOff,
        }
    }
}

row! {
    /// A stored drop order, with the names of both people and the state of its
    /// parcel.
    #[derive(Clone, Debug)]
    pub struct DropOrder {
        pub id: i64 = "drop_order_id",
        pub supplier_id: UserId,
        pub supplier: String = "coalesce((SELECT name FROM user u WHERE u.user_id = drop_order.supplier_id), '')",
        pub seller_id: UserId,
        pub seller: String = "coalesce((SELECT name FROM user u WHERE u.user_id = drop_order.seller_id), '')",
        pub order_id: OrderId,
        pub ordered_at: Instant,
        /// The listing that was sold, such as `MLB123`; `None` while the order is not here.
        pub ml_id: Option<String> = "(SELECT i.site || i.item_id FROM sale_order o
        JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id)",
        pub sku: String,
        pub title: String,
        pub quantity: i64,
        pub unit: Cents = "unit_cents",
        pub amount: Cents = "amount_cents",
        pub state: DropState,
        pub due_at: Instant,
        pub paid_at: Option<Instant>,
        pub reminded_at: Option<Instant>,
        pub shipping_id: Option<i64> = "(SELECT shipping_id FROM sale_order o
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id)",
        /// The marketplace's word for it, such as `ready_to_ship`.
        pub shipping_status: Option<String> = "(SELECT w.text FROM sale_order o JOIN word w ON w.word_id = o.shipping_status
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id)",
        /// Such as `drop_off`.
        pub logistic_type: Option<String> = "(SELECT w.text FROM sale_order o JOIN word w ON w.word_id = o.logistic_type
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id)",
    }
}

impl DropOrder {
    /// Its state at an instant.
    pub fn status(&self, now: Instant) -> DropOrderStatus {
        match self.state {
            DropState::Pending if self.due_at <= now => DropOrderStatus::Overdue,
            DropState::Pending => DropOrderStatus::Pending,
            DropState::Paid => DropOrderStatus::Paid,
            DropState::Cancelled => DropOrderStatus::Cancelled,
        }
    }
}

/// Updates what the owner of an order owes the supplier of what was sold.
pub fn follow_sale(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    match change.goods() {
        Some(order) => follow(tx, change.owner, &order, change.context.config.drop.payment_days),
        None => Ok(()),
    }
}

/// Updates the drop order of a seller's order to the state of the order. It is
/// created when the order is paid, if the listing was linked before the order
/// was placed.
pub fn follow(
    tx: &WriteTx<'_>,
    seller: UserId,
    order: &SoldOrder<'_>,
    payment_days: u32,
) -> Result<()> {
    match order.sale {
        SaleState::Open => Ok(()),
        SaleState::Cancelled => {
            let called_off: Vec<(i64, UserId)> = tx.tuples(
                "UPDATE drop_order SET state = ?3 WHERE order_id = ?1 AND seller_id = ?2 AND state <> ?3
                 RETURNING drop_order_id, supplier_id",
                (order.id, seller, DropState::Cancelled),
            )?;
            raise_events(tx, EventType::DropOrderCancelled, &called_off)
        }
        SaleState::Paid => {
            restore(tx, seller, order.id)?;
            if order.quantity < 1 {
                return Ok(());
            }
            let due_at = order.created_at.plus(i64::from(payment_days) * DAY_S);
            let made: Vec<(i64, UserId)> = tx.tuples(
                "INSERT INTO drop_order (supplier_id, seller_id, order_id, ordered_at, sku, title,
                                         quantity, unit_cents, amount_cents, state, due_at)
                 SELECT l.supplier_id, l.seller_id, ?3, ?4, p.sku, p.title, ?5, p.price_cents, ?5 * p.price_cents, 1, ?6
                 FROM drop_link l JOIN product p ON p.product_id = l.product_id
                 WHERE l.seller_id = ?1 AND l.item_id = ?2 AND l.created_at <= ?4
                     AND NOT EXISTS (SELECT 1 FROM drop_order WHERE order_id = ?3 AND seller_id = ?1)
                 RETURNING drop_order_id, supplier_id",
                (seller, order.item, order.id, order.created_at, order.quantity, due_at),
            )?;
            raise_events(tx, EventType::DropOrderCreated, &made)
        }
    }
}

/// Restores what was called off of an order that is paid again. Its supplier is told as when
/// it came: that it is owed, or that it is paid.
fn restore(tx: &WriteTx<'_>, seller: UserId, order: OrderId) -> Result<()> {
    let restored: Vec<(i64, UserId, DropState)> = tx.tuples(
        "UPDATE drop_order SET state = iif(paid_at IS NULL, 1, 2)
         WHERE order_id = ?1 AND seller_id = ?2 AND state = 3
         RETURNING drop_order_id, supplier_id, state",
        (order, seller),
    )?;
    restored.into_iter().try_for_each(|(id, supplier, state)| {
        let kind = match state {
            DropState::Paid => EventType::DropOrderPaid,
            _ => EventType::DropOrderCreated,
        };
        raise_events(tx, kind, &[(id, supplier)])
    })
}

/// Raises a webhook event for the supplier of each drop order. It can be called off and come
/// back any number of times.
fn raise_events(tx: &WriteTx<'_>, kind: EventType, orders: &[(i64, UserId)]) -> Result<()> {
    let now = tx.now().0;
    orders.iter().try_for_each(|(id, supplier)| events::raise(tx, *supplier, kind, (*id, now)))
}

/// Whose drop orders to select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A supplier's, only of sellers with an active relation; for API clients.
    Related(UserId),
    /// All of a supplier's, also after a relation has ended.
    Supplier(UserId),
    /// What a seller owes.
    Seller(UserId),
}

/// Which states of drop orders to select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusFilter {
    /// What is to be paid, due or not.
    Open,
    Of(DropOrderStatus),
}

/// Filter and order of a list of drop orders.
#[derive(Clone, Debug)]
pub struct DropOrderQuery {
    pub whose: Whose,
    pub status: Option<StatusFilter>,
    /// The person on the other side: seller or supplier.
    pub other: Option<UserId>,
    /// The current time, which decides what is overdue.
    pub now: Instant,
    /// When the order was placed: from the first, before the second.
    pub span: (Option<Instant>, Option<Instant>),
    /// Number of the order, or a part of a SKU or title; empty for all.
    pub search: String,
    /// Ordered by due date instead of order date.
    pub by_due: bool,
    pub descending: bool,
    /// Only those placed before this time, or then with a smaller number. They are not
    /// counted.
    pub after: Option<(i64, i64)>,
}

impl DropOrderQuery {
    /// All drop orders of a person, the newest first.
    pub const fn all(whose: Whose, now: Instant) -> Self {
        Self {
            whose,
            status: None,
            other: None,
            now,
            span: (None, None),
            search: String::new(),
            by_due: false,
            descending: true,
            after: None,
        }
    }

    /// Narrows by all but the status.
    pub(super) fn others(&self) -> Filters<'_> {
        let mut filters = match &self.whose {
            Whose::Related(id) => {
                let mut filters = Filters::new("supplier_id = :supplier", &[(":supplier", id)]);
                filters.and(RELATED, &[]);
                filters
            }
            Whose::Supplier(id) => Filters::new("supplier_id = :supplier", &[(":supplier", id)]),
            Whose::Seller(id) => Filters::new("seller_id = :seller", &[(":seller", id)]),
        };
        match (&self.whose, &self.other) {
            (Whose::Seller(_), other) => filters.and_if("supplier_id = :other", ":other", other),
            (_, other) => filters.and_if("seller_id = :other", ":other", other),
        }
        if let Some((at, id)) = &self.after {
            filters.and(
                "(ordered_at, drop_order_id) < (:after, :number)",
                &[(":after", at), (":number", id)],
            );
        }
        filters.and_if("ordered_at >= :from", ":from", &self.span.0);
        filters.and_if("ordered_at < :until", ":until", &self.span.1);
        if !self.search.is_empty() {
            filters.and(
                "(CAST(order_id AS TEXT) = :search OR instr(lower(sku), :search) > 0 OR holds(title, :search))",
                &[(":search", &self.search)],
            );
        }
        filters
    }

    pub(super) fn filters(&self) -> Filters<'_> {
        let mut filters = self.others();
        match self.status {
            None => {}
            Some(StatusFilter::Open) => filters.and("state = 1", &[]),
            Some(StatusFilter::Of(DropOrderStatus::Pending)) => {
                filters.and("state = 1 AND due_at > :now", &[(":now", &self.now)]);
            }
            Some(StatusFilter::Of(DropOrderStatus::Overdue)) => {
                filters.and("state = 1 AND due_at <= :now", &[(":now", &self.now)]);
            }
            Some(StatusFilter::Of(DropOrderStatus::Paid)) => filters.and("state = 2", &[]),
            Some(StatusFilter::Of(DropOrderStatus::Cancelled)) => filters.and("state = 3", &[]),
        }
        filters
    }

    /// The same filter, of what is open alone; `None` when it has nothing open.
    pub fn open(&self) -> Option<Self> {
        let status = match self.status {
            None => StatusFilter::Open,
            Some(StatusFilter::Of(status)) if !status.is_open() => return None,
            Some(status) => status,
        };
        Some(Self { status: Some(status), ..self.clone() })
    }

    /// Whether rows are to be looked at to count them.
    pub(super) const fn is_narrow(&self) -> bool {
        !self.search.is_empty() || self.span.0.is_some() || self.span.1.is_some()
    }

    fn order(&self) -> String {
        let columns =
            if self.by_due { "due_at, drop_order_id" } else { "ordered_at, drop_order_id" };
        sorted(columns, self.descending).into_owned()
    }
}

/// One page of drop orders, with the number of all.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &DropOrderQuery,
    window: RowWindow,
) -> Result<(Vec<DropOrder>, u64)> {
    if wanted.after.is_some() {
        return Ok((rows(tx, wanted, window)?, 0));
    }
    let filters = wanted.filters();
    let is_due = |filter| matches!(filter, StatusFilter::Of(status) if status.is_open());
    if !wanted.is_narrow() && !wanted.status.is_some_and(is_due) {
        let total = filters.count(tx, "SELECT coalesce(sum(orders), 0) FROM drop_order_count")?;
        return Ok((rows(tx, wanted, window)?, total));
    }
    filters.page(tx, ("drop_order", ""), &wanted.order(), window)
}

/// The rows of a page alone.
pub fn rows(tx: &ReadTx<'_>, wanted: &DropOrderQuery, window: RowWindow) -> Result<Vec<DropOrder>> {
    let order = wanted.order();
    let page = Page { table: "drop_order", order: &order, window };
    wanted.filters().rows(tx, &page, DropOrder::COLUMNS, DropOrder::read)
}

/// Ids of all of them, in their order.
pub fn ids(tx: &ReadTx<'_>, wanted: &DropOrderQuery) -> Result<Vec<i64>> {
    let filters = wanted.filters();
    let sql = format!(
        "SELECT drop_order_id FROM drop_order WHERE {} ORDER BY {}",
        filters.sql(),
        wanted.order()
    );
    tx.values(&sql, filters.values())
}

/// One drop order of a person.
pub fn one(tx: &ReadTx<'_>, whose: Whose, id: i64) -> Result<Option<DropOrder>> {
    with(tx, whose, "drop_order_id", id)
}

/// The drop order of a supplier for an order of a related seller.
pub fn of_order(tx: &ReadTx<'_>, supplier: UserId, order: OrderId) -> Result<Option<DropOrder>> {
    with(tx, Whose::Related(supplier), "order_id", order.0)
}

/// What a seller owes for an order, and whom: one drop order for each supplier.
pub fn of_sale(tx: &ReadTx<'_>, seller: UserId, order: OrderId) -> Result<Vec<DropOrder>> {
    tx.records(
        "FROM drop_order WHERE order_id = ?1 AND +seller_id = ?2 ORDER BY drop_order_id",
        (order, seller),
    )
}

fn with(tx: &ReadTx<'_>, whose: Whose, column: &str, id: i64) -> Result<Option<DropOrder>> {
    let wanted = DropOrderQuery::all(whose, Instant(0));
    let mut filters = wanted.filters();
    filters.and(&format!("{column} = :id"), &[(":id", &id)]);
    tx.record(&format!("FROM drop_order WHERE {}", filters.sql()), filters.values())
}

/// The seller's account that sends a shipment, when the shipment carries a drop
/// order of a related seller.
pub fn account_of_shipment(
    tx: &ReadTx<'_>,
    supplier: UserId,
    seller: UserId,
    shipment: i64,
) -> Result<Option<i64>> {
    tx.maybe(
        "SELECT o.ml_user_id
         FROM drop_relation r
         JOIN drop_order d ON d.supplier_id = r.supplier_id AND d.seller_id = r.seller_id
         JOIN sale_order o ON o.order_id = d.order_id AND o.owner_id = d.seller_id
         WHERE r.supplier_id = ?1 AND r.seller_id = ?2 AND r.state = 2 AND d.state <> 3
           AND o.shipping_id = ?3
         LIMIT 1",
        (supplier, seller, shipment),
    )
}

/// The account and the shipment of an order that has a drop order of a related
/// seller.
pub fn account_of_order(
    tx: &ReadTx<'_>,
    supplier: UserId,
    seller: UserId,
    order: OrderId,
) -> Result<Option<(i64, Option<i64>)>> {
    tx.tuple(
        "SELECT o.ml_user_id, o.shipping_id
         FROM drop_relation r
         JOIN drop_order d ON d.supplier_id = r.supplier_id AND d.seller_id = r.seller_id
         JOIN sale_order o ON o.order_id = d.order_id AND o.owner_id = d.seller_id
         WHERE r.supplier_id = ?1 AND r.seller_id = ?2 AND r.state = 2 AND d.order_id = ?3",
        (supplier, seller, order),
    )
}
