//! A student's home: the day's check-in, what waits for the student, how the
//! stores do, and the news. It only puts together what other rooms know.

pub mod pages;
mod tasks;
pub mod views;
