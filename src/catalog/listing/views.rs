//! What the page of a listing prints.

use askama::Template;

use crate::base::{Cents, Day, grouped};
use crate::catalog::{Margin, Product};
use crate::marketplace::books::listings::store::SellerListing;
use crate::marketplace::books::orders::cost::Unit;
use crate::marketplace::books::orders::of_listing::{DailySales, ListingOrder};
use crate::marketplace::books::questions::of_listing::ListingQuestions;
use crate::panel::chart::{BarChart, BarWords, Change};
use crate::panel::{Layout, PageTime};

/// `GET /painel/anuncios/{id}`: one listing.
#[derive(Template)]
#[template(path = "listing.html", config = "assets/askama.toml")]
pub struct ListingPage {
    pub layout: Layout,
    pub listing: SellerListing,
    /// Nickname of its account.
    pub store: String,
    pub trend: Trend,
    pub questions: ListingQuestions,
    /// The last orders.
    pub sales: Vec<ListingOrder>,
    /// The product with its SKU.
    pub product: Option<Product>,
    /// What a unit costs, as on the pages of its sales.
    pub cost: Option<Unit>,
    /// Of its price, with that cost.
    pub margin: Option<Margin>,
    pub time: PageTime,
}

impl ListingPage {
    /// What the listing is called.
    fn title(&self) -> &str {
        match &*self.listing.row.title {
            "" => "Anúncio sem título",
            title => title,
        }
    }
}

/// What a listing sold of late, and in as many days before.
pub struct Trend {
    pub units: i64,
    pub gross: Cents,
    pub units_change: Option<Change>,
    pub gross_change: Option<Change>,
    /// `None` when nothing was sold.
    pub chart: Option<BarChart>,
}

impl Trend {
    /// From the sales of twice the days that are shown, which begin at `first`.
    pub fn of(words: BarWords, first: Day, sold: &DailySales) -> Self {
        let half = sold.units.len() / 2;
        let sums = |days: &[i64]| {
            let sum = |days: &[i64]| days.iter().fold(0_i64, |sum, one| sum.saturating_add(*one));
            (sum(&days[..half]), sum(&days[half..]))
        };
        let ((units_before, units), (gross_before, gross)) = (sums(&sold.units), sums(&sold.gross));
        let mut chart = BarChart::new(words, first, &sold.gross[half..]);
        if let Some(chart) = &mut chart {
            for (bar, units) in chart.bars.iter_mut().zip(&sold.units[half..]) {
                bar.value = format!("{} · {}", bar.value, units_words(*units));
            }
            chart.summary = format!("{} no período", units_words(units));
        }
        Self {
            units,
            gross: Cents(gross),
            units_change: Change::new(units_before, units),
            gross_change: Change::new(gross_before, gross),
            chart,
        }
    }
}

/// `1 unidade`, `1.234 unidades`.
pub fn units_words(units: i64) -> String {
    let what = if units == 1 { "unidade" } else { "unidades" };
    format!("{} {what}", grouped(units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::chart::short_money;

    #[test]
    fn a_trend_compares_with_the_days_before() {
        let words =
            BarWords { title: "", unit: "", value: |cents| Cents(cents).page(), mark: short_money };
        let sold = DailySales { units: vec![1, 1, 0, 3], gross: vec![100, 100, 0, 330] };
        let trend = Trend::of(words, Day(0), &sold);
        assert_eq!((trend.units, trend.gross), (3, Cents(330)));
        assert_eq!(trend.units_change.unwrap().text, "+50%");
        assert_eq!(trend.gross_change.unwrap().text, "+65%");
        let chart = trend.chart.unwrap();
        assert_eq!(chart.bars[1].value, "R$ 3,30 · 3 unidades");
        assert_eq!(chart.summary, "3 unidades no período");
        let nothing = DailySales { units: vec![1, 0], gross: vec![100, 0] };
        assert!(Trend::of(words, Day(0), &nothing).chart.is_none());
    }
}
