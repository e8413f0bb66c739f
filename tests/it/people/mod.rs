//! People in the operator's panel, and what they see of themselves.

mod acts; // What an operator does to a person.
mod audit; // The audit log: who did what, and how it is found.
mod bulk; // Acts on several students, and how they are taken back.
mod import; // Students from a list: checked first, then all of them or none.
mod photos; // Photos: checked, encoded again, served, replaced.
mod privacy; // All data of a person as a file, and its erasure; looks at it; the chain of the audit log.
mod profile; // What people change of their own account.
mod students; // People in the operator's panel: lists, forms, suspension, removal.
