//! Claims of buyers in the seller's panel, as page, JSON or CSV. They are
//! dealt with at the marketplace; here they are seen in time.

use serde::Serialize;

use super::State;
use super::list::{self, Claim, Wanted};
use super::views::{ClaimLine, ClaimsPage};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::clock::Instant;
use crate::guard::Person;
use crate::http::answer::ListReply;
use crate::http::csv_file::CsvFile;
use crate::http::table::{Filter, Head, Listing};
use crate::http::view::{Badge, When};
use crate::http::{Problem, Reply, Request};
use crate::ids::MlUserId;
use crate::marketplace::stores::{self, Stores};

const LIST: Listing = Listing {
    path: "/painel/reclamacoes",
    hint: "",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        values: &[("aberta", "Abertas"), ("encerrada", "Encerradas")],
    }],
    orders: &["-aberta_em"],
};

const fn is_open(claim: &Claim) -> bool {
    claim.state == State::Open as i64
}

#[derive(Serialize)]
struct WireClaim {
    id: String,
    conta: String,
    ml_user_id: MlUserId,
    estado: &'static str,
    tipo: String,
    etapa: String,
    motivo: String,
    recurso: String,
    recurso_id: Option<String>,
    prazo: Option<String>,
    acao: String,
    desfecho: String,
    aberta_em: String,
    atualizada_em: String,
}

fn wire(app: &App, stores: &Stores, claim: Claim) -> WireClaim {
    let spaced = |at| app.zone().spaced(at);
    WireClaim {
        estado: if is_open(&claim) {
            "aberta"
        } else {
            "encerrada"
        },
        id: claim.id.to_string(),
        conta: stores.name(claim.ml_user_id),
        ml_user_id: claim.ml_user_id,
        tipo: claim.kind,
        etapa: claim.stage,
        motivo: claim.reason,
        recurso: claim.resource,
        recurso_id: claim.resource_id.map(|id| id.to_string()),
        prazo: claim.due_at.map(spaced),
        acao: claim.action,
        desfecho: claim.resolution,
        aberta_em: spaced(claim.opened_at),
        atualizada_em: spaced(claim.updated_at),
    }
}

fn line(app: &App, stores: &Stores, claim: &Claim, now: Instant) -> ClaimLine {
    let is_open = is_open(claim);
    let order = claim.resource_id.filter(|_| claim.resource == "order");
    let due = claim.due_at.filter(|_| is_open);
    ClaimLine {
        id: claim.id.to_string(),
        title: kind_words(&claim.kind).to_owned(),
        stage: stage_words(&claim.stage).to_owned(),
        order: order.map(|id| id.to_string()).unwrap_or_default(),
        store: stores.name(claim.ml_user_id),
        state: if is_open {
            Badge::OpenClaim
        } else {
            Badge::ClosedClaim
        },
        action: if is_open {
            action_words(&claim.action).to_owned()
        } else {
            String::new()
        },
        due: due.map_or_else(String::new, |at| format!("até {}", app.zone().page(at))),
        resolution: claim.resolution.clone(),
        opened: When::new(app.zone(), claim.opened_at, now),
    }
}

fn kind_words(kind: &str) -> &str {
    match kind {
        "mediations" => "Reclamação",
        "return" | "returns" => "Devolução",
        "cancel_sale" | "cancel_purchase" => "Pedido de cancelamento",
        "change" => "Troca",
        "fulfillment" => "Problema no armazém",
        "ml_case" => "Caso do marketplace",
        "service" => "Problema com serviço",
        other => other,
    }
}

fn stage_words(stage: &str) -> &str {
    match stage {
        "claim" => "Em conversa com o comprador",
        "dispute" => "Em mediação do marketplace",
        "recontact" => "Comprador voltou a reclamar",
        "stale" => "Parada",
        "none" => "",
        other => other,
    }
}

fn action_words(action: &str) -> &str {
    match action {
        "refund" => "Decida sobre o reembolso",
        "send_message_to_complainant" => "Responda ao comprador",
        "send_message_to_mediator" => "Responda ao mediador",
        "open_dispute" => "Peça mediação, se precisar",
        "allow_return" => "Decida sobre a devolução",
        "send_potential_shipping" | "add_shipping_evidence" => "Comprove o envio",
        other => other,
    }
}

/// `GET /painel/reclamacoes`: the claims, newest first.
pub fn claims(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let store = stores::asked(request)?;
    let (limit, offset) = query.window();
    let wanted = Wanted {
        owner: person.account.user_id,
        store,
        state: query.filter("estado").map(|word| match word {
            "aberta" => State::Open as i64,
            _ => State::Closed as i64,
        }),
        limit,
        offset,
    };
    let (stores, (claims, total)) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((Stores::of(tx, wanted.owner)?, list::page(tx, &wanted)?))
    })?;
    if query.csv {
        return csv(app, &stores, claims);
    }
    if request.wants_json() {
        let claims = claims.into_iter().map(|one| wire(app, &stores, one));
        return ListReply::reply(total, claims.collect());
    }
    let columns = [
        Head::plain("Reclamação"),
        Head::plain("Conta"),
        Head::plain("Situação"),
        Head::sorts("Aberta", "aberta_em"),
    ];
    Reply::page(&ClaimsPage {
        layout: layout(app, person, request),
        has_stores: !stores.is_empty(),
        table: LIST.table_by(&query, &columns, total, &stores.choice(store)),
        claims: claims
            .iter()
            .map(|one| line(app, &stores, one, request.now))
            .collect(),
    })
}

fn csv(app: &App, stores: &Stores, claims: Vec<Claim>) -> Result<Reply, Problem> {
    let header = [
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
    ];
    let mut file = CsvFile::new("reclamacoes.csv", &header)?;
    for claim in claims {
        let claim = wire(app, stores, claim);
        file.row([
            &*claim.id,
            &claim.conta,
            claim.estado,
            &claim.tipo,
            &claim.etapa,
            &claim.motivo,
            &claim.recurso,
            claim.recurso_id.as_deref().unwrap_or_default(),
            claim.prazo.as_deref().unwrap_or_default(),
            &claim.acao,
            &claim.desfecho,
            &claim.aberta_em,
        ])?;
    }
    file.reply()
}
