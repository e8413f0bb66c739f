//! Data of the page about webhooks: the events, and code that verifies a
//! signature. The text of the page is in `webhooks_pt.html` and
//! `webhooks_en.html`. Tests take the code from the page and run it.

use super::guide::{Sample, code};
use super::language::{Language, Text};
use super::openapi::webhook_section::objects;
use super::titles::TITLES;
use crate::events::EventType;

/// Data that the page shows.
pub struct Webhooks {
    pub events: Vec<EventRow>,
    /// A message as it arrives.
    pub message: String,
    /// What each kind of object looks like.
    pub bodies: Vec<Sample>,
    pub verification: Vec<Sample>,
    pub receiver: Sample,
}

pub struct EventRow {
    pub name: &'static str,
    pub about: Text,
}

impl Webhooks {
    /// The page's data in a language.
    pub fn of(language: Language) -> Self {
        let event = |event: EventType| EventRow {
            name: event.name(),
            about: Text::translated(language.say(&TITLES.events[event.name()])),
        };
        let sample = |file, title| Sample::of(file, title, "");
        Self {
            events: EventType::ALL.into_iter().map(event).collect(),
            message: code("message.http"),
            bodies: objects()
                .map(|(name, json)| Sample { id: name, title: name, code: json.to_owned() })
                .collect(),
            verification: vec![
                sample("conferir-python.py", "Python"),
                sample("conferir-javascript.js", "JavaScript (Node.js)"),
                sample("conferir-php.php", "PHP"),
            ],
            receiver: sample("receber-python.py", "Python, http.server"),
        }
    }
}
