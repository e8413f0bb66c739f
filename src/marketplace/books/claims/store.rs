//! Claims in the database.

use super::ClaimState;
use super::pages::{self, WireClaim};
use crate::base::{Cents, Instant, MlUserId, OrderId, UserId};
use crate::db::{Column, Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::books::listed::{Listed, RecordFilter};
use crate::marketplace::books::orders::{all_with, first_of_parcel, first_with, of_parcel};
use crate::marketplace::books::words::{BRL, Words};
use crate::panel::Listing;
use crate::row;
use crate::services::Services;

row! {
    /// A claim as lists show it.
    #[expect(clippy::struct_field_names, reason = "the claim itself, beside what is sold")]
    pub struct Claim {
        pub claim: ClaimDocument as row,
        /// The order that it is about, or the first of its parcel, when known.
        pub order: Option<OrderId> = "order_id",
        /// Title of what was sold in that order; empty when it is not known.
        pub title: String = "coalesce(
        (SELECT i.title FROM sale_order o
         JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
         WHERE o.order_id = claim.order_id AND o.owner_id = claim.owner_id), '')",
        /// What was paid for it, which may have to be given back; `None` when that is
        /// not known, or in another currency than reais.
        pub amount: Option<Cents> = "(SELECT o.total_cents FROM sale_order o
         WHERE o.order_id = claim.order_id AND o.owner_id = claim.owner_id AND o.currency = 20)",
    }
}

/// Open ones by deadline, then the others, the last first; as in the index
/// `claim_by_deadline`.
const BY_DEADLINE: &str = "state, iif(state = 1, coalesce(due_at, 9000000000), -updated_at)";

/// Stands for the deadline of an open claim without one.
const WITHOUT_DEADLINE: i64 = 9_000_000_000;

row! {
    /// What the open claims of a seller come to.
    #[derive(Clone, Copy, Default)]
    pub struct AtStake {
        pub open: i64 = "count(*)",
        /// Those that wait for the seller.
        pub own: i64 = "coalesce(sum(due_at IS NOT NULL OR action <> '' AND stage <> 'dispute'), 0)",
        /// What was paid in the sales that they are about, each once.
        pub amount: Cents = "0",
    }
}

const _: () = assert!(BRL == 20, "amounts of claims are in it");

impl Listed for Claim {
    type Wire = WireClaim;

    const LIST: &'static Listing = &pages::LIST;
    const TABLE: &'static str = "claim";
    const ID: &'static str = "claim_id";

    fn state(_: &ReadTx<'_>, _: &Words, name: &str) -> Result<i64> {
        Ok(ClaimState::from_name(name).map_or(-1, |state| state.number().into()))
    }

    fn search<'w>(filters: &mut Filters<'w>, wanted: &'w RecordFilter) {
        let condition = "(claim_id = :number OR resource_id = :number OR order_id = :number)";
        filters.and(condition, &[(":number", &wanted.number)]);
    }

    fn column(order: &str) -> &'static str {
        match order {
            "aberta_em" => "opened_at",
            _ => BY_DEADLINE,
        }
    }

    fn wire(self, services: &Services, stores: &Stores) -> WireClaim {
        WireClaim::of(services, stores, self)
    }
}

/// Which claims a program asks for.
pub struct ClaimFilter {
    pub owner: UserId,
    pub state: Option<ClaimState>,
    pub account: Option<MlUserId>,
    /// Only those behind this place ([`Claim::place`]). They are not counted.
    pub after: Option<(i64, i64, i64)>,
}

impl Claim {
    /// Where it stands among the claims of its owner: state, deadline and number.
    pub fn place(&self) -> (i64, i64, i64) {
        let claim = &self.claim;
        let urgency = match claim.state {
            ClaimState::Open => claim.due_at.map_or(WITHOUT_DEADLINE, |due| due.0),
            ClaimState::Closed => -claim.updated_at.0,
        };
        (claim.state.number().into(), urgency, claim.id)
    }
}

/// A page of claims, open ones by deadline and then the others, and how many match.
pub fn page(tx: &ReadTx<'_>, wanted: &ClaimFilter, window: RowWindow) -> Result<(Vec<Claim>, u64)> {
    let mut filters = Filters::new("owner_id = :owner", &[(":owner", &wanted.owner)]);
    filters.and_if("state = :state", ":state", &wanted.state);
    filters.and_if("ml_user_id = :account", ":account", &wanted.account);
    let total = match wanted.after {
        Some(_) => 0,
        None => filters.count(tx, "SELECT count(*) FROM claim")?,
    };
    let order = format!("{BY_DEADLINE}, claim_id");
    let behind = format!("state >= :at AND ({order}) > (:at, :urgency, :id)");
    if let Some((state, urgency, id)) = &wanted.after {
        filters.and(&behind, &[(":at", state), (":urgency", urgency), (":id", id)]);
    }
    let page = Page { table: "claim", order: &order, window };
    Ok((filters.rows(tx, &page, Claim::COLUMNS, Claim::read)?, total))
}

/// The most urgent open claims of an owner, at most `most`, as their list shows them,
/// and how many are open.
pub fn most_urgent(tx: &ReadTx<'_>, owner: UserId, most: u32) -> Result<(Vec<Claim>, u64)> {
    let sql = format!(
        "FROM claim WHERE owner_id = ?1 AND state = ?2 ORDER BY {BY_DEADLINE}, claim_id LIMIT ?3"
    );
    let claims = tx.records(&sql, (owner, ClaimState::Open, most))?;
    Ok((claims, count(tx, owner, ClaimState::Open, None)?))
}

/// Open claims of an account: by deadline, those without one behind.
pub fn open_of(tx: &ReadTx<'_>, owner: UserId, account: MlUserId, most: u32) -> Result<Vec<Claim>> {
    tx.records(
        "FROM claim WHERE owner_id = ?1 AND state = 1 AND ml_user_id = ?2
         ORDER BY due_at IS NULL, due_at, opened_at LIMIT ?3",
        (owner, account, most),
    )
}

/// What the open claims of an owner come to, of one account or of all.
pub fn at_stake(tx: &ReadTx<'_>, owner: UserId, store: Option<MlUserId>) -> Result<AtStake> {
    let given = (owner, ClaimState::Open, store);
    let found: Option<AtStake> = tx.record(
        "FROM claim WHERE owner_id = ?1 AND state = ?2 AND (?3 IS NULL OR ml_user_id = ?3)",
        given,
    )?;
    let amount = tx.value(
        &format!(
            "SELECT coalesce(sum(o.total_cents), 0) FROM (
                 SELECT DISTINCT order_id FROM claim
                 WHERE owner_id = ?1 AND state = ?2 AND (?3 IS NULL OR ml_user_id = ?3)) c
             JOIN sale_order o ON o.order_id = c.order_id AND o.owner_id = ?1 AND o.currency = {BRL}"
        ),
        given,
    )?;
    Ok(AtStake { amount, ..found.unwrap_or_default() })
}

/// How many claims of an owner are in a state, of one account or of all.
pub fn count(
    tx: &ReadTx<'_>,
    owner: UserId,
    state: ClaimState,
    store: Option<MlUserId>,
) -> Result<u64> {
    tx.count(
        "SELECT count(*) FROM claim WHERE owner_id = ?1 AND state = ?2 AND (?3 IS NULL OR ml_user_id = ?3)",
        (owner, state, store),
    )
}

/// The claims about a sale, its parcel, its cart or its payments, open ones first.
pub fn of_sale(
    tx: &ReadTx<'_>,
    owner: UserId,
    order: OrderId,
    shipment: Option<i64>,
    pack: Option<i64>,
) -> Result<Vec<Claim>> {
    tx.records(
        "FROM claim
         WHERE owner_id = ?1 AND (order_id = ?2
             OR resource = 'order' AND resource_id = ?2
             OR resource = 'shipment' AND resource_id = ?3
             OR resource = 'purchase' AND resource_id = ?4)
         ORDER BY state, opened_at DESC LIMIT 20",
        (owner, order, shipment.unwrap_or(-1), pack.unwrap_or(-1)),
    )
}

pub fn stored(tx: &ReadTx<'_>, owner: UserId, claim: i64) -> Result<Option<ClaimDocument>> {
    tx.record("FROM claim WHERE claim_id = ?1 AND owner_id = ?2", (claim, owner))
}

/// The order that a claim is about: the one it names, else the first of its parcel, of its
/// cart or of its payment.
pub fn order_of(tx: &ReadTx<'_>, owner: UserId, claim: &ClaimDocument) -> Result<Option<OrderId>> {
    match (&*claim.resource, claim.resource_id) {
        ("shipment", Some(parcel)) => first_of_parcel(tx, owner, parcel),
        (resource @ ("purchase" | "payment"), Some(number)) => {
            first_with(tx, owner, resource, number)
        }
        _ => Ok(claim.named_order()),
    }
}

/// All orders that a claim is about, as far as they are known.
pub fn orders_of(tx: &ReadTx<'_>, owner: UserId, claim: &ClaimDocument) -> Result<Vec<OrderId>> {
    match (&*claim.resource, claim.resource_id) {
        ("shipment", Some(parcel)) => of_parcel(tx, owner, claim.seller, parcel),
        (resource @ ("purchase" | "payment"), Some(number)) => {
            all_with(tx, owner, resource, number)
        }
        _ => Ok(claim.named_order().into_iter().collect()),
    }
}

pub fn put(tx: &WriteTx<'_>, owner: UserId, claim: &ClaimDocument) -> Result<()> {
    let order = order_of(tx, owner, claim)?;
    let more: [Column<'_>; 2] = [("owner_id", &owner), ("order_id", &order)];
    tx.put("INSERT OR REPLACE INTO claim", claim, &more)?;
    Ok(())
}

/// Removes a claim from its old place: `opened_at` is a part of the key.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, claim: i64, opened_at: Instant) -> Result<()> {
    tx.run(
        "DELETE FROM claim WHERE owner_id = ?1 AND opened_at = ?2 AND claim_id = ?3",
        (owner, opened_at, claim),
    )
}
