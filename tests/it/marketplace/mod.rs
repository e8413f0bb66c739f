//! Accounts at the marketplace, their books, and the seller's panel.

mod answers; // Answers to buyers: what the marketplace accepts and rejects.
mod asked; // Chat messages about buyers' questions, as the account's owner chose.
mod consents; // Consents that end otherwise than expected.
mod convergence; // Whatever happens, the mirror ends like the marketplace.
mod earned; // What a sale earned, and its claims.
mod fees; // The fee calculator: fields, the cache of a day, and accounts.
mod health; // What an owner sees about the reading of an account.
mod inbox; // The marketplace's notifications, as the operator sees them.
mod invoices;
mod labels; // Labels for parcels: which, by whom, and the errors.
mod lines; // Orders of several lines, and parcels in their real sub-states.
mod linking;
mod listing_page; // From consent to sale, with the simulated marketplace.
mod mirror; // Listings, questions, claims and shipments, as the marketplace has them.
mod odd_records; // One bad record does not break a page of good ones.
mod receiving; // Notifications are accepted at once, however slow the marketplace is.
mod refresh; // Tokens of accounts: renewed once, also after a kill in between.
mod shops; // The seller's panel: sales, listings, questions and claims.
mod storm; // Notifications in any order and number end in one state.
mod sync; // What the platform reads at the marketplace by itself.
mod sync_things; // Listings, questions, claims and shipments without a notification.
mod topics; // Notifications of all topics, and those that did not arrive.
mod unpriced; // Listings without a price, and scans without a limit.
mod wrong_answers; // A marketplace with wrong totals or missing records.
