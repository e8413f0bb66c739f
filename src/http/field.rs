//! A field of a wire struct, and the types that it can have.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::{Number, Value};

use crate::base::ids::{MOST_EXACT, MlUserId, OrderId, RowNumber, UserId};
use crate::base::money::Cents;

/// A field of a wire struct, present or not, of the right type or not.
pub struct Field<T> {
    pub(super) value: Option<Value>,
    wanted: PhantomData<T>,
}

impl<T> Field<T> {
    /// A field that was sent as text.
    pub fn of(text: String) -> Self {
        Self { value: Some(text.into()), wanted: PhantomData }
    }

    /// A field as it was found in a body; `None` when it was not there.
    pub fn sent(value: Option<Value>) -> Self {
        Self { value, wanted: PhantomData }
    }

    /// Whether the field was not sent. A field with null was sent: in a change,
    /// null removes the present value.
    pub fn is_absent(&self) -> bool {
        self.value.is_none()
    }

    /// Whether a value was sent, good or not.
    pub fn has_value(&self) -> bool {
        self.value.as_ref().is_some_and(|value| !value.is_null())
    }
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self { value: None, wanted: PhantomData }
    }
}

impl<'de, T> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self { value: Some(value), wanted: PhantomData })
    }
}

impl<T: JsonSchema> JsonSchema for Field<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }
}

/// Types that a field can have.
pub trait FromField: Sized {
    /// The message for a value of another type.
    const WANTED: &'static str;

    /// The value, when it is of this type. `text` allows numbers and flags
    /// written as text, as queries and browser forms send them.
    fn from_field(value: Value, text: bool) -> Option<Self>;

    /// Whether a value that was not taken is of the right type all the same, and only
    /// out of range.
    fn has_type(_: &Value) -> bool {
        false
    }
}

impl FromField for String {
    const WANTED: &'static str = "must be text";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

impl FromField for i64 {
    const WANTED: &'static str = "must be a whole number";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        match value {
            Value::Number(number) => whole(&number),
            Value::String(digits) if text => digits.parse().ok(),
            _ => None,
        }
    }
}

/// A JSON number that is whole. A fraction of zeros (`7.0`) is allowed, because
/// JSON Schema calls that an integer as well.
pub fn whole(number: &Number) -> Option<i64> {
    /// Beyond this an `f64` cannot hold every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and fits")]
        Some(float as i64)
    })
}

/// An id, as text as programs receive it, or as a number.
macro_rules! read_ids {
    ($($id:ident)*) => {$(
        impl FromField for $id {
            const WANTED: &'static str = "must be an id: 1 to 18 digits, the first not 0";

            fn from_field(value: Value, _: bool) -> Option<Self> {
                id(&value).map(Self)
            }

            fn has_type(value: &Value) -> bool {
                match value {
                    Value::String(_) => true,
                    Value::Number(number) => number.is_u64() || whole(number).is_some(),
                    _ => false,
                }
            }
        }
    )*};
}

read_ids! { UserId MlUserId OrderId RowNumber }

fn id(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => whole(number).filter(|number| *number <= MOST_EXACT)?,
        Value::String(text) => {
            let is_plain = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = is_plain && !text.starts_with('0');
            number.then(|| text.parse().ok()).flatten()?
        }
        _ => return None,
    };
    (number > 0).then_some(number)
}

impl FromField for Vec<OrderId> {
    const WANTED: &'static str = "must be a list of ids: 1 to 18 digits each, the first not 0";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        let Value::Array(items) = value else { return None };
        items.into_iter().map(|item| OrderId::from_field(item, text)).collect()
    }

    fn has_type(value: &Value) -> bool {
        value.as_array().is_some_and(|items| items.iter().all(OrderId::has_type))
    }
}

impl FromField for bool {
    const WANTED: &'static str = "must be true or false";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(flag),
            Value::String(word) if text => match &*word {
                "true" | "on" | "1" | "sim" => Some(true),
                "false" | "off" | "0" | "nao" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

impl FromField for Cents {
    const WANTED: &'static str = "must be an amount with at most two decimals";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        let reais = match value {
            Value::Number(number) => number.as_f64()?,
            Value::String(amount) if text => {
                // People type `R$ 1.234,56`; programs send `1234.56`.
                let amount = amount.trim();
                let amount = amount.strip_prefix("R$").unwrap_or(amount).trim_start();
                let plain = if amount.contains(',') {
                    amount.replace('.', "").replace(',', ".")
                } else {
                    amount.to_owned()
                };
                plain.parse().ok()?
            }
            _ => return None,
        };
        let cents = Self::from_reais(reais)?;
        ((cents.reais() - reais).abs() < 1e-6).then_some(cents)
    }
}

impl FromField for Vec<String> {
    const WANTED: &'static str = "must be a list of texts";

    fn from_field(value: Value, text: bool) -> Option<Self> {
        match value {
            Value::Array(items) => {
                items.into_iter().map(|item| String::from_field(item, text)).collect()
            }
            Value::String(one) if text => Some(vec![one]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Check, Code};

    #[test]
    fn an_id_is_digits_and_a_text_that_is_none_is_of_the_right_type() {
        let read = |value: Value| RowNumber::from_field(value, false).map(|RowNumber(id)| id);
        assert_eq!(read("777".into()), Some(777));
        assert_eq!(read(777.into()), Some(777));
        assert_eq!(read("9007199254740993".into()), Some(MOST_EXACT + 2));
        assert_eq!(read((MOST_EXACT + 1).into()), None, "no longer exact everywhere");
        for text in ["", "0", "07", "-7", "+7", " 7", "7.0", "7a", "sete", "1234567890123456789"] {
            assert_eq!(read(text.into()), None, "{text}");
        }
        let code = |value: Value| {
            let mut check = Check::json();
            check.optional("link_id", Field::<RowNumber>::sent(Some(value)));
            check.finish().unwrap_err().code
        };
        for value in [Value::from("sete"), (-7).into(), 0.into(), u64::MAX.into()] {
            assert_eq!(code(value.clone()), Code::ValidationFailed, "{value}");
        }
        for value in [true.into(), 7.5.into(), Value::Array(Vec::new())] {
            assert_eq!(code(value.clone()), Code::InvalidBody, "{value}");
        }
    }

    #[test]
    fn amounts_are_read_as_people_type_them() {
        let read = |text: &str| Cents::from_field(text.into(), true).map(|amount| amount.0);
        assert_eq!(read("R$ 1.234,56"), Some(123_456));
        assert_eq!(read("R$\u{a0}10,99"), Some(1_099));
        assert_eq!(read(" 12,5 "), Some(1_250));
        assert_eq!(read("1234.56"), Some(123_456));
        for text in ["10,999", "R$", "R$ R$ 1", "US$ 1", "12,3,4"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
