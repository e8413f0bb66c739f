//! `/fornecedor`: what is owed, what is due, and what to do next.

use super::orders;
use super::views::SupplierHome;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::dropshipping::orders::{self as drop_orders, DropOrderQuery, Sum, Whose};
use crate::dropshipping::relations;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::chart::Stat;
use crate::panel::view::{day_in_words, greeting};
use crate::partner::shown::shown;
use crate::partner::store as partner;

/// Most orders that the page shows.
const NEWEST: u32 = 5;

pub fn home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    let (zone, now) = (app.zone(), request.now);
    let today = app.day(now);
    let whose = Whose::Supplier(owner);
    let (plan, used, owed, paid, sellers, invitations, (newest, _)) =
        app.db.read(request.lane, |tx| {
            let (from, to) = (today.month_start(), today.next_month_start());
            Ok::<_, Problem>((
                partner::plan(tx, owner)?,
                partner::calls_between(tx, owner, from, to)?,
                drop_orders::owed(tx, whose, now)?,
                drop_orders::paid_since(tx, owner, zone, from)?,
                relations::sellers(tx, owner)?,
                relations::invitations_of(tx, owner)?.len(),
                drop_orders::page(tx, &DropOrderQuery::all(whose, now), (NEWEST, 0))?,
            ))
        })?;
    let links: i64 = sellers.iter().map(|seller| seller.links).sum();
    let stat = |label, sum: Sum, href| Stat {
        label,
        value: sum.amount.page(),
        note: orders::counted(sum.orders),
        href,
        lead: true,
        ..Stat::default()
    };
    Reply::page(&SupplierHome {
        layout: layout(app, person, request),
        greeting: greeting(zone, now, &person.account.name),
        today: day_in_words(zone, now),
        owed,
        stats: vec![
            stat("A vencer", owed.pending, "/fornecedor/pedidos?situacao=a_vencer"),
            stat("Vencido", owed.overdue, "/fornecedor/pedidos?situacao=vencido"),
            stat("Pago neste mês", paid, "/fornecedor/pedidos?situacao=pago"),
        ],
        sellers: sellers.len(),
        invitations,
        links,
        newest: newest.into_iter().map(|order| orders::row(order, zone, now)).collect(),
        api_plan: plan.map(|plan| shown(&app.config.partner.plans, plan, used, today)),
    })
}
