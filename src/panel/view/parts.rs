//! Pieces of pages that are templates of their own (`parts.html`), so that
//! their code exists once. A macro of `ui.html` is compiled anew at each place
//! that uses it; those that most pages use lead here.

use std::fmt::Display;

use askama::Template;

use super::{Field, Layout, Notice, Paging, Tab, When};
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
    "fact" Fact { label: &'p dyn Display, value: &'p dyn Display, note: &'p str }
    "title" Title { title: &'p dyn Display, purpose: &'p str }
    "empty" Empty { name: &'p str, title: &'p dyn Display, text: &'p dyn Display }
    "nothing" NothingFound { paging: &'p Paging, text: &'p dyn Display }
    "avatar" Avatar { photo: &'p str, name: &'p str, size: &'p str }
    "tabs" Tabs { label: &'p str, tabs: &'p [Tab] }
    "code" CodeFigure {
        id: &'p dyn Display,
        label: &'p dyn Display,
        text: &'p dyn Display,
        copy: &'p str,
        kind: &'p str,
    }
}

/// Style sheets, icons and the script of all pages.
#[derive(Template)]
#[template(path = "parts.html", block = "assets", config = "assets/askama.toml")]
pub struct Assets;

/// The hidden field that lets a form do its work once.
#[derive(Template)]
#[template(path = "parts.html", block = "once", config = "assets/askama.toml")]
pub struct Once;

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

/// A line of facts.
pub fn fact<'p>(label: &'p dyn Display, value: &'p dyn Display, note: &'p str) -> Fact<'p> {
    Fact { label, value, note }
}

/// The title of a page, as far as what stands beside it.
pub fn title<'p>(title: &'p dyn Display, purpose: &'p str) -> Title<'p> {
    Title { title, purpose }
}

/// An empty list, as far as the next step.
pub fn empty<'p>(name: &'p str, title: &'p dyn Display, text: &'p dyn Display) -> Empty<'p> {
    Empty { name, title, text }
}

/// A person's photo, or the first letters of the name.
pub fn avatar<'p>(photo: &'p str, name: &'p str, size: &'p str) -> Avatar<'p> {
    Avatar { photo, name, size }
}

/// Links to the parts of one thing.
pub fn tabs<'p>(label: &'p str, tabs: &'p [Tab]) -> Tabs<'p> {
    Tabs { label, tabs }
}

/// Code of several lines, with a button that copies it.
pub fn code<'p>(
    id: &'p dyn Display,
    label: &'p dyn Display,
    text: &'p dyn Display,
    copy: &'p str,
    kind: &'p str,
) -> CodeFigure<'p> {
    CodeFigure { id, label, text, copy, kind }
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

    /// A page without rows of a list that has some, as far as the way out.
    pub fn nothing<'p>(&'p self, text: &'p dyn Display) -> NothingFound<'p> {
        NothingFound { paging: self, text }
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
