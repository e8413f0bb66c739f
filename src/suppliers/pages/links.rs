//! `/fornecedor/vinculos`: which listings sell which products; links made by
//! hand and removed.

use serde::Serialize;

use super::unmatched;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::ids::item_number;
use crate::base::{UserId, Zone, search_key};
use crate::catalog::LONGEST_SKU;
use crate::catalog::store::ByProduct;
use crate::dropshipping::links::{self, LinkFault, LinkQuery, Linked, NewLink, ShownLink};
use crate::dropshipping::relations;
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{
    Answer, Flash, Form, FormView, ListQuery, ListReply, Listing, Notice, PageTime, Pick, Sent,
    Tone, columns, export, flashes, form, heads,
};
use crate::suppliers::views::LinksPage;
use crate::suppliers::{SELLER, asked, choice};
use crate::wire;

pub const PATH: &str = "/fornecedor/vinculos";

pub(in crate::suppliers) const LIST: Listing = Listing {
    path: PATH,
    hint: "Anúncio, produto ou SKU",
    sort_keys: &["-criado"],
    heads: heads!["Anúncio", "Produto", "Vendedor", "Vinculado"],
    file: "vinculos.csv",
    csv: columns![seller_id ml_id sku vendedor anuncio produto criado_em],
    flashes: flashes! {
        "vinculado": good "Anúncio vinculado", "As próximas vendas dele viram pedidos.";
        "desvinculado": good "Vínculo removido", "As próximas vendas dele não viram pedidos.";
    },
    ..Listing::NONE
};

wire! {
    /// A link as the supplier's programs read it.
    #[derive(Serialize)]
    struct LinkJson of(shown: ShownLink, zone: Zone) {
        id: String = shown.link.id.to_string(),
        seller_id: UserId = shown.link.seller_id,
        vendedor: String = shown.seller,
        ml_id: String = shown.link.ml_id,
        anuncio: String = shown.listing,
        produto_id: String = shown.link.product_id.to_string(),
        sku: String = shown.link.sku,
        produto: String = shown.product,
        criado_em: String = zone.spaced(shown.link.created_at),
    }
}

/// A link as it was entered.
#[derive(Clone, Default)]
pub struct Entered {
    seller: i64,
    item: i64,
    /// As it was typed.
    listing: String,
    sku: String,
}

pub(in crate::suppliers) const FORM: Form<Entered> = form! {
    "vendedor": Own(read_seller, |entered, _| match entered.seller {
        0 => String::new(),
        id => id.to_string(),
    }), "Escolha o vendedor.";
    "anuncio": Own(read_item, |entered, _| entered.listing.clone()),
        "Informe o código do anúncio, como MLB123.";
    "sku": Line(1..=LONGEST_SKU, |entered| &mut entered.sku), "Informe o SKU de um produto seu.";
};

fn read_seller(sent: &mut Sent<'_>, name: &'static str, entered: &mut Entered) {
    match sent.reference(name) {
        Some(id) => entered.seller = id,
        None => sent.check.fail(name, "is required"),
    }
}

fn read_item(sent: &mut Sent<'_>, name: &'static str, entered: &mut Entered) {
    entered.listing = sent.line(name, 1..=40).to_ascii_uppercase();
    match item_number(&entered.listing) {
        Some(item) => entered.item = item,
        None => sent.check.fail(name, "must be a listing id, such as MLB123"),
    }
}

fn wanted(person: &Person, query: &ListQuery, seller: Option<UserId>) -> LinkQuery {
    LinkQuery {
        supplier: person.account.user_id,
        seller,
        item: None,
        sku: None,
        search: search_key(&query.search),
    }
}

/// `GET /fornecedor/vinculos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let seller = asked(request, SELLER)?;
    let (wanted, zone, owner) =
        (wanted(person, &query, seller), app.zone(), person.account.user_id);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| links::ids(tx, &wanted))?;
        return export::list(app, person, &LIST, ids, move |_, tx, id| {
            Ok(links::shown(tx, owner, id)?.map(|link| LinkJson::of(link, zone)))
        });
    }
    if request.wants_json() {
        let (links, total) =
            app.db.read(request.lane, |tx| links::page(tx, &wanted, query.window()))?;
        return ListReply::of(total, links, |link| LinkJson::of(link, zone));
    }
    page((app, person, request), &query, seller, FORM.show(None, zone).unfocused())
}

fn page(
    (app, person, request): Visit<'_>,
    query: &ListQuery,
    seller: Option<UserId>,
    form: FormView,
) -> Result<Reply, Problem> {
    let wanted = wanted(person, query, seller);
    let ((links, total), sellers) = app.db.read(request.lane, |tx| {
        let links = links::page(tx, &wanted, query.window())?;
        Ok::<_, Problem>((links, relations::sellers(tx, wanted.supplier)?))
    })?;
    let choice = choice(SELLER, "Vendedor", &sellers, seller);
    Reply::page(&LinksPage {
        layout: layout(app, person, request).with_flash(flash(request)),
        sellers: sellers.into_iter().map(|one| Pick::of((one.id.0, one.name))).collect(),
        form,
        table: LIST.table_by(query, LIST.heads, total, &choice, None),
        links,
        time: PageTime::of(app, request),
    })
}

fn flash(request: &Request) -> Option<Notice> {
    let word = request.notice.as_deref()?;
    Flash::notice(LIST.flashes, word).or_else(|| listed(word))
}

/// The notice for a word such as `lista-12-3-1`: how many rows of a list were
/// linked, were linked before, and failed.
fn listed(word: &str) -> Option<Notice> {
    let mut counts = word.strip_prefix("lista-")?.split('-').map(|count| count.parse::<u64>().ok());
    let mut next = || counts.next().flatten();
    let (new, known, failed) = (next()?, next()?, next()?);
    let text = format!("{new} vinculados agora, {known} já estavam, {failed} não puderam ser.");
    let tone = if failed > 0 { Tone::Warn } else { Tone::Good };
    Some(Notice::new(tone, "Lista processada", text))
}

/// `POST /fornecedor/vinculos`: links a listing by hand.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let owner = person.account.user_id;
    let read = FORM.entry(request, app.zone(), None).and_then(|entered| {
        let new = NewLink {
            seller: UserId(entered.seller),
            item: entered.item,
            product: ByProduct::Sku(entered.sku),
        };
        app.db.read(request.lane, |tx| links::check(tx, owner, &new))?.map_err(refused)?;
        Ok(new)
    });
    let new = match read {
        Ok(new) => new,
        Err(problem) => return faulty(visit, problem),
    };
    let answer = Answer::to(request);
    let (is_suggested, back) = back(request)?;
    let accepted = unmatched::word("aceito", request, "");
    Ok(Box::new(move |tx| match links::make(tx, owner, &new)?.map_err(refused)? {
        Linked::Created(id) if is_suggested => answer.made(id, &back, &format!("{accepted}{id}")),
        Linked::Created(id) => answer.made(id, &back, "vinculado"),
        // What was linked before is not undone from here.
        Linked::Unchanged(id) => answer.done(id, &back, "vinculado"),
    }))
}

/// The page that a form came from: that of listings without a product as it was, which
/// is true, or this one.
fn back(request: &Request) -> Result<(bool, String), Problem> {
    let mut told = form::all_sent(request, "volta");
    if told.any(|page| page == "conferencia") {
        return Ok((true, unmatched::address(request)?));
    }
    Ok((false, PATH.to_owned()))
}

/// The field error for a link that cannot be made.
fn refused(fault: LinkFault) -> Problem {
    match fault {
        LinkFault::NoSeller => Problem::field(SELLER, fault.said()),
        LinkFault::NoListing | LinkFault::Taken => Problem::field("anuncio", fault.said()),
        LinkFault::NoProduct => Problem::field("sku", fault.said()),
        LinkFault::Full => Problem::conflict(ForPeople("Há vínculos demais. Remova algum antes.")),
    }
}

fn faulty(visit: Visit<'_>, problem: Problem) -> Result<Job, Problem> {
    let request = visit.2;
    form::show_again(request, problem, |faults| {
        let mut form = FORM.again(request, faults);
        for (name, said) in faults {
            for (fault, words) in [
                (LinkFault::NoSeller, "Este vendedor não está entre os seus."),
                (LinkFault::NoListing, "O vendedor não tem este anúncio."),
                (LinkFault::Taken, "Este anúncio já está vinculado a outro produto."),
                (LinkFault::NoProduct, "Não há produto seu com este SKU."),
            ] {
                if said == fault.said() {
                    form.say(name, words.to_owned());
                }
            }
        }
        page(visit, &LIST.first_page(""), None, form)
    })
}

/// `POST /fornecedor/vinculos/{id}/excluir`: removes a link.
pub fn remove(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let answer = Answer::to(request);
    let (is_undone, back) = back(request)?;
    let undone = unmatched::word("desfeito", request, "");
    let word = if is_undone { undone } else { "desvinculado".to_owned() };
    Ok(Box::new(move |tx| {
        if !links::remove(tx, owner, id)? {
            return Err(Problem::not_found());
        }
        answer.done(id, &back, &word)
    }))
}
