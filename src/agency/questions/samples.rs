//! Pages of the queue with sample data, checked by `page_samples.rs`.

use super::replies::REPLIES;
use super::views::{QueuePage, StatusChip};
use super::{Asked, PATH, Status};
use crate::fixture::html;
use crate::marketplace::books::questions::cards::{Card, QueueContext};
use crate::marketplace::books::questions::samples::{card, replies, saved};
use crate::panel::view::Paging;
use crate::panel::{Layout, Notice, Tone, When};

fn queue(layout: Layout, asked: Asked, total: u64, cards: Vec<Card>) -> String {
    let chip = |status: &Status| StatusChip {
        name: status.name(),
        label: status.words(),
        count: "1.204".to_owned(),
        href: Asked { status: *status, ..asked }.address(),
        on: asked.status == *status,
    };
    html(&QueuePage {
        layout,
        statuses: Status::ALL.iter().map(chip).collect(),
        clients: if total == 1 { Vec::new() } else { vec![(1, "Casa & Café".to_owned())] },
        asked,
        paging: Paging::new(PATH, &[], asked.page.into(), 20, total),
        queue: QueueContext {
            base: PATH,
            is_agency: true,
            back: "cliente=1".to_owned(),
            waiting: total.to_string(),
            replies: replies(12),
            replies_page: REPLIES,
        },
        cards,
    })
}

/// Every page in every state.
pub fn every(
    operator: &dyn Fn(&str) -> Layout,
    ago: &dyn Fn(i64) -> When,
) -> Vec<(&'static str, String)> {
    let page = |query: &str, total, cards| {
        let asked = Asked::of(query, Status::Open).unwrap();
        queue(operator(PATH), asked, total, cards)
    };
    let cards = |from: usize, to: usize| -> Vec<Card> {
        let one = |number| {
            let mut card = card(number, ago);
            card.client = ["Casa & Café", "Distribuidora Nossa Senhora da Conceição do Araguaia"]
                [number % 2]
                .to_owned();
            card.holder = if number == 1 { "Bia S.".to_owned() } else { String::new() };
            card
        };
        (from..to).map(one).collect()
    };
    let mut wrong = cards(0, 3);
    wrong[0].typed(
        "Não, só azul".to_owned(),
        Some("Escreva a resposta, com até 2.000 letras.".to_owned()),
        Some(Notice::new(Tone::Bad, "O marketplace não respondeu.", "Nada foi enviado.")),
    );
    vec![
        ("agencia-perguntas", page("", 1204, cards(0, 6))),
        ("agencia-perguntas-todas", page("status=todas&cliente=1", 30, cards(3, 9))),
        ("agencia-perguntas-campos", page("meus=1", 3, wrong)),
        ("agencia-perguntas-nenhuma", page("", 0, Vec::new())),
        ("agencia-perguntas-sem-cliente", page("", 1, Vec::new())),
        ("agencia-perguntas-filtro", page("cliente=1", 0, Vec::new())),
        ("agencia-perguntas-respondidas", page("status=respondida", 0, Vec::new())),
        ("agencia-perguntas-depois", page("pagina=9", 3, Vec::new())),
        ("agencia-respostas", saved(operator(REPLIES), 12, REPLIES, false)),
    ]
}
