//! `list_announcements`: the seller's listings at the marketplace, those that
//! changed last first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::{MlUserId, UserId};
use crate::base::money::Cents;
use crate::base::text::{like_beginning, search_key};
use crate::db::{Filters, Lane, Page, Record as _};
use crate::edge::route::Todo;
use crate::http::input::Check;
use crate::http::{Code, Problem};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::listings::store::{FOUND, SellerListing};
use crate::partner::list::{LONGEST_SEARCH, ListOf, Window, reading};
use crate::partner::operation::Operation;

/// Longest state and SKU in the query.
const LONGEST_WORD: usize = 60;
const LONGEST_SKU: usize = 120;
/// The newest change first, as an index has them.
const ORDER: &str = "updated_at DESC, item_id DESC";

pub struct ListAnnouncements;

list_arguments! {
    /// Which listings are asked for.
    pub struct AnnouncementsQuery {
        /// A state at the marketplace, such as `active`, `paused` or `closed`.
        #[schemars(length(min = 1, max = LONGEST_WORD))]
        status: String,
        /// Marketplace seller id of one connected account.
        store: MlUserId,
        /// A SKU, as a whole.
        #[schemars(length(min = 1, max = LONGEST_SKU))]
        sku: String,
        /// Words of the title, or the beginning of a SKU or a listing id.
        #[schemars(length(min = 1, max = LONGEST_SEARCH))]
        q: String,
    }
}

/// A listing at the marketplace.
#[derive(Serialize, JsonSchema)]
pub struct Announcement {
    /// Marketplace listing id, such as `MLB123`.
    ml_id: String,
    /// Marketplace seller id of the connected account.
    ml_user_id: MlUserId,
    /// Title, as buyers read it.
    title: String,
    /// Price of a unit, in `currency`.
    price: Cents,
    /// Currency of the price, such as `BRL`.
    currency: String,
    /// Units for sale.
    available_quantity: i64,
    /// Units sold since it was published.
    sold_quantity: i64,
    /// State at the marketplace, such as `active`.
    status: String,
    /// Kind of exposure at the marketplace, such as `gold_special`.
    listing_type: String,
    /// SKU of the seller; empty when it has none.
    sku: String,
    /// Barcode number (GTIN); empty when it has none.
    ean: String,
    /// Address of its page; empty when it has none.
    permalink: String,
    /// Address of its small picture; empty when it has none.
    thumbnail: String,
    /// When anything of it last changed, as civil time of the service.
    updated_at: String,
}

/// The checked arguments of a call.
struct Asked {
    owner: UserId,
    status: Option<String>,
    store: Option<MlUserId>,
    sku: Option<String>,
    search: Option<String>,
    window: Window,
}

impl Operation for ListAnnouncements {
    type By = Seller;
    type Args = AnnouncementsQuery;
    type Reply = ListOf<Announcement>;

    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(
        app: &App,
        seller: &Seller,
        query: AnnouncementsQuery,
        mut check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let asked = Asked {
            owner: seller.account.user_id,
            status: check.search("status", query.status, LONGEST_WORD),
            store: check.optional("store", query.store),
            sku: check.search("sku", query.sku, LONGEST_SKU),
            search: check.search("q", query.q, LONGEST_SEARCH),
            window: Window::read(&mut check, query.limit, query.offset),
        };
        check.finish()?;
        let is_much = asked.search.is_some() || asked.window.is_far();
        reading(app, is_much, move |app, lane| read(app, lane, &asked))
    }
}

fn read(app: &App, lane: Lane, asked: &Asked) -> Result<ListOf<Announcement>, Problem> {
    let Asked { owner, store, sku, search, window, .. } = asked;
    let key = search_key(search.as_deref().unwrap_or_default());
    let beginning = like_beginning(search.as_deref().unwrap_or_default());
    let (rows, total) = app.db.read(lane, |tx| {
        if let Some(store) = store
            && !stores::is_of(tx, *owner, *store)?
        {
            return Err(Problem::not_found());
        }
        let status = match &asked.status {
            // No listing has a status with this word, so the filter matches
            // nothing.
            Some(word) => Some(app.marketplace.words.known(tx, word)?.unwrap_or(-1)),
            None => None,
        };
        let mut filters = Filters::new("owner_id = :owner", &[(":owner", owner)]);
        filters.and_if("ml_user_id = :store", ":store", store);
        filters.and_if("status = :status", ":status", &status);
        filters.and_if("sku = :sku AND sku <> ''", ":sku", sku);
        if search.is_some() {
            filters.and(FOUND, &[(":key", &key), (":from", &beginning)]);
        }
        let count = if sku.is_some() || search.is_some() {
            "SELECT count(*) FROM listing"
        } else {
            "SELECT coalesce(sum(listings), 0) FROM listing_count"
        };
        let total = filters.count(tx, count)?;
        let page = Page { table: "listing", order: ORDER, window: window.pair() };
        let rows = filters.rows(tx, &page, SellerListing::COLUMNS, SellerListing::read)?;
        Ok((rows, total))
    })?;
    let announcements = rows.into_iter().map(|row| Announcement::of(row, app.zone()));
    Ok(ListOf::of(announcements, total, *window))
}

impl Announcement {
    fn of(listing: SellerListing, zone: Zone) -> Self {
        let row = listing.row;
        Self {
            ml_id: listing.id,
            ml_user_id: row.ml_user_id,
            title: row.title,
            price: row.price,
            currency: listing.currency,
            available_quantity: row.available,
            sold_quantity: row.sold,
            status: listing.status,
            listing_type: listing.kind,
            sku: row.sku,
            ean: row.ean,
            permalink: row.permalink,
            thumbnail: row.thumbnail,
            updated_at: zone.partner(row.updated_at),
        }
    }
}
