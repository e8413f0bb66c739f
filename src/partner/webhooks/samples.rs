//! The pages of webhooks with sample data, for `page_samples.rs`.

use super::log::{OF_SELLERS, SPAN};
use super::pages::FORM;
use super::views::*;
use crate::fixture::html;
use crate::panel::{Badge, FormView, Layout, Tick, When};
use crate::webhooks::{Audience, EventType};

const BASE: &str = "/painel/parceiro/webhooks";
const URLS: [&str; 3] = [
    "https://exemplo.com.br/webhooks",
    "https://integracao.loja-de-nome-bem-comprido.exemplo.com.br/recebe/eventos/da/plataforma?chave=0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "https://exemplo.com/a",
];

/// Every page in its states, with this layout and at these instants.
pub fn every(
    layout: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let list = |count: usize, faults: usize, is_full: bool, has_plan: bool| {
        html(&WebhooksPage {
            layout: layout("/painel/parceiro"),
            base: BASE,
            endpoints: (0..count).map(|index| endpoint(index, ago)).collect(),
            form: form(faults),
            ticks: ticks(),
            is_full,
            has_plan,
        })
    };
    let one = |index: usize, deliveries: usize, faults: usize| {
        html(&EndpointPage {
            layout: layout("/painel/parceiro"),
            base: BASE,
            title: URLS[index % 3].split('?').next().unwrap_or_default().to_owned(),
            row: endpoint(index, ago),
            is_on: index < 2,
            has_plan: index < 2,
            created: ago(86_400 * 12),
            old_until: if index == 1 { "24/11/2026 09:12" } else { "" }.to_owned(),
            lost: if index == 2 { "1.204" } else { "" }.to_owned(),
            waiting: "3".to_owned(),
            delivered: "1.204".to_owned(),
            given_up: "0".to_owned(),
            newest: (0..deliveries).map(|index| delivery(index, ago)).collect(),
            form: form(faults),
            ticks: ticks(),
            span: span(faults),
        })
    };
    let secret = |until: Option<&str>| {
        html(&SecretPage {
            layout: layout("/painel/parceiro"),
            base: BASE,
            url: URLS[1].to_owned(),
            secret: "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=".to_owned(),
            until: until.map(str::to_owned),
        })
    };
    vec![
        ("webhooks-vazio", list(0, 0, false, true)),
        ("webhooks", list(3, 0, false, true)),
        ("webhooks-campos", list(1, 2, false, true)),
        ("webhooks-cheio", list(20, 0, true, true)),
        ("webhooks-sem-plano", list(3, 0, false, false)),
        ("webhook-vazio", one(0, 0, 0)),
        ("webhook-falhando", one(1, 4, 0)),
        ("webhook-parado", one(2, 4, 2)),
        ("webhook-segredo", secret(None)),
        ("webhook-segredo-trocado", secret(Some("24/11/2026 09:12"))),
        ("webhook-entregas", deliveries(layout, ago)),
        ("webhook-entrega", one_delivery(layout, ago)),
    ]
}

fn form(faults: usize) -> FormView {
    FORM.sample(None, faults).unfocused()
}

fn span(faults: usize) -> FormView {
    SPAN.sample(None, faults).unfocused()
}

fn ticks() -> Vec<Tick> {
    let tick = |kind: EventType| {
        Tick::new(kind.name(), format!("{} ({})", kind.words(), kind.name()), kind.number() < 20)
            .help(kind.about())
    };
    EventType::of(Audience::Seller).map(tick).collect()
}

fn endpoint(index: usize, ago: &dyn Fn(i64) -> When) -> EndpointRow {
    let states = [
        (Badge::Telling, ""),
        (Badge::Failing, "desde 20/11/2026 09:12: não respondeu em 10 segundos"),
        (Badge::Stopped, "cinco dias só de falhas: respondeu 500"),
    ];
    let (state, note) = states[index % 3];
    EndpointRow {
        id: (index + 1).to_string(),
        url: URLS[index % 3].to_owned(),
        state,
        note: note.to_owned(),
        events: "order.created, order.paid, order.cancelled, order.shipped".to_owned(),
        delivered: (index != 1).then(|| ago(90)),
    }
}

fn delivery(index: usize, ago: &dyn Fn(i64) -> When) -> DeliveryRow {
    let kinds = [EventType::OrderPaid, EventType::StockChanged, EventType::Test];
    let kind = kinds[index % 3];
    let (state, next, answer, tries) = [
        (Badge::Delivered, "", "204 em 31 ms", "1"),
        (Badge::Pending, "de novo 23/11/2026 14:05", "não respondeu em 10 segundos", "3"),
        (Badge::Pending, "espera a anterior do mesmo objeto", "", "0"),
        (Badge::Failed, "", "respondeu 302: redirecionamentos não são seguidos", "10"),
    ][index % 4];
    DeliveryRow {
        number: (index + 1).to_string(),
        kind: kind.name(),
        words: kind.words(),
        state,
        next: next.to_owned(),
        answer: answer.to_owned(),
        tries: tries.to_owned(),
        created: ago(300),
        is_over: matches!(state, Badge::Delivered | Badge::Failed),
    }
}

fn deliveries(layout: &dyn Fn(&str) -> Layout, ago: &dyn Fn(i64) -> When) -> String {
    let path = "/painel/parceiro/webhooks/2/entregas";
    html(&DeliveriesPage {
        layout: layout("/painel/parceiro"),
        base: BASE,
        id: "2".to_owned(),
        url: URLS[1].to_owned(),
        table: OF_SELLERS.table(&OF_SELLERS.first_page(""), OF_SELLERS.heads, 12_480).at(path),
        deliveries: (0..8).map(|index| delivery(index, ago)).collect(),
    })
}

fn one_delivery(layout: &dyn Fn(&str) -> Layout, ago: &dyn Fn(i64) -> When) -> String {
    html(&DeliveryPage {
        layout: layout("/painel/parceiro"),
        base: BASE,
        id: "2".to_owned(),
        url: URLS[1].to_owned(),
        message: "msg_0a1b2c3d4e5f60718293a4b5c6d7e8f9".to_owned(),
        tried: Some(ago(60)),
        row: delivery(3, ago),
        body: "{\n  \"type\": \"order.paid\",\n  \"data\": {\"order_id\": \"2000012345678901\"}\n}"
            .to_owned(),
        answer: "<html>Moved</html>".to_owned(),
    })
}
