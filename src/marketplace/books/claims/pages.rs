//! Claims of buyers in the seller's panel, as page, JSON or CSV. Sellers handle
//! claims at the marketplace; the list helps to notice them in time.

use serde::Serialize;

use super::ClaimState;
use super::store::Claim;
use super::views::{ClaimLine, ClaimsPage};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, MlUserId};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::code_text::{self, CodeText};
use crate::marketplace::books::listed;
use crate::panel::{Badge, Filter, Head, Listing, When};
use crate::services::Services;
use crate::wire;

pub(super) const LIST: Listing = Listing {
    path: "/painel/reclamacoes",
    hint: "Número da venda ou da reclamação",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todas",
        values: &ClaimState::FILTER,
    }],
    sort_keys: &["-aberta_em"],
    heads: &[
        Head::plain("Reclamação"),
        Head::plain("Conta"),
        Head::plain("Situação"),
        Head::sorts("Aberta", "aberta_em"),
    ],
    file: "reclamacoes.csv",
    csv: &[
        "id",
        "conta",
        "estado",
        "tipo",
        "etapa",
        "motivo",
        "recurso",
        "recurso_id",
        "prazo",
        "acao",
        "desfecho",
        "aberta_em",
    ],
    ..Listing::NONE
};

wire! {
    /// A claim in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireClaim of(services: &Services, stores: &Stores, claim: Claim) after {
        let Claim { id, row, title } = claim;
        let spaced = |at| services.zone().spaced(at);
    } {
        id: String = id.to_string(),
        conta: String = stores.name(row.ml_user_id),
        ml_user_id: MlUserId = row.ml_user_id,
        estado: &'static str = row.state.name(),
        tipo: String = row.kind,
        etapa: String = row.stage,
        motivo: String = row.reason,
        titulo: String = title,
        recurso: String = row.resource,
        recurso_id: Option<String> = row.resource_id.map(|id| id.to_string()),
        prazo: Option<String> = row.due_at.map(spaced),
        acao: String = row.action,
        desfecho: String = row.resolution,
        aberta_em: String = spaced(row.opened_at),
        atualizada_em: String = spaced(row.updated_at),
    }
}

fn line(services: &Services, stores: &Stores, claim: Claim, now: Instant) -> ClaimLine {
    let Claim { id, row, title } = claim;
    let is_open = row.is_open();
    let due = row.due_at.filter(|_| is_open);
    let while_open = |said: CodeText| if is_open { said } else { CodeText::default() };
    ClaimLine {
        id,
        title,
        kind: code_text::claim_kind(&row.kind),
        reason: code_text::claim_reason(&row.reason),
        stage: while_open(code_text::claim_stage(&row.stage)),
        order: row.order().map(|id| id.to_string()).unwrap_or_default(),
        store: stores.name(row.ml_user_id),
        state: match row.state {
            ClaimState::Open => Badge::OpenClaim,
            ClaimState::Closed => Badge::Closed,
        },
        action: while_open(code_text::claim_action(&row.action)),
        due: due.map_or_else(String::new, |at| format!("até {}", services.zone().page(at))),
        resolution: code_text::claim_resolution(&row.resolution),
        opened: When::new(services.zone(), row.opened_at, now),
    }
}

/// `GET /painel/reclamacoes`: the claims, newest first.
pub fn claims(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer((app, person, request), |found| {
        let line = |one| line(app, &found.stores, one, request.now);
        Reply::page(&ClaimsPage {
            layout: layout(app, person, request),
            has_stores: !found.stores.is_empty(),
            table: found.table,
            claims: found.rows.into_iter().map(line).collect(),
        })
    })
}
