//! The books: the platform's copy of the marketplace's orders, listings,
//! questions and claims, and the words that are shown for its codes.

pub mod booked;
pub mod claims;
pub mod code_text;
pub mod document;
pub mod listed;
pub mod listings;
pub mod news;
pub mod order_status;
pub mod orders;
pub mod parcel;
pub mod questions;
pub mod words;

use crate::base::UserId;
use crate::db::WriteTx;
use orders::BookContext;

/// What every change of the books needs: the transaction, the shared context,
/// and the owner of the records.
pub type BookWrite<'a, 'c> = (&'a WriteTx<'c>, &'a BookContext, UserId);
