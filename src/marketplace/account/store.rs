//! Linked accounts and their sales in the database.
//!
//! Every query for data that a person may see has the owner in its condition.
//! The tokens of an account are read in `tokens.rs` only. Orders, listings,
//! questions and claims are written in modules of their own.

use crate::base::{Cents, DAY_S, Day, Instant, MlUserId, OrderId, TokenHash, UserId, Zone};
use crate::db::{ReadTx, Result, WriteTx};
use crate::events::{self, DisconnectedStore};
use crate::marketplace::account::{purge, tokens};
use crate::marketplace::books::claims::ClaimState;
use crate::marketplace::books::document::SellerRecord;
use crate::marketplace::books::listings;
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::questions::QuestionState;
use crate::marketplace::books::words::BRL;
use crate::marketplace::client::TokenPair;
use crate::marketplace::kinds::RecordKind;
use crate::marketplace::sync;
use crate::row;
use crate::services::Services;

/// Most attempts to link that a person may have open.
const ATTEMPTS: i64 = 10;
/// Days before today that belong to "30 days".
const SPAN_DAYS: i64 = 29;

row! {
    /// A linked account, without its sales.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LinkedAccount {
        pub ml_user_id: MlUserId = "a.ml_user_id",
        pub nickname: String = "a.nickname",
        /// False when the link is lost, until the account is linked again.
        pub token_ok: bool = "a.token_ok",
        /// Why the account must be linked again, in words for its owner.
        pub error: Option<String> = "a.error",
        /// Such as `5_green`; empty without one.
        pub reputation: String = "a.reputation",
        /// Active and paused listings.
        pub listings: i64 = "a.listings",
        pub open_claims: i64 = "a.open_claims",
        pub open_questions: i64 = "a.open_questions",
        /// When the account was last read at the marketplace.
        pub synced_at: Option<Instant> = "a.synced_at",
        pub linked_at: Instant = "a.linked_at",
        /// When its access ends; `None` when it is renewed, or lost already.
        pub ends_at: Option<Instant> = "iif(a.token_ok AND a.refresh_token IS NULL AND a.access_token IS NOT NULL,
            a.token_expires_at, NULL)",
    }
}

/// A linked account with its sales.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSummary {
    pub linked: LinkedAccount,
    pub sales_today: i64,
    /// Of today and the 29 days before.
    pub sales_30d: i64,
    pub gmv_30d: Cents,
}

/// All accounts of an owner with their sales, in the order of their numbers.
pub fn accounts_of(tx: &ReadTx<'_>, owner: UserId, today: Day) -> Result<Vec<AccountSummary>> {
    // Not as one statement: SQLite would read the account again for each day.
    let accounts = linked_accounts(tx, owner)?.into_iter().map(|linked| {
        let (sales_today, sales_30d, gmv_30d) = tx.one(
            "SELECT coalesce(sum(orders) FILTER (WHERE day = ?4), 0), coalesce(sum(orders), 0),
                    coalesce(sum(gross_cents), 0)
             FROM sales_day WHERE owner_id = ?1 AND ml_user_id = ?2 AND day BETWEEN ?3 AND ?4",
            (owner, linked.ml_user_id, today.0 - SPAN_DAYS, today),
            |row| row.try_into(),
        )?;
        Ok(AccountSummary { linked, sales_today, sales_30d, gmv_30d })
    });
    accounts.collect()
}

/// All accounts of an owner without their sales, in the order of their numbers.
pub fn linked_accounts(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<LinkedAccount>> {
    tx.records("FROM ml_account a WHERE a.owner_id = ?1 ORDER BY a.ml_user_id", [owner])
}

row! {
    /// What was sold on a civil day.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DaySales {
        pub day: Day,
        pub gross: Cents = "sum(gross_cents)",
    }
}

row! {
    /// What all linked accounts of an owner sold on some civil days.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct SoldOnDays {
        pub orders: i64 = "coalesce(sum(orders), 0)",
        pub units: i64 = "coalesce(sum(units), 0)",
        pub gross: Cents = "coalesce(sum(gross_cents), 0)",
    }
}

/// What all linked accounts of an owner sold from one civil day to another, both included.
pub fn sold_on(tx: &ReadTx<'_>, owner: UserId, from: Day, to: Day) -> Result<SoldOnDays> {
    let found = tx.record(
        "FROM sales_day
         WHERE owner_id = ?1 AND day BETWEEN ?2 AND ?3
             AND ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)",
        (owner, from, to),
    )?;
    Ok(found.unwrap_or_default())
}

/// The owner's accounts that the agency looks after, and since when.
pub fn looked_after(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<(MlUserId, Instant)>> {
    tx.tuples(
        "SELECT j.ml_user_id, j.joined_at FROM ml_account a JOIN agency_account j USING (ml_user_id)
         WHERE a.owner_id = ?1",
        [owner],
    )
}

/// Sales of all linked accounts of an owner by civil day, for days that have
/// any, both ends included.
pub fn daily_sales(tx: &ReadTx<'_>, owner: UserId, from: Day, to: Day) -> Result<Vec<DaySales>> {
    tx.records(
        "FROM sales_day
         WHERE owner_id = ?1 AND day BETWEEN ?2 AND ?3
             AND ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)
         GROUP BY day
         ORDER BY day",
        (owner, from, to),
    )
}

/// How long before it counts as a sale an order may have been opened, for
/// [`sold_between`]: what is paid later than a slip lasts is rare.
const OPENED_BEFORE_S: i64 = 7 * DAY_S;

/// What an owner's linked accounts sold from one instant until before another: how
/// many sales, and their value.
pub fn sold_between(
    tx: &ReadTx<'_>,
    owner: UserId,
    from: Instant,
    until: Instant,
) -> Result<(i64, Cents)> {
    // A range of the key, so that nothing but a week of orders is read.
    let sql = format!(
        "SELECT count(*), coalesce(sum(iif(currency = {BRL}, total_cents, 0)), 0) FROM sale_order
         WHERE owner_id = ?1 AND created_at >= ?2 AND created_at < ?4
             AND status IN ({sales}) AND coalesce(closed_at, created_at) >= ?3
             AND coalesce(closed_at, created_at) < ?4
             AND ml_user_id IN (SELECT ml_user_id FROM ml_account WHERE owner_id = ?1)",
        sales = OrderStatus::sales_in_sql()
    );
    tx.one(&sql, (owner, from.minus(OPENED_BEFORE_S), from, until), |row| row.try_into())
}

row! {
    /// What an account sold on a civil day.
    pub struct AccountDay {
        pub day: Day,
        pub orders: i64,
        pub units: i64,
        pub gross: Cents = "gross_cents",
    }
}

/// What an owner's account sold on each civil day from `from` to `to`, both included,
/// that has sales.
pub fn sold_by_day(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    from: Day,
    to: Day,
) -> Result<Vec<AccountDay>> {
    tx.records(
        "FROM sales_day WHERE owner_id = ?1 AND ml_user_id = ?2 AND day BETWEEN ?3 AND ?4",
        (owner, account, from, to),
    )
}

/// How many orders of an owner's account were made on these days of a zone and are
/// cancelled, but for those that were divided into others, which are still sold.
pub fn cancelled(
    tx: &ReadTx<'_>,
    zone: Zone,
    owner: UserId,
    account: MlUserId,
    days: (Day, Day),
) -> Result<i64> {
    let (from, to) = days;
    let cancelled: i64 = tx.value(
        "SELECT coalesce(sum(orders), 0) FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?5 AND day BETWEEN ?3 AND ?4",
        (owner, account, from, to, OrderStatus::Cancelled),
    )?;
    let divided: i64 = tx.value(
        "SELECT count(*) FROM sale_order
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND created_at >= ?3 AND created_at < ?4
           AND status = ?5 AND marks & 8",
        (owner, account, zone.start_of(from), zone.start_of(to.plus(1)), OrderStatus::Cancelled),
    )?;
    Ok(cancelled - divided)
}

/// Gross sales of an owner's account in centavos, one value a civil day from
/// `first` on.
pub fn gross_of(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    first: Day,
    days: usize,
) -> Result<Vec<i64>> {
    let mut sums = vec![0; days];
    let last = first.plus(i64::try_from(days).unwrap_or(0) - 1);
    for AccountDay { day, gross, .. } in sold_by_day(tx, owner, account, first, last)? {
        let place = usize::try_from(day.0 - first.0).ok();
        if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
            *sum = gross.0;
        }
    }
    Ok(sums)
}

row! {
    /// An order as lists show it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RecentOrder {
        pub order_id: OrderId = "o.order_id",
        pub title: String = "i.title",
        pub quantity: i64 = "o.quantity",
        pub total: Cents = "o.total_cents",
        pub created_at: Instant = "o.created_at",
        /// The selling account.
        pub ml_user_id: MlUserId = "o.ml_user_id",
        /// The account's nickname; empty when the account is not linked any more.
        pub store: String = "coalesce(a.nickname, '')",
        pub status: String = "w.text",
    }
}

pub fn newest_orders(tx: &ReadTx<'_>, owner: UserId, limit: u32) -> Result<Vec<RecentOrder>> {
    tx.records(
        "FROM sale_order o
         JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
         JOIN word w ON w.word_id = o.status
         LEFT JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
         WHERE o.owner_id = ?1
         ORDER BY o.created_at DESC, o.order_id DESC
         LIMIT ?2",
        (owner, limit),
    )
}

/// Stores an attempt to link an account. Deletes the person's expired attempts,
/// and the oldest ones beyond the allowed number.
pub fn insert_attempt(
    tx: &WriteTx<'_>,
    person: UserId,
    state: &TokenHash,
    verifier: &[u8],
    expires_at: Instant,
) -> Result<()> {
    let now = tx.now();
    tx.execute(
        "DELETE FROM ml_link_attempt WHERE user_id = ?1 AND expires_at <= ?2",
        (person, now.0),
    )?;
    tx.execute(
        "DELETE FROM ml_link_attempt WHERE state_hash IN (
             SELECT state_hash FROM ml_link_attempt
             WHERE user_id = ?1
             ORDER BY created_at DESC, state_hash
             LIMIT -1 OFFSET ?2)",
        (person, ATTEMPTS - 1),
    )?;
    tx.run(
        "INSERT INTO ml_link_attempt (state_hash, user_id, verifier, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        (state, person, verifier, now.0, expires_at.0),
    )
}

/// Deletes all open attempts to link an account.
pub fn forget_attempts(tx: &WriteTx<'_>) -> Result<()> {
    tx.run("DELETE FROM ml_link_attempt", [])
}

/// Deletes the open attempts of one person.
pub fn forget_attempts_of(tx: &WriteTx<'_>, person: UserId) -> Result<()> {
    tx.run("DELETE FROM ml_link_attempt WHERE user_id = ?1", [person])
}

/// Uses up a person's attempt and returns its verifier, still sealed;
/// `None` when there is none or it has expired.
pub fn take_attempt(
    tx: &WriteTx<'_>,
    person: UserId,
    state: &TokenHash,
) -> Result<Option<Vec<u8>>> {
    let taken: Option<(Vec<u8>, Instant)> = tx.tuple(
        "DELETE FROM ml_link_attempt WHERE state_hash = ?1 AND user_id = ?2 RETURNING verifier, expires_at",
        (state, person),
    )?;
    Ok(taken.and_then(|(verifier, expires_at)| (tx.now() < expires_at).then_some(verifier)))
}

/// Who has linked an account, and when.
pub fn owner_of(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<(UserId, Instant)>> {
    tx.tuple("SELECT owner_id, linked_at FROM ml_account WHERE ml_user_id = ?1", [account])
}

pub fn is_linked_to(tx: &ReadTx<'_>, person: UserId, account: MlUserId) -> Result<bool> {
    Ok(owner_of(tx, account)?.is_some_and(|(owner, _)| owner == person))
}

/// The id and tokens of an account right after the consent.
pub struct NewLink {
    pub ml_user_id: MlUserId,
    /// Sealed.
    pub access_token: Vec<u8>,
    /// Sealed.
    pub refresh_token: Option<Vec<u8>>,
    pub token_expires_at: Instant,
}

impl NewLink {
    /// The tokens that a consent brought just now.
    pub fn of(services: &Services, pair: &TokenPair) -> Self {
        let (access_token, refresh_token) =
            tokens::seal_pair(&services.sealer, pair.ml_user_id, pair);
        let token_expires_at = services.clock.now().plus(pair.expires_in_s);
        Self { ml_user_id: pair.ml_user_id, access_token, refresh_token, token_expires_at }
    }
}

/// The result of linking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    Linked,
    /// It was linked by the same person before.
    Relinked,
    BelongsToAnother,
}

/// Links an account to a person, or replaces the tokens of their own link.
/// Plans a reading of the account.
pub fn link(tx: &WriteTx<'_>, person: UserId, new: &NewLink) -> Result<Linking> {
    let before = owner_of(tx, new.ml_user_id)?;
    if before.is_some_and(|(owner, _)| owner != person) {
        return Ok(Linking::BelongsToAnother);
    }
    // The number is the nickname of a new account until its name is read.
    tx.execute(
        "INSERT INTO ml_account
             (ml_user_id, owner_id, nickname, access_token, refresh_token, token_expires_at, token_ok, linked_at, synced_at)
         VALUES (?1, ?2, CAST(?1 AS TEXT), ?3, ?4, ?5, 1, ?6, ?6)
         ON CONFLICT (ml_user_id) DO UPDATE
         SET access_token = ?3, refresh_token = ?4, token_expires_at = ?5, token_ok = 1, error = NULL,
             linked_at = ?6, synced_at = ?6",
        (
            new.ml_user_id,
            person,
            &new.access_token,
            &new.refresh_token,
            new.token_expires_at.0,
            tx.now().0,
        ),
    )?;
    sync::store::plan(tx, new.ml_user_id)?;
    purge::unmark(tx, person, new.ml_user_id)?;
    count_again(tx, person, new.ml_user_id)?;
    Ok(if before.is_some() { Linking::Relinked } else { Linking::Linked })
}

/// Sets an account's counts from the stored rows. There are some when the
/// account was unlinked a moment ago.
fn count_again(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    tx.execute(
        "UPDATE ml_account
         SET open_questions = (SELECT count(*) FROM question
                               WHERE owner_id = ?1 AND state = ?3 AND ml_user_id = ?2),
             open_claims = (SELECT count(*) FROM claim
                            WHERE owner_id = ?1 AND state = ?4 AND ml_user_id = ?2)
         WHERE ml_user_id = ?2 AND owner_id = ?1",
        (owner, account, QuestionState::Open, ClaimState::Open),
    )?;
    listings::store::recount(tx, owner, account)
}

/// Adds `by` to an account's number of open claims or questions.
pub fn count_open(
    tx: &WriteTx<'_>,
    column: &str,
    owner: UserId,
    account: MlUserId,
    by: i64,
) -> Result<()> {
    tx.run(
        &format!(
            "UPDATE ml_account SET {column} = {column} + ?3 WHERE ml_user_id = ?2 AND owner_id = ?1"
        ),
        (owner, account, by),
    )
}

/// Unlinks a person's account and deletes its tokens; false when it is not
/// theirs. Orders and sums stay; listings, questions and claims are deleted.
pub fn unlink(tx: &WriteTx<'_>, person: UserId, account: MlUserId) -> Result<bool> {
    let nickname: Option<String> = tx.maybe(
        "DELETE FROM ml_account WHERE ml_user_id = ?2 AND owner_id = ?1 RETURNING nickname",
        (person, account),
    )?;
    let Some(nickname) = nickname else { return Ok(false) };
    purge::start(tx, person, account)?;
    let store = DisconnectedStore {
        ml_user_id: account,
        nickname: &nickname,
        reason: "unlinked",
        error: None,
    };
    events::raise_disconnected(tx, person, &store)?;
    Ok(true)
}

/// Unlinks the accounts of a person and deletes their tokens; orders and sums
/// stay. Handles at most `most` rows; returns how many.
pub fn forget_accounts(tx: &WriteTx<'_>, person: UserId, most: usize) -> Result<usize> {
    let account: Option<MlUserId> =
        tx.maybe("SELECT ml_user_id FROM ml_account WHERE owner_id = ?1 LIMIT 1", [person])?;
    let Some(account) = account else { return Ok(0) };
    match empty(tx, account, most)? {
        0 => tx.execute("DELETE FROM ml_account WHERE ml_user_id = ?1", [account]),
        removed => Ok(removed),
    }
}

/// Rows that go with an account and can be many: the table, its key, and which
/// of them. They are removed piece by piece before the account is, so that
/// nothing is left for its foreign keys and triggers.
const OF_ACCOUNT: [(&str, &str, &str); 1] = [("ml_seen", "ml_user_id, item_id", "ml_user_id = ?1")];

/// The same of the agency's care for an account.
const OF_CARE: [(&str, &str, &str); 2] = [
    (
        "agency_question",
        "client_id, state, place, question_id",
        "client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = ?1) AND ml_user_id = ?1",
    ),
    (
        "agency_day",
        "client_id, day, ml_user_id",
        "client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = ?1) AND ml_user_id = ?1",
    ),
];

/// Removes what goes with an account, at most `most` rows of each kind;
/// returns how many.
pub fn empty(tx: &WriteTx<'_>, account: MlUserId, most: usize) -> Result<usize> {
    Ok(empty_care(tx, account, most)? + remove_rows(tx, &OF_ACCOUNT, account, most)?)
}

/// The same of what the agency knows of an account.
pub fn empty_care(tx: &WriteTx<'_>, account: MlUserId, most: usize) -> Result<usize> {
    remove_rows(tx, &OF_CARE, account, most)
}

fn remove_rows(
    tx: &WriteTx<'_>,
    tables: &[(&str, &str, &str)],
    account: MlUserId,
    most: usize,
) -> Result<usize> {
    let mut removed = 0;
    for (table, key, which) in tables {
        let sql = format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {which} LIMIT ?2)"
        );
        removed += tx.execute(&sql, (account, i64::try_from(most).unwrap_or(1)))?;
    }
    Ok(removed)
}

/// Deletes what was read of a person's accounts, and its sums, at most `step`
/// rows of each table; returns how many. When it returns 0, nothing is left.
pub fn forget_history(tx: &WriteTx<'_>, person: UserId, step: usize) -> Result<usize> {
    let changes = tx.execute("DELETE FROM owner_change WHERE owner_id = ?1", [person])?;
    Ok(changes + purge::delete_all(tx, person, step)?)
}

row! {
    /// The stored reputation of an account.
    pub struct SellerReputation {
        pub reputation: String,
        pub power_seller: String,
        /// In millionths, as the two below it.
        pub claims_rate: Option<i64>,
        pub late_rate: Option<i64>,
        pub cancel_rate: Option<i64>,
    }
}

/// The reputation of an owner's account; `None` when the owner has no such account.
pub fn reputation(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
) -> Result<Option<SellerReputation>> {
    tx.record("FROM ml_account WHERE ml_user_id = ?2 AND owner_id = ?1", (owner, account))
}

/// Stores the nickname and reputation of an account. What the marketplace left
/// out keeps its stored value.
pub fn note_seller(tx: &WriteTx<'_>, seller: &SellerRecord) -> Result<()> {
    tx.execute(
        "UPDATE ml_account SET nickname = ?2 WHERE ml_user_id = ?1 AND ?2 <> '' AND nickname <> ?2",
        (seller.id, &seller.nickname),
    )?;
    let Some(reputation) = &seller.reputation else {
        return Ok(());
    };
    tx.run(
        "UPDATE ml_account SET reputation = ?2, power_seller = ?3, claims_rate = ?4, late_rate = ?5, cancel_rate = ?6
         WHERE ml_user_id = ?1
             AND (reputation, power_seller, claims_rate, late_rate, cancel_rate) IS NOT (?2, ?3, ?4, ?5, ?6)",
        (
            seller.id,
            &reputation.level,
            &reputation.power_seller,
            reputation.claims_rate,
            reputation.late_rate,
            reputation.cancel_rate,
        ),
    )
}

/// Stores the marketplace's number of listings, until all listings were read
/// and are counted here.
pub fn note_listings(tx: &WriteTx<'_>, account: MlUserId, listings: i64) -> Result<()> {
    tx.run(
        "UPDATE ml_account SET listings = ?2
         WHERE ml_user_id = ?1
             AND NOT EXISTS (SELECT 1 FROM ml_sync WHERE ml_user_id = ?1 AND area = ?3 AND good_until IS NOT NULL)",
        (account, listings, RecordKind::Listing),
    )
}

/// Notes that the marketplace was read for an account now.
pub fn note_synced(tx: &WriteTx<'_>, account: MlUserId) -> Result<()> {
    tx.run("UPDATE ml_account SET synced_at = ?2 WHERE ml_user_id = ?1", (account, tx.now().0))
}
