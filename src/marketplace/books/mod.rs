//! The books: what the marketplace says of orders, listings, questions and
//! claims, as we keep it, and the words for it.

pub mod booked;
pub mod claims;
pub mod document;
pub mod listed;
pub mod listings;
pub mod news;
pub mod order_status;
pub mod orders;
pub mod questions;
pub mod spoken;
pub mod words;

use crate::base::UserId;
use crate::db::WriteTx;
use orders::Books;

/// What every change of the books needs: the transaction, what belongs to
/// keeping them, and whose they are.
pub type Keeping<'a, 'c> = (&'a WriteTx<'c>, &'a Books, UserId);
