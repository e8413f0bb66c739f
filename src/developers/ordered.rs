//! The order of the fields in an example. The OpenAPI document sorts names
//! alphabetically; the reference shows them in the order of the example.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The fields of an object in order, or those of the first entry of a list; empty
/// for any other value.
#[derive(Default, Debug)]
pub struct Ordered(Vec<(String, Self)>);

impl Ordered {
    /// Reads the order from an example in JSON.
    pub fn of(example: &str) -> Self {
        serde_json::from_str(example).unwrap_or_default()
    }

    /// The order of the fields inside a field.
    pub fn within(&self, name: &str) -> Option<&Self> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, inner)| inner)
    }

    /// Position of a field; an unknown field comes after all others.
    pub fn place(&self, name: &str) -> usize {
        self.0.iter().position(|(known, _)| known == name).unwrap_or(usize::MAX)
    }

    /// This order inside one more field.
    pub fn below(self, name: &str) -> Self {
        Self(vec![(name.to_owned(), self)])
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Visits of values that have no fields.
macro_rules! without_fields {
    ($($visit:ident $kind:ty),*) => {
        $(fn $visit<E>(self, _: $kind) -> Result<Ordered, E> {
            Ok(Ordered::default())
        })*
    };
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Ordered(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Ordered, A::Error> {
        let first = items.next_element()?.unwrap_or_default();
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }

    without_fields!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_places_in_lists_and_objects() {
        let order = Ordered::of(r#"{"b": [{"z": 1, "a": [true, null]}, {"c": 1.5}], "a": "x"}"#);
        assert_eq!((order.place("b"), order.place("a")), (0, 1));
        let inner = order.within("b").unwrap();
        assert_eq!((inner.place("z"), inner.place("a"), inner.place("c")), (0, 1, usize::MAX));
    }
}
