//! What fills the calculator in: a listing or a product, chosen by its name.

use crate::accounts::Role;
use crate::base::ids::item_number;
use crate::base::{Cents, MlUserId, UserId};
use crate::catalog::{Product, path_for, store as products};
use crate::db::{ReadTx, Result};
use crate::http::Problem;
use crate::marketplace::books::listed;
use crate::marketplace::books::listings::store::{self as listings, SellerListing};
use crate::marketplace::books::orders::{cost, of_listing};

/// Names that the search suggests while it is typed, of each kind.
const SUGGESTED: u32 = 25;
/// Listings, and products, that a search shows.
const SHOWN: u32 = 8;

/// What a calculation is about.
pub struct Origin {
    pub title: String,
    /// Path of its page.
    pub page: String,
    /// The name and the value by which the address names it.
    pub named: (&'static str, String),
    pub price: Option<Cents>,
    /// `None` when it was not entered.
    pub cost: Option<Cents>,
    /// What the parcel of the last sale of one unit cost; `None` when no sale tells.
    pub freight: Option<Cents>,
    /// The account of its listing.
    pub account: Option<MlUserId>,
    pub category: String,
    /// Empty when it is not known.
    pub logistic: String,
    /// The marketplace's name of the kind of its listing; empty without one.
    pub kind: String,
}

impl Origin {
    /// The listing or the product that an address names.
    pub fn read(
        tx: &ReadTx<'_>,
        owner: UserId,
        listing: &str,
        product: &str,
    ) -> std::result::Result<Option<Self>, Problem> {
        if !listing.is_empty() {
            let number = item_number(listing).ok_or_else(Problem::not_found)?;
            let found: Option<SellerListing> = listed::one(tx, owner, number)?;
            let found = found.ok_or_else(Problem::not_found)?;
            let unit = cost::unit(tx, owner, number, &found.row.sku)?;
            let freight = of_listing::last_freight(tx, owner, number)?;
            return Ok(Some(Self::of_listing(found, unit.map(|unit| unit.cents), freight)));
        }
        if product.is_empty() {
            return Ok(None);
        }
        let id = product.parse().map_err(|_| Problem::not_found())?;
        let product = products::product(tx, owner, id)?.ok_or_else(Problem::not_found)?;
        let listing = listings::of_sku(tx, owner, &product.entry.sku, 1)?.pop();
        let number = listing.as_ref().and_then(|listing| item_number(&listing.id));
        let freight =
            number.map(|number| of_listing::last_freight(tx, owner, number)).transpose()?.flatten();
        Ok(Some(Self { freight, ..Self::of_product(&product, listing) }))
    }

    fn of_listing(listing: SellerListing, cost: Option<Cents>, freight: Option<Cents>) -> Self {
        let SellerListing { id, row, kind, logistic, .. } = listing;
        Self {
            title: if row.title.is_empty() { id.clone() } else { row.title },
            page: format!("/painel/anuncios/{id}"),
            named: ("anuncio", id),
            price: row.price,
            cost,
            freight,
            account: Some(row.ml_user_id),
            category: row.category,
            logistic: logistic.unwrap_or_default(),
            kind,
        }
    }

    fn of_product(product: &Product, listing: Option<SellerListing>) -> Self {
        let (page, named) = (
            format!("{}/{}", path_for(Role::Pro), product.id),
            ("produto", product.id.to_string()),
        );
        let cost = Some(product.entry.cost).filter(|cost| cost.0 > 0);
        let own_price = Some(product.entry.price).filter(|price| price.0 > 0);
        let title = product.entry.title.clone();
        let Some(listing) = listing else {
            let (category, logistic, kind) = Default::default();
            return Self {
                title,
                page,
                named,
                price: own_price,
                cost,
                freight: None,
                account: None,
                category,
                logistic,
                kind,
            };
        };
        let of_listing = Self::of_listing(listing, cost, None);
        Self { title, page, named, price: own_price.or(of_listing.price), ..of_listing }
    }
}

/// What a search found: listings, then products.
#[derive(Default)]
pub struct Hits {
    pub listings: Vec<SellerListing>,
    pub products: Vec<Product>,
}

impl Hits {
    /// What has these words, this SKU or this number.
    pub fn read(tx: &ReadTx<'_>, owner: UserId, search: &str) -> Result<Self> {
        Ok(Self {
            listings: listings::found(tx, owner, search, SHOWN)?,
            products: products::found(tx, owner, search, SHOWN)?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.listings.is_empty() && self.products.is_empty()
    }

    /// The address of the calculator for the only one that was found.
    pub fn only(&self) -> Option<String> {
        match (&*self.listings, &*self.products) {
            ([listing], []) => Some(super::address_for_listing(&listing.id)),
            ([], [product]) => Some(super::address_for_product(&product.id)),
            _ => None,
        }
    }
}

/// Names that the search suggests: of listings, then of products, each once.
pub fn suggested(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<String>> {
    let listings = listings::newest(tx, owner, SUGGESTED)?.into_iter();
    let products = products::newest(tx, owner, SUGGESTED)?.into_iter();
    let mut names: Vec<String> = Vec::new();
    for name in listings.chain(products) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}
