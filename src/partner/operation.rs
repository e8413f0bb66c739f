//! How an operation of the Partner API is declared, and what is the same for
//! all of them.
//!
//! An operation is the type of its arguments, with its reply and `begin`, which
//! checks the arguments and chooses the lane. One line of a table ([`reads`]) gives
//! it a name and an address; what is said of it is in a data file with its name
//! ([`texts`]). Its rows on both bases, its part of the OpenAPI document, its tool,
//! its name in the usage counts, conditional requests and the memory of answers all
//! come from there.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::LazyLock;

use http::{HeaderMap, Method, StatusCode};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::access::Access;
use super::idempotency::CallKey;
use super::pages_cache::PageKey;
use super::texts;
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::db::{ReadTx, WriteTx};
use crate::edge::docs::{Docs, SchemaOf, in_place, referred};
use crate::edge::todo::{SlowWork, Todo};
use crate::http::conditional::{Rendered, Validators};
use crate::http::reply::media;
use crate::http::{Body, Check, Code, Family, Fields, Problem, Reply, Request, input};
use crate::identity::PartnerCaller;
use crate::services::Services;

/// The largest room that a thread keeps for writing replies: a page of a hundred orders.
const KEPT_ROOM_BYTES: usize = 128 * 1024;

thread_local! {
    /// Where replies are written before they are as long as they are.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// One operation, by the type of its arguments: path variables and query as one map,
/// or the fields of a body. Unknown names of the former are refused.
pub trait Operation: DeserializeOwned + JsonSchema + 'static {
    /// Who may call it.
    type By: Party;
    type Reply: Serialize + JsonSchema + 'static;

    /// Which replies are kept in memory until something of the caller changes;
    /// `None` if the reply also depends on something else, such as the time.
    const KEEPS: Option<fn(&Self::Reply) -> bool> = None;
    /// Errors of this operation alone.
    const ERRORS: &'static [Code] = &[];
    /// The body of a POST in other media types than JSON.
    const OTHERS: &'static [(&'static str, SchemaOf)] = &[];
    /// Whether `last_modified` says something.
    const DATED: bool = false;
    /// Whether a reply holds a secret, which is stored sealed alone.
    const HOLDS_SECRET: bool = false;

    /// The arguments in the body of a POST.
    fn sent(request: &Request) -> Result<Self, Problem> {
        request.json()
    }

    /// Checks the arguments and says how the work is done: the arguments
    /// choose the lane, not the method. `check` knows how they were sent.
    fn begin(self, app: &App, by: &Self::By, check: Check) -> Begun<Self>;

    /// When the content of a reply last changed, if the operation promises it.
    fn last_modified(_: &Self::Reply) -> Option<Instant> {
        None
    }
}

/// An operation as it goes on after its arguments were checked.
pub type Begun<O> = Result<Todo<<O as Operation>::Reply>, Problem>;

/// What a call does, as the annotations of a tool say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads what is here.
    Reads,
    /// Reads what is at the marketplace.
    Fetches,
    /// Sends messages to people.
    Sends,
    /// Adds something; the same call again adds nothing.
    Adds,
    /// Makes something new with each call, which may reach others.
    Makes,
    /// Takes something away.
    Removes,
    /// Replaces what was there; the same call again changes nothing.
    Sets,
    /// Adds to what is there or takes from it, each time it is called.
    Moves,
    /// Speaks in public at the marketplace, once; it cannot be taken back.
    Answers,
    /// Puts something in place of what was there, which reaches others.
    Changes,
}

/// An identity that operations are for.
pub trait Party: Send + Sync + 'static {
    /// The account whose data it sees.
    fn owner(&self) -> UserId;
}

impl<C: Deref<Target = PartnerCaller> + Send + Sync + 'static> Party for C {
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
    pub docs: Docs,
    pub effect: Effect,
    /// What its caller must be allowed.
    pub access: Access,
    /// Whether it may be called once in a window of its own
    /// (`limits.remind_all_window_s`).
    pub is_rare: bool,
    /// Whether it is for test tokens alone.
    pub is_for_tests: bool,
    begin: Begin<P>,
}

/// An operation's `begin` with all that is around it.
type Begin<P> = fn(&Declared<P>, &App, &P, &Call<'_>) -> Result<Todo<Reply>, Problem>;

/// A call of an operation, by one of its two doors.
pub struct Call<'c> {
    pub request: &'c Request,
    /// The arguments of a tool. Without them the call came to the operation's own
    /// address, and the arguments are in the path, the query and the body.
    pub tool: Option<&'c Map<String, Value>>,
}

impl Call<'_> {
    /// The arguments of an operation that is called with GET, what is wrong with their
    /// names, and the check for their values.
    fn arguments<A: DeserializeOwned>(&self) -> Result<(A, Fields, Check), Problem> {
        let ((args, faults), check) = match self.tool {
            None => (self.request.arguments()?, Check::query()),
            Some(given) => (input::of_tool(given)?, Check::tool()),
        };
        Ok((args, faults, check))
    }

    /// The headers of the operation's own address. A tool has none: those of its
    /// request are about the message.
    fn headers(&self) -> &HeaderMap {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        if self.tool.is_some() { &NONE } else { self.request.headers() }
    }
}

impl<P> Declared<P> {
    /// Begins the operation.
    pub fn begin(&self, app: &App, by: &P, call: &Call<'_>) -> Result<Todo<Reply>, Problem> {
        (self.begin)(self, app, by, call)
    }

    /// The same for callers who may change the shop.
    pub const fn for_writers(mut self) -> Self {
        self.access = Access::Change;
        self
    }

    /// What is said of it.
    pub fn texts(&self) -> &'static texts::Operation {
        texts::of(self.name)
    }

    /// How its row runs, as the route list names it.
    pub const fn runs(&self) -> &'static str {
        if self.docs.media.is_some() { "outside" } else { "read" }
    }
}

/// The errors of an operation; the program does not compile with a code of another family.
const fn of_family(errors: &'static [Code]) -> &'static [Code] {
    assert!(Family::Partner.has_all(errors), "an error with a code of another family");
    errors
}

/// An operation as most are: as often as the limits allow, and for every token.
const fn declared<P>(
    name: &'static str,
    path: &'static str,
    method: Method,
    effect: Effect,
    access: Access,
    docs: Docs,
    begin: Begin<P>,
) -> Declared<P> {
    Declared {
        name,
        method,
        path,
        docs,
        effect,
        access,
        is_rare: false,
        is_for_tests: false,
        begin,
    }
}

/// An operation that is called with GET.
pub const fn reads<O: Operation>(name: &'static str, path: &'static str) -> Declared<O::By> {
    let docs = Docs {
        query: Some(in_place::<O>),
        reply: Some(referred::<O::Reply>),
        errors: of_family(O::ERRORS),
        dated: O::DATED,
        ..Docs::NONE
    };
    declared(name, path, Method::GET, Effect::Reads, Access::Read, docs, begin::<O>)
}

/// An operation that is called with POST, with its arguments as a JSON body.
/// What it changes is done in a job of the writer; a caller may send an
/// `Idempotency-Key`.
pub const fn posts<O: Operation>(
    name: &'static str,
    path: &'static str,
    effect: Effect,
) -> Declared<O::By> {
    let docs = Docs {
        body: Some(referred::<O>),
        others: O::OTHERS,
        reply: Some(in_place::<Done<O::Reply>>),
        errors: of_family(O::ERRORS),
        ..Docs::NONE
    };
    declared(name, path, Method::POST, effect, Access::Act, docs, begin_post::<O>)
}

/// The same for what may be called once in a window of its own.
pub const fn posts_rarely<O: Operation>(
    name: &'static str,
    path: &'static str,
    effect: Effect,
) -> Declared<O::By> {
    let mut declared = posts::<O>(name, path, effect);
    declared.is_rare = true;
    declared
}

/// The same for what only test tokens may call.
pub const fn posts_in_tests<O: Operation>(
    name: &'static str,
    path: &'static str,
    effect: Effect,
) -> Declared<O::By> {
    let mut declared = posts::<O>(name, path, effect);
    declared.is_for_tests = true;
    declared
}

/// A file that is fetched elsewhere for the caller, by the type of its arguments.
pub trait FileOperation: DeserializeOwned + JsonSchema + 'static {
    /// Who may call it.
    type By: Party;

    /// Media types that the file can have, with ", " between.
    const MEDIA: &'static str;

    /// Checks the arguments and says how the file is fetched. What it says in place of
    /// a file is plain text.
    fn begin(self, app: &App, by: &Self::By, check: Check) -> Result<SlowWork<Reply>, Problem>;
}

/// An operation that is called with GET and answers with a file.
pub const fn sends<O: FileOperation>(name: &'static str, path: &'static str) -> Declared<O::By> {
    let docs = Docs {
        query: Some(in_place::<O>),
        media: Some(O::MEDIA),
        errors: &[Code::NotFound, Code::MarketplaceUnavailable],
        ..Docs::NONE
    };
    declared(name, path, Method::GET, Effect::Fetches, Access::Read, docs, begin_file::<O>)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuery {}

/// What a POST answers.
#[derive(Serialize, JsonSchema)]
struct Done<R> {
    /// What was done.
    data: R,
}

/// Where a page stands in its list.
#[derive(Serialize, JsonSchema)]
pub struct Pagination {
    /// Entries of the whole list.
    pub total: i64,
    /// Most entries of this page, as asked for.
    pub limit: i64,
    /// Entries that were passed over, as asked for.
    pub offset: i64,
}

/// Answers from memory, or begins the operation and renders its reply.
fn begin<O: Operation>(
    declared: &Declared<O::By>,
    app: &App,
    by: &O::By,
    call: &Call<'_>,
) -> Result<Todo<Reply>, Problem> {
    let slot = O::KEEPS.map(|keeps| CacheSlot::of(declared, app, by.owner(), call, keeps));
    // Before anything is parsed: most calls of those who poll end here.
    if let Some(slot) = &slot
        && let Some(page) = app.caches.pages.get(&slot.key, slot.version)
    {
        return Ok(Todo::Now(page.answer(call.headers(), media::JSON)));
    }
    let (args, faults, check) = call.arguments::<O>()?;
    Ok(match all_faults(faults, args.begin(app, by, check))? {
        Todo::Now(reply) => Todo::Now(answer::<O>(app, slot, &reply, call.headers())?),
        Todo::Slow(work) => {
            let headers = call.headers().clone();
            Todo::Slow(Box::new(move |app| answer::<O>(app, slot, &work(app)?, &headers)))
        }
        Todo::Outside(work) | Todo::Fetch(work) => {
            let headers = call.headers().clone();
            Todo::Outside(Box::new(move |app| answer::<O>(app, slot, &work(app)?, &headers)))
        }
        Todo::Write(work) => Todo::Write(Box::new(move |tx| Reply::json(&work(tx)?))),
    })
}

/// Begins to fetch a file. A caller whose copy is good gets 304.
fn begin_file<O: FileOperation>(
    _: &Declared<O::By>,
    app: &App,
    by: &O::By,
    call: &Call<'_>,
) -> Result<Todo<Reply>, Problem> {
    let (args, faults, check) = call.arguments::<O>()?;
    let work = all_faults(faults, args.begin(app, by, check))?;
    let headers = call.headers().clone();
    Ok(Todo::Outside(Box::new(move |app| {
        let reply = work(app)?;
        match &reply.body {
            Body::Bytes(bytes) if reply.status == StatusCode::OK => {
                let validators = Validators::of_content(bytes, None);
                Ok(validators.answer(&headers, || reply))
            }
            _ => Ok(reply),
        }
    })))
}

/// Gives the first answer to a call that is repeated, or begins the operation.
fn begin_post<O: Operation>(
    declared: &Declared<O::By>,
    app: &App,
    by: &O::By,
    call: &Call<'_>,
) -> Result<Todo<Reply>, Problem> {
    let request = call.request;
    let (args, faults, key) = if let Some(given) = call.tool {
        (input::object::<O>(given)?, Fields::new(), None)
    } else {
        let (NoQuery {}, faults) = request.arguments()?;
        let args = match O::sent(request) {
            Err(problem) if !faults.is_empty() => {
                return Err(Problem::beside(faults, Some(problem)));
            }
            sent => sent?,
        };
        let key = CallKey::of(declared.name, by.owner(), request)?;
        let sealed = |key: CallKey| if O::HOLDS_SECRET { key.sealed(&app.sealer) } else { key };
        (args, faults, key.map(sealed))
    };
    let answered = |tx: &ReadTx<'_>| match &key {
        Some(key) => key.answered(tx),
        None => Ok(None),
    };
    let begun = args.begin(app, by, Check::json());
    if !faults.is_empty() {
        return Err(Problem::beside(faults, begun.err()));
    }
    // What the arguments need may be gone since. A job of the writer looks itself.
    if key.is_some()
        && !matches!(begun, Ok(Todo::Write(_)))
        && let Some(reply) = app.db.read(request.lane, answered)?
    {
        return Ok(Todo::Now(reply));
    }
    Ok(match begun? {
        Todo::Now(reply) => Todo::Now(Reply::json(&Done { data: reply })?),
        Todo::Slow(work) => {
            Todo::Slow(Box::new(move |app| stored_once(app, rendered(work(app)?)?, key)))
        }
        Todo::Outside(work) | Todo::Fetch(work) => {
            Todo::Outside(Box::new(move |app| stored_once(app, rendered(work(app)?)?, key)))
        }
        Todo::Write(work) => {
            Todo::Write(Box::new(move |tx| once(tx, key, |tx| rendered(work(tx)?))))
        }
    })
}

/// The answer after work in a lane, which may be repeated; it is kept after the last of it.
fn stored_once(app: &App, body: Vec<u8>, key: Option<CallKey>) -> Result<Reply, Problem> {
    match key {
        Some(key) => app.db.write(move |tx| once(tx, Some(key), |_| Ok(body))),
        None => Ok(Reply::of(media::JSON, body)),
    }
}

fn rendered<R: Serialize>(data: R) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(&Done { data }).map_err(Problem::internal)
}

/// Does the work and keeps its answer under the key, unless another call with the
/// key was faster.
fn once(
    tx: &WriteTx<'_>,
    key: Option<CallKey>,
    work: impl FnOnce(&WriteTx<'_>) -> Result<Vec<u8>, Problem>,
) -> Result<Reply, Problem> {
    if let Some(key) = &key
        && let Some(reply) = key.answered(tx)?
    {
        return Ok(reply);
    }
    let body = work(tx)?;
    if let Some(key) = key {
        key.keep(tx, &body)?;
    }
    Ok(Reply::of(media::JSON, body))
}

/// What was begun, unless arguments were at fault before: then all that is wrong with
/// the call.
fn all_faults<T>(faults: Fields, begun: Result<T, Problem>) -> Result<T, Problem> {
    if faults.is_empty() { begun } else { Err(Problem::beside(faults, begun.err())) }
}

/// Where a reply is kept in memory.
struct CacheSlot<R> {
    key: PageKey,
    /// Of the owner and the books, read before the data.
    version: u64,
    keeps: fn(&R) -> bool,
}

impl<R> CacheSlot<R> {
    fn of<P>(
        declared: &Declared<P>,
        services: &Services,
        owner: UserId,
        call: &Call<'_>,
        keeps: fn(&R) -> bool,
    ) -> Self {
        let request = call.request;
        let asked = match call.tool {
            // No query begins so.
            Some(given) if !given.is_empty() => format!("\u{1}{}", Value::Object(given.clone())),
            Some(_) => String::new(),
            None => {
                let mut asked = request.query_text().to_owned();
                for (_, value) in &request.variables {
                    asked.push('\0');
                    asked.push_str(value);
                }
                asked
            }
        };
        let version = services.versions.of(owner) + services.versions.books(owner);
        Self { key: (owner, declared.name, asked), version, keeps }
    }
}

/// A reply as JSON. A body that grows while it is written is copied again and again, and
/// once more when it is kept without the spare.
fn written<R: Serialize>(reply: &R) -> Result<Vec<u8>, Problem> {
    let mut room = ROOM.take();
    room.clear();
    serde_json::to_writer(&mut room, reply).map_err(Problem::internal)?;
    let body = room.as_slice().to_vec();
    if room.capacity() <= KEPT_ROOM_BYTES {
        ROOM.set(room);
    }
    Ok(body)
}

/// A reply as JSON with its validators, kept in memory where that is declared.
fn answer<O: Operation>(
    app: &App,
    slot: Option<CacheSlot<O::Reply>>,
    reply: &O::Reply,
    headers: &HeaderMap,
) -> Result<Reply, Problem> {
    let body = written(reply)?;
    let last_modified = O::last_modified(reply);
    match slot.filter(|slot| (slot.keeps)(reply)) {
        Some(slot) => {
            let page = Rendered::new(body, last_modified);
            app.caches.pages.put(slot.key, slot.version, page.clone());
            Ok(page.answer(headers, media::JSON))
        }
        None => Ok(Validators::of_content(&body, last_modified)
            .answer(headers, || Reply::of(media::JSON, body))),
    }
}
