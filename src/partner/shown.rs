//! An account's API plan as its owner sees it.

use super::PlanName;
use crate::accounts::views::ApiPlan;
use crate::base::{Day, grouped};
use crate::config;
use crate::panel::view::Badge;

/// A plan in words: its name, its last day and how much of the quota is used.
pub fn shown(
    plans: &config::Plans,
    (name, until): (PlanName, Option<Day>),
    used: u64,
    today: Day,
) -> ApiPlan {
    ApiPlan {
        name: name.words(),
        state: if until.is_none_or(|day| today <= day) { Badge::Active } else { Badge::Expired },
        until: until.map_or_else(
            || "sem data de término".to_owned(),
            |day| day.date().strftime("até %d/%m/%Y").to_string(),
        ),
        usage: format!(
            "{} de {} chamadas neste mês",
            grouped(used),
            grouped(name.limits(plans).quota)
        ),
    }
}
