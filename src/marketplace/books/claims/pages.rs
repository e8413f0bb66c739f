//! Claims of buyers in the seller's panel, as page, JSON or CSV. They are
//! dealt with at the marketplace; here they are seen in time.

use serde::Serialize;

use super::State;
use super::list::{self, Claim, Wanted};
use super::views::{ClaimLine, ClaimsPage};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::MlUserId;
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::marketplace::account::stores::{self, Stores};
use crate::marketplace::books::spoken::{self, Spoken};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::list::{self as lists, Filter, Head, Listing};
use crate::panel::view::{Badge, When};

const LIST: Listing = Listing {
    path: "/painel/reclamacoes",
    hint: "Número da venda ou da reclamação",
    filters: &[Filter {
        name: "estado",
        label: "Situação",
        all: "Todas",
        values: &[("aberta", "Abertas"), ("encerrada", "Encerradas")],
    }],
    orders: &["-aberta_em"],
    ..Listing::NONE
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
    titulo: String,
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
        estado: if is_open(&claim) { "aberta" } else { "encerrada" },
        id: claim.id.to_string(),
        conta: stores.name(claim.ml_user_id),
        ml_user_id: claim.ml_user_id,
        tipo: claim.kind,
        etapa: claim.stage,
        motivo: claim.reason,
        titulo: claim.title,
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
    let while_open = |said: Spoken| if is_open { said } else { Spoken::default() };
    ClaimLine {
        id: claim.id.to_string(),
        kind: spoken::claim_kind(&claim.kind),
        title: claim.title.clone(),
        reason: spoken::claim_reason(&claim.reason),
        stage: while_open(spoken::claim_stage(&claim.stage)),
        order: order.map(|id| id.to_string()).unwrap_or_default(),
        store: stores.name(claim.ml_user_id),
        state: if is_open { Badge::OpenClaim } else { Badge::Closed },
        action: while_open(spoken::claim_action(&claim.action)),
        due: due.map_or_else(String::new, |at| format!("até {}", app.zone().page(at))),
        resolution: spoken::claim_resolution(&claim.resolution),
        opened: When::new(app.zone(), claim.opened_at, now),
    }
}

/// Whether a list is read by walking over all claims of its owner.
pub fn walks(request: &Request) -> bool {
    lists::asks_for_much(request) || lists::searches(request)
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
        search: query.search.clone(),
        limit,
        offset,
    };
    if query.csv {
        return csv(app, person, request, &wanted);
    }
    let (stores, (claims, total)) = app.db.read(request.lane, |tx| {
        let stores = Stores::narrowed(tx, wanted.owner, store)?;
        Ok::<_, Problem>((stores, list::page(tx, &wanted)?))
    })?;
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
        table: LIST.table_by(&query, &columns, total, (&stores.choice(store), None)),
        claims: claims.iter().map(|one| line(app, &stores, one, request.now)).collect(),
    })
}

fn csv(app: &App, person: &Person, request: &Request, wanted: &Wanted) -> Result<Reply, Problem> {
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
    let file = CsvFile::new("reclamacoes.csv", &header)?;
    let owner = wanted.owner;
    let (stores, ids) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((Stores::narrowed(tx, owner, wanted.store)?, list::ids(tx, wanted)?))
    })?;
    export::send(app, person, file, ids, move |app, tx, id, file| {
        let Some(claim) = list::claim(tx, owner, id)? else {
            return Ok(());
        };
        let claim = wire(app, &stores, claim);
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
        ])
    })
}
