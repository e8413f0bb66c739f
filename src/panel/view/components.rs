//! Values of small components: boxes to tick, tabs, progress, steps, what happened.

use super::{Tone, When};

/// One box of a group of boxes, or one choice of a group of radios.
#[derive(Clone, Debug)]
pub struct Tick {
    /// What is sent when it is ticked.
    pub value: String,
    pub label: String,
    /// What it means; may be empty.
    pub help: String,
    pub on: bool,
    /// Whether it cannot be ticked now; the help says why.
    pub off: bool,
}

impl Tick {
    /// A box without further words.
    pub fn new(value: impl Into<String>, label: impl Into<String>, on: bool) -> Self {
        Self { value: value.into(), label: label.into(), help: String::new(), on, off: false }
    }

    /// The same box with a sentence about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

/// A part of a page that has its own URL.
#[derive(Clone, Debug)]
pub struct Tab {
    pub label: &'static str,
    pub href: String,
    /// Whether it is the one that is shown.
    pub on: bool,
}

/// The progress of a long task.
#[derive(Clone, Debug)]
pub struct Progress {
    pub label: String,
    /// Whole percents, 100 only when all is done.
    pub percent: u64,
    /// The remaining time, or the next step; may be empty.
    pub note: String,
}

impl Progress {
    /// `done` of `total`; a total of 0 counts as done.
    pub fn new(label: impl Into<String>, done: u64, total: u64, note: impl Into<String>) -> Self {
        let share = match total {
            0 => 100,
            _ => u128::from(done.min(total)) * 100 / u128::from(total),
        };
        Self {
            label: label.into(),
            percent: u64::try_from(share).unwrap_or(100),
            note: note.into(),
        }
    }
}

/// One step of setting something up.
pub struct Step {
    pub done: bool,
    pub title: String,
    /// What it is for, or what was found once it is done.
    pub text: String,
    /// Where it is done; empty once it is.
    pub href: String,
    pub button: &'static str,
    /// Fields that the button posts to `href`; `None` for a link.
    pub posts: Option<Vec<(&'static str, String)>>,
}

/// Something that happened to the thing of a page.
pub struct Happened {
    pub tone: Tone,
    pub when: When,
    pub text: String,
    /// More about it, such as who did it; may be empty.
    pub detail: String,
    /// Where more is found; may be empty.
    pub href: String,
}
