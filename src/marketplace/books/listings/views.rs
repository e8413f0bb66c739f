//! What the pages of listings print.

use std::fmt::Write as _;

use askama::Template;

use super::store::{SellerListing, Worth};
use crate::base::{Cents, grouped};
use crate::marketplace::books::listed::Found;
use crate::panel::Layout;

/// `GET /painel/anuncios`: the seller's listings.
#[derive(Template)]
#[template(path = "listings.html", config = "assets/askama.toml")]
pub struct ListingsPage {
    pub layout: Layout,
    pub found: Found<SellerListing>,
    /// What the listings of the filter add up to.
    pub sum: String,
}

/// A listing's price, or that the marketplace does not say it.
pub fn price_words(price: Option<Cents>) -> String {
    price.map_or_else(|| "sem preço".to_owned(), Cents::page)
}

/// `26 anúncios · 1.204 unidades disponíveis · R$ 50.000,00 · 2 sem preço`.
pub fn worth_words(worth: Worth) -> String {
    let Worth { listings, units, value, unpriced } = worth;
    let what = if listings == 1 { "anúncio" } else { "anúncios" };
    let at_hand = if units == 1 { "unidade disponível" } else { "unidades disponíveis" };
    let mut words = format!("{} {what} · {} {at_hand}", grouped(listings), grouped(units));
    if unpriced == 0 || unpriced < listings {
        let _ = write!(words, " · {}", value.page());
    }
    if unpriced > 0 {
        let _ = write!(words, " · {} sem preço", grouped(unpriced));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_in_words() {
        let one = Worth { listings: 1, units: 1, value: Cents(1_990), unpriced: 0 };
        assert_eq!(worth_words(one), "1 anúncio · 1 unidade disponível · R$ 19,90");
        let none = "0 anúncios · 0 unidades disponíveis · R$ 0,00";
        assert_eq!(worth_words(Worth::default()), none);
        let some = Worth { listings: 3, unpriced: 2, ..one };
        assert!(worth_words(some).ends_with("R$ 19,90 · 2 sem preço"));
        let unknown = Worth { unpriced: 1, value: Cents(0), ..one };
        assert!(worth_words(unknown).ends_with("disponível · 1 sem preço"));
        assert_eq!((&*price_words(None), &*price_words(Some(Cents(1)))), ("sem preço", "R$ 0,01"));
    }
}
