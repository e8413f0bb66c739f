//! `/fornecedor/pedidos`: what sellers owe, and the files of its parcels.

use serde::Serialize;

use super::{payments, reminders};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{Cents, Instant, OrderId, UserId, Zone};
use crate::dropshipping::debts::{self, Sum, Tally};
use crate::dropshipping::orders::{
    self, DropOrder, DropOrderQuery, DropOrderStatus, StatusFilter, Whose,
};
use crate::dropshipping::relations;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::days::{self, Days};
use crate::panel::list::{Choice, asks_for_much};
use crate::panel::{ListQuery, ListReply, Listing, When, columns, export, filters, flashes, heads};
use crate::partner::supplier::files;
use crate::suppliers::views::{OrderRow, OrdersPage};
use crate::suppliers::{SELLER, asked, choice};
use crate::wire;

pub const PATH: &str = "/fornecedor/pedidos";

pub(in crate::suppliers) const LIST: Listing = Listing {
    path: PATH,
    hint: "Pedido, SKU ou produto",
    filters: filters! {
        "situacao": "Situação", "Todos", &[
            ("aberto", "Em aberto"), ("vencido", "Em atraso"), ("pago", "Pagos"),
            ("a_vencer", "A vencer"), ("cancelado", "Cancelados"),
        ];
    },
    sort_keys: &["-data", "vencimento"],
    heads: heads![
        "Pedido" => "data", "Vendedor", "Valor" numeric, "Vencimento" => "vencimento", "Situação",
    ],
    file: "pedidos.csv",
    csv: columns![
        id pedido seller_id vendedor sku produto quantidade custo valor situacao vence_em pago_em
        lembrado_em
    ],
    flashes: flashes! {
        "aberto": good "Pagamento desfeito", "O pedido voltou a ser devido.";
        "nenhum": warn "Nada foi marcado", "Marque os pedidos que foram pagos antes.";
        "cancelado": warn "Nada foi anotado", "A venda foi cancelada, e por ela nada é devido.";
    },
};

/// `3 pedidos`.
pub fn counted(orders: i64) -> String {
    crate::base::counted(orders, "pedido", "pedidos")
}

wire! {
    /// A drop order as programs of its two sides read it.
    #[derive(Serialize)]
    pub(in crate::suppliers) struct OrderJson of(order: DropOrder, zone: Zone, now: Instant) {
        situacao: &'static str = order.status(now).name(),
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

pub(in crate::suppliers) fn row(order: DropOrder, zone: Zone, now: Instant) -> OrderRow {
    let status = order.status(now);
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
    asks_for_much(request)
        || given.any(|(name, _)| matches!(&*name, "q" | "ordem" | "vendedor" | "de" | "ate"))
}

/// The filter and order that a list's address asks for.
pub(in crate::suppliers) fn wanted(
    whose: Whose,
    query: &ListQuery,
    other: Option<UserId>,
    now: Instant,
) -> DropOrderQuery {
    DropOrderQuery {
        status: query.filter("situacao").and_then(status_filter),
        other,
        search: query.search.to_lowercase(),
        by_due: query.sort_key == "vencimento",
        descending: query.descending,
        ..DropOrderQuery::all(whose, now)
    }
}

/// What a value of the filter by state selects.
pub(in crate::suppliers) fn status_filter(value: &str) -> Option<StatusFilter> {
    Some(match value {
        "aberto" => StatusFilter::Open,
        "a_vencer" => StatusFilter::Of(DropOrderStatus::Pending),
        "vencido" => StatusFilter::Of(DropOrderStatus::Overdue),
        "pago" => StatusFilter::Of(DropOrderStatus::Paid),
        "cancelado" => StatusFilter::Of(DropOrderStatus::Cancelled),
        _ => return None,
    })
}

/// What the address of the list asks for. Forms of the page carry it in their action,
/// so their acts know the filter and come back to the page as it was.
pub(in crate::suppliers) struct Asked {
    query: ListQuery,
    seller: Option<UserId>,
    days: Days,
}

impl Asked {
    pub fn of(request: &Request) -> Result<Self, Problem> {
        let (query, seller) = (LIST.read(request)?, asked(request, SELLER)?);
        Ok(Self { query, seller, days: Days::of(request) })
    }

    /// The same for programs and acts, for which a day that is none is an error.
    pub fn strictly(request: &Request) -> Result<Self, Problem> {
        let asked = Self::of(request)?;
        asked.days.check()?;
        Ok(asked)
    }

    pub fn address(&self) -> String {
        let seller = self.seller.map_or_else(String::new, |id| id.to_string());
        let [from, to] = days::NAMES.map(|name| self.days.typed(name));
        LIST.address(
            &self.query,
            &[(SELLER, &seller), (days::NAMES[0], &from), (days::NAMES[1], &to)],
        )
    }

    pub fn wanted(&self, owner: UserId, zone: Zone, now: Instant) -> DropOrderQuery {
        DropOrderQuery {
            span: self.days.span(zone),
            ..wanted(Whose::Supplier(owner), &self.query, self.seller, now)
        }
    }
}

/// `GET /fornecedor/pedidos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let asked = Asked::of(request)?;
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let wanted = asked.wanted(owner, zone, now);
    if asked.query.csv {
        asked.days.check()?;
        let ids = app.db.read(request.lane, |tx| orders::ids(tx, &wanted))?;
        return export::list(app, person, &LIST, ids, move |_, tx, id| {
            let order = orders::one(tx, Whose::Supplier(owner), id)?;
            Ok(order.map(|order| OrderJson::of(order, zone, now)))
        });
    }
    if request.wants_json() {
        asked.days.check()?;
        let window = asked.query.window();
        let (rows, total) = app.db.read(request.lane, |tx| orders::page(tx, &wanted, window))?;
        return ListReply::of(total, rows, |order| OrderJson::of(order, zone, now));
    }
    page((app, person, request), asked, &wanted)
}

fn page(
    (app, person, request): Visit<'_>,
    mut asked: Asked,
    wanted: &DropOrderQuery,
) -> Result<Reply, Problem> {
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let is_after_act = request.notice.is_some();
    let (sellers, late, tally, newest) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((
            relations::sellers(tx, owner)?,
            debts::owed(tx, Whose::Related(owner), now)?.overdue,
            debts::tally(tx, wanted)?,
            debts::newest(tx)?,
        ))
    })?;
    let sum = tally.of(wanted.status);
    let total = u64::try_from(sum.orders).unwrap_or(0);
    if is_after_act {
        asked.query.end_at(total);
    }
    let window = asked.query.window();
    let rows = app.db.read(request.lane, |tx| orders::rows(tx, wanted, window))?;
    let mut choice = choice(SELLER, "Vendedor", &sellers, asked.seller);
    let of = asked.seller.and_then(|id| named(&mut choice, id, &rows));
    let (query, days) = (&asked.query, Some(asked.days));
    let count = |value: &str| u64::try_from(tally.of(status_filter(value)).orders).ok();
    let table = LIST.table_by(query, LIST.heads, total, &choice, days).counted(count);
    let flash = payments::flash(request, &table.query).or_else(|| reminders::flash(request));
    Reply::page(&OrdersPage {
        layout: layout(app, person, request).with_flash(flash),
        sum: in_words(of.as_deref(), &tally, wanted.status),
        open: wanted.open().map_or_else(Sum::default, |open| tally.of(open.status)),
        marks: request.parameter("marcar").is_some_and(|value| value == "todos"),
        seen: payments::seen(now, newest),
        orders: rows.into_iter().map(|order| row(order, zone, now)).collect(),
        late,
        wait: reminders::wait(app, owner, now),
        has_sellers: !sellers.is_empty(),
        table,
    })
}

/// The name of the seller to whom the list is narrowed. One who no longer does business
/// with the supplier joins the filter's values.
fn named(choice: &mut Choice, id: UserId, rows: &[DropOrder]) -> Option<String> {
    let id = id.to_string();
    if let Some((_, name)) = choice.values.iter().find(|(known, _)| *known == id) {
        return Some(name.clone());
    }
    let name = rows.first()?.seller.clone();
    choice.values.push((id, name.clone()));
    Some(name)
}

/// `3 pedidos · R$ 60,00 em atraso`: what a list comes to.
fn in_words(seller: Option<&str>, tally: &Tally, status: Option<StatusFilter>) -> String {
    let said =
        |sum: Sum, words: &str| (sum.orders > 0).then(|| format!("{} {words}", sum.amount.page()));
    let amounts = match status {
        None => [said(tally.open(), "em aberto"), said(tally.paid, "pagos")],
        Some(StatusFilter::Open) => [said(tally.open(), "em aberto"), None],
        Some(StatusFilter::Of(one)) => {
            let words = match one {
                DropOrderStatus::Pending => "a vencer",
                DropOrderStatus::Overdue => "em atraso",
                DropOrderStatus::Paid => "pagos",
                DropOrderStatus::Cancelled => "cancelados",
            };
            [said(tally.of(status), words), None]
        }
    };
    let orders = match tally.of(status).orders {
        0 => "Nenhum pedido".to_owned(),
        orders => counted(orders),
    };
    let parts = seller.map(str::to_owned).into_iter().chain([orders]);
    parts.chain(amounts.into_iter().flatten()).collect::<Vec<_>>().join(" · ")
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
