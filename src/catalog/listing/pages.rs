//! One listing of a seller, as page or JSON.

use super::views::{ListingPage, Trend};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::Cents;
use crate::base::ids::item_number;
use crate::catalog::{Margin, Product, store as products};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed;
use crate::marketplace::books::listings::pages::{WireListing, with_images};
use crate::marketplace::books::listings::store::SellerListing;
use crate::marketplace::books::orders::cost::{self, Unit};
use crate::marketplace::books::orders::of_listing::{self, DailySales, ListingOrder};
use crate::marketplace::books::questions::of_listing::{self as asked, ListingQuestions};
use crate::panel::PageTime;
use crate::panel::chart::{BarWords, short_money};

/// Days of a listing's trend.
const TREND_DAYS: usize = 30;
/// Sales, and questions of each kind, on a listing's page.
const MOST_SALES: u32 = 5;
const MOST_QUESTIONS: u32 = 3;
const TREND: BarWords = BarWords {
    title: "Faturamento por dia, últimos 30 dias",
    unit: "Faturamento",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};

/// `GET /painel/anuncios/{id}`: one listing, with what it sold, what was asked
/// about it and the product that it sells.
pub fn listing(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let number = item_number(request.variable("id")).ok_or_else(Problem::not_found)?;
    let (owner, zone) = (person.account.user_id, app.zone());
    let span = i64::try_from(TREND_DAYS).unwrap_or(0);
    let first = app.day(request.now).plus(1 - span);
    let read = app.db.read(request.lane, |tx| {
        let listing: Option<SellerListing> = listed::one(tx, owner, number)?;
        let listing = listing.filter(|found| found.id == request.variable("id"));
        let listing = listing.ok_or_else(Problem::not_found)?;
        let stores = Stores::of(tx, owner)?;
        if request.wants_json() {
            return Ok((listing, stores, None));
        }
        let product = match &*listing.row.sku {
            "" => None,
            sku => products::by_sku(tx, owner, sku)?,
        };
        let around = Around {
            // The days before are what the last ones are compared with.
            sold: of_listing::by_day(tx, owner, number, zone, first.plus(-span), 2 * TREND_DAYS)?,
            sales: of_listing::last(tx, owner, number, MOST_SALES)?,
            questions: asked::read(tx, owner, number, MOST_QUESTIONS)?,
            cost: cost::unit(tx, owner, number, &listing.row.sku)?,
            product,
        };
        Ok::<_, Problem>((listing, stores, Some(around)))
    })?;
    let (listing, stores, Some(around)) = read else {
        let (listing, stores, _) = read;
        return Reply::ok(&WireListing::of(app, &stores, listing));
    };
    let page = ListingPage {
        layout: layout(app, person, request),
        store: stores.name(listing.row.ml_user_id),
        trend: Trend::of(TREND, first, &around.sold),
        margin: listing
            .row
            .price
            .zip(around.cost)
            .and_then(|(price, unit)| Margin::of(price, unit.cents)),
        cost: around.cost,
        listing,
        sales: around.sales,
        questions: around.questions,
        product: around.product,
        time: PageTime::of(app, request),
    };
    Ok(with_images(app, Reply::page(&page)?))
}

/// What belongs to a listing.
struct Around {
    sold: DailySales,
    sales: Vec<ListingOrder>,
    questions: ListingQuestions,
    cost: Option<Unit>,
    product: Option<Product>,
}
