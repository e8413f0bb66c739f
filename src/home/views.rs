//! What the student's home prints.

use askama::Template;

use crate::marketplace::account::store::{AccountSummary, RecentOrder};
use crate::marketplace::sync::health::Health;
use crate::messages::views::NewsRow;
use crate::panel::PageTime;
use crate::panel::chart::{BarChart, Stat};
use crate::panel::{Layout, Tone};
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
    pub accounts: Vec<(AccountSummary, Health)>,
    pub sales: Vec<RecentOrder>,
    pub news: Vec<NewsRow>,
    pub time: PageTime,
}

/// An open task of the student.
pub struct Task {
    pub tone: Tone,
    /// What it is, such as `2 reclamações abertas`.
    pub title: String,
    /// More about it, such as the account.
    pub detail: String,
    /// Address of the page where it is done.
    pub href: &'static str,
    pub button: &'static str,
}
