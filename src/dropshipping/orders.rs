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
use crate::marketplace::books::orders::effects::and_more;
use crate::marketplace::books::parcel::ParcelStage;
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
        /// The listing that was sold, such as `MLB123`, of several the first; `None` when it
        /// is not known.
        pub ml_id: Option<String> = "(SELECT i.site || i.item_id FROM sold_item i WHERE i.item_id = drop_order.item_id LIMIT 1)",
        pub sku: String,
        pub title: String,
        pub quantity: i64,
        pub unit: Cents = "unit_cents",
        /// What else it is for, beside what the fields above say.
        pub further: Vec<DropLine> = FURTHER => further,
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
        /// What is to be done with the parcel.
        pub stage: ParcelStage = "coalesce((SELECT o.stage FROM sale_order o
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id), 0)",
        /// Such as `drop_off`.
        pub logistic_type: Option<String> = "(SELECT w.text FROM sale_order o JOIN word w ON w.word_id = o.logistic_type
        WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id)",
    }
}

/// SQL for the further lines of a drop order, as JSON.
const FURTHER: &str = "(SELECT json_group_array(json_array(l.item_id, l.sku, l.title, l.quantity, l.unit_cents))
    FROM (SELECT * FROM drop_order_line WHERE drop_order_id = drop_order.drop_order_id ORDER BY line) l)";

#[expect(clippy::needless_pass_by_value, reason = "the column as it is read")]
fn further(lines: String) -> Vec<DropLine> {
    let lines: Vec<(i64, String, String, i64, i64)> =
        serde_json::from_str(&lines).unwrap_or_default();
    let line = |(item, sku, title, quantity, unit)| DropLine {
        item,
        sku,
        title,
        quantity,
        unit: Cents(unit),
    };
    lines.into_iter().map(line).collect()
}

impl DropOrder {
    /// All that it is for.
    pub fn lines(&self) -> Vec<DropLine> {
        let first = DropLine {
            item: 0,
            sku: self.sku.clone(),
            title: self.title.clone(),
            quantity: self.quantity,
            unit: self.unit,
        };
        std::iter::once(first).chain(self.further.iter().cloned()).collect()
    }

    /// What stands behind its first line: ` e mais 2 produtos`; empty with one.
    pub fn and_more(&self) -> String {
        and_more(1 + self.further.len())
    }

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

/// A thing that a drop order is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropLine {
    /// Number of the listing that sold it; 0 before this was kept.
    pub item: i64,
    /// Of the product, as it was when the drop order came.
    pub sku: String,
    pub title: String,
    pub quantity: i64,
    pub unit: Cents,
}

/// A drop order of an order as it is stored, with all that it is for.
struct KnownOrder {
    id: i64,
    supplier: UserId,
    state: DropState,
    lines: Vec<DropLine>,
}

/// Updates what the owner of an order owes the suppliers of what was sold.
pub fn follow_sale(tx: &WriteTx<'_>, change: &OrderChange<'_>) -> Result<()> {
    if change.is_of_parcel() {
        return Ok(());
    }
    let days = change.context.config.drop.payment_days;
    follow(tx, change.owner, &change.goods(tx)?, days)
}

/// Updates the drop orders of a seller's order, one for each supplier of what it sold, to
/// the state of the order and its lines. They come when the order is paid, of listings
/// that were linked before the order was placed. What is paid already stays as it was paid.
pub fn follow(
    tx: &WriteTx<'_>,
    seller: UserId,
    order: &SoldOrder,
    payment_days: u32,
) -> Result<()> {
    match order.sale {
        SaleState::Open => return Ok(()),
        SaleState::Cancelled => {
            let called_off: Vec<(i64, UserId)> = tx.tuples(
                "UPDATE drop_order SET state = ?3 WHERE order_id = ?1 AND seller_id = ?2 AND state <> ?3
                 RETURNING drop_order_id, supplier_id",
                (order.id, seller, DropState::Cancelled),
            )?;
            return raise_events(tx, EventType::DropOrderCancelled, &called_off);
        }
        SaleState::Paid => {}
    }
    let known = known_of(tx, seller, order.id)?;
    let wanted = wanted(tx, seller, order, &known)?;
    for one in &known {
        let lines = wanted.iter().find(|(supplier, _)| *supplier == one.supplier);
        match lines {
            None if one.state != DropState::Cancelled => {
                set_state(tx, one.id, DropState::Cancelled)?;
                raise_events(tx, EventType::DropOrderCancelled, &[(one.id, one.supplier)])?;
            }
            None => {}
            Some((_, lines)) => {
                let state = restore(tx, one)?;
                if state == DropState::Pending && *lines != one.lines {
                    put_lines(tx, one.id, lines)?;
                }
            }
        }
    }
    let due_at = order.created_at.plus(i64::from(payment_days) * DAY_S);
    for (supplier, lines) in wanted {
        // An account that changed hands may have the order in the books of both owners.
        let has_one = "SELECT 1 FROM drop_order WHERE order_id = ?1 AND supplier_id = ?2";
        if known.iter().any(|known| known.supplier == supplier)
            || tx.maybe::<i64>(has_one, (order.id, supplier))?.is_some()
        {
            continue;
        }
        let id = tx.insert(
            "INSERT INTO drop_order (supplier_id, seller_id, order_id, ordered_at, sku, title,
                                     quantity, unit_cents, amount_cents, state, due_at)
             VALUES (?1, ?2, ?3, ?4, '', '', 0, 0, 0, 1, ?5)",
            (supplier, seller, order.id, order.created_at, due_at),
        )?;
        put_lines(tx, id, &lines)?;
        raise_events(tx, EventType::DropOrderCreated, &[(id, supplier)])?;
    }
    Ok(())
}

/// The drop orders of an order with their lines.
fn known_of(tx: &ReadTx<'_>, seller: UserId, order: OrderId) -> Result<Vec<KnownOrder>> {
    let ids: Vec<(i64, UserId, DropState)> = tx.tuples(
        "SELECT drop_order_id, supplier_id, state FROM drop_order
         WHERE order_id = ?1 AND +seller_id = ?2 ORDER BY drop_order_id",
        (order, seller),
    )?;
    let known = ids.into_iter().map(|(id, supplier, state)| {
        Ok(KnownOrder { id, supplier, state, lines: lines_of(tx, id)? })
    });
    known.collect()
}

/// All that a drop order is for.
fn lines_of(tx: &ReadTx<'_>, id: i64) -> Result<Vec<DropLine>> {
    tx.all(
        "SELECT item_id, sku, title, quantity, unit_cents, 0 AS line FROM drop_order WHERE drop_order_id = ?1
         UNION ALL
         SELECT item_id, sku, title, quantity, unit_cents, line FROM drop_order_line WHERE drop_order_id = ?1
         ORDER BY line",
        [id],
        |row| {
            Ok(DropLine {
                item: row.get(0)?,
                sku: row.get(1)?,
                title: row.get(2)?,
                quantity: row.get(3)?,
                unit: row.get(4)?,
            })
        },
    )
}

/// What is owed for an order that is paid, by supplier. A listing that is in a drop order
/// already stays there, with the price that it had.
fn wanted(
    tx: &ReadTx<'_>,
    seller: UserId,
    order: &SoldOrder,
    known: &[KnownOrder],
) -> Result<Vec<(UserId, Vec<DropLine>)>> {
    let mut items: Vec<(i64, i64)> = Vec::new();
    for goods in &order.goods {
        match items.iter_mut().find(|(item, _)| *item == goods.item) {
            Some((_, units)) => *units += goods.units,
            None => items.push((goods.item, goods.units)),
        }
    }
    let first = items.first().map(|(item, _)| *item);
    let mut wanted: Vec<(UserId, Vec<DropLine>)> = Vec::new();
    for (item, quantity) in items.into_iter().filter(|(_, units)| *units > 0) {
        let is_for = |line: &DropLine| line.item == item || line.item == 0 && first == Some(item);
        let before = known.iter().find_map(|one| {
            Some((one.supplier, one.lines.iter().find(|line| is_for(line))?.clone()))
        });
        let linked = match before {
            Some(before) => Some(before),
            None => linked(tx, seller, item, order.created_at)?,
        };
        let Some((supplier, line)) = linked else { continue };
        let line = DropLine { item, quantity, ..line };
        match wanted.iter_mut().find(|(known, _)| *known == supplier) {
            Some((_, lines)) => lines.push(line),
            None => wanted.push((supplier, vec![line])),
        }
    }
    Ok(wanted)
}

/// The supplier's product that a listing sold at an instant, by a link that is older.
fn linked(
    tx: &ReadTx<'_>,
    seller: UserId,
    item: i64,
    at: Instant,
) -> Result<Option<(UserId, DropLine)>> {
    let found: Option<(UserId, String, String, Cents)> = tx.tuple(
        "SELECT l.supplier_id, p.sku, p.title, p.price_cents
         FROM drop_link l JOIN product p ON p.product_id = l.product_id
         WHERE l.seller_id = ?1 AND l.item_id = ?2 AND l.created_at <= ?3",
        (seller, item, at),
    )?;
    Ok(found.map(|(supplier, sku, title, unit)| {
        (supplier, DropLine { item, sku, title, quantity: 0, unit })
    }))
}

/// Stores what a drop order is for, and what it comes to. `lines` has at least one.
fn put_lines(tx: &WriteTx<'_>, id: i64, lines: &[DropLine]) -> Result<()> {
    tx.execute("DELETE FROM drop_order_line WHERE drop_order_id = ?1", [id])?;
    let amounts = lines.iter().map(|line| line.unit.0.saturating_mul(line.quantity));
    let amount = amounts.fold(0_i64, i64::saturating_add);
    let Some((first, further)) = lines.split_first() else { return Ok(()) };
    tx.execute(
        "UPDATE drop_order SET item_id = ?2, sku = ?3, title = ?4, quantity = ?5, unit_cents = ?6, amount_cents = ?7
         WHERE drop_order_id = ?1",
        (id, first.item, &first.sku, &first.title, first.quantity, first.unit, amount),
    )?;
    for (line, place) in further.iter().zip(1_i64..) {
        tx.execute(
            "INSERT INTO drop_order_line (drop_order_id, line, item_id, sku, title, quantity, unit_cents)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (id, place, line.item, &line.sku, &line.title, line.quantity, line.unit),
        )?;
    }
    Ok(())
}

fn set_state(tx: &WriteTx<'_>, id: i64, state: DropState) -> Result<()> {
    tx.run("UPDATE drop_order SET state = ?2 WHERE drop_order_id = ?1", (id, state))
}

/// Restores a drop order that was called off, of an order that is paid again; returns its
/// state. Its supplier is told as when it came: that it is owed, or that it is paid.
fn restore(tx: &WriteTx<'_>, one: &KnownOrder) -> Result<DropState> {
    if one.state != DropState::Cancelled {
        return Ok(one.state);
    }
    let is_paid = "SELECT paid_at IS NOT NULL FROM drop_order WHERE drop_order_id = ?1";
    let (state, kind) = if tx.value(is_paid, [one.id])? {
        (DropState::Paid, EventType::DropOrderPaid)
    } else {
        (DropState::Pending, EventType::DropOrderCreated)
    };
    set_state(tx, one.id, state)?;
    raise_events(tx, kind, &[(one.id, one.supplier)])?;
    Ok(state)
}

/// Raises a webhook event for the supplier of each drop order.
fn raise_events(tx: &WriteTx<'_>, kind: EventType, orders: &[(i64, UserId)]) -> Result<()> {
    orders.iter().try_for_each(|(id, supplier)| events::raise(tx, *supplier, kind, *id))
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
                "(CAST(order_id AS TEXT) = :search OR instr(lower(sku), :search) > 0 OR holds(title, :search)
                  OR EXISTS (SELECT 1 FROM drop_order_line l WHERE l.drop_order_id = drop_order.drop_order_id
                             AND (instr(lower(l.sku), :search) > 0 OR holds(l.title, :search))))",
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
    filters.page(tx, "drop_order", "", &wanted.order(), window)
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
