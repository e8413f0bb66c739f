//! What the student's home prints.

use askama::Template;

use crate::base::{Cents, counted, grouped};
use crate::marketplace::account::store::{AccountSummary, RecentOrder};
use crate::marketplace::books::orders::left::Earned;
use crate::marketplace::sync::health::Health;
use crate::panel::chart::{BarChart, Change};
use crate::panel::{Layout, PageTime, QueueItem};
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
    /// What was sold today.
    pub today_sold: TodaySold,
    /// What must be done, by deadline.
    pub tasks: Vec<QueueItem>,
    /// Gross sales of the last 30 days; `None` without sales.
    pub chart: Option<BarChart>,
    pub accounts: Vec<(AccountSummary, Health)>,
    /// The last sales, each with what it has earned.
    pub sales: Vec<(RecentOrder, Option<Earned>)>,
    pub time: PageTime,
}

/// Sales and their value today, and yesterday until the same hour.
pub struct TodaySold {
    pub now: (i64, Cents),
    pub before: (i64, Cents),
    /// `14:05`.
    pub hour: String,
}

impl TodaySold {
    /// `1 venda`, `12 vendas`.
    pub fn title(&self) -> String {
        counted(self.now.0, "venda hoje", "vendas hoje")
    }

    /// `R$ 1.234,56`.
    pub fn gross(&self) -> String {
        self.now.1.page()
    }

    /// `ontem até 14:05: 9 · R$ 980,00`.
    pub fn yesterday(&self) -> String {
        let (sold, gross) = self.before;
        match sold {
            0 => format!("ontem até {}: nenhuma", self.hour),
            sold => format!("ontem até {}: {} · {}", self.hour, grouped(sold), gross.page()),
        }
    }

    /// How much more or less was sold; `None` when there is nothing to compare.
    pub fn change(&self) -> Option<Change> {
        Change::new(self.before.1.0, self.now.1.0)
    }
}
