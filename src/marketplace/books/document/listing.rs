//! Listings, as their seller sees them.

use serde_json::Value;

use super::{
    ItemId, LONGEST_TEXT, Unreadable, amount, bounded_text, elements, instant, positive, text,
    whole,
};
use crate::base::{Cents, Instant, MlUserId, shortened};

/// Longest address of a page or a picture; longer ones are left out, because
/// a cut address leads nowhere.
const LONGEST_ADDRESS: usize = 1000;

/// A listing as the marketplace has it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingDocument {
    pub id: ItemId,
    /// The selling account.
    pub seller: MlUserId,
    pub title: String,
    /// Such as `active`.
    pub status: String,
    /// Why: the marketplace's codes, separated by spaces; may be empty.
    pub sub_status: String,
    /// What a unit costs; `None` when the marketplace does not say it here. Then it may say
    /// it at another address.
    pub price: Option<Cents>,
    pub currency: String,
    /// Units for sale, and units sold.
    pub available: i64,
    pub sold: i64,
    /// Such as `gold_special`.
    pub listing_type: String,
    /// Such as `drop_off`; empty when not said.
    pub logistic_type: String,
    /// Such as `MLB31447`; empty when not said.
    pub category: String,
    /// Empty when it has none.
    pub sku: String,
    /// Digits of its first bar code; empty when it has none.
    pub ean: String,
    /// The address of its page; empty when there is none to show.
    pub permalink: String,
    /// The address of its small picture at the configured host; empty when
    /// there is none.
    pub thumbnail: String,
    pub created_at: Instant,
    /// When the marketplace last changed it.
    pub updated_at: Instant,
    /// Whether it was read by itself, with all its fields.
    pub is_whole: bool,
    /// Whether it has variations and the marketplace left out their codes.
    pub hides_codes: bool,
}

impl ListingDocument {
    /// Fields that are asked for when many listings are read at once.
    pub const FIELDS: [&str; 23] = [
        "id",
        "seller_id",
        "title",
        "status",
        "sub_status",
        "price",
        "base_price",
        "currency_id",
        "available_quantity",
        "sold_quantity",
        "listing_type_id",
        "shipping",
        "category_id",
        "seller_custom_field",
        "attributes",
        "variations",
        "permalink",
        "thumbnail",
        "secure_thumbnail",
        "date_created",
        "start_time",
        "last_updated",
        "site_id",
    ];

    /// Reads an item. Pictures are kept only when they are at `image_host`, an
    /// origin such as `https://http2.mlstatic.com`.
    pub fn read(item: &Value, image_host: &str) -> Result<Self, Unreadable> {
        let id = text(&item["id"]).and_then(|id| ItemId::parse(&id));
        let created_at = instant(&item["date_created"]).or_else(|| instant(&item["start_time"]));
        let updated_at = match &item["last_updated"] {
            Value::Null => created_at,
            date => instant(date),
        };
        let updated_at = updated_at.ok_or(Unreadable("last_updated"))?;
        let picture = picture(&item["secure_thumbnail"], image_host)
            .or_else(|| picture(&item["thumbnail"], image_host));
        Ok(Self {
            id: id.ok_or(Unreadable("id"))?,
            seller: MlUserId(positive(&item["seller_id"]).ok_or(Unreadable("seller_id"))?),
            title: text(&item["title"]).unwrap_or_default(),
            status: text(&item["status"]).ok_or(Unreadable("status"))?,
            sub_status: sub_status(&item["sub_status"]),
            price: price(item)?,
            currency: text(&item["currency_id"]).unwrap_or_else(|| "BRL".to_owned()),
            available: quantity(item, "available_quantity"),
            sold: quantity(item, "sold_quantity"),
            listing_type: text(&item["listing_type_id"]).unwrap_or_default(),
            logistic_type: text(&item["shipping"]["logistic_type"]).unwrap_or_default(),
            category: text(&item["category_id"]).unwrap_or_default(),
            sku: sku(item).unwrap_or_default(),
            ean: ean(item).unwrap_or_default(),
            permalink: page(&item["permalink"]).unwrap_or_default(),
            thumbnail: picture.unwrap_or_default(),
            created_at: created_at.unwrap_or(updated_at),
            updated_at,
            is_whole: false,
            hides_codes: hides_codes(item),
        })
    }
}

fn sub_status(value: &Value) -> String {
    let words: Vec<&str> = match value {
        Value::String(word) => word.split_whitespace().collect(),
        words => elements(words).iter().filter_map(Value::as_str).collect(),
    };
    shortened(&words.join(" "), LONGEST_TEXT).to_owned()
}

/// The price of the listing, else of its first variation that has one; `None` when there
/// is none. One that is there and is no amount makes the listing unreadable.
fn price(item: &Value) -> Result<Option<Cents>, Unreadable> {
    let own = [&item["price"], &item["base_price"]];
    let of_variations = elements(&item["variations"]).iter().map(|one| &one["price"]);
    let mut said = own.into_iter().chain(of_variations).filter(|price| !price.is_null());
    let Some(first) = said.next() else { return Ok(None) };
    let price = amount(first).or_else(|| said.find_map(amount));
    price.map(Some).ok_or(Unreadable("price"))
}

/// The price that `/items/{id}/sale_price` names; `None` when it names none.
pub fn sale_price(answer: &Value) -> Option<Cents> {
    amount(&answer["amount"])
}

/// Units of the listing, else of all its variations.
fn quantity(item: &Value, field: &str) -> i64 {
    let variations = elements(&item["variations"]).iter();
    let of_variations = variations.filter_map(|one| whole(&one[field]));
    whole(&item[field]).unwrap_or_else(|| of_variations.fold(0, i64::saturating_add))
}

/// The seller's code: that of the first variation with one, else the listing's.
/// The attribute is preferred to the older field.
fn sku(item: &Value) -> Option<String> {
    let of = |thing: &Value| {
        attribute(thing, "SELLER_SKU").or_else(|| text(&thing["seller_custom_field"]))
    };
    elements(&item["variations"]).iter().find_map(of).or_else(|| of(item))
}

/// Whether there are variations, none of which has a field that could hold its
/// code.
fn hides_codes(item: &Value) -> bool {
    let variations = elements(&item["variations"]);
    let tells =
        |one: &Value| one["attributes"].is_array() || one["seller_custom_field"].is_string();
    !variations.is_empty() && !variations.iter().any(tells)
}

/// The first bar code that looks like one, of the listing or a variation.
fn ean(item: &Value) -> Option<String> {
    let of = |thing: &Value| {
        let codes = attribute(thing, "GTIN").or_else(|| attribute(thing, "EAN"))?;
        let mut codes = codes.split([',', ';', ' ']).map(str::trim);
        let is_code = |code: &&str| {
            (8..=14).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_digit())
        };
        codes.find(is_code).map(str::to_owned)
    };
    of(item).or_else(|| elements(&item["variations"]).iter().find_map(of))
}

fn attribute(thing: &Value, id: &str) -> Option<String> {
    let mut attributes = elements(&thing["attributes"]).iter();
    attributes
        .find(|attribute| attribute["id"] == id)
        .and_then(|attribute| text(&attribute["value_name"]))
}

fn page(value: &Value) -> Option<String> {
    address(value).filter(|page| page.starts_with("https://") || page.starts_with("http://"))
}

/// The address of a picture at the configured host. The marketplace writes
/// `http://` where it serves `https://` as well, so the scheme is taken from
/// the host.
fn picture(value: &Value, image_host: &str) -> Option<String> {
    let picture = address(value)?;
    let (_, rest) = picture.split_once("://")?;
    let (_, host) = image_host.split_once("://")?;
    let path = rest.strip_prefix(host).filter(|path| path.starts_with('/'))?;
    Some(format!("{image_host}{path}"))
}

/// An address without characters that could end it on a page.
fn address(value: &Value) -> Option<String> {
    let address = bounded_text(value, LONGEST_ADDRESS + 1)?;
    let is_sound = address.len() <= LONGEST_ADDRESS
        && address.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    is_sound.then_some(address)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const HOST: &str = "https://http2.mlstatic.com";

    fn sample() -> Value {
        json!({
            "id": "MLB123", "seller_id": 777, "title": " Cabo ", "status": "active", "sub_status": [],
            "price": 59.900_000_000_000_006, "currency_id": "BRL", "available_quantity": 7, "sold_quantity": 3,
            "listing_type_id": "gold_special", "category_id": "MLB31447", "permalink": "https://produto.example/MLB-123",
            "thumbnail": "http://http2.mlstatic.com/D_1-I.jpg", "seller_custom_field": "OLD-1",
            "shipping": { "logistic_type": "drop_off" },
            "attributes": [{ "id": "SELLER_SKU", "value_name": "CAB-1" }, { "id": "GTIN", "value_name": "n/a, 7890000000017" }],
            "variations": [], "date_created": "2026-01-02T10:00:00.000Z", "last_updated": "2026-11-01T10:00:00.123456789-0400",
        })
    }

    fn read(item: &Value) -> Result<ListingDocument, Unreadable> {
        ListingDocument::read(item, HOST)
    }

    #[test]
    fn a_listing_reads_with_its_codes_and_picture() {
        let listing = read(&sample()).unwrap();
        assert_eq!((listing.id.to_string().as_str(), listing.seller), ("MLB123", MlUserId(777)));
        assert_eq!((listing.price, listing.available, listing.sold), (Some(Cents(5990)), 7, 3));
        assert_eq!(
            (&*listing.sku, &*listing.ean, &*listing.title),
            ("CAB-1", "7890000000017", "Cabo")
        );
        assert_eq!(listing.thumbnail, "https://http2.mlstatic.com/D_1-I.jpg");
        assert_eq!(listing.updated_at, Instant(1_793_541_600));
    }

    #[test]
    fn the_code_of_a_variation_goes_first() {
        let mut item = sample();
        item["variations"] = json!([
            { "id": 1, "attributes": [{ "id": "SELLER_SKU", "value_name": null }], "seller_custom_field": null },
            { "id": 2, "seller_custom_field": "VAR-FIELD" },
        ]);
        assert_eq!(read(&item).unwrap().sku, "VAR-FIELD");
        item["variations"][1]["attributes"] =
            json!([{ "id": "SELLER_SKU", "value_name": "VAR-ATTR" }]);
        assert_eq!(read(&item).unwrap().sku, "VAR-ATTR");
        item["variations"] = json!(null);
        item["attributes"] = json!(null);
        assert_eq!(read(&item).unwrap().sku, "OLD-1");
        item["seller_custom_field"] = json!("");
        assert_eq!(
            (read(&item).unwrap().sku, read(&item).unwrap().ean),
            (String::new(), String::new())
        );
    }

    #[test]
    fn variations_say_what_the_listing_leaves_out() {
        let mut item = sample();
        item["price"] = json!(null);
        item["available_quantity"] = json!(null);
        item["variations"] =
            json!([{ "price": "10.5", "available_quantity": 2 }, { "available_quantity": "3" }]);
        let listing = read(&item).unwrap();
        assert_eq!((listing.price, listing.available), (Some(Cents(1050)), 5));
    }

    #[test]
    fn a_listing_may_come_without_its_price() {
        let mut item = sample();
        item.as_object_mut().unwrap().remove("price");
        item["variations"] = json!([{ "id": 1, "available_quantity": 7 }]);
        let listing = read(&item).unwrap();
        assert_eq!((listing.price, &*listing.sku, listing.available), (None, "CAB-1", 7));
        item["base_price"] = json!(42);
        assert_eq!(read(&item).unwrap().price, Some(Cents(4200)));
        for (answer, price) in [
            (json!({ "amount": 59.9, "regular_amount": 69.9 }), Some(Cents(5990))),
            (json!({ "amount": null }), None),
            (json!({ "amount": "much" }), None),
        ] {
            assert_eq!(sale_price(&answer), price, "{answer}");
        }
    }

    #[test]
    fn pictures_and_pages_of_elsewhere_are_left_out() {
        for elsewhere in [
            "https://evil.example/D.jpg",
            "https://http2.mlstatic.com.evil.example/D.jpg",
            "https://http2.mlstatic.com@evil.example/D.jpg",
            "//http2.mlstatic.com/D.jpg",
            "javascript:alert(1)",
            "https://http2.mlstatic.com/\"onerror=",
            "https://http2.mlstatic.com",
        ] {
            let mut item = sample();
            item["thumbnail"] = json!(elsewhere);
            assert_eq!(read(&item).unwrap().thumbnail, "", "{elsewhere}");
        }
        for page in ["javascript:alert(1)", "ftp://x/", "https://x/ y"] {
            let mut item = sample();
            item["permalink"] = json!(page);
            assert_eq!(read(&item).unwrap().permalink, "", "{page}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused_by_name() {
        for (field, value) in [
            ("id", json!("123")),
            ("seller_id", json!(null)),
            ("status", json!("")),
            ("price", json!(-1)),
            ("last_updated", json!("yesterday")),
        ] {
            let mut item = sample();
            item[field] = value.clone();
            assert_eq!(read(&item), Err(Unreadable(field)), "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_value_in_any_field_is_read_or_refused(
            field in proptest::sample::select(ListingDocument::FIELDS.to_vec()),
            value in crate::marketplace::books::document::tests::any_json(),
        ) {
            let mut item = sample();
            item[field] = value;
            if let Ok(listing) = read(&item) {
                prop_assert!(listing.available >= 0 && listing.sold >= 0);
                prop_assert!(listing.price.is_none_or(|price| price.0 >= 0));
                prop_assert!(listing.thumbnail.is_empty() || listing.thumbnail.starts_with("https://http2.mlstatic.com/"));
            }
        }
    }
}
