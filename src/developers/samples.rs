//! The developer pages with sample data; `page_samples.rs` checks them.

use serde_json::Value;

use super::agents::agents;
use super::documents::Document;
use super::guide;
use super::language::Language::{self, English, Portuguese};
use super::openapi::Installation;
use super::pages::{Seen, change_rows, status_page};
use super::reference;
use super::status::days::PartDay;
use super::status::state::{Component, State};
use super::views::{
    AgentsEnglish, AgentsPortuguese, ChangelogPage, Frame, GuideEnglish, GuidePortuguese,
    ReferencePage, WebhooksEnglish, WebhooksPortuguese,
};
use super::webhook_guide::Webhooks;
use super::{AGENTS, CHANGELOG, GUIDE, REFERENCE, STATUS, WEBHOOKS};
use crate::base::Day;
use crate::edge::route::{Route, Surface};
use crate::fixture::{config, html};
use crate::panel::Layout;

const BASE: &str = "https://escola.example";
const BELOW: &str = "/api/v1/partner";

/// The document of the Partner API.
fn document() -> Value {
    let at = Installation { base_url: BASE, dev_base_url: BASE, checkout_header: "X-TOKEN" };
    Document::Partner.of(&crate::routes::all(), &at)
}

fn operations(language: Language) -> Vec<reference::Operation> {
    let rows = crate::routes::all();
    let rows = rows.iter().filter(|row| row.surface == Surface::Partner);
    reference::read(&document(), BASE, rows.map(Route::operation), language)
}

/// Every page in its states and in both languages, with this layout.
pub fn every(layout: &dyn Fn() -> Layout) -> Vec<(&'static str, String)> {
    let frame = |path, language| Frame::new(BASE.to_owned(), path, language);
    let reference = |language| {
        html(&ReferencePage {
            layout: layout(),
            frame: frame(REFERENCE, language),
            base_url: format!("{BASE}{BELOW}"),
            dev_base_url: format!("{BASE}/v1/partner"),
            below: BELOW,
            operations: operations(language),
        })
    };
    let changelog = |language| {
        let (layout, frame) = (layout(), frame(CHANGELOG, language));
        html(&ChangelogPage { layout, frame, changes: change_rows(language) })
    };
    let status = |language, state, days: i64| {
        let at = "23/11/2026 14:05".to_owned();
        html(&status_page(layout(), frame(STATUS, language), &seen(state, days), at))
    };
    let rest = vec![
        ("referencia", reference(Portuguese)),
        ("referencia-en", reference(English)),
        ("mudancas", changelog(Portuguese)),
        ("mudancas-en", changelog(English)),
        ("situacao", status(Portuguese, State::Operational, 90)),
        ("situacao-falha", status(Portuguese, State::Degraded, 12)),
        ("situacao-fora", status(English, State::Down, 1)),
        ("situacao-nova", status(Portuguese, State::Operational, 0)),
    ];
    chapters(layout).into_iter().chain(rest).collect()
}

/// The pages of text, in both languages.
fn chapters(layout: &dyn Fn() -> Layout) -> Vec<(&'static str, String)> {
    let frame = |path, language| Frame::new(BASE.to_owned(), path, language);
    let guide = |language| {
        let config = config(&[]);
        guide::of((BASE, BASE), &config.partner.plans, config.limits.partner_post, language)
    };
    vec![
        (
            "desenvolvedores",
            html(&GuidePortuguese {
                layout: layout(),
                frame: frame(GUIDE, Portuguese),
                guide: guide(Portuguese),
            }),
        ),
        (
            "desenvolvedores-en",
            html(&GuideEnglish {
                layout: layout(),
                frame: frame(GUIDE, English),
                guide: guide(English),
            }),
        ),
        (
            "assistentes",
            html(&AgentsPortuguese {
                layout: layout(),
                frame: frame(AGENTS, Portuguese),
                agents: agents(BASE, Portuguese),
            }),
        ),
        (
            "assistentes-en",
            html(&AgentsEnglish {
                layout: layout(),
                frame: frame(AGENTS, English),
                agents: agents(BASE, English),
            }),
        ),
        (
            "webhooks",
            html(&WebhooksPortuguese {
                layout: layout(),
                frame: frame(WEBHOOKS, Portuguese),
                webhooks: Webhooks::of(Portuguese),
            }),
        ),
        (
            "webhooks-en",
            html(&WebhooksEnglish {
                layout: layout(),
                frame: frame(WEBHOOKS, English),
                webhooks: Webhooks::of(English),
            }),
        ),
    ]
}

/// A sample history in which some days are bad.
fn seen(state: State, days: i64) -> Seen {
    let today = Day(20_780);
    let of = |component| {
        (0..days).map(move |back| PartDay {
            component,
            day: today.plus(-back),
            observed_s: 86_400,
            impaired_s: match back % 17 {
                4 => 1_260,
                9 => 30_000,
                _ => 0,
            },
        })
    };
    let parts = [Component::Api, Component::Marketplace, Component::Messages];
    let states = [State::Operational, state, State::Operational];
    Seen {
        today,
        parts: parts.into_iter().zip(states).collect(),
        days: parts.into_iter().flat_map(of).collect(),
        outage: None,
    }
}

#[test]
fn what_the_document_says_of_operations_is_there_in_portuguese() {
    let mut missing = Vec::new();
    for operation in operations(Portuguese) {
        let parameters = operation.parameters.iter().map(|one| &one.about);
        let fields = operation.sent.iter().chain(&operation.answer).map(|one| &one.about);
        let all =
            [&operation.summary, &operation.about].into_iter().chain(parameters).chain(fields);
        for text in all.filter(|text| text.is_foreign) {
            let said: String = text.parts.iter().map(|(_, part)| &**part).collect();
            missing.push(format!("{}: {said}", operation.id));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    // There are no unused translations: those of changed texts must be removed.
    let whole = document().to_string();
    for (english, _) in crate::partner::texts::translations() {
        let said = Value::from(english).to_string();
        let said = said.trim_matches('"').trim_end_matches('.');
        assert!(whole.contains(said), "in no document: {english}");
    }
}
