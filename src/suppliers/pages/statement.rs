//! `/fornecedor/extrato`: what sellers ordered in a month, and what of it is paid, by
//! seller and order by order.

use serde::Serialize;
use serde_json::json;

use super::orders::{counted, row};
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::{App, Visit};
use crate::base::{Cents, Day, Instant, UserId, Zone};
use crate::dropshipping::debts::{self, Tally};
use crate::dropshipping::orders::{self, DropOrder, DropOrderQuery, DropOrderStatus, Whose};
use crate::dropshipping::relations;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::csv::CsvFile;
use crate::panel::view::{address, month_in_words};
use crate::panel::{ListQuery, Listing, Pick, columns, export, heads};
use crate::suppliers::views::{StatementPage, StatementRow};
use crate::suppliers::{SELLER, asked};
use crate::wire;

pub const PATH: &str = "/fornecedor/extrato";

pub(in crate::suppliers) const LIST: Listing = Listing {
    path: PATH,
    sort_keys: &["data"],
    heads: heads!["Pedido", "Vendido", "Situação", "Valor" numeric],
    file: "extrato.csv",
    csv: columns![
        pedido vendido_em seller_id vendedor sku produto quantidade valor pago em_aberto situacao
        vence_em pago_em
    ],
    ..Listing::NONE
};

wire! {
    /// An order of a statement. What was cancelled comes to nothing.
    #[derive(Serialize)]
    struct LineJson of(order: DropOrder, zone: Zone, now: Instant) after {
        let status = order.status(now);
        let amount = |is_so: bool| if is_so { order.amount } else { Cents(0) };
        let (paid, open) = (amount(status == DropOrderStatus::Paid), amount(status.is_open()));
    } {
        pedido: String = order.order_id.to_string(),
        vendido_em: String = zone.spaced(order.ordered_at),
        seller_id: String = order.seller_id.to_string(),
        vendedor: String = order.seller,
        sku: String = order.sku,
        produto: String = order.title,
        quantidade: Option<i64> = Some(order.quantity),
        valor: Cents = paid + open,
        pago: Cents = paid,
        em_aberto: Cents = open,
        situacao: &'static str = status.words(),
        vence_em: String = zone.spaced(order.due_at),
        pago_em: String = order.paid_at.map(|at| zone.spaced(at)).unwrap_or_default(),
    }
}

wire! {
    /// What a month comes to.
    #[derive(Serialize)]
    struct SumsJson of(tally: &Tally) {
        pedidos: i64 = tally.open().orders + tally.paid.orders,
        valor: Cents = tally.open().amount + tally.paid.amount,
        pago: Cents = tally.paid.amount,
        em_aberto: Cents = tally.open().amount,
        em_atraso: Cents = tally.owed.overdue.amount,
        cancelados: i64 = tally.cancelled.orders,
    }
}

/// The month that the address names, else the present one.
fn month(request: &Request, today: Day) -> Result<Day, Problem> {
    let text = request.parameter("mes").filter(|text| !text.is_empty());
    let Some(text) = text else { return Ok(today.month_start()) };
    let day = Day::parse(&format!("{text}-01"));
    day.ok_or_else(|| Problem::field("mes", "must be a month, such as 2026-11"))
}

/// `2026-11`.
pub(in crate::suppliers) fn typed(month: Day) -> String {
    month.iso().chars().take(7).collect()
}

/// `novembro de 2026`.
fn in_words(month: Day) -> String {
    format!("{} de {}", month_in_words(month), month.date().year())
}

/// The statement of a month, of a seller or of all, as page, JSON or CSV.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let month = month(request, app.day(now))?;
    let wanted = DropOrderQuery {
        other: asked(request, SELLER)?,
        span: (Some(zone.start_of(month)), Some(zone.start_of(month.next_month_start()))),
        descending: query.descending,
        ..DropOrderQuery::all(Whose::Supplier(owner), now)
    };
    if query.csv {
        return file(app, person, request, &wanted);
    }
    if request.wants_json() {
        return programs(app, request, &wanted, month);
    }
    page((app, person, request), &query, &wanted, month)
}

/// The orders of the month, and what they come to in a last row.
fn file(
    app: &App,
    person: &Person,
    request: &Request,
    wanted: &DropOrderQuery,
) -> Result<Reply, Problem> {
    let (whose, zone, now) = (wanted.whose, app.zone(), wanted.now);
    let ids = app.db.read(request.lane, |tx| orders::ids(tx, wanted))?;
    let keys: Vec<Option<i64>> = ids.into_iter().map(Some).chain([None]).collect();
    let file = CsvFile::of(LIST.file, LIST.csv)?;
    let mut sums = LineJson {
        pedido: "Total".to_owned(),
        vendido_em: String::new(),
        seller_id: String::new(),
        vendedor: String::new(),
        sku: String::new(),
        produto: String::new(),
        quantidade: None,
        valor: Cents(0),
        pago: Cents(0),
        em_aberto: Cents(0),
        situacao: "",
        vence_em: String::new(),
        pago_em: String::new(),
    };
    export::send(app, person, file, keys, move |_, tx, key, file| {
        let Some(id) = key else { return file.record(LIST.csv, &sums) };
        let Some(order) = orders::one(tx, whose, id)? else { return Ok(()) };
        let line = LineJson::of(order, zone, now);
        sums.valor = sums.valor + line.valor;
        sums.pago = sums.pago + line.pago;
        sums.em_aberto = sums.em_aberto + line.em_aberto;
        file.record(LIST.csv, &line)
    })
}

fn programs(
    app: &App,
    request: &Request,
    wanted: &DropOrderQuery,
    month: Day,
) -> Result<Reply, Problem> {
    let (all, sellers) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((debts::tally(tx, wanted)?, debts::by_seller(tx, wanted)?))
    })?;
    let seller = |(id, name, tally): &(UserId, String, Tally)| json!({ "seller_id": id, "vendedor": name, "totais": SumsJson::of(tally) });
    Reply::json(&json!({
        "ok": true, "mes": typed(month), "totais": SumsJson::of(&all),
        "vendedores": sellers.iter().map(seller).collect::<Vec<_>>(),
    }))
}

fn page(
    (app, person, request): Visit<'_>,
    query: &ListQuery,
    wanted: &DropOrderQuery,
    month: Day,
) -> Result<Reply, Problem> {
    let (owner, zone, now) = (person.account.user_id, app.zone(), request.now);
    let (known, tally, by_seller, rows, name) = app.db.read(request.lane, |tx| {
        // Orders are shown of one seller, the sums of each else.
        let (by_seller, rows, name) = match wanted.other {
            None => (debts::by_seller(tx, wanted)?, Vec::new(), None),
            Some(id) => {
                let rows = orders::rows(tx, wanted, query.window())?;
                // Only who does or did business with the supplier has a name here.
                let is_known = !rows.is_empty() || relations::is_active(tx, owner, id)?;
                let found = if is_known { accounts::by_id(tx, id)? } else { None };
                (Vec::new(), rows, found.map(|one| one.name))
            }
        };
        let sellers = relations::sellers(tx, owner)?;
        Ok::<_, Problem>((sellers, debts::tally(tx, wanted)?, by_seller, rows, name))
    })?;
    let seller = wanted.other.map_or_else(String::new, |id| id.to_string());
    let all = tally.of(None);
    let total = match wanted.other {
        None => u64::try_from(by_seller.len()),
        Some(_) => u64::try_from(all.orders),
    };
    let month_typed = typed(month);
    let more = [(SELLER, &*seller), ("mes", &*month_typed)];
    let to = |month: Day| address(PATH, &[(SELLER, &*seller), ("mes", &typed(month))]);
    let mut picks: Vec<Pick> =
        known.into_iter().map(|one| Pick::of((one.id.0, one.name))).collect();
    if let (Some(id), Some(name)) = (wanted.other, &name)
        && !picks.iter().any(|pick| pick.value == seller)
    {
        picks.push(Pick::of((id.0, name.clone())));
    }
    Reply::page(&StatementPage {
        layout: layout(app, person, request),
        sum: statement_sum(name.as_deref(), month, &tally),
        table: LIST.table_within(query, LIST.heads, total.unwrap_or(0), &more),
        earlier: to(month.plus(-1).month_start()),
        later: (month.next_month_start() <= app.day(now)).then(|| to(month.next_month_start())),
        month: month_typed,
        seller,
        sellers: picks,
        by_seller: by_seller
            .into_iter()
            .map(|(id, name, tally)| StatementRow {
                href: address(PATH, &[(SELLER, &id.to_string()), ("mes", &typed(month))]),
                name,
                tally,
            })
            .collect(),
        days: rows
            .iter()
            .map(|order| zone.civil(order.ordered_at).strftime("%d/%m").to_string())
            .collect(),
        orders: rows.into_iter().map(|order| row(order, zone, now)).collect(),
        tally,
    })
}

/// `Ana Souza · novembro de 2026 · 3 pedidos · R$ 60,00`.
fn statement_sum(name: Option<&str>, month: Day, tally: &Tally) -> String {
    let counts = tally.open().and(tally.paid);
    let orders = match counts.orders {
        0 => "nenhum pedido".to_owned(),
        orders => format!("{} · {}", counted(orders), counts.amount.page()),
    };
    let name = name.map(|name| format!("{name} · ")).unwrap_or_default();
    format!("{name}{} · {orders}", in_words(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_said_and_typed() {
        let month = Day::parse("2026-03-01").unwrap();
        assert_eq!(
            (in_words(month), typed(month)),
            ("março de 2026".to_owned(), "2026-03".to_owned())
        );
    }
}
