//! The profile: what people see and change of their own account, whatever
//! their role.
//!
//! What could be used to take an account over asks for the present password:
//! a new password, and another chat number, because links to choose a
//! password are sent there.

pub mod acts;
pub mod alerts;
pub mod devices;
pub mod pages;
pub mod password;
pub mod push;
pub mod telegram;
pub mod views;
