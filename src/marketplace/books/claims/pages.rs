//! Claims of buyers in the seller's panel, as page, JSON or CSV. Sellers handle
//! claims at the marketplace; the list helps to notice them in time.

use serde::Serialize;

use super::ClaimState;
use super::store::Claim;
use super::views::ClaimsPage;
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::MlUserId;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed;
use crate::panel::{Filter, Head, Listing};
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
        let Claim { claim, title } = claim;
        let spaced = |at| services.zone().spaced(at);
    } {
        id: String = claim.id.to_string(),
        conta: String = stores.name(claim.seller),
        ml_user_id: MlUserId = claim.seller,
        estado: &'static str = claim.state.name(),
        tipo: String = claim.kind,
        etapa: String = claim.stage,
        motivo: String = claim.reason,
        titulo: String = title,
        recurso: String = claim.resource,
        recurso_id: Option<String> = claim.resource_id.map(|id| id.to_string()),
        prazo: Option<String> = claim.due_at.map(spaced),
        acao: String = claim.action,
        desfecho: String = claim.resolution,
        aberta_em: String = spaced(claim.opened_at),
        atualizada_em: String = spaced(claim.updated_at),
    }
}

/// `GET /painel/reclamacoes`: the claims, newest first.
pub fn claims(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer((app, person, request), |found| {
        Reply::page(&ClaimsPage { layout: layout(app, person, request), found })
    })
}
