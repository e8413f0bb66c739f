//! What the pages of the hub print.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::drop::views::InvitationRow;
use crate::panel::chart::BarChart;
use crate::panel::{FormView, Layout, When};
use crate::partner::oauth::views::AppRow;

/// `GET …/parceiro`, and its answer when a field is at fault.
#[derive(Template)]
#[template(path = "hub.html", config = "assets/askama.toml")]
pub struct HubPage {
    pub layout: Layout,
    /// None without a plan.
    pub plan: Option<ApiPlan>,
    /// `120 por minuto, somando todos os tokens`.
    pub rate: String,
    /// What is left of the month, in words.
    pub left: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
    /// `nome` of a new token.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    pub apps: Vec<AppRow>,
    /// The address that assistants are connected by.
    pub connector: String,
    pub calls: Vec<FirstCall>,
    /// Where the hub is.
    pub path: &'static str,
    pub is_supplier: bool,
    pub invitations: Vec<InvitationRow>,
    /// The other sides of active relations.
    pub related: Vec<RelatedRow>,
}

/// The other side of an active relation.
pub struct RelatedRow {
    pub id: String,
    pub name: String,
    /// Linked listings.
    pub links: String,
    pub since: When,
}

/// An operation that was called this month.
pub struct OperationRow {
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    pub calls: String,
}

/// A token that works.
pub struct TokenRow {
    pub id: String,
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    pub created: When,
    pub used: Option<When>,
    /// Where the last call came from; empty while it is not known.
    pub address: String,
}

/// A call for pasting.
#[derive(Clone)]
pub struct FirstCall {
    /// For the button that copies it.
    pub id: &'static str,
    pub title: &'static str,
    pub call: String,
}

/// The answer to a browser that made a token: the only page that shows it.
#[derive(Template)]
#[template(path = "token_made.html", config = "assets/askama.toml")]
pub struct TokenMade {
    pub layout: Layout,
    pub name: String,
    /// The token itself.
    pub token: String,
    pub calls: Vec<FirstCall>,
    /// Where the hub is.
    pub path: &'static str,
}
