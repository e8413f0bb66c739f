//! The program in the administration.

#[allow(dead_code, reason = "its handlers come next")]
pub mod calendar;
#[allow(dead_code, reason = "its handlers come next")]
pub mod views;

#[cfg(test)]
pub mod samples;
