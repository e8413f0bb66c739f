//! Every row of the route table.

mod bodies; // A thousand generated bodies for every POST row.
mod strangers; // Records of another person are not found, on every route.
mod sweep; // Every row of the route table, called by every kind of caller.
