//! Claims in the database.

use super::ClaimState;
use super::pages::{self, WireClaim};
use crate::base::{Instant, UserId};
use crate::db::{Filters, ReadTx, Result, WriteTx};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::document::ClaimDocument;
use crate::marketplace::books::listed::{Listed, RecordFilter};
use crate::marketplace::books::words::Words;
use crate::panel::Listing;
use crate::row;
use crate::services::Services;

row! {
    /// A claim as lists show it.
    pub struct Claim {
        pub claim: ClaimDocument as row,
        /// Title of what was sold in the order that the claim is about; empty when
        /// that is not known.
        pub title: String = "coalesce(
        (SELECT i.title FROM sale_order o
         JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
         WHERE claim.resource = 'order' AND o.order_id = claim.resource_id AND o.owner_id = claim.owner_id), '')",
    }
}

impl Listed for Claim {
    type Wire = WireClaim;

    const LIST: &'static Listing = &pages::LIST;
    const TABLE: &'static str = "claim";
    const ID: &'static str = "claim_id";

    fn state(_: &ReadTx<'_>, _: &Words, name: &str) -> Result<i64> {
        Ok(ClaimState::from_name(name).map_or(-1, |state| state.number().into()))
    }

    fn search<'w>(filters: &mut Filters<'w>, wanted: &'w RecordFilter) {
        let condition = "(claim_id = :number OR resource_id = :number)";
        filters.and(condition, &[(":number", &wanted.number)]);
    }

    fn column(_: &str) -> &'static str {
        "opened_at"
    }

    fn wire(self, services: &Services, stores: &Stores) -> WireClaim {
        WireClaim::of(services, stores, self)
    }
}

/// The most urgent open claims of an owner, at most `most`, and how many are open.
pub fn most_urgent(tx: &ReadTx<'_>, owner: UserId, most: u32) -> Result<(Vec<Claim>, u64)> {
    let open = tx.count(
        "SELECT count(*) FROM claim WHERE owner_id = ?1 AND state = ?2",
        (owner, ClaimState::Open),
    )?;
    // Only few of all claims are open.
    let claims = tx.records(
        "FROM claim WHERE owner_id = ?1 AND state = ?2
         ORDER BY due_at IS NULL, due_at, opened_at, claim_id LIMIT ?3",
        (owner, ClaimState::Open, most),
    )?;
    Ok((claims, open))
}

/// One claim of an owner.
pub fn stored(tx: &ReadTx<'_>, owner: UserId, claim: i64) -> Result<Option<ClaimDocument>> {
    tx.record("FROM claim WHERE claim_id = ?1 AND owner_id = ?2", (claim, owner))
}

/// Stores a claim.
pub fn put(tx: &WriteTx<'_>, owner: UserId, claim: &ClaimDocument) -> Result<()> {
    tx.put("INSERT OR REPLACE INTO claim", claim, &[("owner_id", &owner)])?;
    Ok(())
}

/// Removes a claim from its old place: `opened_at` is a part of the key.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, claim: i64, opened_at: Instant) -> Result<()> {
    tx.run(
        "DELETE FROM claim WHERE owner_id = ?1 AND opened_at = ?2 AND claim_id = ?3",
        (owner, opened_at, claim),
    )
}
