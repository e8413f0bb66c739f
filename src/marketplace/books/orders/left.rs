//! What is left of a sale, from its price to the net.

use super::cost::Unit;
use crate::base::Cents;
use crate::marketplace::tools::fees::remains::share;

/// The parts of a sale. What the marketplace has not told, and a cost that nobody has
/// entered, is `None`: it is missing, not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earned {
    pub price: Cents,
    pub fee: Option<Cents>,
    pub freight: Option<Cents>,
    pub tax: Cents,
    /// For one unit.
    pub unit: Option<Unit>,
    /// For all units.
    pub cost: Option<Cents>,
}

impl Earned {
    /// The parts of a sale of some units, with a tax in percent of its price.
    pub fn of(
        price: Cents,
        units: i64,
        fee: Option<Cents>,
        freight: Option<Cents>,
        unit: Option<Unit>,
        tax: f64,
    ) -> Self {
        let cost = unit.map(|unit| Cents(unit.cents.0.saturating_mul(units)));
        Self { price, fee, freight, tax: share(price, tax), unit, cost }
    }

    /// What is left; `None` while a part is missing.
    pub fn left(&self) -> Option<Cents> {
        let (fee, freight, cost) = (self.fee?, self.freight?, self.cost?);
        Some(Cents(self.price.0 - fee.0 - freight.0 - self.tax.0 - cost.0))
    }

    /// What is missing, in words; empty when nothing is.
    pub fn missing(&self) -> String {
        let parts = [
            (self.cost.is_none(), "custo"),
            (self.fee.is_none(), "comissão"),
            (self.freight.is_none(), "frete"),
        ];
        let parts: Vec<_> =
            parts.iter().filter(|(lacks, _)| *lacks).map(|(_, what)| *what).collect();
        match parts.split_last() {
            None => String::new(),
            Some((last, [])) => format!("falta {last}"),
            Some((last, others)) => format!("faltam {} e {last}", others.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::books::orders::cost::Source;

    #[test]
    fn a_net_needs_all_its_parts() {
        let unit = Some(Unit { cents: Cents(1_000), source: Source::Listing });
        let whole = Earned::of(Cents(5_490), 1, Some(Cents(769)), Some(Cents(1_000)), unit, 6.0);
        assert_eq!(whole.left(), Some(Cents(5_490 - 769 - 1_000 - 329 - 1_000)));
        assert_eq!(whole.missing(), "");
        let none = Earned::of(Cents(5_490), 1, None, None, None, 6.0);
        assert_eq!((none.left(), &*none.missing()), (None, "faltam custo, comissão e frete"));
        let two = Earned::of(Cents(5_490), 2, Some(Cents(0)), Some(Cents(0)), unit, 0.0);
        assert_eq!(two.left(), Some(Cents(3_490)));
        let costless = Earned { cost: None, ..two };
        assert_eq!((costless.left(), &*costless.missing()), (None, "falta custo"));
    }
}
