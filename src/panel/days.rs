//! The civil days to which an address narrows a list: `de` and `ate`, both
//! included, either of which may be missing.

use crate::base::{Day, Instant, Zone};
use crate::http::{Problem, Request};

/// Name of the filter that names days by their number, such as `7`; days that
/// are given take its place.
pub const SHORTCUT: &str = "periodo";
/// Names in the address.
pub const NAMES: [&str; 2] = ["de", "ate"];

/// What an address says of days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days {
    pub from: Option<Day>,
    pub to: Option<Day>,
    /// The name of what is at fault, and what is wrong with it.
    pub fault: Option<(&'static str, &'static str)>,
}

impl Days {
    /// Reads the address.
    pub fn of(request: &Request) -> Self {
        let mut days = Self::default();
        for (name, value) in form_urlencoded::parse(request.query_text().as_bytes()) {
            let value = value.trim();
            let day = match &*name {
                _ if value.is_empty() => continue,
                "de" => &mut days.from,
                "ate" => &mut days.to,
                _ => continue,
            };
            *day = Day::parse(value);
            if day.is_none() {
                let name = if name == NAMES[0] { NAMES[0] } else { NAMES[1] };
                days.fault = Some((name, "Informe um dia do calendário, como 2026-12-31."));
            }
        }
        if let (Some(from), Some(to)) = (days.from, days.to)
            && to < from
        {
            days.fault = Some((NAMES[1], "O último dia vem antes do primeiro. Troque os dois."));
        }
        days
    }

    /// Whether the address names a day.
    pub const fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.fault.is_some()
    }

    /// The problem with them, if there is one.
    pub fn check(&self) -> Result<(), Problem> {
        match self.fault {
            Some((name, wrong)) => Err(Problem::field(name, wrong)),
            None => Ok(()),
        }
    }

    /// As instants: from, and before.
    pub fn span(&self, zone: Zone) -> (Option<Instant>, Option<Instant>) {
        let starts = |day: Day| zone.start_of(day);
        (self.from.map(starts), self.to.map(|day| starts(day.plus(1))))
    }

    /// The day of a name as the address has it; empty when it has none.
    pub fn typed(&self, name: &str) -> String {
        let day = if name == NAMES[0] { self.from } else { self.to };
        day.map(Day::iso).unwrap_or_default()
    }

    /// Whether a parameter says the same in other words.
    pub fn replaces(name: &str) -> bool {
        name == SHORTCUT || NAMES.contains(&name)
    }
}
