//! The civil days to which a URL narrows a list: from `de` to `ate`, both
//! included and both optional.

use crate::base::{Day, Instant, Zone};
use crate::http::{Problem, Request};

/// Name of the filter for the last days, by their number, such as `7`. Days in
/// `de` or `ate` replace it.
pub const SHORTCUT: &str = "periodo";
/// Names of the query parameters.
pub const NAMES: [&str; 2] = ["de", "ate"];

/// The days that the query parameters name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days {
    pub from: Option<Day>,
    pub to: Option<Day>,
    /// Name of the wrong parameter, and the error message.
    pub fault: Option<(&'static str, &'static str)>,
}

impl Days {
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

    /// Whether one of the parameters is given.
    pub const fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some() || self.fault.is_some()
    }

    pub fn check(&self) -> Result<(), Problem> {
        match self.fault {
            Some((name, wrong)) => Err(Problem::field(name, wrong)),
            None => Ok(()),
        }
    }

    /// The days as instants: from the first, before the second.
    pub fn span(&self, zone: Zone) -> (Option<Instant>, Option<Instant>) {
        let starts = |day: Day| zone.start_of(day);
        (self.from.map(starts), self.to.map(|day| starts(day.plus(1))))
    }

    /// The day of a parameter, as it is typed; empty when there is none.
    pub fn typed(&self, name: &str) -> String {
        let day = if name == NAMES[0] { self.from } else { self.to };
        day.map(Day::iso).unwrap_or_default()
    }

    /// Whether the form for days sends this parameter itself, or replaces it.
    pub fn replaces(name: &str) -> bool {
        name == SHORTCUT || NAMES.contains(&name)
    }
}
