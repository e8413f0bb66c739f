//! Lists of the Partner API: their common arguments and the form of their answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::operation::Pagination;
use crate::app::App;
use crate::base::{Day, Instant, Zone};
use crate::db::{Lane, RowWindow};
use crate::edge::route::Todo;
use crate::http::{Check, Field, Problem};

/// Default number of entries of a page, and the most that a caller may ask for.
pub const DEFAULT_LIMIT: i64 = 50;
pub const MAX_LIMIT: i64 = 200;
/// Longest text that a list is searched for.
pub const LONGEST_SEARCH: usize = 120;
/// Largest offset.
pub const MAX_OFFSET: i64 = 1_000_000_000;
/// Lists with a larger offset are read in the slow lane.
const FAR_OFFSET: i64 = 10_000;

/// Declares the arguments of a list: the list's own arguments, and `limit` and
/// `offset`. Unknown arguments are rejected.
#[macro_export]
macro_rules! list_arguments {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$own:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $visibility struct $name {
            $($(#[$own])* #[serde(default)] $field: $crate::http::input::Field<$type>,)*
            /// Most entries of the page.
            #[serde(default)]
            #[schemars(range(min = 1, max = $crate::partner::list::MAX_LIMIT), extend("default" = $crate::partner::list::DEFAULT_LIMIT))]
            limit: $crate::http::input::Field<i64>,
            /// Entries to pass over.
            #[serde(default)]
            #[schemars(range(min = 0, max = $crate::partner::list::MAX_OFFSET), extend("default" = 0))]
            offset: $crate::http::input::Field<i64>,
        }
    };
}

/// The part of a list that a caller wants.
#[derive(Clone, Copy)]
pub struct Window {
    pub limit: i64,
    pub offset: i64,
}

impl Window {
    /// Reads and checks `limit` and `offset`.
    pub fn read(check: &mut Check, limit: Field<i64>, offset: Field<i64>) -> Self {
        Self {
            limit: check.number("limit", limit, 1..=MAX_LIMIT).unwrap_or(DEFAULT_LIMIT),
            offset: check.number("offset", offset, 0..=MAX_OFFSET).unwrap_or(0),
        }
    }

    /// Whether the offset is so large that reading takes long.
    pub const fn is_far(self) -> bool {
        self.offset > FAR_OFFSET
    }

    /// The window as statements take it.
    pub fn rows(self) -> RowWindow {
        let limit = u32::try_from(self.limit).unwrap_or(0);
        RowWindow { limit, offset: u32::try_from(self.offset).unwrap_or(u32::MAX) }
    }

    /// The pagination of this window in a list of `total` entries.
    pub const fn of(self, total: i64) -> Pagination {
        Pagination { total, limit: self.limit, offset: self.offset }
    }
}

/// A page of a list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct ListOf<T> {
    /// The entries of this page.
    data: Vec<T>,
    /// Where this page stands in the list.
    pagination: Pagination,
}

impl<T> ListOf<T> {
    /// The entries of a page as they are shown, with the number of all.
    pub fn of<R>((rows, total): (Vec<R>, u64), window: Window, shown: impl Fn(R) -> T) -> Self {
        let pagination = window.of(i64::try_from(total).unwrap_or(i64::MAX));
        Self { data: rows.into_iter().map(shown).collect(), pagination }
    }
}

const AFTER_TO: &str = "must not be after `to`";

/// Reads and checks the first and the last civil day of a period, `from` and `to`.
pub fn days(
    check: &mut Check,
    from: Field<String>,
    to: Field<String>,
) -> (Option<Day>, Option<Day>) {
    let (from, to) = (check.day("from", from), check.day("to", to));
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        check.fail("from", AFTER_TO);
    }
    (from, to)
}

/// Days of a period of which neither end is given, and most days of one.
const USUAL_DAYS: i64 = 30;
const MOST_DAYS: i64 = 366;

/// The same for figures, which are of a period with both ends: up to today, and of the
/// usual length, where `from` and `to` do not say.
pub fn period(check: &mut Check, from: Field<String>, to: Field<String>, today: Day) -> (Day, Day) {
    let (from, to) = (check.day("from", from), check.day("to", to));
    let to = to.unwrap_or(today);
    let from = from.unwrap_or_else(|| to.plus(1 - USUAL_DAYS));
    if from > to {
        check.fail("from", AFTER_TO);
    } else if to.0 - from.0 >= MOST_DAYS {
        check.fail("from", format!("a period has at most {MOST_DAYS} days"));
    }
    (from, to)
}

/// The instants of a period: from the first, before the second.
pub fn span(
    zone: Zone,
    (from, to): (Option<Day>, Option<Day>),
) -> (Option<Instant>, Option<Instant>) {
    (from.map(|day| zone.start_of(day)), to.map(|day| zone.start_of(day.plus(1))))
}

/// Reads at once, or in the slow lane when reading may take long.
pub fn reading<R>(
    app: &App,
    is_slow: bool,
    read: impl FnOnce(&App, Lane) -> Result<R, Problem> + Send + 'static,
) -> Result<Todo<R>, Problem> {
    if is_slow {
        return Ok(Todo::Slow(Box::new(move |app| read(app, Lane::Slow))));
    }
    Ok(Todo::Now(read(app, Lane::InPlace)?))
}
