//! The program: check-ins, streaks and laps, experience points (XP), milestones,
//! challenges and the ranking.
//!
//! Everything that gives or takes points is an entry of one ledger
//! (`ledger.rs`). What a student has (`Standing`) is kept beside it in the same
//! transaction, and is at every moment what the ledger gives; `recount.rs`
//! compares both.

pub mod admin;
#[allow(dead_code, reason = "its pages come next")]
pub mod drawing;
#[allow(dead_code, reason = "its pages come next")]
pub mod views;

#[cfg(test)]
pub mod samples;

use crate::base::Day;

crate::named! {
    /// What an entry of the ledger is for.
    pub enum Action: number {
        CheckIn = 1, "checkin", "Check-in";
        /// A lesson that was finished.
        Lesson = 2, "aula", "Aula concluída";
        /// A meet that was attended.
        Meet = 3, "meet", "Encontro ao vivo";
        Sale = 4, "venda", "Venda";
        /// A marketplace account that was linked.
        Linked = 5, "conta_vinculada", "Conta vinculada";
        /// A challenge whose goal was reached.
        Challenge = 6, "desafio", "Desafio cumprido";
        /// A completed lap of check-ins.
        Lap = 7, "volta", "Volta completa";
    }
}

/// Numbers of the milestones M1 to M20.
pub const MILESTONES: i64 = 20;

/// One of the milestones. A student's level is the number of those reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    /// From 1 to [`MILESTONES`].
    pub number: i64,
    pub title: String,
    /// Points that reach it; grows with the number.
    pub xp: i64,
    /// What its badge is called.
    pub badge: String,
    /// What one gets for it; may be empty.
    pub reward: String,
}

/// A seasonal challenge: so many of an action within a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub id: i64,
    pub title: String,
    /// May be empty.
    pub description: String,
    pub action: Action,
    /// How many of the action.
    pub goal: i64,
    pub starts_on: Day,
    /// Its last day.
    pub ends_on: Day,
    /// Points for reaching the goal; `None` for what the action `desafio` gives.
    pub reward_xp: Option<i64>,
    /// What else one gets; may be empty.
    pub reward: String,
}
