//! What needs its reader, by deadline: one row a thing, with what is to be done
//! about it in the row. Counts of the same things are counts of these rows.

use super::view::Tone;
use super::{PageTime, view};
use crate::base::{DAY_S, Instant};

/// Until when something is to be done, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub at: Instant,
    /// `responda até qui 19:00`, `venceu ontem 19:00`.
    pub text: String,
    pub tone: Tone,
}

impl PageTime {
    /// A deadline: `verb` says what is to be done by then, such as `responda`.
    pub fn due(self, verb: &str, at: Instant) -> Due {
        let day = view::near_day(self.zone, at, self.now);
        let left = at.since(self.now);
        let (text, tone) = match left {
            ..=0 => (format!("venceu {day}"), Tone::Bad),
            1..=DAY_S => (format!("{verb} até {day}"), Tone::Warn),
            _ => (format!("{verb} até {day}"), Tone::Info),
        };
        Due { at, text, tone }
    }

    /// The same of what is done within minutes: `despache em 24 min`.
    pub fn due_in_minutes(self, verb: &str, at: Instant) -> Due {
        let due = self.due(verb, at);
        match at.since(self.now) {
            left @ 1..=3_600 => {
                let minutes = (left + 59) / 60;
                Due { text: format!("{verb} em {minutes} min"), tone: Tone::Bad, ..due }
            }
            _ => due,
        }
    }
}

/// What is done about a row of a queue.
pub enum Act {
    /// A link to where it is done.
    Link { label: &'static str, href: String },
    /// A link to a file or another site, opened beside the page.
    Beside { label: &'static str, href: String },
    /// It is done by the press: a form with its fields.
    Post { label: &'static str, action: String, fields: Vec<(&'static str, String)> },
    /// The same, where the answer is a file: it opens beside the page.
    PostBeside { label: &'static str, action: String, fields: Vec<(&'static str, String)> },
    /// It is written in the row: a form with a text, named `name`, and its fields.
    Write {
        label: &'static str,
        action: String,
        name: &'static str,
        hint: &'static str,
        fields: Vec<(&'static str, String)>,
    },
}

/// One thing that needs its reader.
pub struct QueueItem {
    pub tone: Tone,
    /// Its drawing in `img/icons.svg`.
    pub icon: &'static str,
    /// What it is; leads to it where `href` is not empty.
    pub title: String,
    pub href: String,
    /// Who and how much; may be empty.
    pub about: String,
    pub due: Option<Due>,
    /// What is done about it, the usual first.
    pub acts: Vec<Act>,
}

impl QueueItem {
    /// The order of a queue: by deadline, what has none behind.
    pub fn by_deadline(items: &mut [Self]) {
        items.sort_by_key(|item| item.due.as_ref().map_or(i64::MAX, |due| due.at.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{NOW, ZONE};

    #[test]
    fn a_deadline_says_until_when_and_that_it_is_over() {
        let time = PageTime { zone: ZONE, now: NOW };
        let due = time.due("responda", NOW.plus(2 * 3600));
        assert!(due.text.starts_with("responda até hoje"), "{}", due.text);
        assert_eq!(due.tone, Tone::Warn);
        assert_eq!(time.due("responda", NOW.plus(3 * DAY_S)).tone, Tone::Info);
        let due = time.due("responda", NOW.plus(-DAY_S));
        assert!(due.text.starts_with("venceu ontem"), "{}", due.text);
        assert_eq!(due.tone, Tone::Bad);
    }
}
