//! Products, suppliers and what is owed to them.

mod catalog; // Products: form, search, file, command; stock by hand and by orders.
mod collecting; // Who owes, payments of a whole filter, undone; the statement of a month.
mod matching; // Listings without a product: suggested, accepted, put aside; lists that come back.
mod programs; // What a supplier's program does: links, payments, sums, usage.
mod relations; // Suppliers: relations, links, drop orders, reminders, files.
mod stock_levels; // Margins of products, and stocks that run low.
mod suppliers; // The supplier's panel, from the invitation to the paid order.
