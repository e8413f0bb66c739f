//! What the pages of listings print.

use askama::Template;

use super::store::{SellerListing, Worth};
use crate::base::grouped;
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

/// `26 anúncios · 1.204 unidades disponíveis · R$ 50.000,00`.
pub fn worth_words(worth: Worth) -> String {
    let Worth { listings, units, value } = worth;
    let what = if listings == 1 { "anúncio" } else { "anúncios" };
    let at_hand = if units == 1 { "unidade disponível" } else { "unidades disponíveis" };
    format!("{} {what} · {} {at_hand} · {}", grouped(listings), grouped(units), value.page())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Cents;

    #[test]
    fn sums_are_in_words() {
        let one = Worth { listings: 1, units: 1, value: Cents(1_990) };
        assert_eq!(worth_words(one), "1 anúncio · 1 unidade disponível · R$ 19,90");
        let none = "0 anúncios · 0 unidades disponíveis · R$ 0,00";
        assert_eq!(worth_words(Worth::default()), none);
    }
}
