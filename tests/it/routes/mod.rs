//! Every row of the route table.

pub mod bodies; // A thousand generated bodies for every POST row.
pub mod strangers; // Records of another person are not found, on every route.
pub mod sweep; // Every row of the route table, called by every kind of caller.
