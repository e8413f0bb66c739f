//! Tests of the books with random documents: any sequence of them ends the same
//! way, and sums always equal a recount.

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

use super::*;
use crate::base::{DAY_S, UserId, Versions};
use crate::changes;
use crate::db::{Db, ReadTx};
use crate::fixture::{self, TestDir, ZONE};
use crate::marketplace::books::booked::Booked;
use crate::marketplace::books::document::{SoldItem, SoldLine};
use crate::marketplace::books::order_status::ORDER_STATES;

pub const NOW: i64 = fixture::NOW.0;
pub const SELLER: MlUserId = MlUserId(777);
/// So late that no sale is notified.
pub const NEVER: Instant = Instant(i64::MAX);

/// A database and its books; the tests of listings, questions and claims use it
/// too.
pub struct World {
    pub db: Db,
    pub context: BookContext,
    pub versions: Arc<Versions>,
    _dir: TestDir,
}

impl World {
    pub fn new() -> Self {
        let dir = TestDir::new();
        let db = dir.database();
        let versions = Arc::default();
        crate::invalidation::watch(&db, &versions, || {}, || {}).unwrap();
        let context = BookContext {
            words: Arc::default(),
            issued: Arc::default(),
            zone: ZONE,
            channel_set: ChannelSet::that(|_| true),
            config: Arc::new(fixture::config(&[
                ("DROP__PAYMENT_DAYS", "3"),
                ("SERVER__TIMEZONE", "America/Sao_Paulo"),
            ])),
            effects: crate::effects::EFFECTS,
        };
        Self { db, context, versions, _dir: dir }
    }

    pub fn apply(
        &self,
        owner: UserId,
        orders: Vec<OrderDocument>,
        news_from: Instant,
    ) -> Vec<Applied> {
        let context = self.context.clone();
        self.write(move |tx| {
            orders.iter().map(|order| apply((tx, &context, owner), order, news_from)).collect()
        })
    }

    /// Applies documents of one kind.
    pub fn book<D: Booked>(
        &self,
        owner: UserId,
        documents: Vec<D>,
        news_from: Instant,
    ) -> Vec<Applied> {
        let context = self.context.clone();
        self.write(move |tx| {
            documents
                .iter()
                .map(|document| document.apply((tx, &context, owner), news_from))
                .collect()
        })
    }

    /// All notifications.
    pub fn told(&self) -> Vec<String> {
        self.read(|tx| {
            let sql = "SELECT kind || ' ' || title || ': ' || message || ' (' || reference || ')' FROM notification";
            tx.values(sql, [])
        })
    }

    pub fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.db.write(job).unwrap()
    }

    pub fn read<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> Result<T>) -> T {
        self.db.read(crate::db::Lane::Slow, read).unwrap()
    }

    /// Adds a person with an account, who can be notified.
    pub fn seller(&self, owner: UserId) {
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, ?1 || '@x.com', 'Ana', 'pro', 0)",
                [owner],
            )?;
            tx.execute(
                "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, linked_at)
                 VALUES (?1, ?2, 'LOJA_X', 0, 1, 0)",
                (SELLER, owner),
            )
        });
    }

    /// Rows of a query as text, for comparing.
    pub fn dump(&self, sql: &str, owner: UserId) -> Vec<String> {
        self.read(|tx| {
            tx.all(sql, [owner], |row| {
                let columns = 0..row.as_ref().column_count();
                columns
                    .map(|column| row.get_ref(column).map(|value| format!("{value:?} ")))
                    .collect()
            })
        })
    }

    fn books_of(&self, owner: UserId) -> [Vec<String>; 3] {
        [
            self.dump(
                "SELECT created_at, order_id, ml_user_id, status, total_cents, currency, closed_at, updated_at, item_id,
                        variation_id, quantity, buyer_nickname, shipping_id, shipping_status, logistic_type
                 FROM sale_order WHERE owner_id = ?1 ORDER BY order_id",
                owner,
            ),
            self.counts_of(owner),
            self.sales_of(owner),
        ]
    }

    /// Adds a person with two products, which are younger than some orders.
    fn products(&self, owner: UserId) {
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, ?1 || '@x.com', 'Ana', 'pro', 0)",
                [owner],
            )?;
            tx.execute(
                "INSERT INTO product (owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
                 SELECT ?1, value, '', value, 1, 2, 50, ?2, 0, value FROM json_each('[\"CAB-1\", \"CAB-2\"]')",
                (owner, NOW - 30 * DAY_S),
            )
        });
    }

    fn stock_of(&self, owner: UserId) -> Vec<String> {
        self.dump(
            "SELECT p.sku, p.stock, (SELECT 50 + coalesce(sum(m.change), 0) FROM stock_movement m
                                     WHERE m.product_id = p.product_id)
             FROM product p WHERE p.owner_id = ?1 ORDER BY p.sku",
            owner,
        )
    }

    fn counts_of(&self, owner: UserId) -> Vec<String> {
        self.dump(
            "SELECT ml_user_id, status, day, orders FROM order_count WHERE owner_id = ?1
             ORDER BY ml_user_id, status, day",
            owner,
        )
    }

    fn sales_of(&self, owner: UserId) -> Vec<String> {
        self.dump(
            "SELECT ml_user_id, day, orders, units, gross_cents FROM sales_day WHERE owner_id = ?1
             ORDER BY ml_user_id, day",
            owner,
        )
    }

    /// Compares the stored sums with a recount of the orders. São Paulo is
    /// three hours behind UTC on all days of these tests.
    fn assert_sums_equal_a_recount(&self, owner: UserId) {
        let counts = self.dump(
            "WITH one AS (
                 SELECT ml_user_id, status, (created_at - 10800) / 86400 AS day FROM sale_order WHERE owner_id = ?1
                 UNION ALL SELECT ml_user_id, status, -1 FROM sale_order WHERE owner_id = ?1),
             each AS (
                 SELECT ml_user_id, status, day FROM one
                 UNION ALL SELECT 0, 0, day FROM one)
             SELECT ml_user_id, status, day, count(*) FROM each
             GROUP BY ml_user_id, status, day ORDER BY ml_user_id, status, day",
            owner,
        );
        assert_eq!(self.counts_of(owner), counts);
        let sales = self.dump(
            "SELECT ml_user_id, (coalesce(closed_at, created_at) - 10800) / 86400 AS day,
                    count(*), sum(quantity), sum(total_cents)
             FROM sale_order WHERE owner_id = ?1 AND status IN (5, 6)
             GROUP BY ml_user_id, day ORDER BY ml_user_id, day",
            owner,
        );
        assert_eq!(self.sales_of(owner), sales);
        let sums = self.dump(
            "WITH sale AS (
                 SELECT *, fee_cents + freight_cents AS charged, (created_at - 10800) / 86400 AS day,
                        strftime('%Y %m', created_at - 10800, 'unixepoch') AS month
                 FROM sale_order WHERE owner_id = ?1 AND status IN (5, 6)),
             one AS (
                 SELECT *, -1 AS span FROM sale UNION ALL SELECT *, day FROM sale
                 UNION ALL SELECT *, -(12 * substr(month, 1, 4) + substr(month, 6)) FROM sale)
             SELECT ml_user_id, status, span, item_id, item_version, count(*), sum(total_cents), count(charged),
                    coalesce(sum(quantity) FILTER (WHERE charged IS NOT NULL), 0),
                    coalesce(sum(total_cents) FILTER (WHERE charged IS NOT NULL), 0), coalesce(sum(charged), 0), sum(quantity)
             FROM one GROUP BY ml_user_id, status, span, item_id, item_version
             ORDER BY ml_user_id, status, span, item_id, item_version",
            owner,
        );
        let kept = self.dump(
            "SELECT ml_user_id, status, span, item_id, item_version, orders, gross_cents, told, told_units, told_cents,
                    charged_cents, units
             FROM sold_sum WHERE owner_id = ?1 ORDER BY ml_user_id, status, span, item_id, item_version",
            owner,
        );
        assert_eq!(kept, sums);
    }
}

pub fn order(id: i64) -> OrderDocument {
    OrderDocument {
        id: OrderId(id),
        seller: SELLER,
        status: "paid".to_owned(),
        created_at: Instant(NOW - 3600),
        closed_at: Some(Instant(NOW - 3000)),
        updated_at: Instant(NOW - 3000),
        total: Cents(11_980),
        currency: "BRL".to_owned(),
        refunded: Cents(0),
        lines: vec![SoldLine {
            item: SoldItem {
                site: "MLB".to_owned(),
                number: 1,
                variation: 0,
                title: "Cabo USB-C".to_owned(),
                sku: "CAB-1".to_owned(),
            },
            units: 2,
            unit_price: Cents(5_990),
            fee: None,
        }],
        pack_id: None,
        payments: Vec::new(),
        is_to_agree: false,
        is_fraud_risk: false,
        is_split: false,
        buyer_id: Some(555),
        buyer_nickname: "COMPRADOR".to_owned(),
        shipping_id: None,
        shipment: None,
        paid_at: None,
    }
}

/// Documents of one order, oldest first. None of them leaves a text out; there
/// is another test for that.
fn life(id: i64) -> impl Strategy<Value = Vec<OrderDocument>> {
    let state = proptest::sample::select(ORDER_STATES.to_vec());
    let moment = (0_i64..40 * DAY_S).prop_map(|ago| Instant(NOW - ago));
    let sku = proptest::sample::select(vec!["CAB-1", "CAB-2", "", "Z"]);
    let goods = (1_i64..9, 1_i64..4, sku);
    let document = (state, moment.clone(), proptest::option::of(moment), 0_i64..1_000_000, goods);
    (proptest::collection::vec(document, 1..6), any::<bool>()).prop_map(
        move |(documents, moves)| {
            let first_created = documents[0].1;
            let documents = documents.into_iter().zip(0_i64..).map(
                |((status, created, closed, cents, (quantity, item, sku)), age)| {
                    let mut document = order(id);
                    document.status = status.to_owned();
                    document.created_at = if moves { created } else { first_created };
                    document.closed_at = closed;
                    document.updated_at = Instant(NOW - 1000 + age);
                    document.total = Cents(cents);
                    document.lines[0].units = quantity;
                    document.lines[0].item.number = item;
                    document.lines[0].item.sku = sku.to_owned();
                    document.shipping_id = Some(item);
                    document.lines[0].fee = (cents % 3 > 0).then_some(Cents(cents / 8));
                    document.shipment = Some(Shipment {
                        cost: (cents % 2 > 0).then_some(Cents(700)),
                        status: "ready_to_ship".to_owned(),
                        logistic_type: status.to_owned(),
                        updated_at: None,
                        ..Shipment::default()
                    });
                    document
                },
            );
            documents.collect()
        },
    )
}

/// All documents of three orders, shuffled and some of them repeated, and the
/// newest document of each order.
fn course() -> impl Strategy<Value = (Vec<OrderDocument>, Vec<OrderDocument>)> {
    (life(1), life(2), life(3)).prop_flat_map(|(one, two, three)| {
        let newest: Vec<_> =
            [&one, &two, &three].iter().filter_map(|life| life.last().cloned()).collect();
        let all: Vec<_> = [one, two, three].concat();
        let again = subsequence(all.clone(), 0..=all.len());
        (again, proptest::collection::vec(any::<Index>(), all.len() * 2)).prop_map(
            move |(again, places)| {
                let mut course = Vec::new();
                for (document, place) in all.iter().chain(&again).zip(places) {
                    course.insert(place.index(course.len() + 1), document.clone());
                }
                (course, newest.clone())
            },
        )
    })
}

#[test]
fn any_course_of_documents_ends_like_the_newest_alone() {
    let world = World::new();
    let case = std::cell::Cell::new(0);
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((course, newest) in course())| {
        let (ana, rui) = (UserId(case.get() * 2 + 1), UserId(case.get() * 2 + 2));
        case.set(case.get() + 1);
        for owner in [ana, rui] {
            world.products(owner);
        }
        world.apply(ana, course, NEVER);
        world.apply(rui, newest, NEVER);
        prop_assert_eq!(world.books_of(ana), world.books_of(rui));
        prop_assert_eq!(world.stock_of(ana), world.stock_of(rui));
        world.assert_sums_equal_a_recount(ana);
    });
}

#[test]
fn a_sale_is_told_once_and_history_is_not() {
    let world = World::new();
    let (ana, sold) = (UserId(1), order(2_000_001));
    world.seller(ana);
    let mut open = sold.clone();
    open.status = "payment_required".to_owned();
    open.updated_at = Instant(NOW - 3500);
    let mut refunded = sold.clone();
    refunded.status = "partially_refunded".to_owned();
    refunded.updated_at = Instant(NOW);
    let mut old = order(2_000_002);
    old.closed_at = Some(Instant(NOW - 9000));
    world.apply(ana, vec![open, sold.clone(), sold, refunded, old], Instant(NOW - 5000));

    let told = world
        .dump("SELECT kind, title, message, reference FROM notification WHERE owner_id = ?1", ana);
    let text = "2× Cabo USB-C — R$ 119,80 na LOJA_X";
    assert_eq!(told.len(), 1);
    let expected =
        world.dump(&format!("SELECT 1, 'Nova venda', '{text}', '2000001' WHERE ?1 > 0"), ana);
    assert_eq!(told, expected);
}

#[test]
fn only_news_is_stamped() {
    let world = World::new();
    let (ana, context) = (UserId(1), world.context.clone());
    let (document, mut older) = (order(1), order(1));
    older.updated_at = document.updated_at.minus(1);
    assert_eq!(world.apply(ana, vec![document.clone()], NEVER), [Applied::Stored]);
    let changed = |world: &World| world.read(|tx| changes::newest(tx, ana)).unwrap();
    let (stamped, version) = (changed(&world), world.versions.books(ana));

    // A poller was given the second of the first change, so another change would move the stamp.
    context.issued.mark(ana, stamped);
    assert_eq!(
        world.apply(ana, vec![document.clone(), older], NEVER),
        [Applied::Unchanged, Applied::Stale]
    );
    assert_eq!((changed(&world), world.versions.books(ana)), (stamped, version));

    let mut renamed = document;
    renamed.lines[0].item.title = "Cabo USB-C 2 m".to_owned();
    assert_eq!(world.apply(ana, vec![renamed], NEVER), [Applied::Stored]);
    assert_eq!(changed(&world), stamped.plus(1));
    assert!(world.versions.books(ana) > version);
}

#[test]
fn an_order_keeps_the_words_it_was_sold_with() {
    let world = World::new();
    let ana = UserId(1);
    let sold = |number: i64, title: &str, sku: &str| {
        let mut document = order(number);
        title.clone_into(&mut document.lines[0].item.title);
        sku.clone_into(&mut document.lines[0].item.sku);
        document
    };
    let said = || {
        let sql = "SELECT o.order_id || ' ' || i.title || ' ' || i.sku FROM sale_order o
                   JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id
                       AND i.version = o.item_version
                   ORDER BY o.order_id";
        world.read(|tx| tx.values::<String>(sql, []))
    };
    let (old, new) = (sold(1, "Cabo", "A"), sold(2, "Cabo 2 m", "B"));
    for order in [&old, &new, &sold(3, "Cabo", "A"), &old] {
        world.apply(ana, vec![order.clone()], NEVER);
    }
    let expected = ["1 Cabo A", "2 Cabo 2 m B", "3 Cabo A"];
    assert_eq!(said(), expected);
    // A document without title and SKU keeps the stored ones.
    let mut bare = sold(2, "", "");
    bare.updated_at = bare.updated_at.plus(1);
    bare.status = "cancelled".to_owned();
    world.apply(ana, vec![bare], NEVER);
    assert_eq!(said(), expected);
}

#[test]
fn an_older_state_of_a_shipment_does_not_come_back() {
    let world = World::new();
    let ana = UserId(1);
    let with = |status: &str, at: Option<i64>| {
        let mut document = order(1);
        document.shipping_id = Some(44);
        document.shipment = Some(Shipment {
            status: status.to_owned(),
            logistic_type: "drop_off".to_owned(),
            updated_at: at.map(Instant),
            ..Shipment::default()
        });
        document
    };
    let course = vec![
        with("shipped", Some(NOW - 50)),
        with("ready_to_ship", Some(NOW - 60)),
        with("shipped", Some(NOW - 40)),
        with("pending", Some(NOW - 45)),
    ];
    assert_eq!(
        world.apply(ana, course, NEVER),
        [Applied::Stored, Applied::Unchanged, Applied::Unchanged, Applied::Unchanged]
    );
    let shown = "SELECT s.text, o.shipment_at FROM sale_order o
                 JOIN word s ON s.word_id = o.shipping_status WHERE o.owner_id = ?1";
    let expected = format!("SELECT 'shipped', {} WHERE ?1 > 0", NOW - 40);
    assert_eq!(world.dump(shown, ana), world.dump(&expected, ana));
    world.apply(ana, vec![with("delivered", None)], NEVER);
    let expected = expected.replace("shipped", "delivered");
    assert_eq!(world.dump(shown, ana), world.dump(&expected, ana));
}

#[test]
fn a_parcel_leaves_with_all_orders_of_its_cart() {
    let world = World::new();
    let ana = UserId(1);
    let with = |id: i64, parcel: i64, status: &str| {
        let mut document = order(id);
        document.shipping_id = Some(parcel);
        document.shipment = Some(Shipment {
            status: status.to_owned(),
            logistic_type: "drop_off".to_owned(),
            updated_at: None,
            ..Shipment::default()
        });
        document
    };
    let waiting = [(1, 44), (2, 44), (3, 45)].map(|(id, parcel)| with(id, parcel, "ready_to_ship"));
    world.apply(ana, waiting.to_vec(), NEVER);
    world.apply(ana, vec![with(1, 44, "delivered")], NEVER);
    let shown = "SELECT o.order_id, s.text FROM sale_order o
                 JOIN word s ON s.word_id = o.shipping_status WHERE o.owner_id = ?1 ORDER BY 1";
    let expected = "SELECT column1, column2 FROM (VALUES
                    (1, 'delivered'), (2, 'delivered'), (3, 'ready_to_ship')) WHERE ?1 > 0";
    assert_eq!(world.dump(shown, ana), world.dump(expected, ana));
}

#[test]
fn a_cancelled_order_leaves_its_freight_to_the_others_of_its_cart() {
    let world = World::new();
    let ana = UserId(1);
    let with = |id: i64, status: &str, cost: Option<i64>| {
        let mut document = order(id);
        document.status = status.to_owned();
        document.shipping_id = Some(44);
        document.lines[0].fee = Some(Cents(500));
        let shipment = Shipment { status: "shipped".to_owned(), ..Shipment::default() };
        document.shipment = Some(Shipment { cost: cost.map(Cents), ..shipment });
        document
    };
    for (documents, rows) in [
        (vec![with(1, "paid", Some(701)), with(2, "paid", None)], "(1, 350), (2, 351)"),
        (vec![with(1, "cancelled", None)], "(1, NULL), (2, 701)"),
        (vec![with(2, "cancelled", None)], "(1, 350), (2, 351)"),
        (vec![with(1, "paid", None)], "(1, 701), (2, NULL)"),
    ] {
        world.apply(ana, documents, NEVER);
        let shown = "SELECT order_id, freight_cents FROM sale_order WHERE owner_id = ?1 ORDER BY 1";
        let expected = format!("SELECT column1, column2 FROM (VALUES {rows}) WHERE ?1 > 0");
        assert_eq!(world.dump(shown, ana), world.dump(&expected, ana));
        world.assert_sums_equal_a_recount(ana);
    }
}

#[test]
fn what_was_sold_is_found_by_its_words() {
    let world = World::new();
    let (ana, rui) = (UserId(1), UserId(2));
    let sold = |id: i64, listing: i64, title: &str, sku: &str| {
        let mut document = order(id);
        document.lines[0].item.number = listing;
        document.lines[0].item.title = title.to_owned();
        document.lines[0].item.sku = sku.to_owned();
        document
    };
    let documents = vec![
        sold(1, 5, "Caneca de ágata", "CAN-1"),
        sold(2, 5, "Caneca de ágata", "CAN-1"),
        sold(3, 9, "Bule de Ágata", ""),
        sold(4, 2, "Copo", "can_2"),
    ];
    world.apply(ana, documents, NEVER);
    world.apply(rui, vec![sold(5, 7, "Caneca azul", "CAN-7")], NEVER);
    for (owner, text, items) in [
        (ana, "AGATA", vec![9, 5]),
        (ana, "agata caneca", vec![5]),
        (ana, "can", vec![5, 2]),
        (ana, "can-", vec![5]),
        (ana, "azul", vec![]),
        (ana, "%", vec![]),
        (rui, "caneca", vec![7]),
    ] {
        let found = world.read(|tx| sold::search_items(tx, owner, text));
        assert_eq!(found, items, "{text}");
    }
}

#[test]
fn what_a_document_leaves_out_is_kept() {
    let world = World::new();
    let ana = UserId(1);
    let mut full = order(1);
    full.shipping_id = Some(44);
    full.shipment = Some(Shipment {
        status: "shipped".to_owned(),
        logistic_type: "drop_off".to_owned(),
        updated_at: None,
        ..Shipment::default()
    });
    let mut partial = full.clone();
    partial.updated_at = full.updated_at.plus(60);
    partial.buyer_nickname = String::new();
    partial.shipment = None;
    world.apply(ana, vec![full.clone(), partial.clone()], NEVER);
    let shown = "SELECT o.buyer_nickname, s.text, l.text FROM sale_order o
                 LEFT JOIN word s ON s.word_id = o.shipping_status
                 LEFT JOIN word l ON l.word_id = o.logistic_type WHERE o.owner_id = ?1";
    let kept = world.dump(shown, ana);
    assert_eq!(kept, world.dump("SELECT 'COMPRADOR', 'shipped', 'drop_off' WHERE ?1 > 0", ana));

    // Another shipment has a state of its own.
    partial.updated_at = full.updated_at.plus(120);
    partial.shipping_id = Some(45);
    world.apply(ana, vec![partial], NEVER);
    assert_eq!(
        world.dump(shown, ana),
        world.dump("SELECT 'COMPRADOR', NULL, NULL WHERE ?1 > 0", ana)
    );
}

#[test]
fn the_fixed_words_are_those_of_the_schema() {
    let world = World::new();
    for status in OrderStatus::ALL {
        let known = world.read(|tx| world.context.words.find(tx, status.name()));
        assert_eq!(known, Some(status.number().into()));
    }
    let words = Arc::clone(&world.context.words);
    let numbers = world.write(move |tx| Ok([words.number(tx, "odd")?, words.number(tx, "odd")?]));
    assert!(numbers[0] >= 100 && numbers[0] == numbers[1], "{numbers:?}");
}
