//! People in the operator's panel: students on one list, suppliers and staff
//! on another.
//!
//! What happens to a person is in `accounts::students`, for all callers; here
//! is what the panel shows and reads. At least one person must always be able
//! to administer: the last administrator who can sign in is neither suspended
//! nor demoted nor removed.

pub mod entry;
mod granting;
pub mod import;
pub mod pages;
pub mod store;
mod timeline;
pub mod told;
pub mod views;
