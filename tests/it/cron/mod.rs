//! The periodic tasks.

mod rules; // Meet reminders and inactivity alerts, tested at the exact times.
mod runs; // The periodic tasks: who starts them, how they run, and only once.
