//! What the student's home prints.

use askama::Template;

use crate::marketplace::books::order_status::OrderState;
use crate::messages::views::NewsRow;
use crate::panel::chart::{BarChart, Stat};
use crate::panel::{Badge, Layout, Tone, When};
use crate::program::views::CheckInCard;

/// `GET /painel`: the student's home.
#[derive(Template)]
#[template(path = "student_home.html", config = "assets/askama.toml")]
pub struct StudentHome {
    pub layout: Layout,
    /// `Bom dia, Ana`.
    pub greeting: String,
    /// `sexta-feira, 20 de novembro`.
    pub today: String,
    /// The day's check-in.
    pub checkin: CheckInCard,
    /// What must be done today, the most urgent first.
    pub tasks: Vec<Task>,
    /// Totals over all accounts.
    pub stats: Vec<Stat>,
    /// Gross sales of the last 30 days; `None` without sales.
    pub chart: Option<BarChart>,
    pub accounts: Vec<AccountRow>,
    pub sales: Vec<SaleRow>,
    pub news: Vec<NewsRow>,
}

/// An open task of the student.
pub struct Task {
    pub tone: Tone,
    /// What it is, such as `2 reclamações abertas`.
    pub title: String,
    /// More about it, such as the account.
    pub detail: String,
    /// Address of the page where it is done; empty when that is at the
    /// marketplace.
    pub href: String,
    pub button: &'static str,
}

/// A linked account on the home page.
pub struct AccountRow {
    pub nickname: String,
    pub reputation: Badge,
    pub sales_today: i64,
    pub gross_30: String,
    /// Active and paused listings.
    pub listings: String,
    pub claims: i64,
    pub questions: i64,
    /// Whether the authorisation works, and reading the account too.
    pub link: Badge,
    /// Why the authorisation does not work; `None` while it works.
    pub error: Option<String>,
    /// What cannot be read; `None` while everything can.
    pub trouble: Option<String>,
}

/// A sale in a list.
pub struct SaleRow {
    pub title: String,
    /// `2 unidades`.
    pub quantity: String,
    /// Total without shipping.
    pub value: String,
    pub when: When,
    /// Nickname of the selling account.
    pub store: String,
    pub status: OrderState,
}
