//! A student's home: the day's check-in, open tasks, the state of the stores,
//! and the notifications. It only combines data of other rooms.

pub mod pages;
mod tasks;
pub mod views;
