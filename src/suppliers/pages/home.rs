//! `/fornecedor`: who owes what, and what else waits for the supplier.

use super::orders::counted;
use super::{reminders, statement};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, Zone, grouped};
use crate::dropshipping::debts::{self, Debtor};
use crate::dropshipping::orders::Whose;
use crate::dropshipping::relations;
use crate::dropshipping::reminders::STANDS_S;
use crate::dropshipping::unmatched::{self, Found};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::view::{day_in_words, greeting};
use crate::panel::{Act, QueueItem, Tone, When};
use crate::partner::shown::shown;
use crate::partner::store as partner;
use crate::suppliers::views::{DebtorRow, SupplierHome};

pub const PATH: &str = "/fornecedor";
/// Most debtors that the page shows; the list of orders has all, also of those who left.
const MOST_DEBTORS: u32 = 50;

pub fn home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    let (zone, now) = (app.zone(), request.now);
    let today = app.day(now);
    let (plan, used, owed, paid, sellers, invitations, (debtors, found)) =
        app.db.read(request.lane, |tx| {
            let (from, to) = (today.month_start(), today.next_month_start());
            Ok::<_, Problem>((
                partner::plan(tx, owner)?,
                partner::calls_between(tx, owner, from, to)?,
                debts::owed_by_other(tx, Whose::Supplier(owner), now)?,
                debts::paid_since(tx, owner, zone, from)?,
                relations::sellers(tx, owner)?,
                relations::invitations_of(tx, owner)?.len(),
                (debts::debtors(tx, owner, now, MOST_DEBTORS)?, unmatched::found(tx, owner)?),
            ))
        })?;
    let links: i64 = sellers.iter().map(|seller| seller.links).sum();
    let all = owed.iter().fold(debts::Owed::default(), |all, (_, one)| all.and(*one));
    Reply::page(&SupplierHome {
        layout: layout(app, person, request).with_flash(reminders::flash(request)),
        greeting: greeting(zone, now, &person.account.name),
        today: day_in_words(zone, now),
        owed: all,
        more: owed.len().saturating_sub(debtors.len()),
        can_remind: debtors.iter().any(|one| one.late_orders > 0 && one.is_related),
        debtors: debtors.into_iter().map(|one| debtor(one, zone, now)).collect(),
        wait: reminders::wait(app, owner, now),
        todo: todo(sellers.len(), links, found),
        sellers: sellers.len(),
        invitations,
        links,
        paid,
        month: statement::typed(today),
        api_plan: plan.map(|plan| shown(&app.config.partner.plans, plan, used, today)),
    })
}

/// What waits besides payments.
fn todo(sellers: usize, links: i64, found: Found) -> Vec<QueueItem> {
    let mut items = Vec::new();
    let mut add = |title: String, about: &str, label, href: &str| {
        items.push(QueueItem {
            tone: Tone::Warn,
            icon: "link",
            title,
            href: href.to_owned(),
            about: about.to_owned(),
            due: None,
            acts: vec![Act::Link { label, href: href.to_owned() }],
        });
    };
    if sellers > 0 && links == 0 {
        let about = "Sem vínculo, as vendas dos seus vendedores não viram pedidos aqui.";
        add("Nenhum anúncio vinculado".to_owned(), about, "Vincular", super::links::PATH);
    }
    if found.listings > 0 {
        let title = match (found.listings, found.is_all) {
            (1, true) => "1 anúncio sem produto".to_owned(),
            (count, true) => format!("{} anúncios sem produto", grouped(count)),
            (count, false) => format!("{} anúncios sem produto, ou mais", grouped(count)),
        };
        let about = "As vendas deles não viram pedidos até você dizer o que vendem.";
        add(title, about, "Conferir", super::unmatched::PATH);
    }
    items
}

fn debtor(one: Debtor, zone: Zone, now: Instant) -> DebtorRow {
    let day = |at: Instant| zone.civil(at).strftime("%d/%m/%Y").to_string();
    let late_days = (zone.day(now).0 - zone.day(one.oldest).0).max(0);
    DebtorRow {
        orders: counted(one.orders),
        pending: one.amount.0 - one.late.0,
        oldest: day(one.oldest),
        age: match (one.late_orders, late_days) {
            (0, _) => "a vencer".to_owned(),
            (_, 0) => "venceu hoje".to_owned(),
            (_, 1) => "há 1 dia".to_owned(),
            (_, days) => format!("há {} dias", grouped(days)),
        },
        next: one.next.map(day),
        reminded: one
            .reminded_at
            .filter(|at| now.since(*at) < STANDS_S)
            .map(|at| When::new(zone, at, now)),
        one,
    }
}
