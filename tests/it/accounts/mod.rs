//! Accounts: how people come in, what they may do, and how it ends.

mod addresses; // E-mail addresses beyond ASCII.
mod passwords; // Links to choose a password, and requests for one.
mod roles; // What roles and people may do, effective at once.
mod sessions; // How sessions and tokens begin, what they reject, when they end.
mod suspended; // Suspension ends all access: every credential, row and login.
mod view_as; // "View as student": read-only, for half an hour, noted in the audit log.
