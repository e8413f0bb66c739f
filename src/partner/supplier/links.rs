//! `drop_link_listing` and `drop_unlink_listing`: create or remove one link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::App;
use crate::base::ids::{ITEM, item_number};
use crate::base::{OffsetTime, UserId, Zone, search_key};
use crate::catalog::LONGEST_SKU;
use crate::dropshipping::links::{self, Link, LinkFault, LinkQuery, Linked, NewLink, ShownLink};
use crate::edge::route::Todo;
use crate::http::{Check, Code, Field, Problem, RowNumber, schema};
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::list::{LONGEST_SEARCH, ListOf, Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::partner::products::{named_once, names_once};
use crate::wire;

const NO_ITEM: &str = "must be a listing id, such as MLB123";

/// A link of a seller's listing to a product of the supplier, which is named by
/// `product_id` or by `sku`.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = names_once)]
pub struct NewListingLink {
    /// The seller, as `drop_health` lists them.
    #[serde(default)]
    #[schemars(!default)]
    seller_id: Field<UserId>,
    /// Marketplace listing id, such as `MLB123`.
    #[serde(default)]
    #[schemars(!default, regex(pattern = ITEM))]
    ml_id: Field<String>,
    /// A product of the supplier, by its id.
    #[serde(default)]
    product_id: Field<RowNumber>,
    /// A product of the supplier, by its SKU.
    #[serde(default)]
    #[schemars(extend("pattern" = schema::line(1..=LONGEST_SKU)))]
    sku: Field<String>,
}

wire! {
    /// A listing that sells a product of the supplier.
    #[derive(Serialize, JsonSchema)]
    pub struct ListingLink of(link: Link, zone: Zone) {
        /// Number of the link.
        id: String = link.id.to_string(),
        /// Number of the seller whose listing it is.
        seller_id: UserId = link.seller_id,
        /// Marketplace listing id, such as `MLB123`.
        ml_id: String = link.ml_id,
        /// Number of the product that it sells.
        product_id: String = link.product_id.to_string(),
        /// SKU of that product.
        sku: String = link.sku,
        /// When it was made; orders from then on count.
        created_at: String = zone.partner(link.created_at),
        /// The same instant with its offset from UTC.
        created_at_rfc3339: OffsetTime = zone.with_offset(link.created_at),
    }
}

list_arguments! {
    /// Which links are asked for.
    pub struct ListLinks {
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
        /// Marketplace listing id, such as `MLB123`.
        #[schemars(regex(pattern = ITEM))]
        ml_id: String,
        /// A SKU, as a whole.
        #[schemars(length(min = 1, max = LONGEST_SKU))]
        sku: String,
        /// Words of the product or of the listing, or a part of the listing id.
        #[schemars(length(min = 1, max = LONGEST_SEARCH))]
        q: String,
    }
}

/// A link with the names of what it ties.
#[derive(Serialize, JsonSchema)]
pub struct NamedLink {
    #[serde(flatten)]
    link: ListingLink,
    /// Name of that seller.
    seller_name: String,
    /// Title of the listing; empty when the listing is gone.
    title: String,
    /// Title of the product.
    product_title: String,
}

impl NamedLink {
    fn of(shown: ShownLink, zone: Zone) -> Self {
        let ShownLink { link, seller, listing, product } = shown;
        let link = ListingLink::of(link, zone);
        Self { link, seller_name: seller, title: listing, product_title: product }
    }
}

impl Operation for ListLinks {
    type By = Supplier;
    type Reply = ListOf<NamedLink>;

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let seller = check.optional("seller_id", self.seller_id);
        let listing: Option<String> = check.optional("ml_id", self.ml_id);
        let item = listing.as_deref().map(item_number);
        if item == Some(None) {
            check.fail("ml_id", NO_ITEM);
        }
        let sku = check.search("sku", self.sku, LONGEST_SKU);
        let search = check.search("q", self.q, LONGEST_SEARCH);
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        // A search, and a listing of whatever seller, look at every link.
        let is_slow = search.is_some() || item.is_some() || window.is_far();
        let wanted = LinkQuery {
            supplier: supplier.account.user_id,
            seller,
            item: item.flatten(),
            sku,
            search: search_key(&search.unwrap_or_default()),
        };
        reading(app, is_slow, move |app, lane| {
            let page = app.db.read(lane, |tx| links::page(tx, &wanted, window.rows()))?;
            Ok(ListOf::of(page, window, |one| NamedLink::of(one, app.zone())))
        })
    }
}

/// The number of the listing in a body.
fn item(check: &mut Check, field: Field<String>) -> i64 {
    let text: String = check.required("ml_id", field);
    item_number(&text).unwrap_or_else(|| {
        check.fail("ml_id", NO_ITEM);
        0
    })
}

/// The error for a link that cannot be created.
fn refused(fault: LinkFault) -> Problem {
    match fault {
        LinkFault::NoSeller | LinkFault::NoListing | LinkFault::NoProduct => {
            Problem::new(Code::NotFound, fault.said())
        }
        LinkFault::Taken => Problem::new(Code::AlreadyLinked, fault.said()),
        LinkFault::Full => Problem::program_conflict(fault.said()),
    }
}

impl Operation for NewListingLink {
    type By = Supplier;
    type Reply = ListingLink;

    /// Something is not the caller's, or the listing is linked to another product.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::AlreadyLinked, Code::Conflict];

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let seller: UserId = check.required("seller_id", self.seller_id);
        let item = item(&mut check, self.ml_id);
        let id = check.optional("product_id", self.product_id);
        let sku = check.optional_line("sku", self.sku, LONGEST_SKU);
        let product = named_once(&mut check, id, sku);
        check.finish()?;
        let new = NewLink { seller, item, product };
        let (owner, zone) = (supplier.account.user_id, app.zone());
        Ok(Todo::Write(Box::new(move |tx| {
            let (Linked::Created(id) | Linked::Unchanged(id)) =
                links::make(tx, owner, &new)?.map_err(refused)?;
            let link = links::link(tx, owner, id)?.ok_or_else(Problem::not_found)?;
            Ok(ListingLink::of(link, zone))
        })))
    }
}

/// A link, by its id or by its listing.
#[derive(Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names that programs know")]
#[schemars(extend(
    "if" = json!({ "not": { "required": ["link_id"] } }),
    "then" = json!({ "required": ["seller_id", "ml_id"] }),
))]
pub struct OldListingLink {
    /// The link, as it was answered.
    #[serde(default)]
    link_id: Field<RowNumber>,
    /// The seller whose listing is linked.
    #[serde(default)]
    seller_id: Field<UserId>,
    /// Marketplace listing id, such as `MLB123`.
    #[serde(default)]
    #[schemars(regex(pattern = ITEM))]
    ml_id: Field<String>,
}

/// The link is gone.
#[derive(Serialize, JsonSchema)]
pub struct Unlinked {
    /// The link was there and is gone.
    #[schemars(extend("const" = true))]
    unlinked: bool,
}

impl Operation for OldListingLink {
    type By = Supplier;
    type Reply = Unlinked;

    /// There is no such link.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, _: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let (by_link, by_seller) = (self.link_id.has_value(), self.seller_id.has_value());
        let link: Option<RowNumber> = check.optional("link_id", self.link_id);
        let seller: Option<UserId> = check.optional("seller_id", self.seller_id);
        // A link that is named, well or badly, needs no listing.
        let is_by_link = by_link && !self.ml_id.has_value();
        let item = if is_by_link { 0 } else { item(&mut check, self.ml_id) };
        if !by_link && !by_seller {
            check.fail("link_id", "is required, or seller_id and ml_id");
        }
        check.finish()?;
        let owner = supplier.account.user_id;
        Ok(Todo::Write(Box::new(move |tx| {
            let id = match (link, seller) {
                (Some(RowNumber(id)), _) => Some(id),
                (None, Some(seller)) => links::of_listing(tx, owner, seller, item)?,
                (None, None) => None,
            };
            match id {
                Some(id) if links::remove(tx, owner, id)? => Ok(Unlinked { unlinked: true }),
                _ => Err(Problem::not_found()),
            }
        })))
    }
}
