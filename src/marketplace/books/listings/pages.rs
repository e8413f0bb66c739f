//! Listings in the seller's panel, as page, JSON or CSV.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;

use super::store::{self, SellerListing, Worth};
use super::views::{ListingsPage, worth_words};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, MlUserId};
use crate::http::{Problem, Reply, Request, policy};
use crate::identity::Person;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::listed;
use crate::panel::{Badge, Listing, columns, filters, heads, list};
use crate::services::Services;
use crate::wire;

pub(super) const LIST: Listing = Listing {
    path: "/painel/anuncios",
    hint: "Título, SKU ou código",
    filters: filters! {
        "estado": "Situação", "Todos", &[
            ("active", "Ativos"), ("paused", "Pausados"), ("under_review", "Em revisão"),
            ("closed", "Encerrados"),
        ];
    },
    sort_keys: &["-atualizado_em", "titulo", "preco", "disponivel", "vendidos"],
    heads: heads![
        "Anúncio" => "titulo", "Conta", "Preço" numeric => "preco", "Situação",
        "Disponível" numeric => "disponivel", "Vendidos" numeric => "vendidos",
        "Mudou" => "atualizado_em",
    ],
    file: "anuncios.csv",
    csv: columns![
        id conta titulo estado motivo preco moeda disponivel vendidos tipo sku ean link
        atualizado_em
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
        preco: Option<Cents> = row.price,
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
            app.db.read(request.lane, |tx| store::worths(tx, owner, store, &query.search))?;
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
        unpriced: sum.unpriced + part.unpriced,
    })
}

/// A page that shows pictures of the marketplace.
pub fn with_images(services: &Services, page: Reply) -> Reply {
    let images = policy::page_with_images(&services.config.marketplace.image_host);
    page.with(CONTENT_SECURITY_POLICY, images)
}
