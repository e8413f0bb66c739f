//! Ids of listings, such as `MLB123`.

use crate::row;
use std::fmt;

row! {
    /// The id of a listing: the site's letters and a number.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct ItemId {
        /// Such as `MLB`.
        pub site: String,
        pub number: i64 = "item_id",
    }
}

impl From<ItemId> for i64 {
    /// The id of a record whose kind has no sites.
    fn from(id: ItemId) -> Self {
        id.number
    }
}

impl ItemId {
    /// Reads an id such as `MLB123`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits_begin = text.find(|c: char| c.is_ascii_digit())?;
        let (site, digits) = text.split_at(digits_begin);
        let is_site = (1..=5).contains(&site.len()) && site.bytes().all(|b| b.is_ascii_uppercase());
        let is_number = digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|number| *number > 0)?;
        (is_site && is_number).then(|| Self { site: site.to_owned(), number })
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.site, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_and_nothing_else_is_one() {
        let id = ItemId::parse("MLB4000123").unwrap();
        assert_eq!((&*id.site, id.number), ("MLB", 4_000_123));
        assert_eq!(id.to_string(), "MLB4000123");
        for other in [
            "", "MLB", "123", "mlb1", "MLB0", "MLB1/x", "MLB-1", "MLB1?a=b", "../MLB1", "MLB1x",
            "É1",
        ] {
            assert_eq!(ItemId::parse(other), None, "{other}");
        }
        assert_eq!(ItemId::parse(&format!("MLB{}", "9".repeat(30))), None);
    }
}
