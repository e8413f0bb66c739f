//! How an operation of the Partner API is declared, and what is the same for
//! all of them.
//!
//! An operation is a type: its arguments, its reply, and `begin`, which checks
//! the arguments and chooses the lane. One line of a table ([`reads`]) gives
//! it a name and an address. Its rows on both bases, its part of the OpenAPI
//! document, its name in the usage counts, conditional requests and the memory
//! of answers all come from there.

use std::sync::Arc;

use http::{HeaderMap, Method};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::pages_cache::PageKey;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::edge::guard::Seller;
use crate::edge::route::{Docs, Todo, in_place, referred};
use crate::http::conditional::{Rendered, Validators};
use crate::http::reply::media;
use crate::http::{Code, Problem, Reply, Request};

/// One operation: typed arguments in, typed reply out.
pub trait Operation: 'static {
    /// Who may call it.
    type By: Party;
    /// Path variables and query as one map. Unknown names are refused.
    type Args: DeserializeOwned + JsonSchema;
    type Reply: Serialize + JsonSchema + 'static;

    /// Which replies are kept in memory until something of the caller changes;
    /// `None` if the reply also depends on something else, such as the time.
    const KEEPS: Option<fn(&Self::Reply) -> bool> = None;
    /// Errors of this operation alone.
    const ERRORS: &'static [Code] = &[];

    /// Checks the arguments and says how the work is done: the arguments
    /// choose the lane, not the method.
    fn begin(app: &App, by: &Self::By, args: Self::Args) -> Result<Todo<Self::Reply>, Problem>;

    /// When the content of a reply last changed, if the operation promises it.
    fn last_modified(_: &Self::Reply) -> Option<Instant> {
        None
    }
}

/// An identity that operations are for.
pub trait Party: Send + Sync + 'static {
    /// The account whose data it sees.
    fn owner(&self) -> UserId;
}

impl Party for Seller {
    fn owner(&self) -> UserId {
        self.account.user_id
    }
}

/// An operation with its name and address.
pub struct Declared<P: 'static> {
    /// Name in the usage counts and in the OpenAPI document.
    pub name: &'static str,
    pub method: Method,
    /// Path under the first base; the router adds the second.
    pub path: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    pub docs: Docs,
    begin: Begin<P>,
}

/// An operation's `begin` with all that is around it.
type Begin<P> = fn(&Declared<P>, &App, &P, &Request) -> Result<Todo<Reply>, Problem>;

impl<P> Declared<P> {
    /// Begins the operation for a request.
    pub fn begin(&self, app: &App, by: &P, request: &Request) -> Result<Todo<Reply>, Problem> {
        (self.begin)(self, app, by, request)
    }
}

/// An operation that is called with GET.
pub const fn reads<O: Operation>(
    name: &'static str,
    path: &'static str,
    about: &'static str,
) -> Declared<O::By> {
    let docs = Docs {
        query: Some(in_place::<O::Args>),
        reply: Some(referred::<O::Reply>),
        errors: O::ERRORS,
        ..Docs::NONE
    };
    Declared { name, method: Method::GET, path, about, docs, begin: begin::<O> }
}

/// The arguments of an operation that has none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Where a page stands in its list.
#[derive(Serialize, JsonSchema)]
pub struct Pagination {
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
}

/// Answers from memory, or begins the operation and renders its reply.
fn begin<O: Operation>(
    declared: &Declared<O::By>,
    app: &App,
    by: &O::By,
    request: &Request,
) -> Result<Todo<Reply>, Problem> {
    let place = O::KEEPS.map(|keeps| Place::of(declared, app, by.owner(), request, keeps));
    // Before anything is parsed: most calls of those who poll end here.
    if let Some(place) = &place
        && let Some(page) = app.pages.get(&place.key, place.version)
    {
        return Ok(Todo::Now(conditional(&page, request.headers())));
    }
    Ok(match O::begin(app, by, request.arguments()?)? {
        Todo::Now(reply) => Todo::Now(answer::<O>(app, place, &reply, request.headers())?),
        Todo::Slow(work) => {
            let headers = request.headers().clone();
            Todo::Slow(Box::new(move |app| answer::<O>(app, place, &work(app)?, &headers)))
        }
        Todo::Write(work) => Todo::Write(Box::new(move |tx| Reply::json(&work(tx)?))),
    })
}

/// Where a reply is kept in memory.
struct Place<R> {
    key: PageKey,
    /// The owner's version, read before the data.
    version: u64,
    keeps: fn(&R) -> bool,
}

impl<R> Place<R> {
    fn of<P>(
        declared: &Declared<P>,
        app: &App,
        owner: UserId,
        request: &Request,
        keeps: fn(&R) -> bool,
    ) -> Self {
        let mut asked = request.query_text().to_owned();
        for (_, value) in &request.variables {
            asked.push('\0');
            asked.push_str(value);
        }
        Self { key: (owner, declared.name, asked), version: app.versions.of(owner), keeps }
    }
}

/// A reply as JSON with its validators, kept in memory where that is declared.
fn answer<O: Operation>(
    app: &App,
    place: Option<Place<O::Reply>>,
    reply: &O::Reply,
    headers: &HeaderMap,
) -> Result<Reply, Problem> {
    let body = serde_json::to_vec(reply).map_err(Problem::internal)?;
    let validators = Validators::of_content(&body, O::last_modified(reply));
    let page = Arc::new(Rendered { body: body.into(), validators });
    if let Some(place) = place.filter(|place| (place.keeps)(reply)) {
        app.pages.put(place.key, place.version, Arc::clone(&page));
    }
    Ok(conditional(&page, headers))
}

/// The page, or 304 when the caller's copy is good.
fn conditional(page: &Rendered, headers: &HeaderMap) -> Reply {
    page.validators.answer(headers, || Reply::of(media::JSON, page.body.clone()))
}
