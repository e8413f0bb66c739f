//! What records of the marketplace have in common that end in the books one by
//! one, whether a notification or a reading brought them.

use super::document::{ClaimDocument, ItemId, ListingDocument, QuestionDocument};
use super::orders::Applied;
use super::{claims, listings, questions};
use crate::base::{Instant, MlUserId, UserId};
use crate::db::{Result, WriteTx};
use crate::marketplace::books::Keeping;

/// A record as the marketplace has it at one moment.
pub trait Booked: Send + 'static {
    /// Its number at the marketplace.
    type Id: Send + 'static;

    /// The account it is of.
    fn seller(&self) -> MlUserId;

    /// Brings an owner's books to what it says. What happened from `news_from`
    /// on is news for the owner.
    fn apply(&self, keeping: Keeping<'_, '_>, news_from: Instant) -> Result<Applied>;

    /// Books that the marketplace does not have such a record any more.
    fn gone(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, id: &Self::Id) -> Result<Applied>;
}

macro_rules! booked {
    ($document:ty, $id:ty, $room:ident $(, $copied:tt)?) => {
        impl Booked for $document {
            type Id = $id;

            fn seller(&self) -> MlUserId {
                self.seller
            }

            fn apply(&self, keeping: Keeping<'_, '_>, news_from: Instant) -> Result<Applied> {
                $room::apply(keeping, self, news_from)
            }

            fn gone(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, id: &$id) -> Result<Applied> {
                $room::gone(tx, owner, account, $($copied)? id)
            }
        }
    };
}

booked!(ListingDocument, ItemId, listings);
booked!(QuestionDocument, i64, questions, *);
booked!(ClaimDocument, i64, claims, *);
