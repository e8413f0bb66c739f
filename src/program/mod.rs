//! The program: check-ins, streaks and laps, experience points (XP),
//! milestones, challenges and the ranking.
//!
//! Everything that gives or takes points is an entry of one ledger
//! (`ledger.rs`), written in the transaction of its cause. The sums of a
//! student ([`rules::LedgerTotals`]) are updated in the same transaction, so they
//! always match the ledger; `recount.rs` compares both. Levels and badges are
//! computed from the points when they are read (`milestones.rs`).

pub mod admin;
pub mod cards;
pub mod challenges;
pub mod checkin;
pub mod drawing;
pub mod ledger;
pub mod lowered;
pub mod milestones;
pub mod pages;
pub mod ranking;
pub mod recount;
pub mod recounting;
pub mod rules;
pub mod sales;
pub mod store;
pub mod views;
pub mod wire;

#[cfg(test)]
mod tests;
mod worker;

use crate::base::{Day, Zone};
use crate::config::Config;
use crate::row;
use crate::usual;

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

impl Action {
    /// Its index in [`Action::ALL`].
    pub const fn place(self) -> usize {
        self as usize - 1
    }

    /// The word that follows a count of it, such as `vendas`.
    pub const fn counted(self, count: i64) -> &'static str {
        let (one, many) = match self {
            Self::CheckIn => ("check-in", "check-ins"),
            Self::Lesson => ("aula", "aulas"),
            Self::Meet => ("encontro", "encontros"),
            Self::Sale => ("venda", "vendas"),
            Self::Linked => ("conta", "contas"),
            Self::Challenge => ("desafio", "desafios"),
            Self::Lap => ("volta", "voltas"),
        };
        if count == 1 { one } else { many }
    }

    /// Whether the daily limit applies to it. The rewards of challenges and
    /// laps are always given in full.
    pub const fn is_limited(self) -> bool {
        !matches!(self, Self::Challenge | Self::Lap)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ProgramSettings {
    /// Check-ins of a lap.
    pub lap_days: i64,
    pub zone: Zone,
}

impl ProgramSettings {
    /// The terms of a configuration.
    pub fn of(config: &Config) -> Self {
        Self { lap_days: i64::from(config.program.lap_days.max(1)), zone: config.server.timezone }
    }
}

/// How many milestones there are: M1 to M20.
pub const MILESTONES: i64 = 20;

row! {
    /// One of the milestones. A student's level is the number of those reached.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Milestone: stored {
        /// From 1 to [`MILESTONES`].
        pub number: i64,
        pub title: String,
        /// Points needed to reach it; they increase with the number.
        pub xp: i64,
        /// What its badge is called.
        pub badge: String,
        /// What a student gets for it; may be empty.
        pub reward: String,
    }
}

row! {
    /// A seasonal challenge: doing an action a number of times within a period.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Challenge {
        pub id: i64 = "challenge_id",
        /// Students who reached its goal.
        pub met: u64 = "met" => |met: i64| u64::try_from(met).unwrap_or(0),
        pub entry: ChallengeEntry as row,
    }
}

usual! {
    /// The fields of a challenge that an operator enters.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ChallengeEntry {
        pub title: String,
        /// May be empty.
        pub description: String,
        pub action: Action = Action::CheckIn,
        /// How often the action must be done.
        pub goal: i64,
        pub starts_on: Day,
        /// Its last day.
        pub ends_on: Day,
        /// Points for reaching the goal; `None` for what the action `desafio` gives.
        pub reward_xp: Option<i64>,
        /// What else a student gets; may be empty.
        pub reward: String,
    }
}

row!(stored ChallengeEntry {
    title,
    description,
    action,
    goal,
    starts_on,
    ends_on,
    reward_xp,
    reward,
});

impl ChallengeEntry {
    /// Points for reaching the goal.
    pub fn points(&self, rules: &rules::Rules) -> i64 {
        self.reward_xp.unwrap_or_else(|| rules.points(Action::Challenge, (0, 1)))
    }
}
