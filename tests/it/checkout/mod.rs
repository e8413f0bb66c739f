//! Purchase events, and what they do to a student.

pub mod receiving; // The checkout receiver: who may send, what is accepted.
pub mod rules; // What each purchase event does to a student.
