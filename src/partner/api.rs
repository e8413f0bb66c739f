//! Handlers of the Partner API's seller operations.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::orders::{self, OrderItem};
use crate::app::App;
use crate::base::clock::{Day, Instant};
use crate::base::ids::{MlUserId, UserId};
use crate::changes::Topic;
use crate::edge::guard::Seller;
use crate::http::conditional::{Rendered, Validators};
use crate::http::input::{self, Check, Field};
use crate::http::reply::media;
use crate::http::schema::DAY;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores;
use crate::marketplace::books::orders::list::{self, Filter};
use crate::marketplace::books::words::ORDER_STATES;

/// Offsets beyond this are read on the slow pool.
const FAR_OFFSET: i64 = 10_000;
/// Orders of a page, unless the caller wants another number, and at most.
const ORDERS: i64 = 50;
const MOST_ORDERS: i64 = 200;
/// Largest offset.
const MAX_OFFSET: i64 = 1_000_000_000;

/// Who the token belongs to and what it may do.
#[derive(Serialize, JsonSchema)]
struct Health {
    ok: bool,
    user: HealthUser,
    plan: HealthPlan,
    token: HealthToken,
    /// Civil time of the server.
    server_time: String,
    version: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct HealthUser {
    id: UserId,
    nome: String,
    role: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct HealthPlan {
    name: &'static str,
    monthly_quota: u64,
    per_minute: u32,
    /// Last day it is valid, null without an end.
    valid_until: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct HealthToken {
    name: String,
    created_at: String,
    last_used_at: Option<String>,
}

/// The schema of [`health`]'s answer.
pub fn health_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Health>()
}

/// `GET /api/v1/partner/health`: ping and identification of the token's user.
pub fn health(app: &App, seller: &Seller, request: &Request) -> Result<Reply, Problem> {
    let NoQuery {} = input::query(request.query_text())?;
    let zone = app.zone();
    let health = Health {
        ok: true,
        user: HealthUser {
            id: seller.account.user_id,
            nome: seller.account.name.clone(),
            role: seller.account.role.name(),
        },
        plan: HealthPlan {
            name: seller.plan.name.name(),
            monthly_quota: seller.plan.quota,
            per_minute: seller.plan.per_minute,
            valid_until: seller.plan.until.map(|(day, _)| day.iso()),
        },
        token: HealthToken {
            name: seller.token.name.clone(),
            created_at: zone.partner(seller.token.created_at),
            last_used_at: seller.last_used_at.map(|at| zone.partner(at)),
        },
        server_time: zone.partner(request.now),
        version: env!("CARGO_PKG_VERSION"),
    };
    let body = serde_json::to_vec(&health).map_err(Problem::internal)?;
    Ok(Validators::of_content(&body, None)
        .answer(request.headers(), || Reply::of(media::JSON, body)))
}

/// No parameters at all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoQuery {}

/// The query of [`orders`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrdersQuery {
    /// A state of orders, such as `paid`.
    #[serde(default)]
    #[schemars(extend("enum" = ORDER_STATES))]
    status: Field<String>,
    /// Marketplace seller id of one connected account.
    #[serde(default)]
    #[schemars(range(min = 1, max = i64::MAX))]
    store: Field<i64>,
    /// First civil day of `date_created`.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    from: Field<String>,
    /// Last civil day of `date_created`.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    to: Field<String>,
    /// Marketplace listing id, such as `MLB123`.
    #[serde(default)]
    #[schemars(regex(pattern = list::ITEM))]
    ml_id: Field<String>,
    /// Most orders of the page.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_ORDERS), extend("default" = ORDERS))]
    limit: Field<i64>,
    /// Orders to pass over.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_OFFSET), extend("default" = 0))]
    offset: Field<i64>,
}

/// The schema of [`orders`]' query.
pub fn orders_query(generator: &mut SchemaGenerator) -> Schema {
    OrdersQuery::json_schema(generator)
}

#[derive(Serialize, JsonSchema)]
struct Orders<'o> {
    data: Vec<OrderItem<'o>>,
    pagination: Pagination,
}

/// Where a page stands in its list.
#[derive(Serialize, JsonSchema)]
pub struct Pagination {
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
}

/// The schema of [`orders`]' answer.
pub fn orders_reply(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Orders<'static>>()
}

/// Filters and offsets whose cost grows with the number of orders.
pub fn orders_are_costly(request: &Request) -> bool {
    let query = request.query_text();
    // Names may be written with escapes.
    if !query.contains("ml_id") && !query.contains("offset") && !query.contains('%') {
        return false;
    }
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.any(|(name, value)| match &*name {
        "ml_id" => true,
        "offset" => value.parse::<i64>().is_ok_and(|offset| offset > FAR_OFFSET),
        _ => false,
    })
}

/// `GET /api/v1/partner/orders`: the caller's own orders, newest first.
pub fn orders(app: &App, seller: &Seller, request: &Request) -> Result<Reply, Problem> {
    let owner = seller.account.user_id;
    let key = (owner, "list_orders", request.query_text().to_owned());
    let version = app.versions.of(owner);
    if let Some(page) = app.pages.get(&key, version) {
        return Ok(answer(&page, request));
    }
    let filter = read_filter(app, request)?;
    let page = Arc::new(render_orders(app, owner, request, &filter)?);
    // First pages are asked for again and again; further ones rarely are.
    if filter.offset == 0 {
        app.pages.put(key, version, Arc::clone(&page));
    }
    Ok(answer(&page, request))
}

fn answer(page: &Rendered, request: &Request) -> Reply {
    let full = || Reply::of(media::JSON, page.body.clone());
    page.validators.answer(request.headers(), full)
}

fn read_filter(app: &App, request: &Request) -> Result<Filter, Problem> {
    let query: OrdersQuery = input::query(request.query_text())?;
    let mut check = Check::query();
    let status: Option<String> = check.optional("status", query.status);
    if status.as_deref().is_some_and(|status| !ORDER_STATES.contains(&status)) {
        check.fail("status", format!("must be one of {}", ORDER_STATES.join(", ")));
    }
    let store = check.number("store", query.store, 1..=i64::MAX);
    let mut day = |name, field: Field<String>| {
        let text: String = check.optional(name, field)?;
        let day = Day::parse(&text);
        if day.is_none() {
            check.fail(name, "must be a day as YYYY-MM-DD");
        }
        day
    };
    let (from, to) = (day("from", query.from), day("to", query.to));
    let listing = check.optional("ml_id", query.ml_id);
    let item_id = listing.as_deref().map(list::item_number);
    if item_id == Some(None) {
        check.fail("ml_id", "must be a listing id, such as MLB123");
    }
    let limit = check.number("limit", query.limit, 1..=MOST_ORDERS).unwrap_or(ORDERS);
    let offset = check.number("offset", query.offset, 0..=MAX_OFFSET).unwrap_or(0);
    check.finish()?;
    let starts = |day: Day| app.zone().start_of(day);
    Ok(Filter {
        status,
        store,
        days: (from, to),
        created: (from.map(starts), to.map(|day| starts(day.plus(1)))),
        items: item_id.flatten().map(|item| vec![item]),
        limit,
        offset,
        oldest_first: false,
        zone: app.zone(),
        keys_only: false,
    })
}

fn render_orders(
    app: &App,
    owner: UserId,
    request: &Request,
    filter: &Filter,
) -> Result<Rendered, Problem> {
    let given = &app.marketplace.given;
    let mut at_most = request.now;
    loop {
        // Said before reading: a change from now on is stamped later than what is given out.
        let under_way = given.mark(owner, Topic::Orders, at_most);
        let (changed, body) = app.db.read(request.lane, |tx| {
            if let Some(store) = filter.store.map(MlUserId)
                && !stores::is_of(tx, owner, store)?
            {
                return Err(Problem::not_found());
            }
            let changed = crate::changes::newest(tx, owner, Topic::Orders)?.unwrap_or(Instant(0));
            let read = list::read_page(tx, &app.marketplace.words, owner, filter)?;
            let pagination =
                Pagination { total: read.total, limit: filter.limit, offset: filter.offset };
            let data = orders::items(&read, app);
            let mut body = Vec::with_capacity(512 * (data.len() + 1));
            serde_json::to_writer(&mut body, &Orders { data, pagination })
                .map_err(Problem::internal)?;
            Ok::<_, Problem>((changed, body))
        })?;
        if changed <= at_most {
            let shown = if under_way { changed.minus(1) } else { changed };
            return Ok(Rendered {
                validators: Validators::of_content(&body, Some(shown)),
                body: body.into(),
            });
        }
        at_most = changed;
    }
}
