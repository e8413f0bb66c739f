//! Sales in the seller's panel: the list with its filters and one sale, as
//! page, JSON or CSV.

use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use super::list::{self, Order, OrderPage};
use super::sold;
use super::views::{SalePage, SalesPage};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::ids::item_number;
use crate::base::{Cents, Day, Instant, MlUserId, OrderId, UserId};
use crate::db::{self, ReadTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::Words;
use crate::marketplace::tools::{invoices, labels};
use crate::panel::PageTime;
use crate::panel::chart::{BarChart, BarWords, MOST_SERIES, short_money};
use crate::panel::days::Days;
use crate::panel::{
    Filter, Flash, Head, ListQuery, ListReply, Listing, Notice, Tone, days, export,
};
use crate::services::Services;
use crate::wire;

const LIST: Listing = Listing {
    path: "/painel/vendas",
    hint: "Título, SKU ou número",
    filters: &[
        Filter { name: "estado", label: "Situação", all: "Todas", values: &OrderStatus::FILTER },
        Filter {
            name: "periodo",
            label: "Período",
            all: "Tudo",
            values: &[("hoje", "Hoje"), ("7", "7 dias"), ("30", "30 dias")],
        },
    ],
    sort_keys: &["-criada_em"],
    heads: &[
        Head::plain("Venda"),
        Head::plain("Conta"),
        Head::plain("Total").numeric(),
        Head::plain("Situação"),
        Head::sorts("Quando", "criada_em"),
    ],
    file: "vendas.csv",
    csv: &[
        "id",
        "conta",
        "estado",
        "total",
        "moeda",
        "quantidade",
        "titulo",
        "sku",
        "anuncio",
        "comprador",
        "criada_em",
        "envio_id",
        "envio",
        "logistica",
    ],
    flashes: &[Flash::warn(
        invoices::NO_NOTE,
        "Esta venda ainda não tem nota fiscal",
        "Emita a nota no marketplace, ou anexe lá a que você já emitiu. Depois abra de novo.",
    )],
};

const CHART_DAYS: u16 = 30;
const CHART: BarWords = BarWords {
    title: "Faturamento por dia, últimos 30 dias",
    unit: "Total",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};

const MOST_ROWS: u32 = 100_000;

wire! {
    #[derive(Serialize)]
    struct WireSale of(services: &Services, page: &OrderPage, stores: &Stores, order: &Order) after {
        let word = |number: i64| page.word(number).to_owned();
        let sold = page.sold(order);
    } {
        id: String = order.order_id.to_string(),
        conta: String = stores.name(order.ml_user_id),
        ml_user_id: MlUserId = order.ml_user_id,
        estado: String = word(order.status),
        total: Cents = order.total,
        moeda: String = word(order.currency),
        quantidade: i64 = order.quantity,
        titulo: String = sold.title.to_owned(),
        sku: String = sold.sku.to_owned(),
        anuncio: String = sold.ml_id.to_owned(),
        comprador: String = order.buyer_nickname.clone(),
        criada_em: String = services.zone().spaced(order.created_at),
        envio_id: Option<String> = order.shipping_id.map(|id| id.to_string()),
        envio: Option<String> = order.shipping_status.map(word),
        logistica: Option<String> = order.logistic_type.map(word),
    }
}

fn filter_of(
    services: &Services,
    query: &ListQuery,
    store: Option<MlUserId>,
    days: &Days,
    now: Instant,
) -> list::Filter {
    let days = match query.filter(days::SHORTCUT) {
        Some(count) => &last_days(services.day(now), count),
        None => days,
    };
    let (limit, offset) = query.window();
    list::Filter {
        status: query.filter("estado").map(str::to_owned),
        store: store.map(|store| store.0),
        days: (days.from, days.to),
        created: days.span(services.zone()),
        items: None,
        limit: limit.min(MOST_ROWS).into(),
        offset: offset.into(),
        oldest_first: !query.descending,
        zone: services.zone(),
        keys_only: query.csv,
    }
}

/// The days up to today that a shortcut names.
fn last_days(today: Day, count: &str) -> Days {
    let count = count.parse().unwrap_or(1_i64);
    Days { from: Some(today.plus(1 - count)), ..Days::default() }
}

/// The orders that a search finds: the order or the listing with this number, or
/// else the orders of listings with such a title or SKU; without a search all.
fn found(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    search: &str,
    filter: &list::Filter,
) -> db::Result<OrderPage> {
    if search.is_empty() {
        return list::read_page(tx, words, owner, filter);
    }
    let of_listings = |items| {
        let filter = list::Filter { items: Some(items), ..filter.clone() };
        list::read_page(tx, words, owner, &filter)
    };
    let mut page = OrderPage::default();
    if let Ok(order) = search.parse() {
        page = list::read_one(tx, words, owner, OrderId(order))?;
        page.keep(filter);
    } else if let Some(item) = item_number(&search.to_ascii_uppercase()) {
        page = of_listings(vec![item])?;
    }
    if page.total > 0 {
        return Ok(page);
    }
    let mut items = sold::search_items(tx, owner, search)?;
    let has_more = items.len() > sold::MOST;
    items.truncate(sold::MOST);
    page = of_listings(items)?;
    page.has_more = has_more;
    Ok(page)
}

fn too_many() -> Notice {
    Notice::new(
        Tone::Warn,
        "Muitos anúncios têm essas palavras",
        "Aparecem as vendas dos 100 mais novos. Escreva mais palavras do título, ou o SKU, para ver as outras.",
    )
}

/// The days that the address asks for. Wrong days fail a request for JSON or
/// CSV; a page shows the error beside the fields.
fn asked_days(query: &mut ListQuery, request: &Request) -> Result<Days, Problem> {
    let days = Days::of(request);
    if days.is_given() {
        query.forget(days::SHORTCUT);
    }
    if query.csv || request.wants_json() {
        days.check()?;
    }
    Ok(days)
}

/// `GET /painel/vendas`: the seller's orders.
pub fn sales(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut query = LIST.read(request)?;
    let days = asked_days(&mut query, request)?;
    let (owner, of_store) = (person.account.user_id, stores::asked(request)?);
    let words = &app.marketplace.words;
    let filter = filter_of(app, &query, of_store, &days, request.now);
    let first = app.day(request.now).plus(1 - i64::from(CHART_DAYS));
    let is_narrowed = query.is_narrowed() || days.is_given();
    let is_whole = !query.csv && !request.wants_json() && query.page == 1 && !is_narrowed;
    let (stores, page, gross) = app.db.read(request.lane, |tx| {
        let stores = Stores::of_orders(tx, owner, of_store)?;
        let gross = if is_whole {
            gross_by_store(tx, owner, &stores, of_store, first)?
        } else {
            Vec::new()
        };
        let found = match days.fault {
            Some(_) => OrderPage::default(),
            None => found(tx, words, owner, query.search.trim(), &filter)?,
        };
        Ok::<_, Problem>((stores, found, gross))
    })?;
    let total = page.total.unsigned_abs();
    if query.csv {
        let (keys, words) = (page.into_keys(), Arc::clone(words));
        return export::list(app, person, &LIST, keys, move |app, tx, key| {
            let page = list::read_key(tx, &words, owner, key)?;
            Ok(page.orders.first().map(|order| WireSale::of(app, &page, &stores, order)))
        });
    }
    if request.wants_json() {
        let orders = page.orders.iter();
        let sales = orders.map(|order| WireSale::of(app, &page, &stores, order));
        return ListReply::reply(total, sales.collect());
    }
    let status = match days.fault {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let page = Reply::page(&SalesPage {
        layout: layout(app, person, request).with_flash(page.has_more.then(too_many)),
        chart: chart(first, &gross),
        table: LIST.table_by(&query, LIST.heads, total, (&stores.choice(of_store), Some(days))),
        stores,
        page,
        time: PageTime::of(app, request),
    })?;
    Ok(page.status(status))
}

/// Gross sales by day since `first`, for each account that sold anything.
fn gross_by_store(
    tx: &ReadTx<'_>,
    owner: UserId,
    stores: &Stores,
    asked: Option<MlUserId>,
    first: Day,
) -> db::Result<Vec<(String, Vec<i64>)>> {
    let mut gross = Vec::new();
    let shown = stores.ids().filter(|id| asked.is_none_or(|one| one == *id));
    for account in shown {
        let sold = store::gross_of(tx, owner, account, first, CHART_DAYS.into())?;
        if sold.iter().any(|gross| *gross != 0) {
            gross.push((stores.name(account), sold));
        }
    }
    Ok(gross)
}

/// The chart of sales by day, one series for each account. A single account, or
/// more accounts than a chart can tell apart, become one sum.
fn chart(first: Day, series: &[(String, Vec<i64>)]) -> Option<BarChart> {
    if (2..=MOST_SERIES).contains(&series.len()) {
        return BarChart::stacked(CHART, first, series);
    }
    let mut sum = vec![0_i64; CHART_DAYS.into()];
    for (_, days) in series {
        for (sum, day) in sum.iter_mut().zip(days) {
            *sum = sum.saturating_add(*day);
        }
    }
    BarChart::new(CHART, first, &sum)
}

#[derive(Serialize)]
struct SaleReply {
    ok: bool,
    #[serde(flatten)]
    sale: WireSale,
}

/// The address of the label of an order's parcel; empty when there is none to
/// print.
fn label(page: &OrderPage, order: &Order) -> String {
    let is_ready = page.word_or_none(order.shipping_status) == "ready_to_ship";
    let leaves_elsewhere = page.word_or_none(order.logistic_type) == "fulfillment";
    match order.shipping_id {
        Some(shipment) if is_ready && !leaves_elsewhere => {
            labels::address_for(labels::FILE, order.ml_user_id, shipment)
        }
        _ => String::new(),
    }
}

/// `GET /painel/vendas/{id}`: one order.
pub fn sale(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = OrderId(request.id()?);
    let owner = person.account.user_id;
    let (stores, mut page) = app.db.read(request.lane, |tx| {
        let page = list::read_one(tx, &app.marketplace.words, owner, id)?;
        Ok::<_, Problem>((Stores::of(tx, owner)?, page))
    })?;
    let order = page.orders.pop().ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        let sale = WireSale::of(app, &page, &stores, &order);
        return Reply::json(&SaleReply { ok: true, sale });
    }
    Reply::page(&SalePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        is_paid: OrderStatus::from_name(page.word(order.status)).is_some_and(OrderStatus::is_sale),
        label: label(&page, &order),
        order,
        page,
        stores,
        time: PageTime::of(app, request),
    })
}
