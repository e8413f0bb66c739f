//! The agency and its clients.

mod access; // Who may open the agency's pages, row by row.
mod clients;
mod links; // How the agency gets and loses accounts.
mod questions; // The agency's queue: filters, answering once, holds, saved replies.
mod waiting; // What waits at clients: one number everywhere, the next deadline first, its acts.
