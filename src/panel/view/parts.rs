//! Pieces of pages that are templates of their own (`parts.html`), so that
//! their code exists once. A macro of `ui.html` is compiled anew at each place
//! that uses it; those that most pages use lead here.

use std::fmt::Display;

use askama::Template;

use super::{Field, Layout, Notice, Paging, When};
use crate::panel::list::Table;

/// Declares pieces: the block of `parts.html`, and the values that it prints.
macro_rules! parts {
    ($($block:literal $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        #[derive(Template)]
        #[template(path = "parts.html", block = $block, config = "assets/askama.toml")]
        pub struct $name<'p> { $($field: $type),* }
    )*};
}

parts! {
    "opening" Opening { layout: &'p Layout }
    "closing" Closing { layout: &'p Layout }
    "icon" Icon { class: &'static str, name: &'p str }
    "notice" ShownNotice { notice: &'p Notice }
    "when" ShownWhen { when: &'p When }
    "described" Described { field: &'p Field, name: &'p dyn Display, help: &'p str }
    "below" Below { field: &'p Field, name: &'p dyn Display, help: &'p str }
    "tools" Tools { table: &'p Table, what: &'p str }
    "head" Head { table: &'p Table, actions: bool }
    "paging" ShownPaging { paging: &'p Paging }
    "confirm" Confirm {
        id: &'p dyn Display,
        action: &'p dyn Display,
        title: &'p dyn Display,
        text: &'p dyn Display,
        button: &'p str,
    }
}

/// Style sheets, icons and the script of all pages.
#[derive(Template)]
#[template(path = "parts.html", block = "assets", config = "assets/askama.toml")]
pub struct Assets;

/// A drawing of `img/icons.svg`.
pub fn icon<'p>(class: &'static str, name: &'p str) -> Icon<'p> {
    Icon { class, name }
}

/// Asks before something is lost.
pub fn confirm<'p>(
    id: &'p dyn Display,
    action: &'p dyn Display,
    title: &'p dyn Display,
    text: &'p dyn Display,
    button: &'p str,
) -> Confirm<'p> {
    Confirm { id, action, title, text, button }
}

impl Layout {
    /// The frame of a page before its content.
    pub fn opening(&self) -> Opening<'_> {
        Opening { layout: self }
    }

    /// The frame after it.
    pub fn closing(&self) -> Closing<'_> {
        Closing { layout: self }
    }
}

impl Notice {
    pub fn shown(&self) -> ShownNotice<'_> {
        ShownNotice { notice: self }
    }
}

impl When {
    pub fn shown(&self) -> ShownWhen<'_> {
        ShownWhen { when: self }
    }
}

impl Paging {
    pub fn shown(&self) -> ShownPaging<'_> {
        ShownPaging { paging: self }
    }
}

impl Table {
    /// What stands above its rows: search, filters, export.
    pub fn tools<'p>(&'p self, what: &'p str) -> Tools<'p> {
        Tools { table: self, what }
    }

    /// Its header row.
    pub fn head(&self, actions: bool) -> Head<'_> {
        Head { table: self, actions }
    }
}

impl Field {
    /// What follows the name of its input: how it is described, the cursor.
    pub fn described<'p>(&'p self, name: &'p dyn Display, help: &'p str) -> Described<'p> {
        Described { field: self, name, help }
    }

    /// What stands below its input: its fault and the help.
    pub fn below<'p>(&'p self, name: &'p dyn Display, help: &'p str) -> Below<'p> {
        Below { field: self, name, help }
    }
}
