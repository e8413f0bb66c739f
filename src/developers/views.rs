//! Template data of the developer pages.

use std::borrow::Cow;

use askama::Template;

use super::agents::Agents;
use super::guide::{CodeRow, PlanRow, Sample};
use super::how_to::HowTo;
use super::language::{Language, Text};
use super::reference::Operation;
use super::sandbox_guide::Sandbox;
use super::titles::{Section, TITLES};
use super::webhook_guide::Webhooks;
use super::words::Words;
use crate::panel::{Layout, Notice, Tone};

/// The frame that all developer pages share.
pub struct Frame {
    pub language: Language,
    pub words: &'static Words,
    /// The page's own path.
    pub path: Cow<'static, str>,
    /// Public address of the service.
    pub base_url: String,
}

impl Frame {
    pub const fn new(base_url: String, path: Cow<'static, str>, language: Language) -> Self {
        Self { language, words: Words::of(language), path, base_url }
    }

    /// Address of another page in the same language.
    pub fn link(&self, path: &str) -> String {
        in_language(path, self.language)
    }

    /// Address of this page in the given language.
    pub fn this_in(&self, language: Language) -> String {
        in_language(&self.path, language)
    }

    /// The language in which the page is not shown.
    pub const fn other(&self) -> Language {
        match self.language {
            Language::Portuguese => Language::English,
            Language::English => Language::Portuguese,
        }
    }

    /// Whether `path` is the path of this page, or of the reference it belongs to.
    pub fn is(&self, path: &str) -> bool {
        let rest = self.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || path == super::REFERENCE)
    }

    pub fn sections(&self) -> &'static [Section] {
        if let Some(how_to) = HowTo::at(&self.path) {
            return &how_to.texts().sections;
        }
        match &*self.path {
            super::AGENTS => &TITLES.sections.agents,
            super::WEBHOOKS => &TITLES.sections.webhooks,
            super::SANDBOX => &TITLES.sections.sandbox,
            _ => &TITLES.sections.guide,
        }
    }

    /// The title of a section of this page.
    pub fn section(&self, id: &str) -> &'static str {
        let section = self.sections().iter().find(|section| section.id == id);
        section.map_or("", |section| self.language.say(&section.title))
    }

    /// Pages in the navigation: path and title.
    pub const fn places(&self) -> [(&'static str, &'static str); 7] {
        [
            (super::GUIDE, self.words.guide),
            (super::REFERENCE, self.words.reference),
            (super::AGENTS, self.words.agents),
            (super::WEBHOOKS, self.words.webhooks),
            (super::SANDBOX, self.words.sandbox),
            (super::CHANGELOG, self.words.changelog),
            (super::STATUS, self.words.status),
        ]
    }
}

fn in_language(path: &str, language: Language) -> String {
    match language {
        Language::Portuguese => path.to_owned(),
        Language::English => format!("{path}?lang=en"),
    }
}

/// Data that the guide shows.
pub struct Guide {
    /// The guides for a purpose: path, title and what each is about.
    pub how_to: Vec<(&'static str, &'static str, &'static str)>,
    pub base_url: String,
    pub dev_base_url: String,
    /// IANA name of the zone of civil times.
    pub time_zone: &'static str,
    pub plans: Vec<PlanRow>,
    /// Calls that change something, allowed per minute.
    pub posts: u32,
    /// An error, as it is answered.
    pub error: String,
    pub first_calls: Vec<Sample>,
    pub clients: Vec<Sample>,
    pub polling: Sample,
    pub repeatable: Sample,
    pub paging: Sample,
    pub codes: Vec<CodeRow>,
}

/// `GET /desenvolvedores`.
#[derive(Template)]
#[template(path = "developers/guide.html", config = "assets/askama.toml")]
pub struct GuidePage {
    pub layout: Layout,
    pub frame: Frame,
    pub guide: Guide,
}

/// `GET /desenvolvedores/agentes`.
#[derive(Template)]
#[template(path = "developers/agents.html", config = "assets/askama.toml")]
pub struct AgentsPage {
    pub layout: Layout,
    pub frame: Frame,
    pub agents: Agents,
}

/// `GET /desenvolvedores/espelho` and the other guides for a purpose.
#[derive(Template)]
#[template(path = "developers/how_to.html", config = "assets/askama.toml")]
pub struct HowToPage {
    pub layout: Layout,
    pub frame: Frame,
    pub how_to: &'static HowTo,
    pub title: &'static str,
    pub about: &'static str,
    pub samples: Vec<Sample>,
}

/// `GET /desenvolvedores/webhooks`.
#[derive(Template)]
#[template(path = "developers/webhooks.html", config = "assets/askama.toml")]
pub struct WebhooksPage {
    pub layout: Layout,
    pub frame: Frame,
    pub webhooks: Webhooks,
}

/// `GET /desenvolvedores/sandbox`.
#[derive(Template)]
#[template(path = "developers/sandbox.html", config = "assets/askama.toml")]
pub struct SandboxPage {
    pub layout: Layout,
    pub frame: Frame,
    pub sandbox: Sandbox,
}

/// `GET /desenvolvedores/referencia`: where each operation is.
#[derive(Template)]
#[template(path = "developers/reference.html", config = "assets/askama.toml")]
pub struct ReferencePage {
    pub layout: Layout,
    pub frame: Frame,
    pub base_url: String,
    pub dev_base_url: String,
    pub operations: Vec<Operation>,
}

impl ReferencePage {
    /// The operations of sellers and those of suppliers, with a title.
    fn sections(&self) -> [(&'static str, Vec<&Operation>); 2] {
        let words = self.frame.words;
        let (suppliers, sellers) = self.operations.iter().partition(|one| one.is_of_suppliers());
        [(words.of_sellers, sellers), (words.of_suppliers, suppliers)]
    }
}

/// `GET /desenvolvedores/referencia/{operacao}`.
#[derive(Template)]
#[template(path = "developers/operation.html", config = "assets/askama.toml")]
pub struct OperationPage {
    pub layout: Layout,
    pub frame: Frame,
    /// Path prefix of the operations on the host of this page.
    pub below: &'static str,
    pub operations: Vec<Operation>,
    /// Which of them is shown.
    pub at: usize,
}

impl OperationPage {
    fn one(&self) -> &Operation {
        &self.operations[self.at]
    }
}

/// The whole reference, to be read as Markdown.
#[derive(Template)]
#[template(path = "developers/reference_whole.html", config = "assets/askama.toml")]
pub struct WholeReference {
    pub frame: Frame,
    pub base_url: String,
    pub dev_base_url: String,
    pub below: &'static str,
    pub operations: Vec<Operation>,
}

/// `GET /desenvolvedores/changelog`.
#[derive(Template)]
#[template(path = "developers/changelog.html", config = "assets/askama.toml")]
pub struct ChangelogPage {
    pub layout: Layout,
    pub frame: Frame,
    pub changes: Vec<ChangeRow>,
}

/// What changed on a day.
pub struct ChangeRow {
    /// `2026-11-23`.
    pub day: &'static str,
    /// The day as the language writes it.
    pub shown: String,
    pub title: &'static str,
    pub points: Vec<Text>,
}

/// `GET /status`.
#[derive(Template)]
#[template(path = "developers/status.html", config = "assets/askama.toml")]
pub struct StatusPage {
    pub layout: Layout,
    pub frame: Frame,
    pub verdict: Notice,
    /// When the state was checked.
    pub at: String,
    /// Why nothing is stored; empty while it is.
    pub reason: String,
    pub parts: Vec<PartRow>,
}

/// A part of the service with its days.
pub struct PartRow {
    pub id: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub state: &'static str,
    pub tone: Tone,
    /// `99,98 %`; empty without history.
    pub share: String,
    /// The oldest first.
    pub days: Vec<DayBar>,
}

impl PartRow {
    /// Days with data, the newest first.
    pub fn told(&self) -> impl Iterator<Item = &DayBar> {
        self.days.iter().rev().filter(|day| day.is_known)
    }
}

pub struct DayBar {
    /// `23/11/2026`.
    pub day: String,
    /// What happened, in words.
    pub said: String,
    /// `good`, `warn`, `bad` or `none`.
    pub class: &'static str,
    pub is_known: bool,
    /// Horizontal position of its bar.
    pub x: usize,
}
