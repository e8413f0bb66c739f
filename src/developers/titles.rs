//! Titles and words of the pages that are the same in several places, in both
//! languages. They are in the data file `pages.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::partner::texts::{self, Bilingual};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Titles {
    pub sections: Sections,
    /// The guides for a purpose, by name.
    pub how_to: BTreeMap<String, Guided>,
    pub effects: Effects,
    /// What an event means, by its name.
    pub events: BTreeMap<String, Bilingual>,
    /// The parts of the service, by name.
    pub parts: BTreeMap<String, Part>,
    /// The words of their states, by name.
    pub states: BTreeMap<String, Bilingual>,
}

/// The sections of the pages in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sections {
    pub guide: Vec<Section>,
    pub agents: Vec<Section>,
    pub webhooks: Vec<Section>,
    pub sandbox: Vec<Section>,
}

/// A section of a page. Both languages use the same id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub id: String,
    pub title: Bilingual,
}

/// A guide for a purpose.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guided {
    pub title: Bilingual,
    /// What it is about, in one or two sentences.
    pub about: Bilingual,
    pub sections: Vec<Section>,
}

/// What a tool does.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    pub reads: Bilingual,
    pub sends: Bilingual,
    pub adds: Bilingual,
    pub removes: Bilingual,
    pub makes: Bilingual,
    pub changes: Bilingual,
    pub answers: Bilingual,
}

/// A part of the service.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub title: Bilingual,
    /// What it does, in one sentence.
    pub about: Bilingual,
}

pub static TITLES: LazyLock<Titles> = LazyLock::new(|| texts::read("pages.toml"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::developers::status::state::{Component, State};
    use crate::events::EventType;

    #[test]
    fn every_event_part_and_state_has_its_words_and_no_other_has() {
        fn same<T>(told: &BTreeMap<String, T>, known: impl Iterator<Item = &'static str>) {
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            assert_eq!(told.keys().collect::<Vec<_>>(), known);
        }
        same(&TITLES.how_to, crate::developers::how_to::ALL.iter().map(|one| one.id));
        same(&TITLES.events, EventType::ALL.into_iter().map(EventType::name));
        same(&TITLES.parts, Component::ALL.into_iter().map(Component::name));
        same(&TITLES.states, State::ALL.into_iter().map(State::name));
    }
}
