//! Accounts of the Partner API in the operator's panel: plans, usage and tokens.
//!
//! The list reads a table with one row per account, kept up to date by
//! triggers, so that no page adds up calls. The calls of one account by day are
//! read from its counts.

mod pages;
pub mod store;
pub mod views;

use super::PlanName;
use crate::accounts::Role;
use crate::base::{Day, Instant, UserId};
use crate::config::Plans;
use crate::named;
use crate::panel::Badge;
use crate::row;

pub use pages::changes::{disconnect, remove_plan, revoke, set_plan};
pub use pages::one::account;
pub use pages::relations::{end as end_relation, list as relations, relate};
pub use pages::{list, needs_slow_lane};

/// Path of all these pages.
const PATH: &str = "/admin/parceiros";

/// Percent of the month's quota from which an account counts as near its quota.
const NEAR: u64 = 80;

named! {
    /// State of an account's plan.
    pub enum PlanState: text {
        InForce = "ativo";
        Ended = "vencido";
        /// It never had a plan, or the plan was removed.
        None = "sem_plano";
    }
}

impl PlanState {
    pub fn of(plan: Option<(PlanName, Option<Day>)>, today: Day) -> Self {
        match plan {
            None => Self::None,
            Some((_, Some(last))) if last < today => Self::Ended,
            Some(_) => Self::InForce,
        }
    }

    /// The badge that pages show.
    pub const fn badge(self) -> Badge {
        match self {
            Self::InForce => Badge::Active,
            Self::Ended => Badge::Expired,
            Self::None => Badge::NoPlan,
        }
    }
}

row! {
    /// An account as the list shows it.
    #[derive(Clone, Debug)]
    pub struct Listed {
        pub id: UserId = "party.user_id",
        pub name: String = "u.name",
        pub email: String = "u.email",
        /// Path of the photo, empty without one.
        pub photo: String = "u.photo",
        pub role: Role = "u.role",
        /// `until` is the plan's last day.
        pub plan: Option<PlanName> = "party.plan",
        pub until: Option<Day> = "party.until_day",
        /// First day of the last month with calls, and the calls of that month.
        pub month: Day = "party.month",
        pub calls: i64 = "party.calls",
        /// How many tokens are not revoked.
        pub tokens: i64 = "party.tokens",
        pub last_used_at: Option<Instant> = "party.last_used_at",
    }
}

impl Listed {
    pub fn plan(&self) -> Option<(PlanName, Option<Day>)> {
        self.plan.map(|name| (name, self.until))
    }

    /// Calls in `month`, the present month.
    pub fn used(&self, month: Day) -> u64 {
        if self.month == month { u64::try_from(self.calls).unwrap_or(0) } else { 0 }
    }
}

/// From how many calls on an account is near its quota, by plan.
#[derive(Clone, Copy, Debug)]
pub struct QuotaThresholds {
    pub today: Day,
    /// First day of the month.
    month: Day,
    starter: i64,
    pro: i64,
    scale: i64,
    /// The lowest of them.
    least: i64,
}

impl QuotaThresholds {
    /// The thresholds of the configured plans, for a day.
    pub fn of(plans: &Plans, today: Day) -> Self {
        let [starter, pro, scale] = PlanName::ALL.map(|plan| {
            let calls = (u128::from(plan.limits(plans).quota) * u128::from(NEAR)).div_ceil(100);
            i64::try_from(calls).unwrap_or(i64::MAX)
        });
        let (month, least) = (today.month_start(), starter.min(pro).min(scale));
        Self { today, month, starter, pro, scale, least }
    }

    /// The values of a condition, by name.
    fn values(&self) -> [(&'static str, &dyn rusqlite::ToSql); 5] {
        [
            (":month", &self.month),
            (":least", &self.least),
            (":starter", &self.starter),
            (":pro", &self.pro),
            (":scale", &self.scale),
        ]
    }
}

/// How much of a quota is used, in whole percents, at most 100.
fn percent(used: u64, quota: u64) -> u64 {
    let share = u128::from(used.min(quota)) * 100 / u128::from(quota.max(1));
    u64::try_from(share).unwrap_or(100)
}

/// Whether an account with this quota is near it.
fn is_near(used: u64, quota: u64) -> bool {
    u128::from(used) * 100 >= u128::from(quota) * u128::from(NEAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::config;

    #[test]
    fn the_bound_of_the_list_and_the_mark_of_a_row_agree() {
        for quota in [1, 2, 3, 10, 99, 10_000] {
            let setting = quota.to_string();
            let config = config(&[("PARTNER__PLANS__STARTER__QUOTA", &setting)]);
            let from =
                QuotaThresholds::of(&config.partner.plans, Day(20_000)).starter.cast_unsigned();
            assert!(is_near(from, quota), "{quota}");
            assert!(!is_near(from - 1, quota), "{quota}");
        }
        assert_eq!((percent(0, 5), percent(7, 5), percent(199, 200)), (0, 100, 99));
    }

    #[test]
    fn a_plan_is_in_force_through_its_last_day() {
        let of = |until| PlanState::of(Some((PlanName::Pro, until)), Day(100));
        assert_eq!(of(None), PlanState::InForce);
        assert_eq!(of(Some(Day(100))), PlanState::InForce);
        assert_eq!(of(Some(Day(99))), PlanState::Ended);
        assert_eq!(PlanState::of(None, Day(100)), PlanState::None);
    }
}
