//! What the page of components prints.

use askama::Template;

use crate::base::{Instant, grouped};
use crate::operations::palette::{Pair, Token};
use crate::panel::chart::{BarChart, Stat};
use crate::panel::view::Field;
use crate::panel::{Badge, Choice, Layout, Notice, PageTime, Progress, Tab, Table, Tick};
use crate::program::drawing::{Emblem, Flame, Lap};

/// `GET /admin/estilo`.
#[derive(Template)]
#[template(path = "style.html", config = "assets/askama.toml")]
pub struct StylePage {
    pub layout: Layout,
    pub colours: &'static [Token],
    pub pairs: Vec<Pair>,
    pub sizes: &'static [(&'static str, &'static str, &'static str)],
    pub spaces: &'static [(u32, &'static str)],
    pub icons: &'static [&'static str],
    pub badges: &'static [Badge],
    pub notices: Vec<Notice>,
    pub plain: Field,
    pub faulty: Field,
    pub typed: Field,
    pub options: &'static [Choice],
    pub scopes: Vec<Tick>,
    pub levels: Vec<Tick>,
    pub table: Table,
    pub rows: Vec<Sample>,
    pub stats: Vec<Stat>,
    pub chart: Option<BarChart>,
    pub progress: Vec<Progress>,
    pub tabs: Vec<Tab>,
    /// Icon, title, detail and time of each entry of the sample timeline.
    pub log: [(&'static str, &'static str, &'static str, Instant); 3],
    pub fresh: Instant,
    /// Every emblem as reached, and the first of each tier as not yet reached.
    pub emblems: Vec<Emblem>,
    pub locked: Vec<Emblem>,
    pub flames: Vec<Flame>,
    pub lap: Lap,
    pub time: PageTime,
}

/// A row of the sample list.
pub struct Sample {
    pub id: usize,
    pub name: String,
    pub status: &'static str,
    pub sales: u64,
    pub seen: Instant,
}

impl Sample {
    fn shown_sales(&self) -> String {
        grouped(self.sales)
    }

    fn badge(&self) -> Badge {
        match self.status {
            "ativo" => Badge::Active,
            "atrasado" => Badge::Overdue,
            _ => Badge::Suspended,
        }
    }
}
