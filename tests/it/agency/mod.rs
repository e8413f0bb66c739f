//! The agency and its clients.

pub mod access; // Who may open the agency's pages, row by row.
pub mod clients;
pub mod links; // How the agency gets and loses accounts.
pub mod questions; // The agency's queue: filters, answering once, holds, saved replies.
