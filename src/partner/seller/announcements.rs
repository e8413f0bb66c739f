//! `list_announcements`: the seller's listings at the marketplace, those that
//! changed last first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::{Cents, Instant, MlUserId, OffsetTime, Zone};
use crate::db::DbError;
use crate::http::{Check, Code, Problem};
use crate::identity::Seller;
use crate::list_arguments;
use crate::marketplace::account::stores;
use crate::marketplace::books::listings::store::{self as listings, ListingFilter, SellerListing};
use crate::marketplace::books::listings::{CLOSED, LISTING_STATES};
use crate::partner::list::{LONGEST_SEARCH, ListOf, Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Longest SKU in the query.
const LONGEST_SKU: usize = 120;

list_arguments! {
    /// Which listings are asked for.
    pub struct ListAnnouncements {
        /// A state at the marketplace, such as `active`, `paused` or `closed`.
        #[schemars(extend("enum" = LISTING_STATES))]
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

wire! {
    /// A listing at the marketplace.
    #[derive(Serialize, JsonSchema)]
    pub struct Announcement of(listing: SellerListing, zone: Zone) after {
        let row = listing.row;
    } {
        /// Marketplace listing id, such as `MLB123`.
        ml_id: String = listing.id,
        /// Marketplace seller id of the connected account.
        ml_user_id: MlUserId = row.ml_user_id,
        /// Title, as buyers read it.
        title: String = row.title,
        /// Price of a unit, in `currency`; null when the marketplace does not say it.
        price: Option<Cents> = row.price,
        /// Currency of the price, such as `BRL`.
        currency: String = listing.currency,
        /// Units for sale.
        available_quantity: i64 = row.available,
        /// Units sold since it was published.
        sold_quantity: i64 = row.sold,
        /// State at the marketplace, such as `active`.
        status: String = listing.status,
        /// Kind of exposure at the marketplace, such as `gold_special`.
        listing_type: String = listing.kind,
        /// SKU of the seller; empty when it has none.
        sku: String = row.sku,
        /// Barcode number (GTIN); empty when it has none.
        ean: String = row.ean,
        /// Address of its page; empty when it has none.
        permalink: String = row.permalink,
        /// Address of its small picture; empty when it has none.
        thumbnail: String = row.thumbnail,
        /// When anything of it last changed, as civil time of the service.
        updated_at: String = zone.partner(row.updated_at),
        /// The same instant with its offset from UTC.
        updated_at_rfc3339: OffsetTime = zone.with_offset(row.updated_at),
    }
}

impl Announcement {
    /// The same once the marketplace has it no more.
    pub fn closed(self, at: Instant, zone: Zone) -> Self {
        Self {
            status: CLOSED.to_owned(),
            available_quantity: 0,
            updated_at: zone.partner(at),
            updated_at_rfc3339: zone.with_offset(at),
            ..self
        }
    }
}

impl Operation for ListAnnouncements {
    type By = Seller;
    type Reply = ListOf<Announcement>;

    /// The store is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let owner = seller.account.user_id;
        let status =
            check.one_of("status", self.status, &LISTING_STATES.map(|state| (state, state)));
        let store = check.optional("store", self.store);
        let sku = check.search("sku", self.sku, LONGEST_SKU);
        let search = check.search("q", self.q, LONGEST_SEARCH);
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        reading(app, search.is_some() || window.is_far(), move |app, lane| {
            let page = app.db.read(lane, |tx| {
                stores::require(tx, owner, store)?;
                // Of a word that is not stored there is no listing yet.
                let find =
                    |word| Ok::<_, DbError>(app.marketplace.words.find(tx, word)?.unwrap_or(-1));
                let status = status.map(find).transpose()?;
                let wanted = ListingFilter { owner, store, status, sku, search };
                Ok::<_, Problem>(listings::page(tx, &wanted, window.rows())?)
            })?;
            Ok(ListOf::of(page, window, |row| Announcement::of(row, app.zone())))
        })
    }
}
