//! What is left of a sale, from its price to the net.

use super::cost::Unit;
use crate::base::Cents;
use crate::marketplace::tools::fees::remains::share;

/// The parts of a sale. What the marketplace has not told, and a cost that nobody has
/// entered, is `None`: it is missing, not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earned {
    pub price: Cents,
    /// What of the price the buyer got back.
    pub refunded: Cents,
    pub fee: Option<Cents>,
    pub freight: Option<Cents>,
    pub tax: Cents,
    /// For one unit, when all units are of one thing.
    pub unit: Option<Unit>,
    /// For all units; `None` while the cost of one line is not known.
    pub cost: Option<Cents>,
}

/// What the marketplace says of the money of a sale.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub price: Cents,
    pub refunded: Cents,
    pub fee: Option<Cents>,
    pub freight: Option<Cents>,
}

impl Earned {
    /// The parts of a sale, with a tax in percent of what it keeps of its price.
    pub fn of(told: Told, unit: Option<Unit>, cost: Option<Cents>, tax: f64) -> Self {
        let Told { price, refunded, fee, freight } = told;
        let kept = Cents(price.0 - refunded.0);
        Self { price, refunded, fee, freight, tax: share(kept, tax), unit, cost }
    }

    /// The price less what the buyer got back.
    pub const fn kept(&self) -> Cents {
        Cents(self.price.0 - self.refunded.0)
    }

    /// What is left; `None` while a part is missing.
    pub fn left(&self) -> Option<Cents> {
        let (fee, freight, cost) = (self.fee?, self.freight?, self.cost?);
        Some(Cents(self.kept().0 - fee.0 - freight.0 - self.tax.0 - cost.0))
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
        let told = |fee, freight| Told {
            price: Cents(5_490),
            refunded: Cents(0),
            fee: Some(Cents(fee)),
            freight: Some(Cents(freight)),
        };
        let whole = Earned::of(told(769, 1_000), unit, Some(Cents(1_000)), 6.0);
        assert_eq!(whole.left(), Some(Cents(5_490 - 769 - 1_000 - 329 - 1_000)));
        assert_eq!(whole.missing(), "");
        let untold = Told { fee: None, freight: None, ..told(0, 0) };
        let none = Earned::of(untold, None, None, 6.0);
        assert_eq!((none.left(), &*none.missing()), (None, "faltam custo, comissão e frete"));
        let two = Earned::of(told(0, 0), unit, Some(Cents(2_000)), 0.0);
        assert_eq!(two.left(), Some(Cents(3_490)));
        let given_back = Earned::of(
            Told { refunded: Cents(4_990), ..told(100, 0) },
            unit,
            Some(Cents(200)),
            10.0,
        );
        assert_eq!(given_back.left(), Some(Cents(500 - 100 - 50 - 200)));
        let costless = Earned { cost: None, ..two };
        assert_eq!((costless.left(), &*costless.missing()), (None, "falta custo"));
    }
}
