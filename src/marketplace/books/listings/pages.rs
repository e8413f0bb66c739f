//! Listings in the seller's panel, as page, JSON or CSV.

use http::header::CONTENT_SECURITY_POLICY;
use serde::Serialize;

use super::list::{self, Order, Wanted};
use super::views::{ListingLine, ListingsPage};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::MlUserId;
use crate::base::money::Cents;
use crate::base::text::grouped;
use crate::edge::guard::Person;
use crate::http::policy;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::spoken;
use crate::marketplace::tools::fees;
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::list::{self as lists, Filter, Head};
use crate::panel::view::{Badge, When};

const LIST: lists::Listing = lists::Listing {
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
    orders: &["-atualizado_em", "titulo", "preco", "disponivel", "vendidos"],
    ..lists::Listing::NONE
};

#[derive(Serialize)]
struct WireListing {
    id: String,
    conta: String,
    ml_user_id: MlUserId,
    titulo: String,
    estado: String,
    motivo: String,
    preco: Cents,
    moeda: String,
    disponivel: i64,
    vendidos: i64,
    tipo: String,
    sku: String,
    ean: String,
    link: String,
    miniatura: String,
    atualizado_em: String,
}

fn wire(app: &App, stores: &Stores, listing: list::Listing) -> WireListing {
    WireListing {
        conta: stores.name(listing.ml_user_id),
        ml_user_id: listing.ml_user_id,
        id: listing.id,
        titulo: listing.title,
        estado: listing.status,
        motivo: listing.sub_status,
        preco: listing.price,
        moeda: listing.currency,
        disponivel: listing.available,
        vendidos: listing.sold,
        tipo: listing.kind,
        sku: listing.sku,
        ean: listing.ean,
        link: listing.permalink,
        miniatura: listing.thumbnail,
        atualizado_em: app.zone().spaced(listing.updated_at),
    }
}

fn line(app: &App, stores: &Stores, listing: &list::Listing, now: Instant) -> ListingLine {
    let count = |number: i64| grouped(u64::try_from(number).unwrap_or(0));
    ListingLine {
        id: listing.id.clone(),
        title: listing.title.clone(),
        sku: listing.sku.clone(),
        permalink: Some(&listing.permalink)
            .filter(|address| address.starts_with("https://"))
            .cloned()
            .unwrap_or_default(),
        thumbnail: listing.thumbnail.clone(),
        store: stores.name(listing.ml_user_id),
        state: state_badge(&listing.status),
        why: spoken::listing_reason(&listing.status, &listing.sub_status),
        price: listing.price.page(),
        kind: spoken::listing_kind(&listing.kind),
        available: count(listing.available),
        sold: count(listing.sold),
        fees: fees::address_for(
            listing.ml_user_id,
            listing.price,
            &listing.category,
            listing.logistic.as_deref().unwrap_or_default(),
        ),
        changed: When::new(app.zone(), listing.updated_at, now),
    }
}

/// What a state of a listing looks like.
fn state_badge(status: &str) -> Badge {
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

/// Whether a list is read by walking over all listings of its owner.
pub fn walks(request: &Request) -> bool {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    lists::asks_for_much(request)
        || given.any(|(name, value)| matches!(&*name, "q" | "ordem") && !value.is_empty())
}

/// `GET /painel/anuncios`: the seller's listings.
pub fn listings(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (owner, store) = (person.account.user_id, stores::asked(request)?);
    let (limit, offset) = query.window();
    let (stores, ids, (listings, total)) = app.db.read(request.lane, |tx| {
        let status = match query.filter("estado") {
            // A word that no listing has yet.
            Some(word) => Some(app.marketplace.words.known(tx, word)?.unwrap_or(-1)),
            None => None,
        };
        let wanted = Wanted {
            owner,
            store,
            status,
            search: &query.search,
            order: Order::of_word(query.order),
            descending: query.descending,
            limit,
            offset,
        };
        let stores = Stores::narrowed(tx, owner, store)?;
        let (ids, page) = if query.csv {
            (list::ids(tx, &wanted)?, Default::default())
        } else {
            (Vec::new(), list::page(tx, &wanted)?)
        };
        Ok::<_, Problem>((stores, ids, page))
    })?;
    if query.csv {
        return csv(app, person, stores, ids);
    }
    if request.wants_json() {
        let listings = listings.into_iter().map(|one| wire(app, &stores, one));
        return ListReply::reply(total, listings.collect());
    }
    let columns = [
        Head::sorts("Anúncio", "titulo"),
        Head::plain("Conta"),
        Head::sorts("Preço", "preco").numeric(),
        Head::plain("Situação"),
        Head::sorts("Disponível", "disponivel").numeric(),
        Head::sorts("Vendidos", "vendidos").numeric(),
        Head::sorts("Mudou", "atualizado_em"),
    ];
    let images = policy::page_with_images(&app.config.marketplace.image_host);
    let page = Reply::page(&ListingsPage {
        layout: layout(app, person, request),
        has_stores: !stores.is_empty(),
        table: LIST.table_by(&query, &columns, total, (&stores.choice(store), None)),
        listings: listings.iter().map(|one| line(app, &stores, one, request.now)).collect(),
    })?;
    Ok(page.with(CONTENT_SECURITY_POLICY, images))
}

fn csv(app: &App, person: &Person, stores: Stores, ids: Vec<i64>) -> Result<Reply, Problem> {
    let header = [
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
    ];
    let file = CsvFile::new("anuncios.csv", &header)?;
    let owner = person.account.user_id;
    export::send(app, person, file, ids, move |app, tx, id, file| {
        let Some(listing) = list::listing(tx, owner, id)? else {
            return Ok(());
        };
        let listing = wire(app, &stores, listing);
        file.row([
            &*listing.id,
            &listing.conta,
            &listing.titulo,
            &listing.estado,
            &listing.motivo,
            &listing.preco.reais().to_string(),
            &listing.moeda,
            &listing.disponivel.to_string(),
            &listing.vendidos.to_string(),
            &listing.tipo,
            &listing.sku,
            &listing.ean,
            &listing.link,
            &listing.atualizado_em,
        ])
    })
}
