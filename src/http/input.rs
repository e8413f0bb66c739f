//! Input from callers: query strings, JSON bodies and browser forms.
//!
//! A wire struct declares its fields as [`Field`]s, which accept any value, so
//! that [`Check`] can name every invalid field and not only the first. The
//! OpenAPI schema comes from the same struct, so both always agree.

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::{Map, Number, Value};

pub use super::check::Check;
use super::parameter::{AsQuery, QueryError};
use super::problem::{Code, Fields, Problem};
use super::request::header;
use super::structure;
pub use super::text_field::only_text;
use crate::base::money::Cents;

/// Most query parameters of a request. Our longest request asks for fifty labels.
pub const MOST_PARAMETERS: usize = 64;
/// Most names in a browser's form.
const MOST_NAMES: usize = 64;
/// Most values in a browser's form, whose boxes to tick share a name. Our longest
/// form marks two hundred orders as paid.
const MOST_FIELDS: usize = 256;

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

/// An id: the number of a row here or at the marketplace. Programs send it as text,
/// as they received it, or as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowNumber(pub i64);

impl RowNumber {
    /// An id has at most 18 digits.
    const PATTERN: &str = "^[1-9][0-9]{0,17}$";
    /// The largest number that is exact in every programming language. Larger ids have
    /// to be sent as text.
    pub const MOST: i64 = 9_007_199_254_740_991;
}

impl FromField for RowNumber {
    const WANTED: &'static str = "must be an id: 1 to 18 digits, the first not 0";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        let number = match value {
            Value::Number(number) => whole(&number).filter(|number| *number <= Self::MOST)?,
            Value::String(text) => {
                let is_plain = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = is_plain && !text.starts_with('0');
                number.then(|| text.parse().ok()).flatten()?
            }
            _ => return None,
        };
        (number > 0).then_some(Self(number))
    }

    fn has_type(value: &Value) -> bool {
        match value {
            Value::String(_) => true,
            Value::Number(number) => number.is_u64() || whole(number).is_some(),
            _ => false,
        }
    }
}

impl JsonSchema for RowNumber {
    fn schema_name() -> Cow<'static, str> {
        "RowNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "anyOf": [
                { "type": "string", "pattern": Self::PATTERN },
                { "type": "integer", "minimum": 1, "maximum": Self::MOST },
            ],
        })
    }

    fn inline_schema() -> bool {
        true
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

/// Whether a body is a browser form.
pub fn is_form(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|media| media == "application/x-www-form-urlencoded")
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = header(headers, &CONTENT_TYPE)?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

/// A JSON body as a wire struct.
pub fn json<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Problem> {
    match media_type(headers).as_deref() {
        None | Some("application/json") => from_json(body),
        Some(media) if media.starts_with("application/") && media.ends_with("+json") => {
            from_json(body)
        }
        Some(_) => {
            Err(Problem::new(Code::UnsupportedMediaType, "send the body as application/json"))
        }
    }
}

/// A JSON body or a browser form as a wire struct.
pub fn form_or_json<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Problem> {
    if !is_form(headers) {
        return json(headers, body);
    }
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in form_urlencoded::parse(body) {
        let value = Value::from(value);
        match fields.get_mut(&*name) {
            None => {
                fields.insert(name.into_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    T::deserialize(Value::Object(fields)).map_err(|_| malformed())
}

fn from_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    structure::check(body)?;
    // Otherwise a JSON array would fill the fields in their order.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(malformed());
    }
    serde_json::from_slice(body).map_err(|_| malformed())
}

fn malformed() -> Problem {
    Problem::new(Code::InvalidBody, "the body must be a JSON object with each field once")
}

/// Rejects a query with too many parameters.
pub fn check_query(text: &str) -> Result<(), Problem> {
    at_most(MOST_PARAMETERS, text.as_bytes(), "parameters")
}

/// The body of a request, unless it is a browser's form with too many names or
/// values. All forms pass here, before any handler looks for names in them.
pub fn checked_form(headers: &HeaderMap, body: Bytes) -> Result<Bytes, Problem> {
    if !is_form(headers) {
        return Ok(body);
    }
    at_most(MOST_FIELDS, &body, "fields")?;
    let names: HashSet<_> = form_urlencoded::parse(&body).map(|(name, _)| name).collect();
    if names.len() > MOST_NAMES {
        return Err(too_many(MOST_NAMES, "fields"));
    }
    drop(names);
    Ok(body)
}

/// Rejects a text with more than `most` pairs, as in `a=b&c=d`.
fn at_most(most: usize, pairs: &[u8], what: &str) -> Result<(), Problem> {
    let given = pairs.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    if given.take(most + 1).count() <= most {
        return Ok(());
    }
    Err(too_many(most, what))
}

fn too_many(most: usize, what: &str) -> Problem {
    Problem::new(Code::TooManyFields, format!("too many {what}; at most {most} are read"))
}

/// The pairs of a query string, in their order. A repeated name is an error.
pub fn unrepeated(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut faults = Fields::new();
    let pairs = distinct(text, &mut faults)?;
    if faults.is_empty() { Ok(pairs) } else { Err(Problem::invalid(faults)) }
}

/// The pairs of a query string, of each name the first one. Names that come again are
/// faults.
fn distinct(text: &str, faults: &mut Fields) -> Result<Vec<(String, String)>, Problem> {
    check_query(text)?;
    let mut names = HashSet::new();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()).into_owned() {
        if names.insert(name.clone()) {
            pairs.push((name, value));
        } else {
            add_fault(faults, name, "must be given once");
        }
    }
    Ok(pairs)
}

/// A query string as a wire struct. Repeated parameters are errors, and so are
/// unknown ones if the struct denies them.
pub fn query<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let (read, faults) = arguments(&[], text)?;
    if faults.is_empty() { Ok(read) } else { Err(Problem::invalid(faults)) }
}

/// Variables of a path and a query string as one wire struct, made of the parameters
/// that it knows, and what is wrong with the names of the others: a name that comes
/// again, or that of no parameter, or that of a variable of the path.
pub fn arguments<T: DeserializeOwned>(
    variables: &[(String, String)],
    text: &str,
) -> Result<(T, Fields), Problem> {
    const UNKNOWN: &str = "is not a parameter of this call";
    let mut faults = Fields::new();
    let mut pairs = distinct(text, &mut faults)?;
    pairs.retain(|(name, _)| {
        let is_variable = variables.iter().any(|(variable, _)| variable == name);
        if is_variable {
            add_fault(&mut faults, name.clone(), UNKNOWN);
        }
        !is_variable
    });
    loop {
        let all = variables.iter().chain(&pairs).cloned();
        let all = all.map(|(name, value)| (name, AsQuery(Value::from(value))));
        let known = match T::deserialize(MapDeserializer::new(all)) {
            Ok(read) => return Ok((read, faults)),
            Err(QueryError::Unknown(known)) => known,
            Err(QueryError::Other(said)) => return Err(Problem::internal(said)),
        };
        let before = pairs.len();
        pairs.retain(|(name, _)| {
            let is_known = known.contains(&&**name);
            if !is_known {
                add_fault(&mut faults, name.clone(), UNKNOWN);
            }
            is_known
        });
        if pairs.len() == before {
            return Err(Problem::internal("a path has a variable that its query does not know"));
        }
    }
}

/// Adds a field at fault. The first message for a field is kept.
fn add_fault(faults: &mut Fields, name: String, said: &'static str) {
    if !faults.iter().any(|(known, _)| *known == name) {
        faults.push((name.into(), said.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Login {
        #[serde(default)]
        email: Field<String>,
        #[serde(default)]
        dias: Field<i64>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        #[serde(default)]
        limit: Field<i64>,
    }

    fn faults(body: &str) -> String {
        let outcome = json::<Login>(&HeaderMap::new(), body.as_bytes()).and_then(|login| {
            let mut check = Check::json();
            check.line("email", login.email, 1..=10);
            check.number("dias", login.dias, 1..=5);
            check.finish()
        });
        outcome.map_or_else(
            |problem| format!("{:?} {:?}", problem.code, problem.fields),
            |()| "fine".to_owned(),
        )
    }

    #[test]
    fn every_field_at_fault_is_named() {
        assert_eq!(faults(r#"{"email":"a","dias":5}"#), "fine");
        assert_eq!(faults(r#"{"email":"a","dias":null}"#), "fine");
        assert_eq!(faults("{}"), r#"ValidationFailed [("email", "is required")]"#);
        assert_eq!(
            faults(r#"{"email":7,"dias":"5"}"#),
            r#"InvalidBody [("email", "must be text"), ("dias", "must be a whole number")]"#
        );
        assert_eq!(
            faults(r#"{"email":"a@b.c","dias":5.0}"#),
            faults(r#"{"email":"a@b.c","dias":5}"#)
        );
        assert_eq!(
            faults(r#"{"email":"a\u0000b","dias":6}"#),
            r#"ValidationFailed [("email", "must not contain control characters"), ("dias", "must be from 1 to 5")]"#
        );
    }

    #[test]
    fn bodies_that_are_not_one_object_are_refused() {
        let deep = format!("{{\"x\":{}1{}}}", "[".repeat(40), "]".repeat(40));
        for body in [
            "",
            "[]",
            "7",
            "null",
            "{",
            r#"{"email":"a","email":"b"}"#,
            "{\"email\":\"\\ud800\"}",
            &deep,
        ] {
            assert_eq!(faults(body), "InvalidBody []", "{body}");
        }
    }

    #[test]
    fn queries_refuse_repeated_and_unknown_parameters() {
        let limit = |text: &str| {
            query::<Page>(text).and_then(|page| {
                let mut check = Check::text();
                let limit = check.number("limit", page.limit, 1..=200);
                check.finish().map(|()| limit)
            })
        };
        assert_eq!(limit("limit=20").unwrap(), Some(20));
        assert_eq!(limit("").unwrap(), None);
        for bad in [
            "limit=1&limit=2",
            "limite=1",
            "limit=-1",
            "limit=9223372036854775808",
            "limit=1e3",
            "limit=0",
        ] {
            assert!(limit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_name_at_fault_is_named() {
        let names = |text: &str| {
            let (page, faults) = arguments::<Page>(&[], text).unwrap();
            let mut check = Check::query();
            check.number("limit", page.limit, 1..=200);
            let problem = check.finish().err();
            let all = Problem::beside(faults, problem).fields;
            all.into_iter().map(|(name, said)| format!("{name} {said}")).collect::<Vec<_>>()
        };
        assert_eq!(
            names("b=1&limit=0&a=2&b=3&limit=7"),
            [
                "b must be given once",
                "limit must be given once",
                "a is not a parameter of this call",
            ]
        );
        assert_eq!(
            names("a=1&limit=x"),
            ["a is not a parameter of this call", "limit must be a whole number"]
        );
        let id = [("id".to_owned(), "7".to_owned())];
        assert!(arguments::<Page>(&id, "").is_err(), "a path that fits no struct");
    }

    #[test]
    fn an_id_is_digits_and_a_text_that_is_none_is_of_the_right_type() {
        let read = |value: Value| RowNumber::from_field(value, false).map(|RowNumber(id)| id);
        assert_eq!(read("777".into()), Some(777));
        assert_eq!(read(777.into()), Some(777));
        assert_eq!(read("9007199254740993".into()), Some(RowNumber::MOST + 2));
        assert_eq!(read((RowNumber::MOST + 1).into()), None, "no longer exact everywhere");
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
    fn forms_carry_text_and_repeated_names() {
        let mut headers = HeaderMap::new();
        headers.insert(
            CONTENT_TYPE,
            "application/x-www-form-urlencoded; charset=utf-8".parse().unwrap(),
        );
        let login: Login = form_or_json(&headers, b"email=a%40b.c&dias=3").unwrap();
        let mut check = Check::form_or_json(&headers);
        assert_eq!(check.line("email", login.email, 1..=10), "a@b.c");
        assert_eq!(check.number("dias", login.dias, 1..=5), Some(3));
        assert!(check.finish().is_ok());
        headers.insert(CONTENT_TYPE, "text/plain".parse().unwrap());
        let problem = form_or_json::<Login>(&headers, b"{}").err().map(|problem| problem.code);
        assert_eq!(problem, Some(Code::UnsupportedMediaType));
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

    #[test]
    fn a_number_above_a_cap_is_the_cap() {
        let capped = |text: &str| {
            let mut check = Check::text();
            let read = check.capped("linhas", Field::of(text.to_owned()), 100);
            (read, check.finish().map_err(|problem| problem.fields))
        };
        assert_eq!(capped("7").0, Some(7));
        assert_eq!(capped("101").0, Some(100));
        let faults = capped("0").1.unwrap_err();
        assert_eq!(faults[0].1, "must be from 1 to 100");
    }
}
