//! What is said of the API: data files under `assets/api`, English and Portuguese
//! beside each other. Each is read once, when something of it is first needed.
//!
//! An operation has a file with its name: how panels name it, what it is for, how an assistant uses
//! it, an example, and what the descriptions of its fields say in Portuguese.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use rust_embed::RustEmbed;
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(RustEmbed)]
#[folder = "assets/api/"]
struct Files;

/// A text in both languages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bilingual {
    pub en: String,
    pub pt: String,
}

/// What is said of an operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its short name in the panel's lists.
    name_pt: String,
    /// What it is for, in one sentence.
    pub about: Bilingual,
    /// What a caller should know beyond that.
    pub details: Bilingual,
    pub tool: Tool,
    #[serde(default)]
    pub example: Example,
    /// What the descriptions of its arguments and of its reply say in Portuguese.
    #[serde(default)]
    portuguese: Translations,
}

/// An operation as a tool of assistants.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name for people.
    pub title: String,
    /// For a model: when to use it, and what people mean by its arguments.
    pub when: String,
}

/// An example call and its answer as JSON. Both are valid by the operation's schemas.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Example {
    /// The body, empty where there is none.
    pub sent: String,
    /// The answer; for an operation that is called with POST, without the envelope.
    pub answer: String,
}

/// Portuguese by English.
type Translations = BTreeMap<String, String>;

/// Descriptions that several operations have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    portuguese: Translations,
}

static OPERATIONS: LazyLock<BTreeMap<String, Operation>> = LazyLock::new(|| {
    let names = Files::iter();
    let names = names.filter_map(|file| Some(file.strip_prefix("operations/")?.to_owned()));
    names
        .map(|file| {
            let name = file.strip_suffix(".toml").unwrap_or(&file).to_owned();
            (name, read(&format!("operations/{file}")))
        })
        .collect()
});

static SHARED: LazyLock<Shared> = LazyLock::new(|| read("shared.toml"));

static PORTUGUESE: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| translations().collect());

/// What is said of an operation; each has a file.
pub fn of(operation: &str) -> &'static Operation {
    let found = OPERATIONS.get(operation);
    found.unwrap_or_else(|| panic!("there is no assets/api/operations/{operation}.toml"))
}

/// The short name of an operation in panels; also of what older versions called one.
pub fn name_pt(operation: &str) -> &'static str {
    OPERATIONS.get(operation).map_or("Outras", |said| &said.name_pt)
}

/// A text of the documents in Portuguese, where it was translated.
pub fn portuguese(english: &str) -> Option<&'static str> {
    PORTUGUESE.get(english).copied()
}

/// Each text of the documents that was translated, with what it says.
pub fn translations() -> impl Iterator<Item = (&'static str, &'static str)> {
    // The documents show the first sentence as a title, without its full stop.
    let title = |text: &'static str| text.trim_end_matches('.');
    let told = OPERATIONS.values().flat_map(move |one| {
        let (about, details) = (&one.about, &one.details);
        [(title(&about.en), title(&about.pt)), (&*details.en, &*details.pt)]
    });
    let described = OPERATIONS.values().flat_map(|one| &one.portuguese);
    let described = described.chain(&SHARED.portuguese);
    told.chain(described.map(|(english, portuguese)| (&**english, &**portuguese)))
}

/// The names of all data files.
#[cfg(test)]
pub fn files() -> impl Iterator<Item = String> {
    Files::iter().map(std::borrow::Cow::into_owned)
}

/// A data file as it is.
pub fn text(name: &str) -> String {
    let file = Files::get(name).unwrap_or_else(|| panic!("there is no assets/api/{name}"));
    String::from_utf8_lossy(&file.data).into_owned()
}

/// A data file in TOML. A test reads each.
pub fn read<T: DeserializeOwned>(name: &str) -> T {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("assets/api/{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_texts_and_no_file_is_left_over() {
        let told: Vec<&str> = OPERATIONS.keys().map(String::as_str).collect();
        let mut operations: Vec<&str> = crate::partner::operation_names().collect();
        operations.sort_unstable();
        assert_eq!(told, operations);
        for (name, said) in &*OPERATIONS {
            let both = [&said.about, &said.details];
            let texts = both.into_iter().flat_map(|one| [&one.en, &one.pt]);
            let texts = texts.chain([&said.name_pt, &said.tool.title, &said.tool.when]);
            assert!(texts.into_iter().all(|text| text.len() > 3), "{name}");
        }
        let known = ["operations/", "samples/", "clients/"];
        let pages = [
            "changelog.toml",
            "errors.toml",
            "events.toml",
            "openapi.toml",
            "pages.toml",
            "shared.toml",
        ];
        for file in Files::iter().filter(|file| !known.iter().any(|part| file.starts_with(part))) {
            assert!(pages.contains(&&*file), "{file} is read by nobody");
        }
    }

    #[test]
    fn no_text_is_translated_twice() {
        let all: Vec<&str> = translations().map(|(english, _)| english).collect();
        let twice = all.iter().find(|text| all.iter().filter(|one| one == text).count() > 1);
        assert_eq!(twice, None);
    }
}
