//! Saved replies: texts to answer questions with. Each seller has their own,
//! and the agency's team shares one set.

pub mod acts;
pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::base::{Instant, UserId};
use crate::panel::{Form, Input, Rule};
use crate::row;

/// Most replies of a seller, and of the agency.
pub const MOST: i64 = 200;

/// A set of saved replies: its owner and its addresses.
#[derive(Clone, Copy)]
pub struct ReplySet {
    /// The seller who owns them; `None` for the agency's.
    pub owner: Option<UserId>,
    pub path: &'static str,
    /// The address of the queue where they are used.
    pub queue: &'static str,
}

row! {
    /// The fields of a reply that people type.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct ReplyEntry: stored {
        #[serde(rename = "titulo")]
        pub title: String,
        /// With placeholders, such as `{anuncio}`.
        #[serde(rename = "texto")]
        pub text: String,
    }
}

row! {
    #[derive(Clone, Debug)]
    pub struct SavedReply {
        pub id: i64 = "reply_id",
        pub entry: ReplyEntry as row,
        pub updated_at: Instant,
    }
}

/// The placeholders of a text, and what replaces each. One more, `{comprador}`, stands
/// in older texts: nothing replaces it, because of a buyer the marketplace tells a
/// nickname only. Decision agency-15.
pub const PLACES: [(&str, &str); 4] = [
    ("{anuncio}", "o título do anúncio"),
    ("{preco}", "o preço do anúncio"),
    ("{estoque}", "quantas unidades há"),
    ("{loja}", "o nome da conta"),
];

/// Whether a text has a placeholder that would reach the buyer as it is typed.
fn names_nothing(text: &str) -> bool {
    let mut braces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    braces.any(|(name, _)| {
        let is_name = !name.is_empty() && name.chars().all(|one| one.is_alphabetic() || one == '_');
        let is_known = PLACES.iter().any(|(place, _)| place[1..place.len() - 1] == *name);
        is_name && !is_known && name != "comprador"
    })
}

pub const FORM: Form<ReplyEntry> = Form(&[
    Input::new(
        "titulo",
        "Dê um título, com até 60 letras.",
        Rule::Line(1..=60, |entry| &mut entry.title),
    ),
    Input::new(
        "texto",
        "Escreva o texto, com até 2.000 letras. Entre chaves só valem os nomes da lista, como {anuncio}.",
        Rule::Own(
            |sent, name, entry: &mut ReplyEntry| {
                entry.text = sent.lines(name, 2_000);
                if entry.text.is_empty() {
                    sent.check.fail(name, "is required");
                } else if names_nothing(&entry.text) {
                    sent.check.fail(name, "has a placeholder that nothing replaces");
                }
            },
            |entry, _| entry.text.clone(),
        ),
    ),
]);
