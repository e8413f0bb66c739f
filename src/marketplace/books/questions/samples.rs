//! Pages of questions with sample data; `page_samples.rs` looks at them.

use super::cards::{Card, CardListing, Earlier, QueueContext};
use super::replies::views::{RepliesPage, ReplyForm};
use super::replies::{FORM, ReplyEntry, ReplySet, SavedReply, acts};
use super::views::{QuestionPage, QueuePage};
use super::{answer, pages};
use crate::base::{Instant, MlUserId, Zone};
use crate::fixture::html;
use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Notice, Tone, When};

type Pages = Vec<(&'static str, String)>;

const STORES: [&str; 2] =
    ["CASA DA MARÉ", "LOJA-DE-NOME-COMPRIDO-SEM-ESPACO-PARA-QUEBRAR-A-LINHA-123456"];
const TEXTS: [&str; 3] = [
    "Boa tarde! Serve no suporte da bicicleta aro 29 da minha filha? Ela usa todo dia na escola.",
    "Tem azul?",
    "<script>alert(1)</script> & \"aspas\"\nem duas linhas",
];
const ZONE: Zone = Zone::SAO_PAULO;

/// A card; its kind depends on the number.
pub fn card(number: usize, ago: &dyn Fn(i64) -> When) -> Card {
    let hours = [2, 14, 50][number % 3];
    let waits = number < 6;
    let earlier = (0..number % 3).map(|one| Earlier {
        text: TEXTS[one].to_owned(),
        answer: if one == 0 { "Serve sim, com folga.".to_owned() } else { String::new() },
        asked: ago(86_400 * 40),
        is_same: one == 0,
    });
    let is_known = number != 2;
    let only = |text: &str| if is_known { text.to_owned() } else { String::new() };
    Card {
        id: 13_000_000_000 + i64::try_from(number).unwrap(),
        text: TEXTS[number % 3].to_owned(),
        client: String::new(),
        account: MlUserId(900_000_001),
        store: STORES[number % 2].to_owned(),
        buyer: only("MARIA.APARECIDA_2019"),
        asked: ago(3600 * hours),
        age: match hours {
            2 => ("há 2 h".to_owned(), Tone::Info),
            14 => ("Responda logo: há 14 h".to_owned(), Tone::Warn),
            _ => ("Atrasada: há 2 dias".to_owned(), Tone::Bad),
        },
        waits,
        state: if waits { Badge::Unanswered } else { Badge::Answered },
        standing: None,
        answer: if waits { String::new() } else { "Tem sim, em dois tons.".to_owned() },
        answered: (!waits).then(|| ago(600)),
        listing: CardListing {
            id: "MLB4400012345".to_owned(),
            title: "Garrafa térmica de aço inoxidável de 1 litro com alça e copo".to_owned(),
            price: only("R$ 1.289,90"),
            stock: only("12"),
            stock_words: only("12 disponíveis"),
            state: (number == 1).then_some(Badge::OnHold),
            permalink: only("https://produto.sandbox.invalid/MLB-4400012345"),
            thumbnail: String::new(),
        },
        earlier: earlier.collect(),
        field: Field { focus: number == 0, ..Field::default() },
        alert: None,
        holder: String::new(),
    }
}

/// The given number of saved replies.
pub fn replies(count: usize) -> Vec<SavedReply> {
    let reply = |number: usize| SavedReply {
        id: i64::try_from(number).unwrap(),
        entry: ReplyEntry {
            title: ["Saudação", "Nota fiscal", "Prazo de envio para todas as regiões do Brasil"]
                [number % 3]
                .to_owned(),
            text: "Olá, {comprador}! Temos {estoque} de {anuncio} por {preco}.".to_owned(),
        },
        updated_at: Instant(1_795_000_000),
    };
    (0..count).map(reply).collect()
}

fn queue(layout: Layout, count: usize, ago: &dyn Fn(i64) -> When) -> String {
    let query = pages::LIST.first_page("");
    html(&QueuePage {
        layout,
        has_stores: true,
        table: pages::LIST.table(&query, pages::LIST.heads, count as u64),
        queue: QueueContext {
            base: pages::PATH,
            is_agency: false,
            back: String::new(),
            waiting: count.to_string(),
            replies: replies(count),
            replies_page: acts::OWN,
        },
        cards: (0..count.min(6)).map(|number| card(number, ago)).collect(),
    })
}

fn one(layout: Layout, faults: usize, ago: &dyn Fn(i64) -> When) -> String {
    let question = card(1, ago);
    let mut form = answer::FORM.sample(None, faults);
    form.alert =
        form.alert.or_else(|| (faults == 0).then(|| Notice::new(Tone::Bad, "Não foi", "")));
    html(&QuestionPage {
        layout,
        line: super::views::QuestionLine {
            id: question.id,
            text: question.text,
            answer: String::new(),
            listing: question.listing.title,
            store: question.store,
            state: question.state,
            standing: None,
            waits: true,
            asked: question.asked,
            answered: None,
        },
        form,
    })
}

/// The page of saved replies; with `wrong`, one form has errors.
pub fn saved(layout: Layout, count: usize, path: &'static str, wrong: bool) -> String {
    let form = |reply: SavedReply| ReplyForm {
        id: reply.id,
        title: reply.entry.title.clone(),
        text: reply.entry.text.clone(),
        open: wrong && reply.id == 1,
        form: FORM.sample(Some(&reply.entry), usize::from(wrong && reply.id == 1)),
    };
    let mut new = FORM.show(None, ZONE).unfocused();
    new.alert = None;
    html(&RepliesPage {
        layout,
        reply_set: ReplySet { owner: None, path, queue: pages::PATH },
        alert: Notice::faults(usize::from(wrong)),
        is_full: count >= 200,
        new,
        replies: replies(count).into_iter().map(form).collect(),
    })
}

/// Every page in every state.
pub fn every(student: &dyn Fn(&str) -> Layout, ago: &dyn Fn(i64) -> When) -> Pages {
    let list = || student(pages::PATH);
    let own = |count, wrong| saved(student(acts::OWN), count, acts::OWN, wrong);
    vec![
        ("perguntas-nenhuma", queue(list(), 0, ago)),
        ("perguntas-uma", queue(list(), 1, ago)),
        ("perguntas-fila", queue(list(), 43, ago)),
        ("pergunta", one(list(), 0, ago)),
        ("pergunta-campos", one(list(), 1, ago)),
        ("respostas-nenhuma", own(0, false)),
        ("respostas-3", own(3, false)),
        ("respostas-campos", own(3, true)),
        ("respostas-200", own(200, false)),
    ]
}
