//! Template data of the pages of suppliers, and of what sellers owe.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::dropshipping::bulk::{Row, RowStatus};
use crate::dropshipping::debts::{Debtor, Owed, Sum, Tally};
use crate::dropshipping::links::ShownLink;
use crate::dropshipping::orders::{DropOrder, DropOrderStatus};
use crate::dropshipping::relations::{Invitation, Related};
use crate::dropshipping::unmatched::{Suggested, Unmatched};
use crate::panel::view::Field;
use crate::panel::{FormView, Layout, Notice, PageTime, Pick, QueueItem, Table, When};

/// `GET /fornecedor`.
#[derive(Template)]
#[template(path = "supplier_home.html", config = "assets/askama.toml")]
pub struct SupplierHome {
    pub layout: Layout,
    /// `Bom dia, Rui`.
    pub greeting: String,
    /// `sexta-feira, 20 de novembro`.
    pub today: String,
    pub owed: Owed,
    /// Who owes, the longest overdue first.
    pub debtors: Vec<DebtorRow>,
    /// How many more there are.
    pub more: usize,
    /// Whether somebody is late who can be reminded.
    pub can_remind: bool,
    /// When all can be reminded again; `None` when they can be now.
    pub wait: Option<String>,
    /// What waits besides payments.
    pub todo: Vec<QueueItem>,
    pub sellers: usize,
    pub invitations: usize,
    pub links: i64,
    /// In this month.
    pub paid: Sum,
    /// `2026-11`: the month of today.
    pub month: String,
    pub api_plan: Option<ApiPlan>,
}

/// Somebody who owes, with what depends on the time.
pub struct DebtorRow {
    pub one: Debtor,
    /// `3 pedidos`.
    pub orders: String,
    /// Centavos that are not due yet.
    pub pending: i64,
    /// Civil day on which the oldest debt became or becomes due.
    pub oldest: String,
    /// `há 3 dias`, or that it is not due yet.
    pub age: String,
    /// Civil day of the next that becomes due.
    pub next: Option<String>,
    /// A reminder that stands.
    pub reminded: Option<When>,
}

/// `GET /fornecedor/vendedores`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "sellers.html", config = "assets/askama.toml")]
pub struct SellersPage {
    pub layout: Layout,
    /// `email` of an invitation.
    pub form: FormView,
    /// Each with what they owe, and since when they are related.
    pub sellers: Vec<(Related, Owed)>,
    pub invitations: Vec<Invitation>,
    pub time: PageTime,
}

/// `GET /fornecedor/vinculos`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "links.html", config = "assets/askama.toml")]
pub struct LinksPage {
    pub layout: Layout,
    pub sellers: Vec<Pick>,
    /// `vendedor`, `anuncio` and `sku` of a new link.
    pub form: FormView,
    pub table: Table,
    pub links: Vec<ShownLink>,
    pub time: PageTime,
}

/// `GET /fornecedor/vinculos/importar`, the preview of a list, and the answer
/// when the list cannot be read.
#[derive(Template)]
#[template(path = "links_import.html", config = "assets/askama.toml")]
pub struct PreviewPage {
    pub layout: Layout,
    pub alert: Option<Notice>,
    pub file: Field,
    /// The list itself, to be sent again.
    pub csv: String,
    /// Empty before a list was uploaded: each row with what will become of it, and why it
    /// cannot be linked.
    pub rows: Vec<(Row, RowStatus, &'static str)>,
}

impl PreviewPage {
    /// How many rows become that.
    fn count(&self, status: RowStatus) -> usize {
        self.rows.iter().filter(|(_, one, _)| *one == status).count()
    }
}

/// `GET /fornecedor/conferencia`.
#[derive(Template)]
#[template(path = "unmatched.html", config = "assets/askama.toml")]
pub struct UnmatchedPage {
    pub layout: Layout,
    pub has_sellers: bool,
    /// `12 anúncios`: what the filter comes to.
    pub sum: String,
    /// The row with the focus, after an act on the one that had its place.
    pub focus: Option<usize>,
    /// Whether the rows are those that were put aside.
    pub aside: bool,
    pub table: Table,
    /// Each with the product that it likely sells.
    pub rows: Vec<(Unmatched, Option<Suggested>)>,
}

impl UnmatchedPage {
    fn is_focus(&self, line: &usize) -> bool {
        self.focus == Some(*line)
    }
}

/// `GET /fornecedor/pedidos`.
#[derive(Template)]
#[template(path = "drop_orders.html", config = "assets/askama.toml")]
pub struct OrdersPage {
    pub layout: Layout,
    pub table: Table,
    pub orders: Vec<OrderRow>,
    /// What the filter comes to, in words.
    pub sum: String,
    pub open: Sum,
    /// Whether all that is open is ticked from the start.
    pub marks: bool,
    /// What acts on all of the filter are told of the moment.
    pub seen: String,
    /// What can be reminded of, of all sellers.
    pub late: Sum,
    /// When all can be reminded again; `None` when they can be now.
    pub wait: Option<String>,
    pub has_sellers: bool,
}

/// A drop order with what depends on the time.
pub struct OrderRow {
    pub order: DropOrder,
    pub status: DropOrderStatus,
    /// Civil day.
    pub due: String,
    pub paid: Option<When>,
    pub reminded: Option<When>,
}

impl OrderRow {
    fn has_label(&self) -> bool {
        self.status.is_open() && self.order.stage.has_label() && self.order.shipping_id.is_some()
    }
}

/// `GET /fornecedor/extrato`.
#[derive(Template)]
#[template(path = "statement.html", config = "assets/askama.toml")]
pub struct StatementPage {
    pub layout: Layout,
    /// Whose it is, of which month, and what it comes to.
    pub sum: String,
    pub table: Table,
    /// Addresses of the months beside this one.
    pub earlier: String,
    pub later: Option<String>,
    /// `2026-11`.
    pub month: String,
    /// The number of the seller; empty for all.
    pub seller: String,
    pub sellers: Vec<Pick>,
    pub by_seller: Vec<StatementRow>,
    /// The orders of the one seller, with the day on which each was sold.
    pub orders: Vec<OrderRow>,
    pub days: Vec<String>,
    pub tally: Tally,
}

/// What a seller ordered in a month.
pub struct StatementRow {
    pub name: String,
    pub href: String,
    pub tally: Tally,
}

/// `GET /painel/fornecedores`.
#[derive(Template)]
#[template(path = "owed.html", config = "assets/askama.toml")]
pub struct OwedPage {
    pub layout: Layout,
    pub table: Table,
    pub orders: Vec<OrderRow>,
    pub invitations: Vec<Invitation>,
    pub time: PageTime,
    pub suppliers: Vec<(Related, Owed)>,
}
