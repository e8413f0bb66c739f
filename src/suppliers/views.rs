//! Template data of the pages of suppliers, and of what sellers owe.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::dropshipping::views::InvitationRow;
use crate::panel::chart::Stat;
use crate::panel::view::Field;
use crate::panel::{Badge, FormView, Layout, Notice, Pick, Table, Tone, When};

/// `GET /fornecedor`.
#[derive(Template)]
#[template(path = "supplier_home.html", config = "assets/askama.toml")]
pub struct SupplierHome {
    pub layout: Layout,
    /// `Bom dia, Rui`.
    pub greeting: String,
    /// `sexta-feira, 20 de novembro`.
    pub today: String,
    /// Tasks of the supplier, the most urgent first.
    pub tasks: Vec<Task>,
    /// What is owed and what was paid.
    pub stats: Vec<Stat>,
    pub sellers: usize,
    /// Open invitations.
    pub invitations: usize,
    /// Linked listings, ready to print.
    pub links: String,
    pub newest: Vec<OrderRow>,
    /// The supplier's API plan; `None` without one.
    pub api_plan: Option<ApiPlan>,
}

/// A task of the supplier.
pub struct Task {
    pub tone: Tone,
    pub title: String,
    pub text: String,
    pub href: &'static str,
}

/// `GET /fornecedor/vendedores`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "sellers.html", config = "assets/askama.toml")]
pub struct SellersPage {
    pub layout: Layout,
    /// `email` of an invitation.
    pub form: FormView,
    pub sellers: Vec<SellerRow>,
    pub invitations: Vec<InvitationRow>,
}

/// A seller with an active relation.
pub struct SellerRow {
    pub id: String,
    pub name: String,
    pub email: String,
    pub links: String,
    pub pending: String,
    /// `None` when nothing is overdue.
    pub overdue: Option<String>,
    pub since: When,
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
    pub links: Vec<LinkRow>,
}

/// A linked listing.
pub struct LinkRow {
    pub id: String,
    pub listing: String,
    pub ml_id: String,
    pub product: String,
    pub sku: String,
    pub product_href: String,
    pub seller: String,
    pub made: When,
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
    /// Counts of rows that will be linked, are linked already, and cannot be
    /// linked.
    pub new: usize,
    pub known: usize,
    pub faulty: usize,
    /// Empty before a list was uploaded.
    pub rows: Vec<PreviewRow>,
}

/// A row of a list.
pub struct PreviewRow {
    pub line: usize,
    pub listing: String,
    pub seller: String,
    pub sku: String,
    pub state: Badge,
    /// Why the row cannot be linked; empty when it can.
    pub why: &'static str,
}

/// `GET /fornecedor/conferencia`.
#[derive(Template)]
#[template(path = "unmatched.html", config = "assets/askama.toml")]
pub struct UnmatchedPage {
    pub layout: Layout,
    pub has_sellers: bool,
    pub table: Table,
    pub rows: Vec<UnmatchedRow>,
}

/// A listing without a product.
pub struct UnmatchedRow {
    pub seller_id: String,
    pub seller: String,
    pub ml_id: String,
    pub title: String,
    /// Its SKU and EAN; empty without any.
    pub codes: String,
    pub reason: &'static str,
}

/// `GET /fornecedor/pedidos`.
#[derive(Template)]
#[template(path = "drop_orders.html", config = "assets/askama.toml")]
pub struct OrdersPage {
    pub layout: Layout,
    pub table: Table,
    pub orders: Vec<OrderRow>,
    /// What is overdue in all, in words; `None` when nothing is.
    pub overdue: Option<String>,
    /// When all can be reminded again; `None` when they can be now.
    pub wait: Option<String>,
    pub has_sellers: bool,
}

/// A drop order.
pub struct OrderRow {
    pub id: String,
    /// Number of the marketplace's order.
    pub order: String,
    pub title: String,
    pub sku: String,
    pub seller: String,
    pub supplier: String,
    pub amount: String,
    /// Civil day.
    pub due: String,
    pub state: Badge,
    pub is_open: bool,
    pub is_paid: bool,
    /// Whether a label can be printed.
    pub has_label: bool,
    pub paid: Option<When>,
    pub reminded: Option<When>,
}

/// `GET /painel/fornecedores`.
#[derive(Template)]
#[template(path = "owed.html", config = "assets/askama.toml")]
pub struct OwedPage {
    pub layout: Layout,
    pub table: Table,
    pub orders: Vec<OrderRow>,
    pub invitations: Vec<InvitationRow>,
    pub suppliers: Vec<SupplierRow>,
}

/// A supplier with an active relation.
pub struct SupplierRow {
    pub id: String,
    pub name: String,
    pub links: String,
    pub pending: String,
    pub overdue: Option<String>,
}
