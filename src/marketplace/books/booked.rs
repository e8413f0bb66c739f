//! The trait of marketplace records that are stored one by one, whether a
//! notification or a reading brought them.

use super::document::{ClaimDocument, ItemId, ListingDocument, QuestionDocument};
use super::orders::Applied;
use super::{claims, listings, questions};
use crate::base::{Instant, MlUserId};
use crate::db::Result as DbResult;
use crate::marketplace::books::BookWrite;
use crate::marketplace::client::{Caller, Client, Failure};
use crate::marketplace::kinds::RecordKind;

/// A record as the marketplace has it at one moment.
pub trait Booked: Sized + Send + 'static {
    const KIND: RecordKind;

    /// Its number at the marketplace.
    type Id: From<ItemId> + Send + 'static;

    /// Asks the marketplace for one.
    fn fetch(client: &Client, caller: &Caller<'_>, id: &Self::Id) -> Result<Self, Failure>;

    /// The account that the record belongs to.
    fn seller(&self) -> MlUserId;

    /// Updates an owner's books from the record. The owner is notified of what
    /// happened from `news_from` on.
    fn apply(&self, write: BookWrite<'_, '_>, news_from: Instant) -> DbResult<Applied>;

    /// Updates the books when the marketplace does not have the record any
    /// more.
    fn gone(write: BookWrite<'_, '_>, account: MlUserId, id: &Self::Id) -> DbResult<Applied>;
}

macro_rules! booked {
    ($kind:ident, $document:ty, $($seller:ident).+, $id:ty, $room:ident, $fetch:ident $(, $copied:tt)?) => {
        impl Booked for $document {
            const KIND: RecordKind = RecordKind::$kind;

            type Id = $id;

            fn fetch(client: &Client, caller: &Caller<'_>, id: &$id) -> Result<Self, Failure> {
                client.$fetch(caller, $($copied)? id)
            }

            fn seller(&self) -> MlUserId {
                self.$($seller).+
            }

            fn apply(&self, write: BookWrite<'_, '_>, news_from: Instant) -> DbResult<Applied> {
                $room::apply(write, self, news_from)
            }

            fn gone(write: BookWrite<'_, '_>, account: MlUserId, id: &$id) -> DbResult<Applied> {
                $room::gone(write, account, $($copied)? id)
            }
        }
    };
}

booked!(Listing, ListingDocument, seller, ItemId, listings, item);
booked!(Question, QuestionDocument, row.ml_user_id, i64, questions, question, *);
booked!(Claim, ClaimDocument, seller, i64, claims, claim, *);
