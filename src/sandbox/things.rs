//! The nouns of the marketplace: sellers, listings, orders, shipments,
//! questions and claims.

use serde::{Deserialize, Serialize};

use crate::base::clock::Instant;
use crate::base::money::Cents;

/// A test seller.
#[derive(Clone, Debug, Serialize)]
pub struct Seller {
    /// Marketplace id.
    pub id: i64,
    /// Public name.
    pub nickname: String,
    /// E-mail address of the private record.
    pub email: String,
    /// What buyers see of the seller's conduct.
    pub reputation: Reputation,
    /// When the account was made.
    #[serde(skip)]
    pub created: Instant,
}

/// A seller's reputation: the level and the shares behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reputation {
    /// `1_red` … `5_green`; none for a new seller.
    pub level: Option<String>,
    /// `silver`, `gold`, `platinum` or none.
    pub power_seller: Option<String>,
    /// Share of sales with a claim.
    pub claims: f64,
    /// Share of sales handed over late.
    pub late: f64,
    /// Share of sales the seller cancelled.
    pub cancelled: f64,
    /// The level behind a protection that the marketplace grants for a while,
    /// such as `orange`; without one there is no protection.
    pub real_level: Option<String>,
}

impl Default for Reputation {
    fn default() -> Self {
        Self {
            level: Some("5_green".to_owned()),
            power_seller: None,
            claims: 0.005,
            late: 0.03,
            cancelled: 0.002,
            real_level: None,
        }
    }
}

/// A listing.
#[derive(Clone, Debug)]
pub struct Item {
    /// The number after `MLB`.
    pub number: i64,
    /// Whose it is.
    pub seller: i64,
    /// Title of the listing.
    pub title: String,
    /// Category id.
    pub category: String,
    /// Selling price.
    pub price: Cents,
    /// Units for sale.
    pub stock: i64,
    /// Units sold so far.
    pub sold: i64,
    /// `gold_special` (Clássico) or `gold_pro` (Premium).
    pub listing_type: String,
    /// `active`, `paused`, `closed` …
    pub status: String,
    /// Why it is not active.
    pub sub_status: Vec<String>,
    /// Attribute `SELLER_SKU`.
    pub sku: Option<String>,
    /// Attribute `GTIN`.
    pub ean: Option<String>,
    /// How the marketplace ships it.
    pub logistic: String,
    /// Sizes, colours and so on; empty when there is one kind only.
    pub variations: Vec<Variation>,
    /// The catalogue's product it sells.
    pub catalog_product: Option<String>,
    /// When it was published.
    pub created: Instant,
    /// When it last changed.
    pub updated: Instant,
}

/// One kind of a listing's thing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Its id; a free one when 0.
    #[serde(default)]
    pub id: i64,
    /// What is varied, such as `Azul`.
    pub value: String,
    /// Units of it for sale.
    #[serde(default)]
    pub stock: i64,
    /// Units of it sold so far.
    #[serde(default)]
    pub sold: i64,
    /// Attribute `SELLER_SKU` of the variation.
    #[serde(default)]
    pub sku: Option<String>,
}

impl Item {
    /// The listing's id on the wire.
    pub fn id(&self) -> String {
        format!("MLB{}", self.number)
    }
}

/// One order: one listing, one or more units.
#[derive(Clone, Debug)]
pub struct Order {
    /// Order id, 16 digits.
    pub id: i64,
    /// The seller.
    pub seller: i64,
    /// `paid`, `cancelled` …
    pub status: String,
    /// When it was placed.
    pub created: Instant,
    /// When it was first confirmed or paid.
    pub closed: Option<Instant>,
    /// When it last changed.
    pub updated: Instant,
    /// The cart it belongs to.
    pub pack: Option<i64>,
    /// The buyer's id.
    pub buyer: i64,
    /// The buyer's nickname, which orders do not always show.
    pub buyer_nickname: Option<String>,
    /// Number of the listing.
    pub item: i64,
    /// Which of its variations was sold.
    pub variation: Option<i64>,
    /// Units.
    pub quantity: i64,
    /// Price of one unit at the time.
    pub unit_price: Cents,
    /// What a partial refund gave back.
    pub refunded: Cents,
    /// Tags beyond those that follow from the rest.
    pub tags: Vec<String>,
    /// Id of the shipment, once the marketplace has made it.
    pub shipment: Option<i64>,
    /// Its fiscal note.
    pub invoice: Invoice,
}

impl Order {
    /// Value without shipping.
    pub fn total(&self) -> Cents {
        Cents(self.unit_price.0 * self.quantity)
    }
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

/// The way of one or more orders to their buyer: a cart travels together.
#[derive(Clone, Debug)]
pub struct Shipment {
    /// Shipment id.
    pub id: i64,
    /// The seller.
    pub seller: i64,
    /// Orders that travel in it, oldest first.
    pub orders: Vec<i64>,
    /// `ready_to_ship`, `shipped` …
    pub status: String,
    /// Finer state, often empty.
    pub substatus: Option<String>,
    /// `drop_off`, `fulfillment` …
    pub logistic: String,
    /// Until when the marketplace keeps it back.
    pub buffered_until: Option<Instant>,
    /// When it was made.
    pub created: Instant,
    /// When it last changed.
    pub updated: Instant,
}

/// Checks a status that somebody set. The marketplace's words grow, so it need
/// not be one that is known.
pub fn state_word(status: &str) -> Result<(), String> {
    let is_word = (1..=60).contains(&status.len())
        && status.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word
        .then_some(())
        .ok_or_else(|| format!("status must be a word of letters, digits and _: {status}"))
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
    /// Question id.
    pub id: i64,
    /// Whose listing it is about.
    pub seller: i64,
    /// Number of the listing.
    pub item: i64,
    /// `UNANSWERED`, `ANSWERED` …
    pub status: String,
    /// What was asked.
    pub text: String,
    /// The asker's id.
    pub buyer: i64,
    /// When it was asked.
    pub created: Instant,
    /// When it last changed.
    pub updated: Instant,
    /// The answer, by whatever way it was given.
    pub answer: Option<Answered>,
}

/// What a seller answered.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The text.
    pub text: String,
    /// When.
    pub at: Instant,
}

/// A buyer's claim about a sale.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Claim id.
    pub id: i64,
    /// The seller it is against.
    pub seller: i64,
    /// The order it is about, whatever its resource is.
    pub order: i64,
    /// `order` or `shipment`.
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
    /// When it was opened.
    pub created: Instant,
    /// When it last changed.
    pub updated: Instant,
}
