//! What the pages of the purchase inbox print.

use askama::Template;

use super::store::Stored;
use super::{EventKind, EventState};
use crate::panel::{
    Badge, Layout, Listing, PageTime, Table, When, columns, filters, flashes, heads,
};

/// The inbox as a list.
pub const LIST: Listing = Listing {
    path: "/admin/compras",
    hint: "E-mail ou transação",
    filters: filters! {
        "resultado": "Resultado", "Todos", &EventState::FILTER;
        "evento": "Evento", "Todos", &EventKind::FILTER;
    },
    sort_keys: &[],
    heads: heads!["Compra", "O que fez", "Valor" numeric, "Recebido", "Resultado"],
    file: "compras.csv",
    csv: columns![
        id recebido_em evento transacao email resultado explicacao produto_nome valor moeda
        aluno_nome
    ],
    flashes: flashes! {
        "processado": good "Evento processado", "O que ele fez está descrito abaixo.";
        "sem-efeito": info "Nada mudou",
            "O evento foi processado de novo e a conta já estava como deveria.";
        "sem-acao": warn "O evento continua sem ação", "O motivo está descrito abaixo.";
    },
};

/// `GET /admin/compras`: the inbox.
#[derive(Template)]
#[template(path = "purchases.html", config = "assets/askama.toml")]
pub struct PurchasesPage {
    pub layout: Layout,
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    /// The events of this page, newest first.
    pub events: Vec<Stored>,
    /// The webhook address to enter at the checkout platform.
    pub address: String,
    pub time: PageTime,
}

impl Stored {
    /// What happened, in words, or the platform's name for it.
    pub fn what(&self) -> &str {
        match self.kind {
            EventKind::Other => &self.event,
            kind => kind.title(),
        }
    }

    /// The student's name, else the buyer's address.
    pub fn who(&self) -> &str {
        match &self.student {
            Some(name) => name,
            None if self.email.is_empty() => "Sem e-mail",
            None => &self.email,
        }
    }

    /// `R$ 97,50`; empty when the platform did not say it.
    pub fn price(&self) -> String {
        match (self.amount, &*self.currency) {
            (None, _) => String::new(),
            (Some(amount), "BRL" | "") => amount.page(),
            (Some(amount), currency) => format!("{currency} {}", amount.typed()),
        }
    }

    pub const fn badge(&self) -> Badge {
        match self.state {
            EventState::Applied => Badge::Applied,
            EventState::NoEffect => Badge::NoEffect,
            EventState::Kept => Badge::Kept,
            EventState::NoPlan => Badge::NoPlan,
            EventState::NoStudent => Badge::NoStudent,
            EventState::NotStudent => Badge::NotStudent,
        }
    }
}

/// `GET /admin/compras/{id}`: one event.
#[derive(Template)]
#[template(path = "purchase.html", config = "assets/askama.toml")]
pub struct PurchasePage {
    pub layout: Layout,
    pub event: Stored,
    /// Name of the student or of the buyer; may be empty.
    pub buyer: String,
    /// When it happened, by the platform.
    pub happened: When,
    pub received: When,
    /// The body that was received; `None` after it was removed.
    pub body: Option<String>,
}
