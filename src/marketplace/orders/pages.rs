//! Sales in the seller's panel: the list with its filters and one sale, as
//! page, JSON or CSV.

use serde::Serialize;

use super::list::{self, Order, OrderPage};
use super::views::{SaleLine, SalePage, SalesPage};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::clock::{Day, Instant};
use crate::guard::Person;
use crate::http::answer::ListReply;
use crate::http::chart::{BarChart, BarWords, MOST_SERIES, short_money};
use crate::http::csv_file::CsvFile;
use crate::http::table::{Filter, Head, ListQuery, Listing};
use crate::http::view::{Badge, When};
use crate::http::{Problem, Reply, Request};
use crate::ids::{MlUserId, OrderId};
use crate::marketplace::store;
use crate::marketplace::stores::{self, Stores};
use crate::money::Cents;
use crate::text::grouped;

const LIST: Listing = Listing {
    path: "/painel/vendas",
    hint: "Número da venda ou código do anúncio",
    filters: &[
        Filter {
            name: "estado",
            label: "Situação",
            values: &[
                ("paid", "Pagas"),
                ("payment_required", "Aguardando pagamento"),
                ("partially_refunded", "Reembolso parcial"),
                ("cancelled", "Canceladas"),
            ],
        },
        Filter {
            name: "periodo",
            label: "Período",
            values: &[("hoje", "Hoje"), ("7", "7 dias"), ("30", "30 dias")],
        },
    ],
    orders: &["-criada_em"],
};

/// Days of the chart, today among them.
const CHART_DAYS: u16 = 30;
const CHART: BarWords = BarWords {
    title: "Faturamento por dia, últimos 30 dias",
    unit: "Total",
    value: |cents| Cents(cents).page(),
    mark: short_money,
};

/// Sales in a CSV file, the newest.
const MOST_ROWS: u32 = 100_000;

#[derive(Serialize)]
struct WireSale {
    id: String,
    conta: String,
    ml_user_id: MlUserId,
    estado: String,
    total: Cents,
    moeda: String,
    quantidade: i64,
    titulo: String,
    sku: String,
    anuncio: String,
    comprador: String,
    criada_em: String,
    envio_id: Option<String>,
    envio: Option<String>,
    logistica: Option<String>,
}

fn wire(app: &App, page: &OrderPage, stores: &Stores, order: &Order) -> WireSale {
    let word = |place: usize| page.word(place).to_owned();
    WireSale {
        id: order.order_id.to_string(),
        conta: stores.name(order.ml_user_id),
        ml_user_id: order.ml_user_id,
        estado: word(order.status),
        total: order.total,
        moeda: word(order.currency),
        quantidade: order.quantity,
        titulo: order.title.clone(),
        sku: order.sku.clone(),
        anuncio: order.ml_id.clone(),
        comprador: order.buyer_nickname.clone(),
        criada_em: app.zone().spaced(order.created_at),
        envio_id: order.shipping_id.map(|id| id.to_string()),
        envio: order.shipping_status.map(word),
        logistica: order.logistic_type.map(word),
    }
}

fn line(app: &App, page: &OrderPage, stores: &Stores, order: &Order, now: Instant) -> SaleLine {
    let shipping = order.shipping_status.map(|place| page.word(place));
    SaleLine {
        id: order.order_id.to_string(),
        title: if order.title.is_empty() {
            "Anúncio sem título".to_owned()
        } else {
            order.title.clone()
        },
        quantity: order.quantity,
        sku: order.sku.clone(),
        total: order.total.page(),
        store: stores.name(order.ml_user_id),
        buyer: order.buyer_nickname.clone(),
        state: Badge::order(page.word(order.status)),
        shipping: shipping_words(shipping.unwrap_or_default()).to_owned(),
        when: When::new(app.zone(), order.created_at, now),
    }
}

/// What people call the state of a shipment.
pub fn shipping_words(status: &str) -> &str {
    match status {
        "to_be_agreed" => "A combinar",
        "pending" => "Aguardando",
        "handling" => "Em preparação",
        "ready_to_ship" => "Pronto para envio",
        "shipped" => "A caminho",
        "delivered" => "Entregue",
        "not_delivered" => "Não entregue",
        "cancelled" => "Envio cancelado",
        other => other,
    }
}

/// What people call a kind of shipping.
fn logistic_words(kind: &str) -> &str {
    match kind {
        "drop_off" => "Agência do marketplace",
        "xd_drop_off" => "Ponto de coleta",
        "cross_docking" => "Coleta",
        "self_service" => "Entrega própria no dia",
        "fulfillment" => "Armazém do marketplace",
        "turbo" => "Turbo",
        other => other,
    }
}

/// What the address asks of the orders.
fn asked(app: &App, query: &ListQuery, store: Option<MlUserId>, now: Instant) -> Asked {
    let today = app.day(now);
    let first = match query.filter("periodo") {
        Some("hoje") => Some(today),
        Some(days) => days.parse().ok().map(|days: i64| today.plus(1 - days)),
        None => None,
    };
    let (limit, offset) = query.window();
    let filter = list::Filter {
        status: query.filter("estado").map(str::to_owned),
        store: store.map(|store| store.0),
        days: (first, None),
        created: (first.map(|day| app.zone().start_of(day)), None),
        item_id: None,
        limit: limit.min(MOST_ROWS).into(),
        offset: offset.into(),
    };
    let search = query.search.trim();
    if search.is_empty() {
        Asked::Page(filter)
    } else if let Ok(number) = search.parse() {
        Asked::One(OrderId(number))
    } else if let Some(item_id) = list::item_number(&search.to_ascii_uppercase()) {
        let item_id = Some(item_id);
        Asked::Page(list::Filter { item_id, ..filter })
    } else {
        Asked::Nothing
    }
}

enum Asked {
    Page(list::Filter),
    One(OrderId),
    /// A search for what no sale is called.
    Nothing,
}

/// Whether a list of sales is read by walking over many.
pub fn walks(request: &Request) -> bool {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    crate::http::table::asks_for_much(request)
        || given.any(|(name, value)| name == "q" && value.bytes().any(|b| b.is_ascii_alphabetic()))
}

/// `GET /painel/vendas`: the seller's orders, newest first.
pub fn sales(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (owner, of_store) = (person.account.user_id, stores::asked(request)?);
    let words = &app.marketplace.words;
    let asked = asked(app, &query, of_store, request.now);
    let first = app.day(request.now).plus(1 - i64::from(CHART_DAYS));
    let is_whole = !query.csv && !request.wants_json() && query.page == 1 && !query.is_narrowed();
    let (stores, page, gross) = app.db.read(request.lane, |tx| {
        let stores = Stores::of(tx, owner)?;
        let gross = if is_whole {
            store::gross_by_account(tx, owner, first, CHART_DAYS.into())?
        } else {
            Vec::new()
        };
        let page = match &asked {
            Asked::Page(filter) => list::read_page(tx, words, owner, filter)?,
            Asked::One(order) => list::read_one(tx, words, owner, *order)?,
            Asked::Nothing => OrderPage::default(),
        };
        Ok::<_, Problem>((stores, page, gross))
    })?;
    let total = u64::try_from(page.total).unwrap_or(0);
    if query.csv {
        return csv(app, &page, &stores);
    }
    if request.wants_json() {
        let orders = page.orders.iter();
        let sales = orders.map(|order| wire(app, &page, &stores, order));
        return ListReply::reply(total, sales.collect());
    }
    let columns = [
        Head::plain("Venda"),
        Head::plain("Conta"),
        Head::plain("Total").numeric(),
        Head::plain("Situação"),
        Head::sorts("Quando", "criada_em"),
    ];
    let orders = page.orders.iter();
    Reply::page(&SalesPage {
        layout: layout(app, person, request),
        has_stores: !stores.is_empty(),
        chart: chart(&stores, first, gross, of_store),
        table: LIST.table_by(&query, &columns, total, &stores.choice(of_store)),
        sales: orders
            .map(|order| line(app, &page, &stores, order, request.now))
            .collect(),
    })
}

/// What each account sold by day; one account alone, and more than a chart can
/// tell apart, as one sum.
fn chart(
    stores: &Stores,
    first: Day,
    gross: Vec<(MlUserId, Vec<i64>)>,
    asked: Option<MlUserId>,
) -> Option<BarChart> {
    let wanted = gross.into_iter();
    let wanted = wanted.filter(|(account, _)| asked.is_none_or(|one| one == *account));
    let series: Vec<(String, Vec<i64>)> = wanted
        .map(|(account, days)| (stores.name(account), days))
        .collect();
    if (2..=MOST_SERIES).contains(&series.len()) {
        return BarChart::stacked(CHART, first, &series);
    }
    let mut sum = vec![0_i64; CHART_DAYS.into()];
    for (_, days) in &series {
        for (sum, day) in sum.iter_mut().zip(days) {
            *sum = sum.saturating_add(*day);
        }
    }
    BarChart::new(CHART, first, &sum)
}

fn csv(app: &App, page: &OrderPage, stores: &Stores) -> Result<Reply, Problem> {
    let header = [
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
    ];
    let mut file = CsvFile::new("vendas.csv", &header)?;
    for order in &page.orders {
        let sale = wire(app, page, stores, order);
        file.row([
            &*sale.id,
            &sale.conta,
            &sale.estado,
            &sale.total.page(),
            &sale.moeda,
            &sale.quantidade.to_string(),
            &sale.titulo,
            &sale.sku,
            &sale.anuncio,
            &sale.comprador,
            &sale.criada_em,
            sale.envio_id.as_deref().unwrap_or_default(),
            sale.envio.as_deref().unwrap_or_default(),
            sale.logistica.as_deref().unwrap_or_default(),
        ])?;
    }
    file.reply()
}

#[derive(Serialize)]
struct SaleReply {
    ok: bool,
    #[serde(flatten)]
    sale: WireSale,
}

/// `GET /painel/vendas/{id}`: one order.
pub fn sale(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.variable("id").parse().map(OrderId);
    let id = id.map_err(|_| Problem::not_found())?;
    let owner = person.account.user_id;
    let (stores, page) = app.db.read(request.lane, |tx| {
        let page = list::read_one(tx, &app.marketplace.words, owner, id)?;
        Ok::<_, Problem>((Stores::of(tx, owner)?, page))
    })?;
    let order = page.orders.first().ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        return Reply::json(&SaleReply {
            ok: true,
            sale: wire(app, &page, &stores, order),
        });
    }
    let word = |place: Option<usize>| place.map(|place| page.word(place)).unwrap_or_default();
    Reply::page(&SalePage {
        layout: layout(app, person, request),
        line: line(app, &page, &stores, order, request.now),
        listing: order.ml_id.clone(),
        shipping_id: order
            .shipping_id
            .map(|id| id.to_string())
            .unwrap_or_default(),
        logistic: logistic_words(word(order.logistic_type)).to_owned(),
        quantity: grouped(u64::try_from(order.quantity).unwrap_or(0)),
        exact: app.zone().page(order.created_at),
    })
}
