//! Purchase events, and what they do to a student.

mod receiving; // The checkout receiver: who may send, what is accepted.
mod rules; // What each purchase event does to a student.
