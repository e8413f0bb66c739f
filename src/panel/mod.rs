//! The kit of every page: lists, forms, charts, CSV, and what pages share.
//!
//! A handler of a panel uses [`list`] for what an address says of a list,
//! [`form`] for what is typed, [`view`] for values that templates print, [`answer`] for what a change
//! answers and [`export`] for a list as a file. Forms are sent once
//! ([`once`]) and notices are shown once ([`notices`]); the edge takes care of
//! both, no page does.

pub mod answer;
pub mod chart;
pub mod csv;
pub mod csv_read;
pub mod days;
pub mod export;
pub mod form;
pub mod list;
pub mod notices;
pub mod once;
pub mod view;

use crate::app::App;
use crate::edge::guard::Person;
use crate::http::Request;

pub use answer::{Answer, ListReply};
pub use form::{Form, FormView, Input, Pick, Rule, Sent};
pub use list::{Filter, Head, ListQuery, Listing, Table};
pub use view::{Badge, Choice, Layout, Notice, Outcome, Paging, Progress, Tab, Tick, Tone, When};

/// What the functions of a page hand on: the service, who asks it, and what is
/// asked.
pub type Visit<'a> = (&'a App, &'a Person, &'a Request);
