//! Accounts at the marketplace, their books, and the seller's panel.

pub mod answers; // Answers to buyers: what the marketplace accepts and rejects.
pub mod asked; // Chat messages about buyers' questions, as the account's owner chose.
pub mod convergence; // Whatever happens, the mirror ends like the marketplace.
pub mod fees; // The fee calculator: fields, the cache of a day, and accounts.
pub mod health; // What an owner sees about the reading of an account.
pub mod inbox; // The marketplace's notifications, as the operator sees them.
pub mod invoices;
pub mod labels; // Labels for parcels: which, by whom, and the errors.
pub mod linking; // From consent to sale, with the simulated marketplace.
pub mod mirror; // Listings, questions, claims and shipments, as the marketplace has them.
pub mod odd_records; // One bad record does not break a page of good ones.
pub mod receiving; // Notifications are accepted at once, however slow the marketplace is.
pub mod refresh; // Tokens of accounts: renewed once, also after a kill in between.
pub mod shops; // The seller's panel: sales, listings, questions and claims.
pub mod storm; // Notifications in any order and number end in one state.
pub mod sync; // What the platform reads at the marketplace by itself.
pub mod sync_things; // Listings, questions, claims and shipments without a notification.
pub mod wrong_answers; // A marketplace with wrong totals or missing records.
