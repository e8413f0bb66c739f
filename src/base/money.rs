//! Money: whole centavos inside, a JSON number with at most two decimals outside.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The currency of all amounts of the platform itself.
pub const BRL: &str = "BRL";

/// An amount in centavos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub i64);
crate::stored_as_number!(Cents);

impl Cents {
    /// The amount closest to a number of reais, `None` when it is out of range.
    ///
    /// The marketplace sends amounts with rounding errors
    /// (`14.290000000000001`), so the nearest centavo is the intended amount.
    pub fn from_reais(reais: f64) -> Option<Self> {
        let cents = (reais * 100.0).round();
        // Up to here every centavo has its own double.
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        (cents.abs() <= 9e13).then_some(Self(cents as i64))
    }

    /// The amount as a number of reais.
    #[expect(clippy::cast_precision_loss, reason = "exact up to 90 trillion centavos")]
    pub fn reais(self) -> f64 {
        self.0 as f64 / 100.0
    }

    /// `1.234,50`: as people type it.
    pub fn typed(self) -> String {
        self.page().replacen("R$ ", "", 1)
    }

    /// `R$ 1.234,56`, or `USD 1.234,56` of another currency, for pages.
    pub fn in_currency(self, currency: &str) -> String {
        match currency {
            BRL => self.page(),
            other => self.page().replacen("R$", other, 1),
        }
    }

    /// `R$ 1.234,56`, for pages.
    pub fn page(self) -> String {
        let (sign, cents) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        format!("{sign}R$ {},{:02}", crate::base::text::grouped(cents / 100), cents % 100)
    }
}

impl std::ops::Add for Cents {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Serialize for Cents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 100 == 0 {
            serializer.serialize_i64(self.0 / 100)
        } else {
            serializer.serialize_f64(self.reais())
        }
    }
}

impl<'de> Deserialize<'de> for Cents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_reais(f64::deserialize(deserializer)?)
            .ok_or_else(|| serde::de::Error::custom("amount out of range"))
    }
}

impl schemars::JsonSchema for Cents {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Money".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            // No `multipleOf`: most validators divide in floating point, where 0.07 is no
            // multiple of 0.01.
            "type": "number", "description": "Amount in BRL with at most two decimals."
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_written_with_at_most_two_decimals() {
        for (cents, json) in
            [(11_980, "119.8"), (12_000, "120"), (1, "0.01"), (-5990, "-59.9"), (0, "0")]
        {
            assert_eq!(serde_json::to_string(&Cents(cents)).unwrap(), json);
        }
        assert_eq!(Cents(123_456_789).page(), "R$ 1.234.567,89");
        assert_eq!(serde_json::from_str::<Cents>("14.290000000000001").unwrap(), Cents(1429));
    }

    proptest! {
        #[test]
        fn writing_and_reading_keeps_every_centavo(cents in -90_000_000_000_000_i64..=90_000_000_000_000) {
            let json = serde_json::to_string(&Cents(cents)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Cents>(&json).unwrap(), Cents(cents));
            prop_assert!(json.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 2), "{}", json);
        }
    }
}
