//! Parts of pages that are templates of their own (`parts.html`), so that
//! their code exists once. A macro of `ui.html` is compiled anew at each place
//! that uses it; those that most pages use only call these functions.

use std::fmt::Display;

use askama::Template;

use super::{Field, Happened, Layout, NavGroup, Notice, Paging, Step, Tab, When};
use crate::panel::{Due, QueueItem, Table};

/// Declares parts: each is a block of `parts.html`, a type with the values
/// that it prints, and a function that templates call.
macro_rules! parts {
    ($($(#[$doc:meta])* $block:literal $make:ident($($field:ident: $type:ty),* $(,)?) -> $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Template)]
        #[template(path = "parts.html", block = $block, config = "assets/askama.toml")]
        pub struct $name<'p> { $($field: $type),* }

        $(#[$doc])*
        pub fn $make<'p>($($field: $type),*) -> $name<'p> {
            $name { $($field),* }
        }
    )*};
}

parts! {
    /// The frame of a signed-in page before its content.
    "opening" opening(layout: &'p Layout) -> Opening;
    /// The entries of one group of the navigation.
    "places" places(layout: &'p Layout, group: &'p NavGroup) -> Places;
    /// The frame after it.
    "closing" closing(layout: &'p Layout) -> Closing;
    /// A drawing of `img/icons.svg`.
    "icon" icon(class: &'p str, name: &'p str) -> Icon;
    /// A notice about something that happened or must be known.
    "notice" notice(notice: &'p Notice) -> ShownNotice;
    /// An instant, exact in its title.
    "when" when(when: &'p When) -> ShownWhen;
    /// What follows the name of an input: what describes it, and the cursor.
    "described" described(field: &'p Field, name: &'p dyn Display, help: &'p str) -> Described;
    /// The error and the help below an input.
    "below" below(field: &'p Field, name: &'p dyn Display, help: &'p str) -> Below;
    /// Search, filters and export above the rows of a list.
    "tools" tools(table: &'p Table, what: &'p str) -> Tools;
    /// The header row of a list.
    "head" head(table: &'p Table, actions: bool) -> Head;
    /// The position of a page in its list, and links to its neighbours.
    "paging" paging(paging: &'p Paging) -> ShownPaging;
    /// What needs its reader; `quiet` is said when nothing does.
    "queue" queue(items: &'p [QueueItem], quiet: &'p str) -> Queue;
    /// What is done about a row of a queue.
    "acts" acts(item: &'p QueueItem) -> Acts;
    /// A deadline.
    "due" due(due: &'p Due) -> ShownDue;
    /// What is still to be set up, with what is done.
    "steps" steps(steps: &'p [Step]) -> Steps;
    /// What happened to the thing of a page, newest first.
    "timeline" timeline(events: &'p [Happened]) -> Timeline;
    /// A question before something is lost.
    "confirm" confirm(
        id: &'p dyn Display,
        action: &'p dyn Display,
        title: &'p dyn Display,
        text: &'p dyn Display,
        button: &'p str,
    ) -> Confirm;
    /// A line of facts.
    "fact" fact(label: &'p dyn Display, value: &'p dyn Display, note: &'p str) -> Fact;
    /// The title of a page; the macro adds what stands beside it.
    "title" title(title: &'p dyn Display, purpose: &'p str) -> Title;
    /// An empty list; the macro adds the next step.
    "empty" empty(name: &'p str, title: &'p dyn Display, text: &'p dyn Display) -> Empty;
    /// A page without rows of a list that has some; the macro adds the way out.
    "nothing" nothing(paging: &'p Paging, text: &'p dyn Display) -> NothingFound;
    /// A person's photo, or the first letters of the name.
    "avatar" avatar(photo: &'p str, name: &'p str, size: &'p str) -> Avatar;
    /// Links to the parts of one thing.
    "tabs" tabs(label: &'p str, tabs: &'p [Tab]) -> Tabs;
    /// Code of several lines, with a button that copies it.
    "code" code(
        id: &'p dyn Display,
        label: &'p dyn Display,
        text: &'p dyn Display,
        copy: &'p str,
        kind: &'p str,
    ) -> CodeFigure;
}

/// Style sheets and icons of all pages.
#[derive(Template)]
#[template(path = "parts.html", block = "styles", config = "assets/askama.toml")]
pub struct Styles;

/// The hidden field that lets a form do its work once.
#[derive(Template)]
#[template(path = "parts.html", block = "once", config = "assets/askama.toml")]
pub struct Once;
