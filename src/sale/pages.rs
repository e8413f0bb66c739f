//! One sale in the seller's panel: what it earned, what happened, what belongs to it.

use super::views::{SaleLine, SalePage, warning};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{Cents, OrderId, UserId};
use crate::db::{self, ReadTx};
use crate::dropshipping::orders::{self as supplied, DropOrder};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims;
use crate::marketplace::books::claims::store::Claim;
use crate::marketplace::books::claims::views::ShownClaim;
use crate::marketplace::books::listings::store as listings;
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::orders::cost::{self, Costs};
use crate::marketplace::books::orders::left::Earned;
use crate::marketplace::books::orders::list::{self, Order, OrderPage, ShownLine};
use crate::marketplace::books::orders::pages::{LIST, WireSale};
use crate::marketplace::books::words::Words;
use crate::marketplace::outside;
use crate::marketplace::tools::fees::remains::MOST_CENTS;
use crate::marketplace::tools::{fees, labels};
use crate::panel::{Answer, Form, FormView, Happened, PageTime, Sent, Tone, form};

/// The form of what a unit costs.
const COST: Form<Cents> = form! {
    "custo": Amount(1..=MOST_CENTS, |cost| cost),
        "Informe um custo de 0,01 a 10.000.000,00, como 31,50.";
};

/// A sale of the caller with all that belongs to it.
struct Found {
    order: Order,
    page: OrderPage,
    stores: Stores,
    earned: Option<Earned>,
    tax: f64,
    claims: Vec<Claim>,
    supplied: Vec<DropOrder>,
    has_listing: bool,
    /// Its lines, when it has several.
    lines: Vec<SaleLine>,
    /// Whether a sale in its parcel must not be sent.
    is_barred: bool,
}

impl Found {
    fn read((app, person, request): Visit<'_>) -> Result<Self, Problem> {
        let (id, owner) = (OrderId(request.id()?), person.account.user_id);
        app.db.read(request.lane, |tx| {
            let mut page = list::read_one(tx, &app.marketplace.words, owner, id)?;
            let tax = fees::tax_rate(app, fees::store::settings(tx, person)?.tax);
            let earned = page.earned(tx, &app.marketplace.words, owner, tax)?.pop().flatten();
            let order = page.orders.pop().ok_or_else(Problem::not_found)?;
            let claims = claims::store::of_sale(tx, owner, id, order.shipping_id, order.pack_id)?;
            let supplied = supplied::of_sale(tx, owner, id)?;
            let stores = Stores::of(tx, owner)?;
            let has_listing = listings::stored(tx, owner, order.item_id)?.is_some();
            let lines = lines((tx, &app.marketplace.words, owner), &page, &order)?;
            let is_barred = order.shipping_id.map_or(Ok(false), |shipment| {
                let barred = labels::barred(tx, owner, order.ml_user_id, &[shipment])?;
                Ok::<_, db::DbError>(!barred.is_empty())
            })?;
            Ok(Self {
                order,
                page,
                stores,
                earned,
                tax,
                claims,
                supplied,
                has_listing,
                lines,
                is_barred,
            })
        })
    }
}

/// The lines of an order, when it has several.
fn lines(
    (tx, words, owner): (&ReadTx<'_>, &Words, UserId),
    page: &OrderPage,
    order: &Order,
) -> db::Result<Vec<SaleLine>> {
    if page.line_count(order) < 2 {
        return Ok(Vec::new());
    }
    let mut costs = Costs::of(tx, words, owner);
    page.lines(order)
        .map(|ShownLine { line, wording }| {
            let title =
                if wording.title.is_empty() { "Anúncio sem título" } else { wording.title };
            Ok(SaleLine {
                ml_id: wording.ml_id.to_owned(),
                title: title.to_owned(),
                sku: wording.sku.to_owned(),
                units: line.units,
                price: page.money(order, Cents(line.unit.0.saturating_mul(line.units))),
                cost: costs.of_lines(&[line])?,
                has_listing: listings::stored(tx, owner, line.item_id)?.is_some(),
            })
        })
        .collect()
}

/// The address of the label of an order's parcel; empty when there is none to
/// print.
fn label(order: &Order) -> String {
    match order.shipping_id {
        Some(shipment) if order.stage.has_label() => {
            labels::address_for(labels::FILE, order.ml_user_id, shipment)
        }
        _ => String::new(),
    }
}

/// `GET /painel/vendas/{id}`: one order.
pub fn sale(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let found = Found::read((app, person, request))?;
    if request.wants_json() {
        let sale = (&found.order, found.earned);
        return Reply::ok(&WireSale::of(app, &found.page, &found.stores, sale));
    }
    sale_page((app, person, request), found, COST.show(None, app.zone()).unfocused())
}

fn sale_page(
    (app, person, request): Visit<'_>,
    found: Found,
    form: FormView,
) -> Result<Reply, Problem> {
    let time = PageTime::of(app, request);
    let Found { order, page, stores, earned, tax, claims, supplied, has_listing, lines, is_barred } =
        found;
    let (events, untimed) = happened(&order, &page, &claims, time);
    Reply::page(&SalePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        parcel_label: if OrderStatus::sale_of(order.status) == SaleState::Paid && !is_barred {
            label(&order)
        } else {
            String::new()
        },
        outside: outside::sale(&app.config.marketplace.auth_base, order.order_id),
        claims: claims.into_iter().map(|one| ShownClaim::of(one, &stores, time)).collect(),
        warning: warning(&order, is_barred),
        lines,
        order,
        page,
        stores,
        time,
        earned,
        tax,
        form,
        events,
        untimed,
        supplied,
        has_listing,
    })
}

/// What happened to a sale, newest first, and what did so at a time that the
/// marketplace does not tell.
fn happened(
    order: &Order,
    page: &OrderPage,
    claims: &[Claim],
    time: PageTime,
) -> (Vec<Happened>, String) {
    let event = |tone, at, text: &str| (at, tone, text.to_owned(), String::new());
    let mut events = vec![event(Tone::Info, order.created_at, "Venda feita")];
    let mut untimed = Vec::new();
    let status = OrderStatus::sale_of(order.status);
    let parcel = page.word_or_none(order.shipping_status);
    let has_left = order.stage.is_away() || parcel == "not_delivered";
    for (at, tone, text, is_so) in [
        (order.paid_at, Tone::Good, "Pagamento aprovado", status == SaleState::Paid),
        (order.printed_at, Tone::Info, "Etiqueta impressa", false),
        (order.sent_at, Tone::Info, "Pacote enviado", has_left),
        (order.delivered_at, Tone::Good, "Entregue ao comprador", parcel == "delivered"),
    ] {
        match at {
            Some(at) => events.push(event(tone, at, text)),
            None if is_so => untimed.push(text.to_lowercase()),
            None => {}
        }
    }
    for Claim { claim, .. } in claims {
        let href = format!("{}/{}", claims::pages::LIST.path, claim.id);
        events.push((claim.opened_at, Tone::Warn, "Reclamação aberta".to_owned(), href.clone()));
        if !claim.is_open() {
            events.push((claim.updated_at, Tone::Info, "Reclamação encerrada".to_owned(), href));
        }
    }
    // Of one second, the later step stands above.
    events.reverse();
    events.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let shown = events.into_iter().map(|(at, tone, text, href)| Happened {
        tone,
        when: time.when(&at),
        text,
        detail: String::new(),
        href,
    });
    (shown.collect(), untimed.join(", "))
}

/// `POST /painel/vendas/{id}/custo`: sets what a unit of what was sold costs, at the
/// seller's product with its SKU, or else at the listing.
pub fn set_cost(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = Found::read((app, person, request))?;
    let mut sent = Sent::of(request, app.zone())?;
    let cost = COST.read(&mut sent, None);
    if let Err(problem) = sent.finish() {
        return form::show_again(request, problem, |faults| {
            sale_page((app, person, request), found, COST.again(request, faults))
        });
    }
    let (answer, owner) = (Answer::to(request), person.account.user_id);
    let (item, sku) = (found.order.item_id, found.page.sold(&found.order).sku.to_owned());
    let page = format!("{}/{}", LIST.path, found.order.order_id);
    Ok(Box::new(move |tx| {
        cost::set(tx, owner, item, &sku, cost)?;
        answer.with(&page, "custo", &[])
    }))
}
