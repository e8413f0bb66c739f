//! What the pages around marketplace accounts print: the student's home and
//! the linking of accounts.

use askama::Template;

use crate::marketplace::books::order_status::OrderState;
use crate::messages::views::NewsRow;
use crate::panel::chart::{BarChart, Stat};
use crate::panel::{Badge, Layout, Progress, Tone, When};

/// `GET /painel`: the student's home.
#[derive(Template)]
#[template(path = "student_home.html", config = "assets/askama.toml")]
pub struct StudentHome {
    pub layout: Layout,
    /// `Bom dia, Ana`.
    pub greeting: String,
    /// `sexta-feira, 20 de novembro`.
    pub today: String,
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

/// Something that waits for the student.
pub struct Task {
    pub tone: Tone,
    /// What it is, such as `2 reclamações abertas`.
    pub title: String,
    /// Where it is, such as the account.
    pub detail: String,
    /// Address of where it is done; empty when that is at the marketplace.
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
    /// Whether the authorisation works, and readings too.
    pub link: Badge,
    /// Why the authorisation does not; `None` while it does.
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

/// `GET /painel/ml`: the student's marketplace accounts.
#[derive(Template)]
#[template(path = "accounts.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    pub layout: Layout,
    /// Whether the marketplace is configured, so that accounts can be linked.
    pub configured: bool,
    pub accounts: Vec<LinkedAccount>,
    /// Seconds after which the page asks again how far readings are; `None` when
    /// nobody waits for one.
    pub look_after_s: Option<u32>,
}

/// An account with the state of its link.
pub struct LinkedAccount {
    /// The marketplace's seller id.
    pub ml_user_id: String,
    pub nickname: String,
    /// Whether the authorisation works, and readings too.
    pub link: Badge,
    pub reputation: Badge,
    /// Why the authorisation does not work; `None` while it does.
    pub error: Option<String>,
    /// What cannot be read, since when and what to do; `None` while everything can.
    pub trouble: Option<String>,
    /// Whether to link it again may help.
    pub relink: bool,
    pub linked: When,
    /// Up to when everything is here; `None` before the first reading is over.
    pub synced: Option<When>,
    /// `desde 12/08/2026, buscando mais`; `None` when all sales are here.
    pub history: Option<String>,
    /// Readings for which somebody waits.
    pub progress: Vec<Progress>,
    /// What is read of it, and how far.
    pub areas: Vec<AreaRow>,
}

impl LinkedAccount {
    /// Whether there is something to see in the list of what is read.
    pub fn shows_areas(&self) -> bool {
        self.trouble.is_some() || self.history.is_some()
    }
}

/// A part of an account that is read by itself.
pub struct AreaRow {
    /// `Pedidos`.
    pub title: &'static str,
    pub state: Badge,
    /// `1.204 de 5.000`, or why it failed; may be empty.
    pub note: String,
    /// When everything was here last.
    pub read: Option<When>,
}
