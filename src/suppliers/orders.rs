//! `/fornecedor/pedidos`: what sellers owe, payments, reminders, files.

use http::StatusCode;
use http::header::RETRY_AFTER;
use serde::Serialize;
use serde_json::json;

use super::views::{OrderRow, OrdersPage};
use super::{SELLER, asked, choice};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, Instant, OrderId, UserId, Zone, grouped};
use crate::db::WriteTx;
use crate::dropshipping::orders::{
    self, DropOrder, DropOrderQuery, DropOrderStatus, DropState, Whose,
};
use crate::dropshipping::relations;
use crate::dropshipping::reminders;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::identity::guard::remind_all_charge;
use crate::messages::choices::ChannelSet;
use crate::panel::list::asks_for_much;
use crate::panel::{
    Answer, Filter, Flash, Head, ListQuery, ListReply, Listing, Notice, Sent, Tone, When, export,
    form,
};
use crate::partner::supplier::files;
use crate::wire;

pub const PATH: &str = "/fornecedor/pedidos";
/// Most orders that are marked as paid at a time.
const MOST_PAID: usize = 200;

/// The filter of lists of drop orders by state.
const BY_STANDING: Filter = Filter {
    name: "situacao",
    label: "Situação",
    all: "Todos",
    values: &[
        ("a_vencer", "A vencer"),
        ("vencido", "Vencidos"),
        ("pago", "Pagos"),
        ("cancelado", "Cancelados"),
    ],
};

pub(super) const LIST: Listing = Listing {
    path: PATH,
    hint: "Pedido, SKU ou produto",
    filters: &[BY_STANDING],
    sort_keys: &["-data", "vencimento"],
    heads: &[
        Head::sorts("Pedido", "data"),
        Head::plain("Vendedor"),
        Head::plain("Valor").numeric(),
        Head::sorts("Vencimento", "vencimento"),
        Head::plain("Situação"),
    ],
    file: "pedidos.csv",
    csv: &[
        "id",
        "pedido",
        "seller_id",
        "vendedor",
        "sku",
        "produto",
        "quantidade",
        "custo",
        "valor",
        "situacao",
        "vence_em",
        "pago_em",
        "lembrado_em",
    ],
    flashes: &[
        Flash::good("pago", "Pagamento anotado", ""),
        Flash::good("aberto", "Pagamento desfeito", "O pedido voltou a ser devido."),
        Flash::good("lembrado", "Vendedor lembrado", "Um lembrete vale por 24 horas."),
        Flash::warn("nenhum", "Nada foi marcado", "Marque os pedidos que foram pagos antes."),
        Flash::warn(
            "cancelado",
            "Nada foi anotado",
            "A venda foi cancelada, e por ela nada é devido.",
        ),
        Flash::warn("quitado", "Nada a lembrar", "Por este pedido nada é devido."),
        Flash::warn(
            "espera",
            "Todos foram lembrados há pouco",
            "Espere a janela acabar para lembrar todos de novo.",
        ),
    ],
};

/// `3 pedidos`.
pub fn counted(orders: i64) -> String {
    match orders {
        1 => "1 pedido".to_owned(),
        orders => format!("{} pedidos", grouped(orders)),
    }
}

wire! {
    /// A drop order as programs of its two sides read it.
    #[derive(Serialize)]
    pub(super) struct OrderJson of(order: DropOrder, zone: Zone, now: Instant) {
        situacao: &'static str = order.standing(now).name(),
        id: String = order.id.to_string(),
        pedido: OrderId = order.order_id,
        seller_id: UserId = order.seller_id,
        vendedor: String = order.seller,
        fornecedor_id: UserId = order.supplier_id,
        fornecedor: String = order.supplier,
        sku: String = order.sku,
        produto: String = order.title,
        quantidade: i64 = order.quantity,
        custo: Cents = order.unit,
        valor: Cents = order.amount,
        vendido_em: String = zone.spaced(order.ordered_at),
        vence_em: String = zone.spaced(order.due_at),
        pago_em: Option<String> = order.paid_at.map(|at| zone.spaced(at)),
        lembrado_em: Option<String> = order.reminded_at.map(|at| zone.spaced(at)),
    }
}

pub(super) fn row(order: DropOrder, zone: Zone, now: Instant) -> OrderRow {
    let status = order.standing(now);
    let when = |at: Option<Instant>| at.map(|at| When::new(zone, at, now));
    OrderRow {
        due: zone.civil(order.due_at).strftime("%d/%m/%Y").to_string(),
        paid: when(order.paid_at),
        reminded: when(order.reminded_at.filter(|_| status.is_open())),
        status,
        order,
    }
}

/// Whether a request reads many drop orders: searches, filters and files do.
pub fn needs_slow_lane(request: &Request) -> bool {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    asks_for_much(request) || given.any(|(name, _)| matches!(&*name, "q" | "ordem" | "vendedor"))
}

/// The filter and order that a list's address asks for.
pub(super) fn wanted(
    whose: Whose,
    query: &ListQuery,
    other: Option<UserId>,
    now: Instant,
) -> DropOrderQuery {
    DropOrderQuery {
        standing: match query.filter("situacao") {
            Some("a_vencer") => Some(DropOrderStatus::Pending),
            Some("vencido") => Some(DropOrderStatus::Overdue),
            Some("pago") => Some(DropOrderStatus::Paid),
            Some("cancelado") => Some(DropOrderStatus::Cancelled),
            _ => None,
        },
        other,
        search: query.search.to_lowercase(),
        by_due: query.sort_key == "vencimento",
        descending: query.descending,
        ..DropOrderQuery::all(whose, now)
    }
}

/// `GET /fornecedor/pedidos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let seller = asked(request, SELLER)?;
    let whose = Whose::Supplier(owner);
    let wanted = wanted(whose, &query, seller, now);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| orders::ids(tx, &wanted))?;
        return export::list(app, person, &LIST, ids, move |_, tx, id| {
            Ok(orders::one(tx, whose, id)?.map(|order| OrderJson::of(order, zone, now)))
        });
    }
    let (sellers, owed, (rows, total)) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((
            relations::sellers(tx, owner)?,
            orders::owed(tx, whose, now)?,
            orders::page(tx, &wanted, query.window())?,
        ))
    })?;
    if request.wants_json() {
        let rows = rows.into_iter().map(|order| OrderJson::of(order, zone, now));
        return ListReply::reply(total, rows.collect());
    }
    let verdict = remind_all_charge(app, owner).peek(app, now).verdict;
    let wait = verdict.filter(|verdict| !verdict.allowed || verdict.remaining == 0);
    Reply::page(&OrdersPage {
        layout: layout(app, person, request).with_flash(flash(request)),
        table: LIST.table_by(
            &query,
            LIST.heads,
            total,
            (&choice(SELLER, "Vendedor", &sellers, seller), None),
        ),
        orders: rows.into_iter().map(|order| row(order, zone, now)).collect(),
        owed,
        wait: wait.map(|verdict| zone.civil(verdict.reset).strftime("%H:%M:%S").to_string()),
        has_sellers: !sellers.is_empty(),
    })
}

fn flash(request: &Request) -> Option<Notice> {
    let word = request.notice.as_deref()?;
    if let Some(count) = word.strip_prefix("pagos-").and_then(|count| count.parse().ok()) {
        let title = format!("Pagamento de {} anotado", counted(count));
        return Some(Notice::new(Tone::Good, title, ""));
    }
    if let Some((sellers, orders)) =
        word.strip_prefix("lembrados-").and_then(|it| it.split_once('-'))
    {
        let text = format!("Vendedores com pedidos vencidos: {sellers}. Pedidos: {orders}.");
        return Some(Notice::new(Tone::Good, "Lembretes a caminho", text));
    }
    Flash::notice(LIST.flashes, word)
}

/// Marks an order as paid: whether that is new, or why nothing is to be paid.
fn paid(tx: &WriteTx<'_>, owner: UserId, id: i64) -> Result<bool, Problem> {
    match orders::pay(tx, owner, id)?.ok_or_else(Problem::not_found)? {
        DropState::Pending => Ok(true),
        DropState::Paid => Ok(false),
        DropState::Cancelled => {
            Err(Problem::new(Code::Conflict, "the order was called off; nothing is owed"))
        }
    }
}

/// `POST /fornecedor/pedidos/{id}/pago`: marks an order as paid.
pub fn pay(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| match paid(tx, owner, id) {
        Ok(_) => answer.done(id, PATH, "pago"),
        Err(problem) => answer.declined(problem, PATH, "cancelado"),
    }))
}

/// `POST /fornecedor/pedidos/{id}/desfazer`: undoes a payment that was marked
/// by mistake.
pub fn unpay(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        orders::one(tx, Whose::Supplier(owner), id)?.ok_or_else(Problem::not_found)?;
        orders::unpay(tx, owner, id)?;
        answer.done(id, PATH, "aberto")
    }))
}

/// `POST /fornecedor/pedidos/pagos`: marks several orders as paid, all or none.
pub fn pay_many(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let ids: Vec<String> = if sent.is_form {
        form::all_sent(request, "ids").map(std::borrow::Cow::into_owned).collect()
    } else {
        sent.required("ids")
    };
    let answer = Answer::to(request);
    if ids.is_empty() && sent.is_form {
        let problem = Problem::field("ids", "must be 1 to 200 orders");
        return answer.refused(problem, PATH, "nenhum").map(nothing_to_do);
    }
    let numbers: Option<Vec<i64>> = ids.iter().map(|id| id.parse().ok()).collect();
    if !(1..=MOST_PAID).contains(&ids.len()) {
        sent.check.fail("ids", format!("must be 1 to {MOST_PAID} orders"));
    } else if numbers.is_none() {
        sent.check.fail("ids", "must be numbers of orders");
    }
    sent.finish()?;
    let owner = person.account.user_id;
    let numbers = numbers.unwrap_or_default();
    Ok(Box::new(move |tx| {
        let mut count = 0;
        for id in numbers {
            count += i64::from(paid(tx, owner, id)?);
        }
        answer.with(PATH, &format!("pagos-{count}"), &[("pagos", json!(count))])
    }))
}

/// `POST /fornecedor/pedidos/{id}/lembrar`: reminds the seller of an order.
pub fn remind(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner, answer) = (request.id()?, person.account.user_id, Answer::to(request));
    let channel_set = ChannelSet::of(&app.config);
    Ok(Box::new(move |tx| {
        let order = orders::one(tx, Whose::Related(owner), id)?.ok_or_else(Problem::not_found)?;
        if !order.standing(tx.now()).is_open() {
            let problem = Problem::new(Code::Conflict, "nothing is owed for this order");
            return answer.declined(problem, PATH, "quitado");
        }
        let way = reminders::of_order(tx, channel_set, &order)?;
        answer.with(
            PATH,
            "lembrado",
            &[("id", json!(id.to_string())), ("canal", json!(way.name()))],
        )
    }))
}

/// `POST /fornecedor/pedidos/lembrar`: reminds all sellers of overdue orders.
/// The rate limit, once in a window, is shared with the API.
pub fn remind_all(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (owner, answer) = (person.account.user_id, Answer::to(request));
    let charged = remind_all_charge(app, owner).count(app, request.now);
    if let Err(problem) = charged.outcome {
        let wait = charged.verdict.map_or(1, |verdict| verdict.retry_after_s(request.now));
        if request.wants_json() {
            return Err(Problem { retry_after_s: Some(wait), ..problem });
        }
        let reply = Reply::back(PATH, "espera")?.with(RETRY_AFTER, wait.into());
        return Ok(reply.status(StatusCode::SEE_OTHER));
    }
    let channel_set = ChannelSet::of(&app.config);
    let told = reminders::of_all(&app.db, channel_set, owner)?;
    let word = format!("lembrados-{}-{}", told.sellers, told.orders);
    let members = [("vendedores", json!(told.sellers)), ("pedidos", json!(told.orders))];
    answer.with(PATH, &word, &members)
}

/// The drop order of the path, of a seller with an active relation.
fn related(app: &App, person: &Person, request: &Request) -> Result<DropOrder, Problem> {
    let (id, whose) = (request.id()?, Whose::Related(person.account.user_id));
    let order = app.db.read(request.lane, |tx| orders::one(tx, whose, id))?;
    order.ok_or_else(Problem::not_found)
}

/// `GET /fornecedor/pedidos/{id}/etiqueta`: the label of its parcel.
pub fn label(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let order = related(app, person, request)?;
    let shipment = order.shipping_id.ok_or_else(Problem::not_found)?;
    files::label(app, person.account.user_id, order.seller_id, shipment)
}

/// `GET /fornecedor/pedidos/{id}/nota`: its fiscal note.
pub fn invoice(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let order = related(app, person, request)?;
    files::invoice(app, person.account.user_id, order.seller_id, order.order_id)
}
