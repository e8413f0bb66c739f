//! Claims of buyers in the seller's panel, as page, JSON or CSV. Sellers handle
//! claims at the marketplace; the pages tell what is expected, of whom and until when.

use serde::Serialize;

use super::ClaimState;
use super::store::{self, Claim};
use super::views::{ClaimPage, ClaimsPage, Door, ShownClaim};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Cents, MlUserId};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::listed::{self, Found};
use crate::panel::{Filter, Listing, PageTime, columns, heads};
use crate::services::Services;
use crate::wire;

pub const LIST: Listing = Listing {
    path: "/painel/reclamacoes",
    hint: "Número da venda ou da reclamação",
    filters: &[Filter::of("estado", "Situação", "Todas", &ClaimState::FILTER)],
    sort_keys: &["prazo", "-aberta_em"],
    heads: heads![
        "Reclamação", "Conta", "Em jogo" numeric, "Quem age" => "prazo", "Aberta" => "aberta_em",
    ],
    file: "reclamacoes.csv",
    csv: columns![
        id conta estado tipo etapa motivo recurso recurso_id prazo acao desfecho aberta_em valor
    ],
    ..Listing::NONE
};

wire! {
    /// A claim in JSON and CSV.
    #[derive(Serialize)]
    pub struct WireClaim of(services: &Services, stores: &Stores, claim: Claim) after {
        let Claim { claim, order, title, amount } = claim;
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
        pedido: Option<String> = order.map(|order| order.to_string()),
        prazo: Option<String> = claim.due_at.map(spaced),
        acao: String = claim.action,
        desfecho: String = claim.resolution,
        aberta_em: String = spaced(claim.opened_at),
        atualizada_em: String = spaced(claim.updated_at),
        valor: Option<Cents> = amount,
    }
}

/// `GET /painel/reclamacoes`: the claims, open ones by deadline first.
pub fn claims(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    listed::answer((app, person, request), |found: Found<Claim>| {
        let (owner, of_store) = (person.account.user_id, stores::asked(request)?);
        let (stake, closed) = app.db.read(request.lane, |tx| {
            let stake = store::at_stake(tx, owner, of_store)?;
            Ok::<_, Problem>((stake, store::count(tx, owner, ClaimState::Closed, of_store)?))
        })?;
        let searched = !found.table.search.is_empty();
        let table = found.table.counted(|state| match ClaimState::from_name(state)? {
            _ if searched => None,
            ClaimState::Open => Some(stake.open.unsigned_abs()),
            ClaimState::Closed => Some(closed),
        });
        let claims = found.rows.into_iter();
        Reply::page(&ClaimsPage {
            layout: layout(app, person, request),
            sum: stake.words(),
            claims: claims.map(|one| ShownClaim::of(one, &found.stores, found.time)).collect(),
            has_stores: !found.stores.is_empty(),
            table,
        })
    })
}

/// `GET /painel/reclamacoes/{id}`: one claim.
pub fn claim(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let (stores, found) = app.db.read(request.lane, |tx| {
        let found = listed::one::<Claim>(tx, owner, id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>((Stores::of(tx, owner)?, found))
    })?;
    if request.wants_json() {
        return Reply::ok(&WireClaim::of(app, &stores, found));
    }
    let door = Door { list: LIST.path.to_owned(), label: "Reclamações".to_owned(), is_own: true };
    let (time, auth_base) = (PageTime::of(app, request), &app.config.marketplace.auth_base);
    let page = ClaimPage::of(layout(app, person, request), found, &stores, time, auth_base, door);
    Reply::page(&page)
}
