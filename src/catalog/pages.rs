//! Products in the panels of sellers and suppliers, as page, JSON and CSV.
//!
//! One set of handlers serves both panels. The owner is always the person of
//! the session, so products of other people are not found.

use std::fmt::Write as _;

use serde::Deserialize;

use super::entry::{self, ProductForm};
use super::stock::{self, Movement};
use super::store::{self, ProductQuery, StockLevel};
use super::views::{MovementForm, ProductPage, ProductsPage, worth_words};
use super::wire::{MovementDetails, ProductDetails, ProductReply};
use super::{MAX_PRODUCTS, Product};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::ids::item_number;
use crate::base::{UserId, grouped};
use crate::db::WriteTx;
use crate::edge::route::Job;
use crate::http::{Check, Field, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::listed;
use crate::marketplace::books::listings::store::{self as listings, SellerListing};
use crate::messages::choices::ChannelSet;
use crate::panel::list::asks_for_much;
use crate::panel::{
    Answer, Flash, FormView, ListReply, Listing, Notice, PageTime, Paging, Tone, columns, export,
    filters, flashes, form, heads,
};

pub(super) const OF_SELLERS: Listing = Listing {
    path: super::path_for(Role::Pro),
    hint: "Título, SKU ou EAN",
    filters: filters! {
        "estoque": "Estoque", "Todos",
            &[("baixo", "Estoque baixo"), ("com", "Com estoque"), ("sem", "Sem estoque")];
    },
    sort_keys: &["titulo", "sku", "estoque", "-alteracao"],
    heads: heads![
        "Produto" => "titulo", "Custo" numeric, "Preço" numeric, "Margem" numeric,
        "Estoque" numeric => "estoque", "Alterado" => "alteracao",
    ],
    file: "produtos.csv",
    // The columns that an import reads.
    csv: columns![sku ean title=titulo cost=custo price=preco stock=estoque],
    flashes: flashes! {
        "criado": good "Produto criado", "Vendas com o SKU dele dão baixa sozinhas.";
        "alterado": good "Produto salvo";
        "excluido": good "Produto excluído", "Os movimentos dele saíram junto.";
        "movimento": good "Estoque atualizado", "O movimento está no histórico.";
    },
};

const OF_SUPPLIERS: Listing = Listing { path: super::path_for(Role::Drop), ..OF_SELLERS };

/// Movements of a product on a page.
const MOVEMENTS: u32 = 20;
const MOST_MOVEMENTS: i64 = 100;
/// Listings of a product that its page shows.
const MOST_LISTINGS: u32 = 10;

/// The list in the caller's panel.
fn listing(person: &Person) -> &'static Listing {
    if person.account.role == Role::Drop { &OF_SUPPLIERS } else { &OF_SELLERS }
}

/// Address of the list in the caller's panel.
pub(super) fn base(person: &Person) -> &'static str {
    listing(person).path
}

/// Whether a request reads all products of its owner: searches, filters,
/// sorting and files do.
pub fn needs_slow_lane(request: &Request) -> bool {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    asks_for_much(request) || given.any(|(name, _)| matches!(&*name, "q" | "estoque" | "ordem"))
}

/// `GET …/produtos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let listing = listing(person);
    let query = listing.read(request)?;
    let wanted = ProductQuery {
        owner: person.account.user_id,
        search: &query.search,
        sku: None,
        level: query.filter("estoque").and_then(StockLevel::from_name),
        order: query.sort_key,
        descending: query.descending,
        after: None,
    };
    let zone = app.zone();
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted))?;
        let owner = wanted.owner;
        return export::list(app, person, listing, ids, move |_, tx, id| {
            let product = store::product(tx, owner, id)?;
            Ok(product.map(|product| ProductDetails::of(product, zone)))
        });
    }
    if request.wants_json() {
        let (products, total) =
            app.db.read(request.lane, |tx| store::page(tx, &wanted, query.window()))?;
        return ListReply::of(total, products, |product| ProductDetails::of(product, zone));
    }
    let ((products, total), worths) = app.db.read(request.lane, |tx| {
        let page = store::page(tx, &wanted, query.window())?;
        Ok::<_, Problem>((page, store::worths(tx, &wanted)?))
    })?;
    let count = |value: &str| match value {
        "" => None,
        level => {
            StockLevel::from_name(level).map(|level| worths.of(Some(level)).products.unsigned_abs())
        }
    };
    Reply::page(&ProductsPage {
        layout: layout(app, person, request).with_flash(flash(request)),
        base: listing.path,
        sum: worth_words(worths.of(wanted.level)),
        table: listing.table(&query, listing.heads, total).counted(count),
        products,
        time: PageTime::of(app, request),
    })
}

fn flash(request: &Request) -> Option<Notice> {
    let word = request.notice.as_deref()?;
    Flash::notice(OF_SELLERS.flashes, word).or_else(|| imported(word))
}

/// `importado-12-3-0`: how many products an import created, changed and left
/// unchanged; then how many columns were left out, if any.
fn imported(notice: &str) -> Option<Notice> {
    let mut counts = notice.strip_prefix("importado-")?.split('-').map(|count| count.parse().ok());
    let mut next = || counts.next().flatten().map(grouped::<u64>);
    let (created, changed, unchanged) = (next()?, next()?, next()?);
    let mut text = format!("{created} criados, {changed} alterados, {unchanged} sem mudança.");
    match next().as_deref() {
        None => {}
        Some("1") => text.push_str(" Uma coluna a mais ficou de fora."),
        Some(columns) => {
            let _ = write!(text, " {columns} colunas a mais ficaram de fora.");
        }
    }
    Some(Notice::new(Tone::Good, "Produtos importados", text))
}

#[derive(Deserialize)]
struct PageQuery {
    #[serde(default)]
    pagina: Field<i64>,
    #[serde(default)]
    por_pagina: Field<i64>,
}

/// `GET …/produtos/{id}`: one product with its movements; with `novo` as the
/// id, the form of a new product.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    if request.variable("id") == "novo" {
        if request.wants_json() {
            return Err(Problem::not_found());
        }
        let form = match named_listing(visit)? {
            Some(listing) => entry::for_listing(app, &listing),
            None => entry::FORM.show(None, app.zone()),
        };
        return product_page(visit, None, form, MovementForm::fresh(app.zone()));
    }
    let id = request.id()?;
    let query: PageQuery = request.query()?;
    let mut check = Check::text();
    let page = check.number("pagina", query.pagina, 1..=1_000_000);
    let rows = check.capped("por_pagina", query.por_pagina, MOST_MOVEMENTS);
    check.finish()?;
    let window = Window {
        page: page.map_or(1, i64::unsigned_abs),
        rows: rows.and_then(|rows| u32::try_from(rows).ok()).unwrap_or(MOVEMENTS),
    };
    let found = Found::read(visit, id, window)?;
    if request.wants_json() {
        let (zone, movements) = (app.zone(), found.movements.into_iter());
        return Reply::json(&ProductReply {
            product: ProductDetails::of(found.product, zone),
            total_movimentos: found.total,
            movimentos: movements.map(|one| MovementDetails::of(one, zone)).collect(),
        });
    }
    let form = entry::typed(app, &found.product);
    product_page(visit, Some(found), form, MovementForm::fresh(app.zone()))
}

/// The caller's listing that the address of the form of a new product names.
fn named_listing((app, person, request): Visit<'_>) -> Result<Option<SellerListing>, Problem> {
    let named = request.parameter("anuncio");
    let Some(number) = named.and_then(|id| item_number(&id)) else { return Ok(None) };
    let owner = person.account.user_id;
    Ok(app.db.read(request.lane, |tx| listed::one(tx, owner, number))?)
}

/// The page of a product or of a new one.
pub(super) fn product_page(
    (app, person, request): Visit<'_>,
    existing: Option<Found>,
    form: FormView,
    movement: MovementForm,
) -> Result<Reply, Problem> {
    Reply::page(&ProductPage {
        layout: layout(app, person, request).with_flash(flash(request)),
        base: base(person),
        sells: person.account.role != Role::Drop,
        existing,
        form,
        movement,
        time: PageTime::of(app, request),
    })
}

/// The page of movements to show.
#[derive(Clone, Copy)]
pub struct Window {
    /// From 1.
    page: u64,
    rows: u32,
}

impl Window {
    pub(super) const FIRST: Self = Self { page: 1, rows: MOVEMENTS };
}

/// A product of the caller, with some of its movements, newest first.
pub struct Found {
    pub product: Product,
    pub movements: Vec<Movement>,
    /// Listings that sell it, and how many there are in all; suppliers have none.
    pub listings: Vec<SellerListing>,
    pub listed: u64,
    total: u64,
    window: Window,
}

impl Found {
    pub(super) fn read(
        (app, person, request): Visit<'_>,
        id: i64,
        window: Window,
    ) -> Result<Self, Problem> {
        app.db.read(request.lane, |tx| {
            let owner = person.account.user_id;
            let product = store::product(tx, owner, id)?.ok_or_else(Problem::not_found)?;
            let sku = &*product.entry.sku;
            let listings = listings::of_sku(tx, owner, sku, MOST_LISTINGS)?;
            let listed = listings::count_of_sku(tx, owner, sku)?;
            let skipped = (window.page - 1).saturating_mul(window.rows.into());
            Ok(Self {
                product,
                listings,
                listed,
                movements: stock::page(tx, id, skipped, window.rows)?,
                total: stock::total(tx, id)?,
                window,
            })
        })
    }

    /// The place of these movements among all.
    pub fn paging(&self, base: &str) -> Paging {
        let (path, Window { page, rows }) = (format!("{base}/{}", self.product.id), self.window);
        let per_page = if rows == MOVEMENTS { String::new() } else { rows.to_string() };
        Paging::new(&path, &[("por_pagina", &per_page)], page, rows.into(), self.total)
    }
}

pub(super) struct Change {
    pub(super) owner: UserId,
    pub(super) answer: Answer,
    /// The channels by which messages can leave.
    pub(super) channels: ChannelSet,
}

impl Change {
    pub(super) fn of(app: &App, person: &Person, request: &Request) -> Self {
        Self {
            owner: person.account.user_id,
            answer: Answer::to(request),
            channels: ChannelSet::of(&app.config),
        }
    }

    /// Checks the SKU again: it may have been taken since the form was checked.
    fn free(&self, tx: &WriteTx<'_>, sku: &str, own: Option<i64>) -> Result<(), Problem> {
        match store::by_sku(tx, self.owner, sku)? {
            Some(other) if Some(other.id) != own => Err(Problem::field("sku", entry::SKU_TAKEN)),
            _ => Ok(()),
        }
    }
}

fn again(visit: Visit<'_>, found: Option<Found>, problem: Problem) -> Result<Job, Problem> {
    let (app, _, request) = visit;
    form::show_again(request, problem, |faults| {
        let movement = MovementForm::fresh(app.zone());
        product_page(visit, found, entry::again(request, faults), movement)
    })
}

/// `POST …/produtos`: creates a product.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let ProductForm { product, counted } = match entry::read((app, person, request), None) {
        Ok(read) => read,
        Err(problem) => return again((app, person, request), None, problem),
    };
    let change = Change::of(app, person, request);
    let base = base(person);
    Ok(Box::new(move |tx| {
        change.free(tx, &product.sku, None)?;
        if store::count(tx, change.owner)? >= MAX_PRODUCTS {
            return Err(Problem::conflict(ForPeople(
                "Você já tem 20.000 produtos, o máximo. Exclua algum antes de cadastrar outro.",
            )));
        }
        let id = store::insert(tx, change.owner, &product)?;
        stock::set_counted_stock(tx, id, 0, counted.unwrap_or(0), "Cadastro")?;
        change.answer.made(id, base, "criado")
    }))
}

/// `POST …/produtos/{id}`: changes a product. A program may also send its
/// counted stock.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let found = Found::read((app, person, request), id, Window::FIRST)?;
    let read = entry::read((app, person, request), Some(&found.product));
    let ProductForm { product, counted } = match read {
        Ok(read) => read,
        Err(problem) => return again((app, person, request), Some(found), problem),
    };
    let change = Change::of(app, person, request);
    let page = format!("{}/{id}", base(person));
    Ok(Box::new(move |tx| {
        let before = store::product(tx, change.owner, id)?.ok_or_else(Problem::not_found)?;
        change.free(tx, &product.sku, Some(id))?;
        if before.entry != product {
            store::update(tx, change.owner, id, &product)?;
        }
        if let Some(counted) = counted {
            stock::count_stock(tx, change.channels, id, before.stock, counted, "Ajuste")?;
        }
        change.answer.done(id, &page, "alterado")
    }))
}

/// `POST …/produtos/{id}/excluir`: removes a product with its movements.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
    let (base, owner) = (base(person), change.owner);
    app.db.write_pieces(move |tx| tx.work_off(|most| store::empty(tx, owner, id, most)))?;
    app.db.write(move |tx| {
        store::product(tx, change.owner, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, change.owner, id)?;
        change.answer.done(id, base, "excluido")
    })
}
