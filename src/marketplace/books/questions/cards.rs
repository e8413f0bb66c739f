//! Questions as cards that are answered in place: for the seller's own queue
//! and for the agency's.

use crate::app::App;
use crate::base::{Cents, DAY_S, Instant, MlUserId, UserId, counted, grouped};
use crate::db::{ReadTx, Result};
use crate::marketplace::account::stores::unlinked;
use crate::marketplace::books::document::QuestionRow;
use crate::marketplace::books::listings::pages::state_badge;
use crate::panel::view::Field;
use crate::panel::{Badge, Flash, Notice, PageTime, Tone, flashes};
use crate::row;
use crate::services::Services;

use super::QuestionState;
use super::replies::SavedReply;
use super::store::Question;

/// The field of a card's form with the query of the queue, to return to it.
pub const BACK: &str = "volta";
/// Questions of the same buyer that a card shows, and how many are read to find
/// them.
const EARLIER: usize = 5;
const LOOKED_AT: i64 = 25;
/// A question that waits this long should be answered soon, or is late.
const SOON_S: i64 = 12 * 3600;
const LATE_S: i64 = DAY_S;

/// The notices of a queue about the last answer.
pub const FLASHES: &[Flash] = flashes! {
    "respondida": good "Resposta enviada", "O comprador já pode vê-la no anúncio.";
    "ja_respondida": good "Esta pergunta já tinha resposta",
        "Alguém respondeu antes, por aqui ou no marketplace.";
    "nao_enviada": bad "Sua resposta não foi enviada",
        "A pergunta mudou no marketplace antes de ela chegar lá.";
};

row! {
    /// A question with the data that only its card shows.
    pub struct CardRow {
        pub question: Question as row,
        pub owner: UserId = "owner_id",
        /// Nickname of the account; `None` when it was unlinked.
        pub store: Option<String> = "(SELECT a.nickname FROM ml_account a
        WHERE a.ml_user_id = question.ml_user_id AND a.owner_id = question.owner_id)",
        /// Nickname of the buyer, when it is known.
        pub buyer: Option<String> = "(SELECT b.nickname FROM buyer_name b WHERE b.buyer_id = question.asker_id)",
    }
}

/// What a page of cards needs besides the cards.
pub struct QueueContext {
    /// The queue's address.
    pub base: &'static str,
    /// Whether it is the agency's queue.
    pub is_agency: bool,
    /// The query of the queue as it is shown, to return to it.
    pub back: String,
    /// How many questions wait for an answer; empty where others are shown.
    pub waiting: String,
    /// Saved replies, and the address of their page.
    pub replies: Vec<SavedReply>,
    pub replies_page: &'static str,
}

impl QueueContext {
    /// The address to which a card's form is posted.
    pub fn action(&self, card: &Card) -> String {
        if self.is_agency {
            format!("{}/responder", self.base)
        } else {
            format!("{}/{}/responder", self.base, card.row.id)
        }
    }

    /// The name of the form field with the answer.
    pub const fn field(&self) -> &'static str {
        if self.is_agency { "answer" } else { "resposta" }
    }
}

/// A question on its card.
pub struct Card {
    pub row: QuestionRow,
    /// Name of the agency's client; empty in the seller's own queue.
    pub client: String,
    /// Nickname of the account.
    pub store: String,
    /// Nickname of the buyer; empty while it was not fetched.
    pub buyer: String,
    /// How long it waits, in words, and how urgent that is.
    pub age: (String, Tone),
    pub listing: CardListing,
    /// Earlier questions of the same buyer, newest first.
    pub earlier: Vec<Earlier>,
    /// The form field with the answer.
    pub field: Field,
    /// Why the last answer was not sent.
    pub alert: Option<Notice>,
    /// Who else is answering; may be empty.
    pub holder: String,
    pub time: PageTime,
}

impl Card {
    /// The CSS class of its age.
    pub fn age_class(&self) -> &'static str {
        self.age.1.class()
    }

    /// Puts the typed text back into the card, with the reason why it was not
    /// sent.
    pub fn typed(&mut self, text: String, error: Option<String>, alert: Option<Notice>) {
        self.field = Field { value: text, error, focus: true };
        self.alert = alert;
    }
}

/// The listing that a question is about.
#[derive(Default)]
pub struct CardListing {
    /// Such as `MLB123`.
    pub id: String,
    /// Its title, or its id when that is not known.
    pub title: String,
    /// `R$ 59,90`; empty when the listing or its price is not known.
    pub price: String,
    /// Units for sale, as a number; empty when the listing is not known.
    pub stock: String,
    /// The units for sale in words; empty when the listing is not known.
    pub stock_words: String,
    /// The state in which buyers cannot buy and nobody can answer now; `None`
    /// while the listing is active, or not known.
    pub state: Option<Badge>,
    /// Addresses of its page and its picture; may be empty.
    pub permalink: String,
    pub thumbnail: String,
}

row! {
    struct Shown {
        title: String,
        price: Option<Cents> = "price_cents",
        available: i64,
        status: String = "(SELECT text FROM word WHERE word_id = listing.status)",
        permalink: String,
        thumbnail: String,
    }
}

row! {
    /// An earlier question of the same buyer.
    pub struct Earlier {
        ml_user_id: MlUserId,
        pub item_id: i64,
        pub text: String,
        pub answer: Option<String>,
        pub asked_at: Instant,
    }
}

/// The card of a question. Of the buyer's earlier questions it shows only those
/// to accounts for which `may_see` is true.
pub fn card(
    app: &App,
    tx: &ReadTx<'_>,
    now: Instant,
    found: CardRow,
    may_see: &dyn Fn(MlUserId) -> bool,
) -> Result<Card> {
    let CardRow { question: Question { row, title }, owner, store, buyer } = found;
    let earlier = match row.asker_id {
        Some(asker) => earlier(tx, owner, asker, row.asked_at, row.id)?,
        None => Vec::new(),
    };
    let earlier = earlier.into_iter().filter(|one| may_see(one.ml_user_id)).take(EARLIER);
    Ok(Card {
        earlier: earlier.collect(),
        listing: listing(app, tx, owner, row.item_id, title)?,
        client: String::new(),
        store: store.unwrap_or_else(|| unlinked(row.ml_user_id)),
        buyer: buyer.unwrap_or_default(),
        age: age(now.since(row.asked_at)),
        field: Field::default(),
        alert: None,
        holder: String::new(),
        time: PageTime { zone: app.zone(), now },
        row,
    })
}

/// The badge of a question's state.
pub const fn badge(state: QuestionState) -> Badge {
    match state {
        QuestionState::Open => Badge::Unanswered,
        QuestionState::Answered => Badge::Answered,
        QuestionState::Closed => Badge::Closed,
    }
}

/// A question's text, or a sentence when the marketplace hides it.
pub const fn said(text: &str) -> &str {
    if text.is_empty() { "O marketplace ocultou esta pergunta." } else { text }
}

/// The code of a listing, such as `MLB123`.
pub fn listing_code(services: &Services, item: i64) -> String {
    format!("{}{item}", services.config.marketplace.site)
}

fn listing(
    services: &Services,
    tx: &ReadTx<'_>,
    owner: UserId,
    item: i64,
    title: String,
) -> Result<CardListing> {
    let id = listing_code(services, item);
    let found = "FROM listing WHERE owner_id = ?1 AND item_id = ?2";
    let Some(shown) = tx.record::<Shown>(found, (owner, item))? else {
        let title = if title.is_empty() { id.clone() } else { title };
        return Ok(CardListing { id, title, ..CardListing::default() });
    };
    let is_address = shown.permalink.starts_with("https://");
    Ok(CardListing {
        id,
        title: shown.title,
        price: shown.price.map(Cents::page).unwrap_or_default(),
        stock: grouped(shown.available.unsigned_abs()),
        stock_words: match shown.available {
            ..=0 => "sem estoque".to_owned(),
            many => counted(many, "disponível", "disponíveis"),
        },
        state: Some(state_badge(&shown.status)).filter(|state| *state != Badge::Active),
        permalink: if is_address { shown.permalink } else { String::new() },
        thumbnail: shown.thumbnail,
    })
}

fn earlier(
    tx: &ReadTx<'_>,
    owner: UserId,
    asker: i64,
    at: Instant,
    question: i64,
) -> Result<Vec<Earlier>> {
    tx.records(
        "FROM question INDEXED BY question_of_asker
         WHERE owner_id = ?1 AND asker_id = ?2 AND asked_at <= ?3 AND question_id <> ?4
         ORDER BY asked_at DESC LIMIT ?5",
        (owner, asker, at, question, LOOKED_AT),
    )
}

/// How long a question waits, in words, and how urgent that is.
fn age(seconds: i64) -> (String, Tone) {
    let words = match seconds {
        ..60 => "agora".to_owned(),
        60..3600 => format!("há {} min", seconds / 60),
        3600..172_800 => format!("há {} h", seconds / 3600),
        _ => format!("há {} dias", seconds / DAY_S),
    };
    match seconds {
        LATE_S.. => (format!("Em atraso: {words}"), Tone::Bad),
        SOON_S.. => (format!("Responda logo: {words}"), Tone::Warn),
        _ => (words, Tone::Info),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_words_of_its_own() {
        for (hours, words, tone) in [
            (0, "agora", Tone::Info),
            (3, "há 3 h", Tone::Info),
            (12, "Responda logo: há 12 h", Tone::Warn),
            (24, "Em atraso: há 24 h", Tone::Bad),
            (47, "Em atraso: há 47 h", Tone::Bad),
            (49, "Em atraso: há 2 dias", Tone::Bad),
        ] {
            assert_eq!(age(hours * 3600), (words.to_owned(), tone));
        }
        assert_eq!(age(61).0, "há 1 min");
    }
}
