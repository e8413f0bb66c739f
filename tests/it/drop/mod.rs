//! Products, suppliers and what is owed to them.

pub mod catalog; // Products: form, search, file, command; stock by hand and by orders.
pub mod relations; // Suppliers: relations, links, drop orders, reminders, files.
pub mod suppliers; // The supplier's panel, from the invitation to the paid order.
