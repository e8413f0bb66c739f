//! Listings in the seller's panel, as page, JSON or CSV.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;

use super::store::{self, SellerListing, Worth};
use super::views::{ListingPage, ListingsPage, Trend, worth_words};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::ids::item_number;
use crate::base::{Cents, MlUserId};
use crate::catalog::{Margin, Product, store as products};
use crate::http::{Problem, Reply, Request, policy};
use crate::identity::Person;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::listed;
use crate::marketplace::books::orders::of_listing::{self, DailySales, ListingOrder};
use crate::marketplace::books::questions::{self, of_listing::ListingQuestions};
use crate::panel::chart::{BarWords, short_money};
use crate::panel::{Badge, Filter, Head, Listing, PageTime, list};
use crate::services::Services;
use crate::wire;

pub(super) const LIST: Listing = Listing {
    path: "/painel/anuncios",
    hint: "Título, SKU ou código",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todos",
        values: &[
            ("active", "Ativos"),
            ("paused", "Pausados"),
            ("under_review", "Em revisão"),
            ("closed", "Encerrados"),
        ],
    }],
    sort_keys: &["-atualizado_em", "titulo", "preco", "disponivel", "vendidos"],
    heads: &[
        Head::sorts("Anúncio", "titulo"),
        Head::plain("Conta"),
        Head::sorts("Preço", "preco").numeric(),
        Head::plain("Situação"),
        Head::sorts("Disponível", "disponivel").numeric(),
        Head::sorts("Vendidos", "vendidos").numeric(),
        Head::sorts("Mudou", "atualizado_em"),
    ],
    file: "anuncios.csv",
    csv: &[
        "id",
        "conta",
        "titulo",
        "estado",
        "motivo",
        "preco",
        "moeda",
        "disponivel",
        "vendidos",
        "tipo",
        "sku",
        "ean",
        "link",
        "atualizado_em",
    ],
    ..Listing::NONE
};

wire! {
    /// A listing in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireListing of(services: &Services, stores: &Stores, listing: SellerListing) after {
        let SellerListing { id, row, status, currency, kind, .. } = listing;
    } {
        id: String = id,
        conta: String = stores.name(row.ml_user_id),
        ml_user_id: MlUserId = row.ml_user_id,
        titulo: String = row.title,
        estado: String = status,
        motivo: String = row.sub_status,
        preco: Cents = row.price,
        moeda: String = currency,
        disponivel: i64 = row.available,
        vendidos: i64 = row.sold,
        tipo: String = kind,
        sku: String = row.sku,
        ean: String = row.ean,
        link: String = row.permalink,
        miniatura: String = row.thumbnail,
        atualizado_em: String = services.zone().spaced(row.updated_at),
    }
}

/// The badge of a listing's state.
pub fn state_badge(status: &str) -> Badge {
    match status {
        "active" => Badge::Active,
        "paused" => Badge::OnHold,
        "closed" => Badge::Over,
        "under_review" => Badge::UnderReview,
        "inactive" => Badge::Inactive,
        "not_yet_active" => Badge::Pending,
        _ => Badge::Attention,
    }
}

/// Whether a list must read all listings of its owner.
pub fn needs_slow_lane(request: &Request) -> bool {
    listed::needs_slow_lane(request) || list::asks_to_sort(request)
}

/// `GET /painel/anuncios`: the seller's listings.
pub fn listings(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer((app, person, request), |mut found| {
        let (query, store) = (LIST.read(request)?, stores::asked(request)?);
        let owner = person.account.user_id;
        let worths =
            app.db.read(request.lane, |tx| store::worths(tx, (owner, store), &query.search))?;
        let state = query.filter("estado");
        found.table = found.table.counted(|value| {
            (!value.is_empty()).then(|| sum_of(&worths, Some(value)).listings.unsigned_abs())
        });
        let sum = worth_words(sum_of(&worths, state));
        let page = ListingsPage { layout: layout(app, person, request), found, sum };
        Ok(with_images(app, Reply::page(&page)?))
    })
}

/// What the listings of a state add up to, or all of them.
fn sum_of(worths: &[(String, Worth)], state: Option<&str>) -> Worth {
    let wanted = worths.iter().filter(|(name, _)| state.is_none_or(|state| state == name));
    wanted.fold(Worth::default(), |sum, (_, part)| Worth {
        listings: sum.listings + part.listings,
        units: sum.units.saturating_add(part.units),
        value: Cents(sum.value.0.saturating_add(part.value.0)),
    })
}

/// A page that shows pictures of the marketplace.
fn with_images(services: &Services, page: Reply) -> Reply {
    let images = policy::page_with_images(&services.config.marketplace.image_host);
    page.with(CONTENT_SECURITY_POLICY, images)
}

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

#[derive(Serialize)]
struct ListingReply {
    ok: bool,
    #[serde(flatten)]
    listing: WireListing,
}

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
        // The days before are what the last ones are compared with.
        let whole = (first.plus(-span), 2 * TREND_DAYS);
        let around = Around {
            sold: of_listing::by_day(tx, (owner, number), zone, whole)?,
            sales: of_listing::last(tx, owner, number, MOST_SALES)?,
            questions: questions::of_listing::read(tx, owner, number, MOST_QUESTIONS)?,
            product,
        };
        Ok::<_, Problem>((listing, stores, Some(around)))
    })?;
    let (listing, stores, Some(around)) = read else {
        let (listing, stores, _) = read;
        return Reply::json(&ListingReply {
            ok: true,
            listing: WireListing::of(app, &stores, listing),
        });
    };
    let page = ListingPage {
        layout: layout(app, person, request),
        store: stores.name(listing.row.ml_user_id),
        trend: Trend::of(TREND, first, &around.sold),
        margin: around
            .product
            .as_ref()
            .and_then(|one| Margin::of(listing.row.price, one.entry.cost)),
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
    product: Option<Product>,
}
