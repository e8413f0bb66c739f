//! Shared parts of all pages: lists, forms, charts, CSV files and notices.
//!
//! A panel handler uses [`list`] to read the query parameters of a list,
//! [`form`] to read what a person typed, [`view`] for values that templates
//! print, [`queue`] for what needs its reader, [`answer`] for the response to a change and [`export`] for a list as
//! a file. Each form takes effect once ([`once`]), and each notice is shown
//! once ([`notices`]). The `edge` folder does both, so pages need no code for it.

pub mod answer;
pub mod chart;
pub mod csv;
pub mod csv_read;
pub mod days;
pub mod export;
pub mod form;
pub mod list;
pub mod live;
pub mod notices;
pub mod once;
mod page_time;
pub mod queue;
pub mod view;

pub use answer::{Answer, ListReply};
pub use chart::BarChart;
pub(crate) use csv::columns;
pub(crate) use form::form;
pub use form::{Form, FormView, Input, Pick, Rule, Sent};
pub use list::{Filter, Head, ListQuery, Listing, Table};
pub(crate) use list::{filters, heads};
pub use page_time::PageTime;
pub use queue::{Act, Due, QueueItem};
pub(crate) use view::flashes;
pub use view::{
    Badge, Choice, Flash, Happened, Layout, Notice, Paging, Progress, Step, Tab, Tick, Tone, When,
    address,
};
