//! Seeded databases: made by the executable's own migration, filled here, and
//! kept in `target/bench-data` for the next run.
//!
//! Orders are inserted in the order in which they were placed, sellers mixed,
//! so that the pages of the file are as full as in a real database and not as
//! dense as after a sorted import. Few sellers have many orders, many have few.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use argon2::password_hash::PasswordHasher as _;
use rusqlite::{Connection, Transaction, named_params, params};
use sha2::{Digest as _, Sha256};

use crate::lab::{Lab, say};
use crate::people::{PASSWORD, Seller, hex};
use crate::random::Random;
use crate::requests::unix_now;

/// Raised when the rows made here change, so that older files are not reused.
const VERSION: u32 = 3;

/// Sellers who have a password.
pub const WITH_PASSWORD: i64 = 16;

const DAY_S: i64 = 86_400;
const HISTORY_S: i64 = 730 * DAY_S;

/// Two notifications of this size fill a page of the file.
const INBOX_BODY: usize = 1850;

/// Words in addition to those of the schema.
const WORDS: [(i64, &str); 8] = [
    (100, "delivered"),
    (101, "shipped"),
    (110, "fulfillment"),
    (111, "drop_off"),
    (112, "cross_docking"),
    (120, "active"),
    (121, "paused"),
    (122, "gold_special"),
];

/// States of parcels: ready to be sent, shipped, delivered.
const PARCELS: [i64; 3] = [10, 101, 100];

/// The content of a seeded file.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// Rows of the order table.
    pub orders: i64,
    /// Stored marketplace notifications, two on each page of the file.
    pub inbox: i64,
    /// Everything belongs to one seller with several accounts.
    pub alone: bool,
}

impl Recipe {
    /// Orders and the rows that belong to them.
    pub const fn orders(orders: i64) -> Self {
        Self { orders, inbox: 0, alone: false }
    }

    /// The same of one seller with four accounts and five thousand listings.
    pub const fn alone(orders: i64) -> Self {
        Self { orders, inbox: 0, alone: true }
    }

    /// A file of a gigabyte.
    pub const GIGABYTE: Self = Self { orders: 1_000_000, inbox: 430_000, alone: false };

    /// A thousand, or fewer where each would have under a thousand orders.
    pub fn sellers(self) -> i64 {
        if self.alone {
            return 1;
        }
        (self.orders / 1000).clamp(1, 1000)
    }

    /// Listings that each seller has sold from.
    pub const fn items(self) -> i64 {
        if self.alone { 5_000 } else { 50 }
    }

    /// Number of a seller's listing.
    pub const fn item_id(self, seller: Seller, number: i64) -> i64 {
        3_000_000_000 + seller.0 * self.items() + number
    }

    /// A seller's accounts; most orders come from the first.
    fn accounts(self, seller: Seller) -> Vec<i64> {
        if self.alone {
            return (0..4).map(|n| seller.first_account() + n).collect();
        }
        std::iter::once(seller.first_account()).chain(seller.second_account()).collect()
    }
}

/// The file of a recipe, made now unless it is there.
pub fn file(lab: &Lab, recipe: Recipe) -> anyhow::Result<PathBuf> {
    let schema = hex(&Sha256::digest(include_str!("../../schema.sql")));
    let name = format!(
        "{}-{}{}-v{VERSION}-{}",
        recipe.orders,
        recipe.inbox,
        if recipe.alone { "-alone" } else { "" },
        &schema[..8]
    );
    let done = lab.data().join(format!("{name}.db"));
    if done.exists() {
        return Ok(done);
    }
    say(&format!("seeding {} orders", recipe.orders));
    // A folder of its own: whatever a failed attempt leaves goes with it.
    let folder = tempfile::Builder::new().prefix("seed-").tempdir_in(lab.data())?;
    let making = folder.path().join("seed.db");
    let migrated = lab.command(&making)?.args(["migrate", "up"]).output()?;
    ensure!(migrated.status.success(), "`migrate up` failed; see target/bench-data/server.log");
    fill(&making, recipe).context("filling the database")?;
    fs::rename(&making, &done)?;
    Ok(done)
}

/// Sets the times of a copy's credentials as if they were issued now.
pub fn freshen(file: &Path) -> anyhow::Result<()> {
    let now = unix_now();
    let connection = open(file)?;
    connection.execute("UPDATE session SET created_at = ?1, last_seen_at = ?1", [now])?;
    connection
        .execute("UPDATE extension_token SET created_at = ?1, expires_at = ?1 + 2592000", [now])?;
    // Checkpoints the write-ahead log, so that the server finds the state of a
    // clean stop.
    connection.close().map_err(|(_, error)| error.into())
}

/// Calls of ten operations on each day of this month, of every seller.
pub fn calls_of_a_month(file: &Path, recipe: Recipe, now: i64) -> anyhow::Result<()> {
    const OPERATIONS: [&str; 9] = [
        "get_stock",
        "get_store_metrics",
        "health",
        "list_announcements",
        "list_notifications",
        "list_orders",
        "list_products",
        "list_stores",
        "notify_seller",
    ];
    let mut connection = open(file)?;
    let tx = connection.transaction()?;
    for seller in (0..recipe.sellers()).map(Seller) {
        for operation in OPERATIONS {
            // There are no calls after today, which might belong to the next month.
            tx.prepare_cached(
                "WITH RECURSIVE days(day) AS (
                     SELECT unixepoch(?1, 'unixepoch', 'start of month') / 86400
                     UNION ALL SELECT day + 1 FROM days WHERE day < ?1 / 86400)
                 INSERT INTO partner_usage (user_id, day, operation, calls)
                 SELECT ?2, day, ?3, 1 + day % 90 FROM days",
            )?
            .execute(params![now, seller.user_id(), operation])?;
        }
    }
    tx.commit()?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Events of each seller that [`events_of_orders`] prepares.
pub const EVENTS: u16 = 20;

/// Newly created orders of every seller, of which the service has told nobody yet.
pub fn events_of_orders(file: &Path, recipe: Recipe) -> anyhow::Result<()> {
    let mut connection = open(file)?;
    let tx = connection.transaction()?;
    for seller in (0..recipe.sellers()).map(Seller) {
        tx.execute(
            "INSERT INTO webhook_event (user_id, kind, object, occasion, at)
             SELECT owner_id, 10, order_id, 0, ?2 FROM sale_order
             WHERE owner_id = ?1 ORDER BY created_at DESC LIMIT ?3",
            params![seller.user_id(), unix_now(), EVENTS],
        )?;
    }
    tx.commit()?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Opens a file that no server uses.
#[expect(
    clippy::disallowed_methods,
    reason = "the harness prepares files outside of the server's rooms"
)]
pub fn open(file: &Path) -> anyhow::Result<Connection> {
    Connection::open(file).with_context(|| format!("opening {}", file.display()))
}

/// Gives the first people of a copy three accounts and fifteen unread
/// notifications each, and the platform two meets in the next two days. People
/// beyond the sellers of the recipe are made here, with a month of sales.
pub fn dashboards(file: &Path, recipe: Recipe, people: i64) -> anyhow::Result<()> {
    let now = unix_now();
    let mut connection = open(file)?;
    let tx = connection.transaction()?;
    for seller in (0..people).map(Seller) {
        if seller.0 >= recipe.sellers() {
            person(&tx, seller, None, now)?;
            credentials(&tx, seller, now)?;
            accounts_and_items(&tx, recipe, seller, now)?;
            a_month_of_sales(&tx, seller, now)?;
        }
        let user = seller.user_id();
        let extra = 2 - i64::from(seller.second_account().is_some());
        for number in 0..extra {
            tx.execute(
                "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok,
                                         reputation, listings, linked_at, synced_at)
                 VALUES (?1, ?2, 'LOJA' || ?1, ?3, 0, '5_green', 50, ?3, ?3)",
                params![700_000_000 + 2 * seller.0 + number, user, now],
            )?;
        }
        for number in 1..=15 {
            tx.execute(
                "INSERT INTO notification (owner_id, created_at, notification_id, kind, title, message,
                                           ml_user_id, reference)
                 VALUES (?1, ?2, ?3, 1, 'Nova venda de R$ 97,90', 'Kit organizador de gavetas',
                         ?4, ?5)",
                params![
                    user,
                    now - 60 * number,
                    number,
                    seller.first_account(),
                    (2_000_000_000_000 + number).to_string()
                ],
            )?;
        }
        tx.execute(
            "INSERT INTO notification_count (owner_id, unread, told, last_id) VALUES (?1, 15, 15, 15)",
            [user],
        )?;
    }
    tx.execute("INSERT INTO teacher (name, created_at, updated_at) VALUES ('Bia', ?1, ?1)", [now])?;
    for hours in [5, 30] {
        tx.execute(
            "INSERT INTO meet (title, teacher_id, starts_at, minutes, link, created_at, updated_at)
             VALUES ('Mentoria ao vivo', 1, ?1 + 3600 * ?2, 60, 'https://meet.example.com/a', ?1, ?1)",
            [now, hours],
        )?;
    }
    tx.commit()?;
    connection.close().map_err(|(_, error)| error.into())
}

fn a_month_of_sales(tx: &Transaction<'_>, seller: Seller, now: i64) -> anyhow::Result<()> {
    let mut day = tx.prepare_cached(
        "INSERT INTO sales_day (owner_id, ml_user_id, day, orders, units, gross_cents)
         VALUES (?, ?, ?, 2, 3, 17_980)",
    )?;
    for ago in 0..30 {
        day.execute(params![seller.user_id(), seller.first_account(), now / DAY_S - ago])?;
    }
    Ok(())
}

fn fill(file: &Path, recipe: Recipe) -> anyhow::Result<()> {
    let mut connection = open(file)?;
    // A crash during seeding only loses the file, which is then made again.
    connection.execute_batch(
        "PRAGMA journal_mode = OFF;
         PRAGMA synchronous = OFF;
         PRAGMA cache_size = -2000000;
         PRAGMA foreign_keys = OFF;",
    )?;
    let now = unix_now();
    let tx = connection.transaction()?;
    words_and_plans(&tx, now)?;
    let password_hash = argon2::Argon2::default()
        .hash_password(PASSWORD.as_bytes())
        .map_err(|error| anyhow::anyhow!("hashing the password: {error}"))?
        .to_string();
    for seller in (0..recipe.sellers()).map(Seller) {
        let password = (seller.0 < WITH_PASSWORD).then_some(password_hash.as_str());
        person(&tx, seller, password, now)?;
        credentials(&tx, seller, now)?;
        accounts_and_items(&tx, recipe, seller, now)?;
    }
    orders(&tx, recipe, now)?;
    counters(&tx)?;
    inbox(&tx, recipe.inbox, now)?;
    tx.commit()?;
    connection.execute_batch("PRAGMA journal_mode = WAL;")?;
    Ok(())
}

fn words_and_plans(tx: &Transaction<'_>, now: i64) -> anyhow::Result<()> {
    for (id, text) in WORDS {
        tx.execute("INSERT INTO word (word_id, text) VALUES (?, ?)", params![id, text])?;
    }
    for (slug, title, cents, period) in [
        ("pro", "Pro", 9_700, "mensal"),
        ("vip", "VIP", 19_700, "mensal"),
        ("piloto-pro", "Piloto Pro", 99_700, "anual"),
        ("podio", "Pódio", 299_700, "unico"),
    ] {
        tx.execute(
            "INSERT INTO plan (slug, title, price_cents, period, benefits, created_at, updated_at)
             VALUES (?, ?, ?, ?, '[\"Extensão do navegador\",\"Mentorias ao vivo\"]', ?, ?)
             ON CONFLICT (slug) DO NOTHING",
            params![slug, title, cents, period, now, now],
        )?;
    }
    Ok(())
}

fn person(
    tx: &Transaction<'_>,
    seller: Seller,
    password_hash: Option<&str>,
    now: i64,
) -> anyhow::Result<()> {
    tx.execute(
        "INSERT INTO user (user_id, email, name, role, password_hash, created_at)
         VALUES (?, ?, ?, 'pro', ?, ?)",
        params![
            seller.user_id(),
            seller.email(),
            format!("Vendedor {}", seller.0),
            password_hash,
            now - HISTORY_S
        ],
    )?;
    tx.execute(
        "INSERT INTO partner_account (user_id, plan, updated_at) VALUES (?, 'scale', ?)",
        params![seller.user_id(), now],
    )?;
    Ok(())
}

fn credentials(tx: &Transaction<'_>, seller: Seller, now: i64) -> anyhow::Result<()> {
    let digest = |token: &str| Sha256::digest(token).to_vec();
    let partner = seller.partner_token();
    tx.prepare_cached(
        "INSERT INTO partner_token (token_hash, user_id, name, prefix, created_at)
         VALUES (?, ?, 'Painel de vendas', ?, ?)",
    )?
    .execute(params![digest(&partner), seller.user_id(), &partner[..8], now])?;
    tx.prepare_cached(
        "INSERT INTO extension_token (token_hash, user_id, created_at, expires_at)
         VALUES (?, ?, ?, ?)",
    )?
    .execute(params![
        digest(&seller.extension_token()),
        seller.user_id(),
        now,
        now + 30 * DAY_S
    ])?;
    tx.prepare_cached(
        "INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent)
         VALUES (?, ?, ?, ?, '127.0.0.1', 'harness')",
    )?
    .execute(params![digest(&seller.session()), seller.user_id(), now, now])?;
    Ok(())
}

fn accounts_and_items(
    tx: &Transaction<'_>,
    recipe: Recipe,
    seller: Seller,
    now: i64,
) -> anyhow::Result<()> {
    // These links count as lost, because a measured server makes no calls.
    let mut account = tx.prepare_cached(
        "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, error,
                                 reputation, listings, linked_at, synced_at)
         VALUES (?, ?, ?, ?, 0, 'Conecte a conta de novo.', '5_green', ?, ?, ?)",
    )?;
    for id in recipe.accounts(seller) {
        let nickname = format!("LOJA{id}");
        let linked_at = now - HISTORY_S;
        account.execute(params![
            id,
            seller.user_id(),
            nickname,
            now,
            recipe.items(),
            linked_at,
            now
        ])?;
    }
    let mut item = tx.prepare_cached(
        "INSERT INTO sold_item (item_id, variation_id, version, site, title, sku) VALUES (?, 0, 0, 'MLB', ?, ?)",
    )?;
    for number in 0..recipe.items() {
        let title = title(number);
        let sku = format!("ORG-{}-{number:03}", seller.0);
        item.execute(params![recipe.item_id(seller, number), title, sku])?;
    }
    Ok(())
}

/// Title of a seller's listing.
pub fn title(number: i64) -> String {
    format!("Kit {number} Organizador De Gavetas Ajustável Com Divisórias")
}

fn orders(tx: &Transaction<'_>, recipe: Recipe, now: i64) -> anyhow::Result<()> {
    let mut insert = tx.prepare(
        "INSERT INTO sale_order (owner_id, created_at, order_id, ml_user_id, status, total_cents,
                                 currency, closed_at, updated_at, item_id, variation_id, quantity,
                                 buyer_nickname, shipping_id, shipping_status, logistic_type, stage)
         VALUES (:owner_id, :created_at, :order_id, :ml_user_id, :status, :total_cents,
                 20, :closed_at, :updated_at, :item_id, 0, :quantity,
                 :buyer_nickname, :shipping_id, :shipping_status, :logistic_type,
                 CASE :shipping_status WHEN 10 THEN 4 ELSE 8 END)",
    )?;
    let mut random = Random::new(1);
    let shares = shares(recipe.sellers());
    let all = shares.last().copied().unwrap_or(1);
    for number in 0..recipe.orders {
        let ticket = random.below(all);
        let seller = Seller(i64::try_from(shares.partition_point(|share| *share <= ticket))?);
        let accounts = recipe.accounts(seller);
        let account = match accounts.len() {
            1 => accounts[0],
            many if random.below(4) == 0 => accounts[1 + random.index(many - 1)],
            _ => accounts[0],
        };
        let created_at = now - HISTORY_S + HISTORY_S * number / recipe.orders;
        // In the file of one seller the first listing is sold most often.
        let item =
            if recipe.alone && random.below(10) == 0 { 0 } else { random.below(recipe.items()) };
        let status = status(&mut random);
        let closed_at = (status != 1).then_some(created_at + 45);
        insert.execute(named_params! {
            ":owner_id": seller.user_id(),
            ":created_at": created_at,
            ":order_id": 2_000_000_000_000_000 + number * 10 + random.below(10),
            ":ml_user_id": account,
            ":status": status,
            ":total_cents": 1990 + random.below(40_000),
            ":closed_at": closed_at,
            ":updated_at": created_at + random.below(5 * DAY_S),
            ":item_id": recipe.item_id(seller, item),
            ":quantity": 1 + random.below(10) / 8,
            ":buyer_nickname": format!("COMPRADOR{}", random.below(100_000_000)),
            ":shipping_id": closed_at.map(|_| 43_000_000_000 + number),
            ":shipping_status": closed_at.map(|_| parcel(now - created_at)),
            ":logistic_type": closed_at.map(|_| 110 + random.below(3)),
        })?;
    }
    Ok(())
}

/// Where the parcel of an order of such an age is.
const fn parcel(age_s: i64) -> i64 {
    match age_s / DAY_S {
        0 => PARCELS[0],
        1..6 => PARCELS[1],
        _ => PARCELS[2],
    }
}

/// Running sums of the sellers' shares; the n-th share is proportional to 1 /
/// (n + 10).
fn shares(sellers: i64) -> Vec<i64> {
    (0..sellers)
        .scan(0, |sum, n| {
            *sum += 1_000_000_000 / (n + 10);
            Some(*sum)
        })
        .collect()
}

/// A word of `schema.sql`: mostly paid, some cancelled, few anything else.
const fn status(random: &mut Random) -> i64 {
    match random.below(100) {
        0..91 => 5,
        91..97 => 8,
        97..99 => 6,
        _ => 1,
    }
}

/// The totals that the server keeps with each write. Civil days are those of
/// São Paulo, three hours behind UTC in all years seeded here.
fn counters(tx: &Transaction<'_>) -> anyhow::Result<()> {
    tx.execute_batch(
        "INSERT INTO order_count (owner_id, ml_user_id, status, day, orders)
         SELECT owner_id, ml_user_id, status, (created_at - 10800) / 86400, count(*)
         FROM sale_order GROUP BY 1, 2, 3, 4;

         INSERT INTO order_count (owner_id, ml_user_id, status, day, orders)
         SELECT owner_id, ml_user_id, status, -1, sum(orders)
         FROM order_count GROUP BY 1, 2, 3;

         INSERT INTO order_count (owner_id, ml_user_id, status, day, orders)
         SELECT owner_id, 0, 0, day, sum(orders)
         FROM order_count GROUP BY 1, 4;

         INSERT INTO sales_day (owner_id, ml_user_id, day, orders, units, gross_cents)
         SELECT owner_id, ml_user_id, (closed_at - 10800) / 86400, count(*), sum(quantity),
                sum(total_cents)
         FROM sale_order WHERE status IN (5, 6) GROUP BY 1, 2, 3;

         INSERT INTO owner_change (owner_id, topic, changed_at)
         SELECT owner_id, 1, max(created_at) FROM sale_order GROUP BY 1;",
    )?;
    Ok(())
}

fn inbox(tx: &Transaction<'_>, rows: i64, now: i64) -> anyhow::Result<()> {
    let body = format!(r#"{{"topic":"orders_v2","padding":"{}"}}"#, "x".repeat(INBOX_BODY));
    let mut insert = tx.prepare(
        "INSERT INTO ml_notification (received_at, topic, resource, ml_user_id, body, state,
                                      attempts, next_try_at, outcome, counted)
         VALUES (?1, 'orders_v2', ?2, 900000000, ?3, 2, 1, ?1, 'conta não vinculada', 1)",
    )?;
    for number in 0..rows {
        let resource = format!("/orders/{}", 2_000_000_000_000_000 + number);
        insert.execute(params![now - DAY_S, resource, body.as_bytes()])?;
    }
    Ok(())
}
