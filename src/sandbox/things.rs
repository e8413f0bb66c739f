//! The records of the marketplace: sellers, listings, orders, shipments,
//! questions and claims.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::base::{Cents, Instant, Zone};
use crate::usual;

/// The time zone of the pages.
pub const ZONE: Zone = Zone::SAO_PAULO;

/// When a change happens, and whether the platform is notified.
#[derive(Clone, Copy)]
pub struct ChangeContext {
    pub now: Instant,
    pub notify: bool,
}

impl ChangeContext {
    /// A change without a notification.
    pub fn silent(now: Instant) -> Self {
        Self { now, notify: false }
    }
}

/// Sets when a record last changed. Two changes within a second get different
/// times.
pub fn touch(updated: &mut Instant, now: Instant) {
    *updated = now.max(updated.plus(1));
}

/// Reads the field `date_created` of a control; `now` when it is absent.
pub fn created_at(text: Option<&str>, now: Instant) -> Result<Instant, String> {
    let Some(text) = text else { return Ok(now) };
    Instant::parse(text).ok_or_else(|| format!("date_created is not an RFC 3339 date: {text}"))
}

/// Checks that a text has 1 to `most` characters; the error names it by `name`.
pub fn check_length(text: &str, most: usize, name: &str) -> Result<(), String> {
    if text.trim().is_empty() || text.chars().count() > most {
        return Err(format!("{name} must have 1 to {most} characters"));
    }
    Ok(())
}

/// Checks the form of a status. It may be an unknown word, because the marketplace
/// adds new ones.
pub fn check_status(status: &str) -> Result<(), String> {
    let is_word = (1..=60).contains(&status.len())
        && status.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word
        .then_some(())
        .ok_or_else(|| format!("status must be a word of letters, digits and _: {status}"))
}

/// A record that belongs to a seller.
pub trait Owned {
    /// Marketplace id of the seller.
    fn seller(&self) -> i64;
}

macro_rules! owned {
    ($($record:ty),*) => {
        $(impl Owned for $record {
            fn seller(&self) -> i64 {
                self.seller
            }
        })*
    };
}
owned!(Item, Order, Shipment, Question, Claim);

/// A test seller.
#[derive(Clone, Debug)]
pub struct Seller {
    pub id: i64,
    pub nickname: String,
    /// E-mail address of the private record.
    pub email: String,
    pub reputation: Reputation,
    pub created: Instant,
}

usual! {
    /// A seller's reputation: the level and the shares that it is based on.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Reputation {
        /// `1_red` … `5_green`; none for a new seller.
        pub level: Option<String> = Some("5_green".to_owned()),
        /// `silver`, `gold`, `platinum` or none.
        pub power_seller: Option<String>,
        /// Share of sales with a claim.
        pub claims: f64 = 0.005,
        /// Share of sales handed over late.
        pub late: f64 = 0.03,
        /// Share of sales the seller cancelled.
        pub cancelled: f64 = 0.002,
        /// The real level while the marketplace protects the seller for a time,
        /// such as `orange`; `None` means no protection.
        pub real_level: Option<String>,
    }
}

usual! {
    /// A listing. The body of a control is deserialized directly into it.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Item {
        /// The number after `MLB`.
        #[serde(skip)]
        pub number: i64,
        #[serde(rename = "ml_user_id")]
        pub seller: i64,
        pub title: String,
        pub category: String = "MLB31447".to_owned(),
        pub price: Cents,
        /// Units for sale, of all variations together.
        pub stock: i64 = 10,
        #[serde(skip)]
        pub sold: i64,
        /// `gold_special` (Clássico) or `gold_pro` (Premium).
        pub listing_type: String = "gold_special".to_owned(),
        /// `active`, `paused`, `closed` …
        #[serde(skip)]
        pub status: String = "active".to_owned(),
        /// Why it is not active.
        #[serde(skip)]
        pub sub_status: Vec<String>,
        /// Attribute `SELLER_SKU`.
        pub sku: Option<String>,
        /// Attribute `GTIN`.
        pub ean: Option<String>,
        /// How the marketplace ships it.
        pub logistic: String = "drop_off".to_owned(),
        /// Sizes, colours and so on; empty when there is only one.
        pub variations: Vec<Variation>,
        /// The product of the marketplace's catalogue that it sells.
        pub catalog_product: Option<String>,
        #[serde(skip)]
        pub created: Instant = Instant(0),
        #[serde(skip)]
        pub updated: Instant = Instant(0),
    }
}

impl Item {
    /// The listing's id on the wire.
    pub fn id(&self) -> String {
        item_id(self.number)
    }

    /// The id of the user product that it sells.
    pub fn user_product(&self) -> String {
        format!("MLBU{}", self.number)
    }

    /// The variation with this id.
    pub fn variation(&self, id: Option<i64>) -> Option<&Variation> {
        self.variations.iter().find(|variation| Some(variation.id) == id)
    }

    /// The variation with this id, mutable.
    pub fn variation_mut(&mut self, id: Option<i64>) -> Option<&mut Variation> {
        self.variations.iter_mut().find(|variation| Some(variation.id) == id)
    }

    /// Sets the stock. Zero pauses an active listing; new stock reactivates a
    /// listing that was paused for lack of stock.
    pub fn set_stock(&mut self, stock: i64) {
        self.stock = stock.max(0);
        let by_stock = self.sub_status.iter().any(|sub| sub == "out_of_stock");
        if self.stock == 0 && self.status == "active" {
            "paused".clone_into(&mut self.status);
            self.sub_status = vec!["out_of_stock".to_owned()];
        } else if self.stock > 0 && by_stock {
            "active".clone_into(&mut self.status);
            self.sub_status.clear();
        }
    }
}

/// A listing's id on the wire.
pub fn item_id(number: i64) -> String {
    format!("MLB{number}")
}

/// The number of a listing's id.
pub fn item_number(id: &str) -> Option<i64> {
    id.strip_prefix("MLB")?.parse().ok()
}

/// A variation of a listing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Its id; a free one when 0.
    #[serde(default)]
    pub id: i64,
    /// The value that distinguishes it, such as `Azul`.
    pub value: String,
    #[serde(default)]
    pub stock: i64,
    #[serde(default)]
    pub sold: i64,
    /// Attribute `SELLER_SKU` of the variation.
    pub sku: Option<String>,
}

/// A word of the marketplace, such as a state: a known one, or any other.
pub type Word = Cow<'static, str>;

/// A line of an order: units of one listing.
#[derive(Clone, Debug)]
pub struct Line {
    /// Number of the listing.
    pub item: i64,
    /// Which of its variations was sold.
    pub variation: Option<i64>,
    pub quantity: i64,
    /// Price of one unit at the time.
    pub unit_price: Cents,
    /// The seller's code at the time, when it was not the listing's.
    pub sku: Option<String>,
}

impl Line {
    /// Value of all its units.
    pub fn total(&self) -> Cents {
        Cents(self.unit_price.0 * self.quantity)
    }
}

/// One order: usually one listing, one or more units. What is bought together is
/// mostly a cart of several orders.
#[derive(Clone, Debug)]
pub struct Order {
    /// Order id, 16 digits.
    pub id: i64,
    pub seller: i64,
    /// `paid`, `cancelled` …
    pub status: String,
    pub created: Instant,
    /// When it was first confirmed or paid.
    pub closed: Option<Instant>,
    pub updated: Instant,
    /// The cart it belongs to.
    pub pack: Option<i64>,
    /// The buyer's id.
    pub buyer: i64,
    /// The buyer's nickname, which orders do not always show.
    pub buyer_nickname: Option<String>,
    /// What was sold; never empty.
    pub lines: Vec<Line>,
    /// `BRL` or another currency.
    pub currency: Word,
    /// Amount of a partial refund.
    pub refunded: Cents,
    /// Tags in addition to those that are derived from the other fields.
    pub tags: Vec<String>,
    /// Why it was cancelled, such as `pack_splitted`.
    pub cancel_code: Option<String>,
    /// Id of the shipment, once the marketplace has created it.
    pub shipment: Option<i64>,
    pub invoice: Invoice,
}

impl Order {
    /// Number of the first line's listing.
    pub fn item(&self) -> i64 {
        self.lines.first().map_or(0, |line| line.item)
    }

    /// Units of all lines.
    pub fn units(&self) -> i64 {
        self.lines.iter().map(|line| line.quantity).sum()
    }

    /// Value without shipping.
    pub fn total(&self) -> Cents {
        Cents(self.lines.iter().map(|line| line.total().0).sum())
    }

    /// Id of its payment.
    pub fn payment(&self) -> i64 {
        self.id - 1_900_000_000_000_000
    }

    /// When a search says that it last changed: the search learns of a change a
    /// moment later.
    pub fn indexed(&self) -> Instant {
        self.updated.plus(1)
    }

    /// The buyer's nickname, also when the order does not show it.
    pub fn nickname(&self) -> String {
        self.buyer_nickname.clone().unwrap_or_else(|| nickname_of(self.buyer))
    }
}

/// The default nickname of a buyer.
pub fn nickname_of(buyer: i64) -> String {
    format!("COMPRADOR{buyer}")
}

/// Whether an order has a fiscal note, and where from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invoice {
    /// There is none yet.
    #[default]
    None,
    /// Issued by the marketplace's own biller.
    Issued,
    /// A file that the seller attached.
    Attached,
}

/// The shipment of one or more orders: the orders of a cart share one.
#[derive(Clone, Debug)]
pub struct Shipment {
    pub id: i64,
    pub seller: i64,
    /// Orders in the shipment, oldest first.
    pub orders: Vec<i64>,
    /// `ready_to_ship`, `shipped` …
    pub status: Word,
    /// Sub-status, often absent.
    pub substatus: Option<Word>,
    /// `drop_off`, `fulfillment` …
    pub logistic: String,
    /// Such as `proximity`, for a parcel that has to leave within minutes.
    pub tags: Vec<String>,
    /// Given when the label is printed.
    pub tracking: Option<String>,
    /// Until when the marketplace holds it back.
    pub buffered_until: Option<Instant>,
    /// Until when it has to be handed over, when the marketplace moved that.
    pub expected: Option<Instant>,
    /// Such as `xd_same_day`, when the deadline belongs to a service of its own.
    pub service: Option<String>,
    /// The shipment that was divided into this one and others, and why.
    pub sibling: Option<(i64, String)>,
    /// The states it went through, oldest first.
    pub history: Vec<Step>,
    pub created: Instant,
    pub updated: Instant,
}

/// A state that a shipment came into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub status: Word,
    pub substatus: Option<Word>,
    pub at: Instant,
}

impl Shipment {
    /// Its sub-status; empty when it has none.
    pub fn finer(&self) -> &str {
        self.substatus.as_deref().unwrap_or_default()
    }

    /// When it first came into such a state.
    pub fn since(&self, is_it: impl Fn(&Step) -> bool) -> Option<Instant> {
        self.history.iter().find(|step| is_it(step)).map(|step| step.at)
    }
}

impl Step {
    /// Whether it is this status and sub-status; an empty sub-status is none.
    pub fn is(&self, status: &str, finer: &str) -> bool {
        self.status == status && self.substatus.as_deref().unwrap_or_default() == finer
    }
}

/// The mode that belongs to a kind of logistics.
pub fn mode_of(logistic: &str) -> &'static str {
    match logistic {
        "default" => "me1",
        "custom" => "custom",
        "not_specified" => "not_specified",
        _ => "me2",
    }
}

/// A buyer's question about a listing.
#[derive(Clone, Debug)]
pub struct Question {
    pub id: i64,
    pub seller: i64,
    /// Number of the listing.
    pub item: i64,
    /// `UNANSWERED`, `ANSWERED` …
    pub status: String,
    pub text: String,
    /// The buyer's id.
    pub buyer: i64,
    pub created: Instant,
    pub updated: Instant,
    /// The answer and when it was given, through the platform or elsewhere.
    pub answer: Option<(String, Instant)>,
    /// Whether the seller blocked the buyer, so that the marketplace takes no answer.
    pub is_blocked: bool,
}

impl Question {
    /// The text; empty once the marketplace has banned the question.
    pub fn shown_text(&self) -> &str {
        if self.status == "BANNED" { "" } else { &self.text }
    }

    /// Label and colour of the state on pages.
    pub fn badge(&self) -> (&'static str, &'static str) {
        match self.status.as_str() {
            "UNANSWERED" => ("Sem resposta", "warn"),
            "ANSWERED" => ("Respondida", "good"),
            "BANNED" => ("Vetada", "bad"),
            _ => ("Encerrada", "plain"),
        }
    }
}

/// A buyer's claim about a sale.
#[derive(Clone, Debug)]
pub struct Claim {
    pub id: i64,
    /// The seller it is against.
    pub seller: i64,
    /// The order it is about, also when its resource is another one.
    pub order: i64,
    /// `order`, `shipment`, `payment` or `purchase`, which is a cart.
    pub resource: String,
    /// Number of the resource.
    pub resource_id: i64,
    /// `opened` or `closed`.
    pub status: String,
    /// `mediations`, `return` …
    pub kind: String,
    /// `claim`, `dispute` …
    pub stage: String,
    /// Code of the reason.
    pub reason: String,
    /// What the seller has to do and until when.
    pub action: Option<(String, Instant)>,
    /// How it ended and who ended it.
    pub resolution: Option<(String, String)>,
    /// How the goods come back, when they do.
    pub returned: Option<Return>,
    pub created: Instant,
    pub updated: Instant,
}

/// Goods on their way back.
#[derive(Clone, Debug)]
pub struct Return {
    pub id: i64,
    /// Id of the shipment back.
    pub shipment: i64,
    /// `pending`, `label_generated`, `shipped`, `delivered` …
    pub status: String,
    /// `seller_address` or `warehouse`.
    pub destination: String,
    /// Units that come back.
    pub quantity: i64,
    pub created: Instant,
    pub updated: Instant,
}

impl Claim {
    /// Label and colour of the state on pages.
    pub fn badge(&self) -> (&'static str, &'static str) {
        match (self.status.as_str(), self.stage.as_str()) {
            ("closed", _) => ("Encerrada", "plain"),
            (_, "dispute") => ("Em mediação", "bad"),
            _ => ("Aberta", "warn"),
        }
    }
}
