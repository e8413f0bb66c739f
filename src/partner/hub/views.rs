//! Data of the hub's templates.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::dropshipping::relations::Invitation;
use crate::panel::chart::BarChart;
use crate::panel::{FormView, Layout, When};
use crate::partner::oauth::views::AppRow;

/// `GET …/parceiro`, also with errors in the form.
#[derive(Template)]
#[template(path = "hub.html", config = "assets/askama.toml")]
pub struct HubPage {
    pub layout: Layout,
    pub plan: Option<ApiPlan>,
    /// `120 por minuto, somando todos os tokens`.
    pub rate: String,
    /// Calls that remain this month, in words.
    pub left: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
    /// The form with `nome` of a new token.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    pub apps: Vec<AppRow>,
    /// The address at which assistants connect.
    pub connector: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
    pub is_supplier: bool,
    pub invitations: Vec<(Invitation, When)>,
    /// The people on the other side of active relations.
    pub related: Vec<RelatedRow>,
}

/// The person on the other side of an active relation.
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

/// A token that is not revoked.
pub struct TokenRow {
    pub id: String,
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    pub created: When,
    pub used: Option<When>,
    /// Address that the last call came from; empty while unknown.
    pub address: String,
}

/// A call to copy and paste.
#[derive(Clone)]
pub struct FirstCall {
    /// HTML id, used by the copy button.
    pub id: &'static str,
    pub title: &'static str,
    pub call: String,
}

/// The answer to a browser that made a token. No other page shows the token.
#[derive(Template)]
#[template(path = "token_made.html", config = "assets/askama.toml")]
pub struct TokenMade {
    pub layout: Layout,
    pub name: String,
    pub token: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
}
