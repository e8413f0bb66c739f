//! Input from callers: query strings, JSON bodies and browser forms.
//!
//! A wire struct declares its fields as [`Field`]s, which accept any value, so
//! that [`Check`] can name every invalid field and not only the first. The
//! OpenAPI schema comes from the same struct, so both always agree.

use std::collections::HashSet;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value};

pub use super::check::Check;
pub use super::field::{Field, FromField, whole};
use super::parameter::{AsQuery, QueryError};
use super::problem::{Code, Fields, Problem};
use super::request::header;
use super::structure;
pub use super::text_field::only_text;
pub use crate::base::ids::RowNumber;

/// Most query parameters of a request. Our longest request asks for fifty labels.
pub const MOST_PARAMETERS: usize = 64;
/// Most names in a browser's form.
const MOST_NAMES: usize = 64;
/// Most values in a browser's form, whose boxes to tick share a name. Our longest
/// form marks two hundred orders as paid.
const MOST_FIELDS: usize = 256;

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
    says_json(headers)?;
    from_json(body)
}

/// The same of a body whose sender is known by its signature, an object which may have any
/// number of values.
pub fn signed_json<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Problem> {
    says_json(headers)?;
    let fields: Map<String, Value> = serde_json::from_slice(body).map_err(|_| malformed())?;
    T::deserialize(Value::Object(fields)).map_err(|_| malformed())
}

fn says_json(headers: &HeaderMap) -> Result<(), Problem> {
    match media_type(headers).as_deref() {
        None | Some("application/json") => Ok(()),
        Some(media) if media.starts_with("application/") && media.ends_with("+json") => Ok(()),
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

/// A JSON object that was read already as a wire struct.
pub fn object<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<T, Problem> {
    T::deserialize(given).map_err(|_| malformed())
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
    let mut faults = Fields::new();
    let mut pairs = distinct(text, &mut faults)?;
    pairs.retain(|(name, _)| {
        let is_variable = variables.iter().any(|(variable, _)| variable == name);
        if is_variable {
            add_fault(&mut faults, name.clone(), UNKNOWN);
        }
        !is_variable
    });
    let as_json = |(name, text): (String, String)| (name, Value::from(text));
    read_known(variables, pairs.into_iter().map(as_json).collect(), faults)
}

/// The same of the arguments of a tool, which keep the types that they were sent with.
pub fn of_tool<T: DeserializeOwned>(given: &Map<String, Value>) -> Result<(T, Fields), Problem> {
    // Models send null for arguments that they leave out.
    let given = given.iter().filter(|(_, value)| !value.is_null());
    let pairs: Vec<_> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    if pairs.len() > MOST_PARAMETERS {
        return Err(too_many(MOST_PARAMETERS, "parameters"));
    }
    read_known(&[], pairs, Fields::new())
}

const UNKNOWN: &str = "is not a parameter of this call";

/// The parameters that a wire struct knows, and the faults with the names of the others.
fn read_known<T: DeserializeOwned>(
    variables: &[(String, String)],
    mut pairs: Vec<(String, Value)>,
    mut faults: Fields,
) -> Result<(T, Fields), Problem> {
    loop {
        let fixed = variables.iter().map(|(name, value)| (name, Value::from(&**value)));
        let sent = pairs.iter().map(|(name, value)| (name, value.clone()));
        let all = fixed.chain(sent).map(|(name, value)| (name.clone(), AsQuery(value)));
        let known = match T::deserialize(MapDeserializer::new(all)) {
            Ok(read) => return Ok((read, faults)),
            Err(QueryError::Unknown(known)) => known,
            // A tool may leave out what stands in the path; the check says that it is required.
            Err(QueryError::Missing(name)) => {
                pairs.push((name.to_owned(), Value::Null));
                continue;
            }
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
    use serde::Deserialize;

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
    fn arguments_of_a_tool_keep_their_types() {
        let read = |given: Value| {
            let (page, faults) = of_tool::<Page>(given.as_object().unwrap()).unwrap();
            let mut check = Check::tool();
            let limit = check.number("limit", page.limit, 1..=200);
            let problem = check.finish().err();
            let faults = Problem::beside(faults, problem).fields;
            (limit, faults.into_iter().map(|(name, said)| format!("{name} {said}")).collect())
        };
        let fine: (_, Vec<String>) = (Some(7), Vec::new());
        assert_eq!(read(serde_json::json!({ "limit": 7.0, "other": null })), fine);
        let faults = ["a is not a parameter of this call", "limit must be a whole number"];
        let faults = faults.map(str::to_owned).to_vec();
        assert_eq!(read(serde_json::json!({ "limit": "7", "a": [] })), (None, faults));
    }

    #[test]
    fn what_a_tool_leaves_out_of_a_path_is_required() {
        #[derive(Deserialize)]
        struct InPath {
            id: Field<i64>,
        }
        let (sent, _) = of_tool::<InPath>(&Map::new()).unwrap();
        let mut check = Check::tool();
        check.required("id", sent.id);
        assert_eq!(check.finish().unwrap_err().fields[0].1, "is required");
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
