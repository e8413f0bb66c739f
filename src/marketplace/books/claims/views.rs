//! What the pages of claims print.

use askama::Template;

use crate::marketplace::books::code_text::CodeText;
use crate::panel::{Badge, Layout, Table, When};

/// `GET /painel/reclamacoes`: the claims of buyers.
#[derive(Template)]
#[template(path = "claims.html", config = "assets/askama.toml")]
pub struct ClaimsPage {
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    pub table: Table,
    pub claims: Vec<ClaimLine>,
}

/// A claim in the list.
pub struct ClaimLine {
    pub id: i64,
    pub kind: CodeText,
    /// What was sold; may be empty.
    pub title: String,
    /// What the buyer complains about; may be empty.
    pub reason: CodeText,
    /// Its stage; empty when the claim has ended.
    pub stage: CodeText,
    /// The order it is about; empty when it names none.
    pub order: String,
    /// Nickname of the selling account.
    pub store: String,
    pub state: Badge,
    /// What the seller has to do; may be empty.
    pub action: CodeText,
    /// `até 22/11/2026 14:05`; empty without a deadline.
    pub due: String,
    /// How it ended; empty while it is open.
    pub resolution: CodeText,
    pub opened: When,
}
