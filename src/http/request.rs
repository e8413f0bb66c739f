//! What a handler sees of a request.

use std::borrow::Cow;
use std::net::IpAddr;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::de::DeserializeOwned;

use super::input::{self, Check, Field};
use super::problem::{Family, Fields, Problem};
use crate::base::clock::Instant;
use crate::db::Lane;

/// A request whose head was accepted and whose body is in memory.
pub struct Request {
    /// Method, address and headers as they came.
    pub head: Parts,
    /// The whole body, within the row's limit.
    pub body: Bytes,
    /// Variables of the row's path.
    pub variables: Vec<(String, String)>,
    /// The address of the client, behind trusted proxies.
    pub client: IpAddr,
    /// The request id, from the caller or made here.
    pub id: HeaderValue,
    /// When the request was accepted.
    pub now: Instant,
    /// Which database readers this request may use.
    pub lane: Lane,
    /// The shape of this row's errors, which decides how invalid input is reported.
    pub family: Family,
    /// The word of a notice about the last action, for the page that shows it.
    pub notice: Option<String>,
}

impl Request {
    pub const fn method(&self) -> &Method {
        &self.head.method
    }

    pub fn path(&self) -> &str {
        self.head.uri.path()
    }

    /// The raw query string, empty without one.
    pub fn query_text(&self) -> &str {
        self.head.uri.query().unwrap_or_default()
    }

    /// The first value of a name in the query, as it is.
    pub fn parameter(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut given = form_urlencoded::parse(self.query_text().as_bytes());
        given.find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The number of a row that the query names; `None` when it names none.
    pub fn number_of(&self, name: &'static str) -> Result<Option<i64>, Problem> {
        let value = self.parameter(name).filter(|value| !value.is_empty());
        let Some(value) = value else { return Ok(None) };
        let mut check = Check::text();
        let number = check.number(name, Field::of(value.into_owned()), 1..=i64::MAX);
        check.finish()?;
        Ok(number)
    }

    pub const fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The value of a header that occurs exactly once and is text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        header(&self.head.headers, name)
    }

    /// A variable of the row's path; the row must name it.
    pub fn variable(&self, name: &str) -> &str {
        self.variables
            .iter()
            .find(|(known, _)| known == name)
            .map_or_else(|| panic!("the row has no variable {name}"), |(_, value)| value)
    }

    /// The number in the row's path; another text is answered as not found.
    pub fn id(&self) -> Result<i64, Problem> {
        self.variable("id").parse().map_err(|_| Problem::not_found())
    }

    /// The query as a struct with optional text, number and flag fields.
    /// Unknown and repeated parameters and values that do not parse are errors.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        input::query(self.query_text())
    }

    /// The variables of the path and the query as one struct, and what is wrong with
    /// names in the query.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<(T, Fields), Problem> {
        input::arguments(&self.variables, self.query_text())
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        input::json(&self.head.headers, &self.body)
    }

    /// The body as JSON, once its signature was found right.
    pub fn signed_json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        input::signed_json(&self.head.headers, &self.body)
    }

    /// The body as JSON or as a browser form, by its content type.
    pub fn form_or_json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        input::form_or_json(&self.head.headers, &self.body)
    }

    /// Whether the caller wants JSON rather than a page.
    pub fn wants_json(&self) -> bool {
        wants_json(&self.head.headers)
    }
}

/// The value of a header that occurs exactly once and is text.
pub fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether a caller wants JSON rather than a page: its `Accept` names JSON, or
/// it sends JSON and does not ask for HTML.
pub fn wants_json(headers: &HeaderMap) -> bool {
    names(headers, ACCEPT, "application/json")
        || names(headers, CONTENT_TYPE, "application/json") && !wants_html(headers)
}

/// Whether a caller asks for HTML by name, as browsers do. Errors are pages for
/// them and JSON for everybody else.
pub fn wants_html(headers: &HeaderMap) -> bool {
    names(headers, ACCEPT, "text/html")
}

fn names(headers: &HeaderMap, name: HeaderName, media: &str) -> bool {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains(media))
}
