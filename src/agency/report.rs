//! A client's report: the last 30 days, to print or to send.

use askama::Template;

use super::charts::{self, Charts, Span};
use super::clients::pages::SOLD_DAYS;
use super::clients::store as clients;
use super::clients::views::AccountLine;
use super::{days, page_of, store};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, DAY_S, Day, Instant, MlUserId, UserId, grouped};
use crate::db::{DbError, ReadTx, Result as DbResult};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::Layout;
use crate::row;

/// Listings that a report shows.
const TOP: u32 = 10;

/// `GET /admin/agencia/clientes/{id}/relatorio`.
#[derive(Template)]
#[template(path = "agency/report.html", config = "assets/askama.toml")]
pub struct ReportPage {
    pub layout: Layout,
    /// The client's page.
    pub back: String,
    pub name: String,
    /// Name of the platform.
    pub agency: String,
    /// `25/10/2026 a 23/11/2026`.
    pub period: String,
    /// When the report was made.
    pub made: String,
    pub charts: Charts,
    pub accounts: Vec<AccountLine>,
    pub top: Vec<TopListing>,
}

row! {
    /// A listing that sold.
    #[derive(Clone, Debug)]
    pub struct TopListing {
        pub title: String = "max(i.title)",
        pub orders: i64 = "count(*)",
        pub units: i64 = "sum(o.quantity)",
        pub cents: Cents = "sum(o.total_cents)",
    }
}

impl TopListing {
    /// The best-selling listings of an account since an instant; only paid
    /// orders count.
    pub fn of(
        tx: &ReadTx<'_>,
        owner: UserId,
        account: MlUserId,
        since: Instant,
        most: u32,
    ) -> DbResult<Vec<Self>> {
        tx.records(
            "FROM sale_order o
             JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
             JOIN word w ON w.word_id = o.status
             WHERE o.owner_id = ?1 AND o.created_at >= ?3 AND o.ml_user_id = ?2
                 AND w.text IN ('paid', 'partially_refunded')
             GROUP BY o.item_id ORDER BY sum(o.total_cents) DESC, o.item_id LIMIT ?4",
            (owner, account, since, most),
        )
    }

    pub fn orders_words(&self) -> String {
        grouped(self.orders.unsigned_abs())
    }

    pub fn units_words(&self) -> String {
        grouped(self.units.unsigned_abs())
    }
}

/// The best-selling listings of a client's accounts since an instant.
fn top(tx: &ReadTx<'_>, client: i64, since: Instant) -> Result<Vec<TopListing>, DbError> {
    let mut listings = Vec::new();
    for account in store::accounts_of(tx, client)? {
        listings.extend(TopListing::of(tx, account.owner, account.ml_user_id, since, TOP)?);
    }
    listings.sort_by_key(|one| std::cmp::Reverse((one.cents.0, one.orders)));
    listings.truncate(TOP as usize);
    Ok(listings)
}

/// `GET /admin/agencia/clientes/{id}/relatorio`: a client's last 30 days, to
/// print or to send.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (id, today, zone) = (request.id()?, app.day(request.now), app.zone());
    let (from, to) = Span::Month.days(today);
    let (client, accounts, sold, daily_series, top) = app.db.read(request.lane, |tx| {
        let client = clients::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let accounts = clients::looked_over(tx, id)?;
        Ok::<_, Problem>((
            client,
            accounts,
            clients::sold(tx, id, today, SOLD_DAYS)?,
            days::filled(&days::daily_series(tx, id, from, to)?, from, to),
            top(tx, id, request.now.minus(SOLD_DAYS * DAY_S))?,
        ))
    })?;
    let at = (zone, request.now);
    let lines = accounts.into_iter().map(|(account, found)| AccountLine::new(account, &found, at));
    let day = |day: Day| day.date().strftime("%d/%m/%Y").to_string();
    Reply::page(&ReportPage {
        layout: layout(app, person, request),
        back: page_of(id),
        name: client.entry.name,
        agency: app.config.server.name.clone(),
        period: format!("{} a {}", day(from), day(to)),
        made: zone.page(request.now),
        charts: charts::of(&daily_series, Span::Month, sold, ""),
        accounts: lines.collect(),
        top,
    })
}
