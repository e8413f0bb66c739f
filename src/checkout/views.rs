//! What the pages of the purchase inbox print.

use askama::Template;

use super::{EventKind, EventState};
use crate::panel::{Badge, Filter, Flash, Head, Layout, Listing, Table, When};

/// The inbox as a list.
pub const LIST: Listing = Listing {
    path: "/admin/compras",
    hint: "E-mail ou transação",
    filters: &[
        Filter { name: "resultado", label: "Resultado", all: "Todos", values: &EventState::FILTER },
        Filter { name: "evento", label: "Evento", all: "Todos", values: &EventKind::FILTER },
    ],
    sort_keys: &[],
    heads: &[
        Head::plain("Evento"),
        Head::plain("Transação"),
        Head::plain("Recebido"),
        Head::plain("Resultado"),
    ],
    file: "compras.csv",
    csv: &["id", "recebido_em", "evento", "transacao", "email", "resultado", "explicacao"],
    flashes: &[
        Flash::good("processado", "Evento processado", "O que ele fez está descrito abaixo."),
        Flash::info(
            "sem-efeito",
            "Nada mudou",
            "O evento foi processado de novo e a conta já estava como deveria.",
        ),
        Flash::warn("sem-acao", "O evento continua sem ação", "O motivo está descrito abaixo."),
    ],
};

/// `GET /admin/compras`: the inbox.
#[derive(Template)]
#[template(path = "purchases.html", config = "assets/askama.toml")]
pub struct PurchasesPage {
    pub layout: Layout,
    pub table: Table,
    /// The events of this page, newest first.
    pub events: Vec<PurchaseRow>,
    /// The webhook address to enter at the checkout platform.
    pub address: String,
}

/// An event in the list.
pub struct PurchaseRow {
    pub id: i64,
    /// What happened, in words, or the platform's name for it.
    pub what: String,
    /// The transaction; empty without one.
    pub transaction: String,
    /// E-mail address of the buyer; empty when the event names none.
    pub email: String,
    /// When it came in.
    pub when: When,
    /// The result of the event.
    pub state: Badge,
}

/// `GET /admin/compras/{id}`: one event.
#[derive(Template)]
#[template(path = "purchase.html", config = "assets/askama.toml")]
pub struct PurchasePage {
    pub layout: Layout,
    pub event: PurchaseRow,
    /// The platform's name for it.
    pub name: String,
    /// What it did and why.
    pub outcome: String,
    /// When it happened, by the platform.
    pub happened: When,
    /// Subscriber code; empty without one.
    pub subscriber: String,
    /// Product id; empty without one.
    pub product: String,
    /// The page of the student for whom it counts.
    pub student: Option<String>,
    /// The body that was received; `None` after it was removed.
    pub body: Option<String>,
}
