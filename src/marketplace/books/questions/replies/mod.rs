//! Saved replies: texts to answer questions with. A seller has own ones, and
//! the agency's team has some together.

pub mod acts;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::base::{Instant, UserId};
use crate::panel::{Form, Input, Rule};

/// Most replies of a seller, and of the agency.
pub const MOST: i64 = 200;

/// Whose replies are kept at an address.
#[derive(Clone, Copy)]
pub struct Shelf {
    /// The seller whose they are; `None` for the agency's.
    pub owner: Option<UserId>,
    pub path: &'static str,
    /// The queue that they are for.
    pub queue: &'static str,
}

/// What is typed of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplyEntry {
    #[serde(rename = "titulo")]
    pub title: String,
    /// With places to be filled in, such as `{comprador}`.
    #[serde(rename = "texto")]
    pub text: String,
}

/// A reply.
#[derive(Clone, Debug)]
pub struct SavedReply {
    pub id: i64,
    pub entry: ReplyEntry,
    pub updated_at: Instant,
}

/// What a text may have filled in, and what stands there then.
pub const PLACES: [(&str, &str); 5] = [
    ("{comprador}", "o nome do comprador"),
    ("{anuncio}", "o título do anúncio"),
    ("{preco}", "o preço do anúncio"),
    ("{estoque}", "quantas unidades há"),
    ("{loja}", "o nome da conta"),
];

/// The form of a reply.
pub const FORM: Form<ReplyEntry> = Form(&[
    Input::new(
        "titulo",
        "Dê um título, com até 60 letras.",
        Rule::Line(1..=60, |entry| &mut entry.title),
    ),
    Input::new(
        "texto",
        "Escreva o texto, com até 2.000 letras.",
        Rule::Own(
            |sent, name, entry: &mut ReplyEntry| {
                entry.text = sent.lines(name, 2_000);
                if entry.text.is_empty() {
                    sent.check.fail(name, "is required");
                }
            },
            |entry, _| entry.text.clone(),
        ),
    ),
]);
