//! Claims of buyers in the seller's panel, as page, JSON or CSV. They are
//! dealt with at the marketplace; here they are seen in time.

use serde::Serialize;

use super::ClaimState;
use super::store::Claim;
use super::views::{ClaimLine, ClaimsPage};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::MlUserId;
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed;
use crate::marketplace::books::spoken::{self, Spoken};
use crate::panel::list::{Filter, Head, Listing};
use crate::panel::view::{Badge, When};

pub(super) const LIST: Listing = Listing {
    path: "/painel/reclamacoes",
    hint: "Número da venda ou da reclamação",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todas",
        values: &ClaimState::FILTER,
    }],
    orders: &["-aberta_em"],
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

/// A claim in JSON and CSV.
#[derive(Serialize)]
pub struct WireClaim {
    id: String,
    conta: String,
    ml_user_id: MlUserId,
    estado: &'static str,
    tipo: String,
    etapa: String,
    motivo: String,
    titulo: String,
    recurso: String,
    recurso_id: Option<String>,
    prazo: Option<String>,
    acao: String,
    desfecho: String,
    aberta_em: String,
    atualizada_em: String,
}

impl WireClaim {
    pub fn of(app: &App, stores: &Stores, claim: Claim) -> Self {
        let Claim { id, row, title } = claim;
        let spaced = |at| app.zone().spaced(at);
        Self {
            id: id.to_string(),
            conta: stores.name(row.ml_user_id),
            ml_user_id: row.ml_user_id,
            estado: row.state.name(),
            tipo: row.kind,
            etapa: row.stage,
            motivo: row.reason,
            titulo: title,
            recurso: row.resource,
            recurso_id: row.resource_id.map(|id| id.to_string()),
            prazo: row.due_at.map(spaced),
            acao: row.action,
            desfecho: row.resolution,
            aberta_em: spaced(row.opened_at),
            atualizada_em: spaced(row.updated_at),
        }
    }
}

fn line(app: &App, stores: &Stores, claim: Claim, now: Instant) -> ClaimLine {
    let Claim { id, row, title } = claim;
    let is_open = row.is_open();
    let due = row.due_at.filter(|_| is_open);
    let while_open = |said: Spoken| if is_open { said } else { Spoken::default() };
    ClaimLine {
        id,
        title,
        kind: spoken::claim_kind(&row.kind),
        reason: spoken::claim_reason(&row.reason),
        stage: while_open(spoken::claim_stage(&row.stage)),
        order: row.order().map(|id| id.to_string()).unwrap_or_default(),
        store: stores.name(row.ml_user_id),
        state: match row.state {
            ClaimState::Open => Badge::OpenClaim,
            ClaimState::Closed => Badge::Closed,
        },
        action: while_open(spoken::claim_action(&row.action)),
        due: due.map_or_else(String::new, |at| format!("até {}", app.zone().page(at))),
        resolution: spoken::claim_resolution(&row.resolution),
        opened: When::new(app.zone(), row.opened_at, now),
    }
}

/// `GET /painel/reclamacoes`: the claims, newest first.
pub fn claims(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer(app, person, request, |found| {
        let line = |one| line(app, &found.stores, one, request.now);
        Reply::page(&ClaimsPage {
            layout: layout(app, person, request),
            has_stores: !found.stores.is_empty(),
            table: found.table,
            claims: found.rows.into_iter().map(line).collect(),
        })
    })
}
