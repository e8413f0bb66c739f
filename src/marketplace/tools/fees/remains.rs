//! What remains of a price for its seller, and the price that leaves what the
//! seller wants. Decision tools-8.

use crate::base::Cents;
use crate::marketplace::client::Fee;

/// Highest price, in centavos: ten million reais.
pub const MOST_CENTS: i64 = 1_000_000_000;
/// What must be left of each further real, so that a higher price helps.
const LEAST_RATE: f64 = 0.0001;
/// More centavos than all roundings of a price can differ by together.
const SLACK: f64 = 3.0;

/// What goes off a price. What is not known is `None`, never zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    pub fee: Fee,
    /// Percent off the commission.
    pub discount: f64,
    /// Percent of the price.
    pub tax: Option<f64>,
    pub freight: Option<Cents>,
    /// What the product costs.
    pub cost: Option<Cents>,
}

/// What remains of a sale for its seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    pub commission: Cents,
    pub discount: Cents,
    pub fixed: Cents,
    pub tax: Option<Cents>,
    pub freight: Option<Cents>,
    pub cost: Option<Cents>,
    /// After all that is known.
    pub left: Cents,
}

impl Remains {
    pub fn of(price: Cents, terms: &Terms) -> Self {
        let commission = share(price, terms.fee.percent);
        let discount = share(commission, terms.discount);
        let tax = terms.tax.map(|rate| share(price, rate));
        let (freight, cost, fixed) = (terms.freight, terms.cost, terms.fee.fixed);
        let others: i64 = [tax, freight, cost].into_iter().flatten().map(|amount| amount.0).sum();
        let left = Cents(price.0 - commission.0 + discount.0 - fixed.0 - others);
        Self { commission, discount, fixed, tax, freight, cost, left }
    }

    /// What is not known, in words, such as `o frete e o custo`; empty when all is.
    pub fn missing(&self) -> String {
        let parts = [(self.freight, "o frete"), (self.tax, "o imposto"), (self.cost, "o custo")];
        let missing: Vec<_> =
            parts.iter().filter(|(amount, _)| amount.is_none()).map(|(_, name)| *name).collect();
        match missing.split_last() {
            None => String::new(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} e {last}", others.join(", ")),
        }
    }
}

impl Terms {
    /// Whether a price leaves at least so many percent of it.
    pub fn leaves(&self, price: Cents, margin: f64) -> bool {
        Remains::of(price, self).left >= share(price, margin)
    }

    /// The lowest price that leaves at least so many percent of it; `None` when
    /// something is not known, or no price does.
    pub fn price_leaving(&self, margin: f64) -> Option<Cents> {
        let (tax, freight, cost) = (self.tax?, self.freight?, self.cost?);
        let goes = self.fee.percent * (1.0 - self.discount / 100.0) + tax + margin;
        let rate = 1.0 - goes / 100.0;
        if rate < LEAST_RATE {
            return None;
        }
        let fixed = (self.fee.fixed.reais() + freight.reais() + cost.reais()) * 100.0;
        // Without roundings it is `fixed / rate`. With them it lies near, and a
        // centavo more may leave less, so each price there is tried.
        let from = whole((fixed - SLACK) / rate).max(1);
        let to = whole((fixed + SLACK) / rate).saturating_add(1).min(MOST_CENTS);
        (from..=to).map(Cents).find(|price| self.leaves(*price, margin))
    }
}

/// A number of centavos without its fraction, at most one above all prices.
#[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
fn whole(cents: f64) -> i64 {
    // Up to here every centavo has its own double.
    cents.clamp(0.0, 1e9 + 1.0) as i64
}

/// A share of an amount, to the nearest centavo.
pub fn share(of: Cents, percent: f64) -> Cents {
    Cents::from_reais(of.reais() * percent / 100.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(percent: f64, fixed: i64, rates: (f64, f64), others: (i64, i64)) -> Terms {
        Terms {
            fee: Fee { percent, fixed: Cents(fixed) },
            discount: rates.0,
            tax: Some(rates.1),
            freight: Some(Cents(others.0)),
            cost: Some(Cents(others.1)),
        }
    }

    #[test]
    fn what_remains_is_the_price_without_all_that_goes() {
        let whole = terms(14.0, 675, (10.0, 6.0), (1_200, 2_500));
        let remains = Remains::of(Cents(8_990), &whole);
        assert_eq!(
            remains,
            Remains {
                commission: Cents(1_259),
                discount: Cents(126),
                fixed: Cents(675),
                tax: Some(Cents(539)),
                freight: Some(Cents(1_200)),
                cost: Some(Cents(2_500)),
                left: Cents(2_943),
            }
        );
        assert_eq!(remains.missing(), "");
    }

    #[test]
    fn what_is_not_known_is_named_and_gives_no_price() {
        let whole = terms(14.0, 0, (0.0, 6.0), (0, 0));
        for (part, words) in [
            (Terms { freight: None, ..whole }, "o frete"),
            (Terms { freight: None, cost: None, ..whole }, "o frete e o custo"),
            (
                Terms { freight: None, cost: None, tax: None, ..whole },
                "o frete, o imposto e o custo",
            ),
        ] {
            assert_eq!(Remains::of(Cents(100), &part).missing(), words);
            assert_eq!(part.price_leaving(10.0), None);
        }
    }

    #[test]
    fn a_price_that_no_sale_can_reach_is_none() {
        assert_eq!(terms(80.0, 100, (0.0, 20.0), (0, 0)).price_leaving(0.0), None);
        assert_eq!(terms(80.0, 100, (0.0, 10.0), (0, 0)).price_leaving(10.0), None);
        assert_eq!(terms(12.0, 0, (0.0, 0.0), (0, MOST_CENTS)).price_leaving(0.0), None);
        assert_eq!(
            terms(20.0, 0, (0.0, 10.0), (500, 3_000)).price_leaving(20.0),
            Some(Cents(7_000))
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_the_parts(
            price in 1_i64..1_000_000_000, percent in 0.0..=100.0_f64,
            fixed in 0_i64..10_000, rates in (0.0..=100.0_f64, 0.0..=100.0_f64),
            others in (0_i64..1_000_000, 0_i64..1_000_000),
        ) {
            let parts = Remains::of(Cents(price), &terms(percent, fixed, rates, others));
            let sum = parts.left.0 + parts.commission.0 - parts.discount.0 + parts.fixed.0
                + parts.tax.unwrap().0 + parts.freight.unwrap().0 + parts.cost.unwrap().0;
            prop_assert_eq!(sum, price);
            prop_assert!(parts.discount <= parts.commission);
        }

        /// Compared with all prices from one centavo on.
        #[test]
        fn the_price_for_a_margin_is_the_lowest_of_all(
            percent in 0_u16..3_000, fixed in 0_i64..700,
            discount in 0_u16..5_000, tax in 0_u16..2_000,
            others in (0_i64..2_000, 0_i64..5_000), margin in 0_u16..4_500,
        ) {
            let [percent, discount, tax, margin] =
                [percent, discount, tax, margin].map(|hundredths| f64::from(hundredths) / 100.0);
            let terms = terms(percent, fixed, (discount, tax), others);
            let found = terms.price_leaving(margin);
            let tried = (1..=400_000).map(Cents).find(|price| terms.leaves(*price, margin));
            prop_assert_eq!(found, tried);
        }

        #[test]
        fn large_prices_leave_the_margin_and_a_centavo_less_does_not(
            percent in 0_u16..3_000, others in (0_i64..10_000_000, 1_i64..100_000_000),
            margin in 0_u16..4_000,
        ) {
            let [percent, margin] = [percent, margin].map(|hundredths| f64::from(hundredths) / 100.0);
            let terms = terms(percent, 650, (0.0, 6.0), others);
            if let Some(price) = terms.price_leaving(margin) {
                prop_assert!(terms.leaves(price, margin));
                for less in 1..20 {
                    prop_assert!(!terms.leaves(Cents(price.0 - less), margin));
                }
            }
        }
    }
}
