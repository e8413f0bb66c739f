//! The list of sales in the seller's panel, with its filters, as page, JSON or CSV.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use http::StatusCode;
use serde::Serialize;

use super::left::Earned;
use super::list::{self, Order, OrderPage, ShownLine};
use super::sums::{self, Sum};
use super::views::SalesPage;
use super::{of_number, runs, sold};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::ids::item_number;
use crate::base::{Cents, Day, Instant, MlUserId, UserId, grouped};
use crate::db::{self, ReadTx, RowWindow};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::Words;
use crate::marketplace::tools::fees;
use crate::marketplace::tools::pages::NO_NOTE;
use crate::panel::chart::{BarChart, BarWords, MOST_SERIES, short_money};
use crate::panel::days::Days;
use crate::panel::{
    Filter, ListQuery, ListReply, Listing, Notice, Tone, columns, days, export, flashes,
};
use crate::panel::{PageTime, heads};
use crate::services::Services;
use crate::wire;

pub const LIST: Listing = Listing {
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
    heads: heads![
        "Venda", "Conta", "Total" numeric, "Sobra" numeric, "Situação", "Quando" => "criada_em",
    ],
    file: "vendas.csv",
    csv: columns![
        id conta estado total moeda quantidade titulo sku anuncio comprador criada_em envio_id envio
        logistica comissao frete imposto custo sobra devolvido carrinho etapa_envio despachar_ate
    ],
    flashes: flashes! {
        NO_NOTE: warn "Esta venda ainda não tem nota fiscal",
            "Emita a nota no marketplace, ou anexe lá a que você já emitiu. Depois abra de novo.";
        "custo": good "Custo salvo",
            "Vale para todas as vendas deste anúncio, também na lista e nas somas.";
    },
};

/// Days of a chart: without days in the filter, and at most.
const CHART_DAYS: i64 = 30;
const MOST_CHART_DAYS: i64 = 92;
const CHART: BarWords = BarWords {
    title: "Faturamento por dia, últimos 30 dias",
    unit: "Total",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};
const CHART_OF_DAYS: BarWords =
    BarWords { title: "Faturamento por dia, nos dias do filtro", ..CHART };
/// Where the filter has more days than a chart.
const CHART_OF_LAST_DAYS: BarWords =
    BarWords { title: "Faturamento por dia, nos últimos dias do filtro", ..CHART };

const MOST_ROWS: u32 = 100_000;
/// Most orders that a number may name: those of one parcel.
const MOST_NAMED: u32 = 50;

wire! {
    /// A sale in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireSale of(
        services: &Services, page: &OrderPage, stores: &Stores, sale: (&Order, Option<Earned>)
    ) after {
        let (order, earned) = sale;
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
        itens: Vec<WireLine> = page.lines(order).map(WireLine::of).collect(),
        devolvido: Cents = order.refunded,
        carrinho: Option<String> = order.pack_id.map(|id| id.to_string()),
        titulo: String = sold.title.to_owned(),
        sku: String = sold.sku.to_owned(),
        anuncio: String = sold.ml_id.to_owned(),
        comprador: String = order.buyer_nickname.clone(),
        criada_em: String = services.zone().spaced(order.created_at),
        envio_id: Option<String> = order.shipping_id.map(|id| id.to_string()),
        envio: Option<String> = order.shipping_status.map(word),
        etapa_envio: Option<String> = order.substatus.map(word),
        despachar_ate: Option<String> = order.dispatch_by.map(|at| services.zone().spaced(at)),
        logistica: Option<String> = order.logistic_type.map(word),
        comissao: Option<Cents> = order.fee,
        frete: Option<Cents> = order.freight,
        imposto: Option<Cents> = earned.map(|earned| earned.tax),
        custo: Option<Cents> = earned.and_then(|earned| earned.cost),
        sobra: Option<Cents> = earned.and_then(|earned| earned.left()),
    }
}

wire! {
    /// A line of a sale.
    #[derive(Serialize)]
    struct WireLine of(shown: ShownLine<'_>) {
        anuncio: String = shown.wording.ml_id.to_owned(),
        variacao: Option<String> = shown.line.variation(),
        titulo: String = shown.wording.title.to_owned(),
        sku: String = shown.wording.sku.to_owned(),
        quantidade: i64 = shown.line.units,
        preco: Cents = shown.line.unit,
        comissao: Option<Cents> = shown.line.fee,
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
    let RowWindow { limit, offset } = query.window();
    list::Filter {
        status: query.filter("estado").map(str::to_owned).into_iter().collect(),
        store: store.map(|store| store.0),
        days: (days.from, days.to),
        created: days.span(services.zone()),
        offset: offset.into(),
        oldest_first: !query.descending,
        keys_only: query.csv,
        ..list::Filter::all(services.zone(), limit.min(MOST_ROWS).into())
    }
}

/// The days up to today that a shortcut names.
fn last_days(today: Day, count: &str) -> Days {
    let count = count.parse().unwrap_or(1_i64);
    Days { from: Some(today.plus(1 - count)), ..Days::default() }
}

/// The orders that a search finds, and the filter that finds the same without the
/// search: the order or the listing with this number, or else the orders of listings
/// with such a title or SKU; without a search all. `None` for a single order.
fn found(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    search: &str,
    filter: &list::Filter,
) -> db::Result<(OrderPage, Option<list::Filter>)> {
    if search.is_empty() {
        return Ok((list::read_page(tx, words, owner, filter)?, Some(filter.clone())));
    }
    let of_listings = |items| {
        let filter = list::Filter { items: Some(items), ..filter.clone() };
        Ok::<_, db::DbError>((list::read_page(tx, words, owner, &filter)?, Some(filter)))
    };
    if let Ok(number) = search.parse() {
        // The number of an order, of its cart, a payment or its parcel.
        let mut page =
            list::read_some(tx, words, owner, &of_number(tx, owner, number, MOST_NAMED)?)?;
        page.keep(filter);
        if page.total > 0 {
            return Ok((page, None));
        }
    } else if let Some(item) = item_number(&search.to_ascii_uppercase()) {
        let (page, filter) = of_listings(vec![item])?;
        if page.total > 0 {
            return Ok((page, filter));
        }
    }
    let mut items = sold::search_items(tx, owner, search)?;
    let has_more = items.len() > sold::MOST;
    items.truncate(sold::MOST);
    let (mut page, filter) = of_listings(items)?;
    page.has_more = has_more;
    Ok((page, filter))
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

/// What the page shows beside its rows.
#[derive(Default)]
struct Beside {
    /// What the filter comes to; `None` for a single order.
    sum: Option<Sum>,
    chart: Option<BarChart>,
    /// Orders by state, where no search narrows them.
    states: Option<BTreeMap<i64, u64>>,
}

/// `GET /painel/vendas`: the seller's orders.
pub fn sales(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut query = LIST.read(request)?;
    let days = asked_days(&mut query, request)?;
    let (owner, of_store) = (person.account.user_id, stores::asked(request)?);
    let words = &app.marketplace.words;
    let filter = filter_of(app, &query, of_store, &days, request.now);
    let is_page = !query.csv && !request.wants_json() && days.fault.is_none();
    let (stores, page, earned, beside, tax) = app.db.read(request.lane, |tx| {
        let tax = fees::tax_rate(app, fees::store::settings(tx, person)?.tax);
        let stores = Stores::of_orders(tx, owner, of_store)?;
        let (found, same) = match days.fault {
            Some(_) => (OrderPage::default(), None),
            None => found(tx, words, owner, query.search.trim(), &filter)?,
        };
        let mut beside = Beside::default();
        if let Some(filter) = same.filter(|_| is_page) {
            beside.sum = Some(sums::of(tx, words, owner, &filter, tax)?);
            beside.chart = chart(tx, words, owner, &stores, &filter, request.now)?;
            if filter.items.is_none() {
                beside.states = Some(runs::by_state(tx, owner, &filter)?);
            }
        }
        let earned = found.earned(tx, words, owner, tax)?;
        Ok::<_, Problem>((stores, found, earned, beside, tax))
    })?;
    let total = page.total.unsigned_abs();
    if query.csv {
        let (keys, words) = (page.into_keys(), Arc::clone(words));
        return export::list(app, person, &LIST, keys, move |app, tx, key| {
            let page = list::read_key(tx, &words, owner, key)?;
            let earned = page.earned(tx, &words, owner, tax)?.pop().flatten();
            let wire = |order| WireSale::of(app, &page, &stores, (order, earned));
            Ok(page.orders.first().map(wire))
        });
    }
    if request.wants_json() {
        let sales = page.orders.iter().zip(earned);
        return ListReply::of(total, sales, |sale| WireSale::of(app, &page, &stores, sale));
    }
    let status = match days.fault {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let states = beside.states;
    let table = LIST
        .table_by(&query, LIST.heads, total, &stores.choice(of_store), Some(days))
        .counted(|name| {
            let number = i64::from(OrderStatus::from_name(name)?.number());
            Some(states.as_ref()?.get(&number).copied().unwrap_or(0))
        });
    let page = Reply::page(&SalesPage {
        layout: layout(app, person, request).with_flash(page.has_more.then(too_many)),
        sum: sum_words(total, beside.sum, &earned),
        chart: beside.chart,
        table,
        stores,
        page,
        earned,
        time: PageTime::of(app, request),
    })?;
    Ok(page.status(status))
}

/// What is filtered, in one line. A single order is its own sum.
fn sum_words(total: u64, sum: Option<Sum>, earned: &[Option<Earned>]) -> String {
    let sum = sum.unwrap_or_else(|| earned.iter().flatten().fold(Sum::default(), Sum::with));
    let mut words = match total {
        0 => return String::new(),
        1 => "1 venda".to_owned(),
        total => format!("{} vendas", grouped(total)),
    };
    if sum.sales == 0 {
        return words;
    }
    let _ = write!(words, " · {}", sum.gross.page());
    if sum.known > 0 {
        let _ = write!(words, " · sobra {}", sum.left.page());
    }
    for (count, what) in [(sum.uncosted, "sem custo"), (sum.untold, "sem taxas")] {
        if count > 0 {
            let _ = write!(words, " · {} {what}", grouped(count.unsigned_abs()));
        }
    }
    words
}

/// The chart of a filter: one series for each account, or one sum for one account,
/// more of them than a chart can tell apart, or a state or listing.
fn chart(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    stores: &Stores,
    filter: &list::Filter,
    now: Instant,
) -> db::Result<Option<BarChart>> {
    let (first, days) = sums::chart_days(filter, now, CHART_DAYS, MOST_CHART_DAYS);
    let title = match filter.days {
        (None, None) => CHART,
        (Some(from), _) if from == first => CHART_OF_DAYS,
        _ => CHART_OF_LAST_DAYS,
    };
    if !filter.status.is_empty() || filter.items.is_some() {
        let gross = sums::by_day(tx, words, owner, filter, first, days)?;
        return Ok(BarChart::new(title, first, &gross));
    }
    let mut series = Vec::new();
    for account in stores.ids().filter(|id| filter.store.is_none_or(|store| store == id.0)) {
        let sold = store::gross_of(tx, owner, account, first, days)?;
        if sold.iter().any(|gross| *gross != 0) {
            series.push((stores.name(account), sold));
        }
    }
    if (2..=MOST_SERIES).contains(&series.len()) {
        return Ok(BarChart::stacked(title, first, &series));
    }
    let mut sum = vec![0_i64; days];
    for (_, days) in &series {
        for (sum, day) in sum.iter_mut().zip(days) {
            *sum = sum.saturating_add(*day);
        }
    }
    Ok(BarChart::new(title, first, &sum))
}
