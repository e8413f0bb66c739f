//! The trait of marketplace records that are stored one by one, whether a
//! notification or a reading brought them.

use super::document::{ClaimDocument, ItemId, ListingDocument, QuestionDocument};
use super::orders::Applied;
use super::{claims, listings, questions};
use crate::base::{Instant, MlUserId};
use crate::db::Result;
use crate::marketplace::books::BookWrite;

/// A record as the marketplace has it at one moment.
pub trait Booked: Send + 'static {
    /// Its number at the marketplace.
    type Id: Send + 'static;

    /// The account that the record belongs to.
    fn seller(&self) -> MlUserId;

    /// Updates an owner's books from the record. The owner is notified of what
    /// happened from `news_from` on.
    fn apply(&self, write: BookWrite<'_, '_>, news_from: Instant) -> Result<Applied>;

    /// Updates the books when the marketplace does not have the record any
    /// more.
    fn gone(write: BookWrite<'_, '_>, account: MlUserId, id: &Self::Id) -> Result<Applied>;
}

macro_rules! booked {
    ($document:ty, $($seller:ident).+, $id:ty, $room:ident $(, $copied:tt)?) => {
        impl Booked for $document {
            type Id = $id;

            fn seller(&self) -> MlUserId {
                self.$($seller).+
            }

            fn apply(&self, write: BookWrite<'_, '_>, news_from: Instant) -> Result<Applied> {
                $room::apply(write, self, news_from)
            }

            fn gone(write: BookWrite<'_, '_>, account: MlUserId, id: &$id) -> Result<Applied> {
                $room::gone(write, account, $($copied)? id)
            }
        }
    };
}

booked!(ListingDocument, seller, ItemId, listings);
booked!(QuestionDocument, row.ml_user_id, i64, questions, *);
booked!(ClaimDocument, seller, i64, claims, *);
