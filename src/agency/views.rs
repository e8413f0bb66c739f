//! What the agency's other pages print.

use askama::Template;

use super::charts::Charts;
use super::checkup::Standing;
use super::clients::views::{AccountLine, FindingLine};
use crate::base::{Cents, Instant, MlUserId, UserId, grouped};
use crate::db::{ReadTx, Result};
use crate::panel::chart::Stat;
use crate::panel::{Layout, Progress, Table, When};
use crate::row;

/// `GET /admin/agencia`.
#[derive(Template)]
#[template(path = "agency/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub charts: Charts,
    /// What is wrong, the most urgent first, and how much more there is.
    pub findings: Vec<FindingRow>,
    pub more: u64,
    pub standing: Standing,
    pub progress: Option<Progress>,
}

/// `GET /admin/agencia/checkup`.
#[derive(Template)]
#[template(path = "agency/checkup.html", config = "assets/askama.toml")]
pub struct CheckupPage {
    pub layout: Layout,
    pub table: Table,
    /// How many accounts have each fault.
    pub stats: Vec<Stat>,
    pub findings: Vec<FindingRow>,
    pub standing: Standing,
    /// The oldest of the last looks.
    pub oldest: Option<When>,
}

/// Something that is wrong, with the account that it is about.
pub struct FindingRow {
    pub line: FindingLine,
    pub client: i64,
    pub client_name: String,
    pub nickname: String,
    /// Where questions are answered; empty for other faults.
    pub answers: String,
}

/// `GET /admin/agencia/clientes/{id}/relatorio`.
#[derive(Template)]
#[template(path = "agency/report.html", config = "assets/askama.toml")]
pub struct ReportPage {
    pub layout: Layout,
    /// The client's page.
    pub back: String,
    pub name: String,
    /// What the platform is called.
    pub agency: String,
    /// `25/10/2026 a 23/11/2026`.
    pub period: String,
    /// When it was made.
    pub made: String,
    pub charts: Charts,
    pub accounts: Vec<AccountLine>,
    pub top: Vec<TopListing>,
}

/// A listing that sold.
#[derive(Clone, Debug)]
pub struct TopListing {
    pub title: String,
    pub orders: i64,
    pub units: i64,
    pub cents: Cents,
}
row!(TopListing {
    title = "max(i.title)",
    orders = "count(*)",
    units = "sum(o.quantity)",
    cents = "sum(o.total_cents)",
});

impl TopListing {
    /// What an account sold most of since an instant: paid orders alone.
    pub fn of(
        tx: &ReadTx<'_>,
        owner: UserId,
        account: MlUserId,
        since: Instant,
        most: u32,
    ) -> Result<Vec<Self>> {
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
