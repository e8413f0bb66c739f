//! `/admin/parceiros/relacoes`: the relations of suppliers and sellers. The
//! operator can create a relation without an invitation, and end relations and
//! open invitations.

use serde::Serialize;

use crate::accounts::page_layout::layout;
use crate::accounts::{Account, Role, store as accounts};
use crate::app::{App, Visit};
use crate::audit::Actor;
use crate::base::{UserId, Zone, search_key};
use crate::db::ReadTx;
use crate::dropshipping::relations::{self, AnyRelation, RelationState};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{
    Answer, Form, FormView, ListQuery, ListReply, Listing, columns, export, filters, flashes, form,
    heads,
};
use crate::partner::accounts::views::{RelationRow, RelationsPage};
use crate::wire;

const PATH: &str = "/admin/parceiros/relacoes";

pub(in crate::partner::accounts) const LIST: Listing = Listing {
    path: PATH,
    hint: "Nome ou e-mail",
    filters: filters! {
        "situacao": "Situação", "Todas", &[
            ("ativo", "Ativa"), ("convidado", "Convite enviado"), ("encerrado", "Encerrada"),
            ("recusado", "Convite recusado"), ("retirado", "Convite retirado"),
        ];
    },
    sort_keys: &["-desde"],
    heads: heads!["Fornecedor", "Vendedor", "Situação", "Anúncios vinculados" numeric, "Desde"],
    file: "relacoes.csv",
    csv: columns![id fornecedor_id fornecedor vendedor_id vendedor email situacao desde vinculos],
    flashes: flashes! {
        "relacionados": good "Relação criada",
            "Valem desde já os anúncios, os vínculos e os pedidos.";
        "encerrado": good "Relação encerrada",
            "Os vínculos acabaram. O que já era devido continua em Pedidos.";
    },
};

wire! {
    /// A relation as programs read it.
    #[derive(Serialize)]
    struct RelationJson of(one: AnyRelation, zone: Zone) {
        id: String = one.id.to_string(),
        fornecedor_id: UserId = one.supplier_id,
        fornecedor: String = one.supplier,
        /// Null until the invitation is accepted.
        vendedor_id: Option<UserId> = one.seller_id,
        vendedor: Option<String> = one.seller,
        email: String = one.email,
        situacao: &'static str = one.state.name(),
        desde: String = zone.spaced(one.at),
        vinculos: i64 = one.links,
    }
}

/// Two people, by their e-mail addresses.
#[derive(Clone, Default)]
pub(in crate::partner::accounts) struct Pair {
    supplier: String,
    seller: String,
}

pub(in crate::partner::accounts) const FORM: Form<Pair> = form! {
    "fornecedor": Email(|pair| &mut pair.supplier), "Informe o e-mail do fornecedor.";
    "vendedor": Email(|pair| &mut pair.seller), "Informe o e-mail do vendedor.";
};

/// Why two people cannot be related: for programs and for people.
const FAULTS: [(&str, &str); 3] = [
    ("is nobody's", "Ninguém entra na plataforma com este e-mail."),
    ("is no supplier", "Esta pessoa não é fornecedora. O papel dela muda na página da equipe."),
    ("is no seller", "Esta pessoa não é aluna, e só alunos vendem."),
];

/// `GET /admin/parceiros/relacoes`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (relations, total) = app.db.read(request.lane, |tx| read(tx, &query))?;
    let zone = app.zone();
    if query.csv {
        return export::list(app, person, &LIST, relations, move |_, _, one| {
            Ok(Some(RelationJson::of(one, zone)))
        });
    }
    if request.wants_json() {
        return ListReply::of(total, relations, |one| RelationJson::of(one, zone));
    }
    let fresh = FORM.show(None, zone).unfocused();
    let mut page = page((app, person, request), &query, relations, total, fresh);
    page.layout = page.layout.telling(LIST.flashes, request);
    Reply::page(&page)
}

fn read(tx: &ReadTx<'_>, query: &ListQuery) -> Result<(Vec<AnyRelation>, u64), Problem> {
    let state = query.filter("situacao").and_then(RelationState::from_name);
    Ok(relations::page(tx, state, &search_key(&query.search), query.window())?)
}

fn page(
    (app, person, request): Visit<'_>,
    query: &ListQuery,
    relations: Vec<AnyRelation>,
    total: u64,
    form: FormView,
) -> RelationsPage {
    let row = |one| RelationRow::of(one, app.zone(), request.now);
    RelationsPage {
        layout: layout(app, person, request),
        table: LIST.table(query, LIST.heads, total),
        relations: relations.into_iter().map(row).collect(),
        form,
    }
}

/// The two people of a pair: a supplier and a seller, or an error.
fn people(tx: &ReadTx<'_>, pair: &Pair) -> Result<(Account, Account), Problem> {
    let [nobody, no_supplier, no_seller] = FAULTS.map(|(said, _)| said);
    let person = |name: &'static str, email: &str, fits: fn(Role) -> bool, unfit: &'static str| {
        let found = accounts::by_email(tx, email)?.ok_or_else(|| Problem::field(name, nobody))?;
        if fits(found.role) { Ok(found) } else { Err(Problem::field(name, unfit)) }
    };
    let is_supplier = |role| role == Role::Drop;
    let supplier = person("fornecedor", &pair.supplier, is_supplier, no_supplier)?;
    let seller = person("vendedor", &pair.seller, Role::is_student, no_seller)?;
    Ok((supplier, seller))
}

/// `POST /admin/parceiros/relacoes`: relates a supplier and a seller without an
/// invitation.
pub fn relate(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let read = FORM.entry(request, app.zone(), None).and_then(|pair| {
        app.db.read(request.lane, |tx| people(tx, &pair))?;
        Ok(pair)
    });
    let pair = match read {
        Ok(pair) => pair,
        Err(problem) => return faulty(visit, problem),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (supplier, seller) = people(tx, &pair)?;
        if relations::relate(tx, supplier.user_id, seller.user_id, &seller.email)? {
            let id = seller.user_id.0;
            relations::note(tx, &actor, "relacao.criar", id, &seller.email, &supplier.email)?;
        }
        answer.done(seller.user_id, PATH, "relacionados")
    }))
}

fn faulty(visit: Visit<'_>, problem: Problem) -> Result<Job, Problem> {
    let (app, _, request) = visit;
    form::show_again(request, problem, |faults| {
        let query = LIST.first_page("");
        let (relations, total) = app.db.read(request.lane, |tx| read(tx, &query))?;
        let mut form = FORM.again(request, faults);
        for (name, said) in faults {
            for (_, words) in FAULTS.into_iter().filter(|(fault, _)| said == fault) {
                form.say(name, words);
            }
        }
        Reply::page(&page(visit, &query, relations, total, form))
    })
}

/// `POST /admin/parceiros/relacoes/{id}/encerrar`: ends a relation, or
/// withdraws an invitation.
pub fn end(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    if let Some((supplier, seller)) = app.db.read(request.lane, |tx| relations::pair(tx, id))? {
        relations::end_links(&app.db, supplier, seller)?;
    }
    app.db.write(move |tx| {
        let was = relations::end_any(tx, id)?.ok_or_else(Problem::not_found)?;
        let action = match was.seller_id {
            Some(_) => "relacao.encerrar",
            None => "relacao.retirar",
        };
        relations::note(tx, &actor, action, id, &was.email, &was.supplier)?;
        answer.done(id, PATH, "encerrado")
    })
}
