//! `/fornecedor/conferencia`: listings without a product, each with the product that it
//! likely sells beside it.

use serde::Serialize;

use super::links;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::ids::item_number;
use crate::base::{UserId, grouped};
use crate::dropshipping::relations;
use crate::dropshipping::unmatched::{self, Reason, Unmatched, UnmatchedQuery};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{
    Answer, Flash, ListQuery, ListReply, Listing, Notice, Sent, Tone, columns, export, filters,
    form, heads,
};
use crate::suppliers::views::UnmatchedPage;
use crate::suppliers::{SELLER, asked, choice};
use crate::wire;

pub const PATH: &str = "/fornecedor/conferencia";

pub(in crate::suppliers) const LIST: Listing = Listing {
    path: PATH,
    filters: filters! {
        "motivo": "Motivo", "Todos", &[
            ("no_sku", "Sem SKU e sem EAN"), ("sku_unknown", "SKU desconhecido"),
            ("ean_unknown", "EAN desconhecido"),
        ];
        "situacao": "Situação", "A conferir", &[("nao_e_meu", "Não são meus")];
    },
    sort_keys: &["vendedor"],
    heads: heads!["Anúncio", "Vendedor", "Produto sugerido"],
    file: "conferencia.csv",
    csv: columns![seller_id vendedor ml_id titulo sku ean motivo],
    ..Listing::NONE
};

wire! {
    /// A listing as the supplier's programs read it.
    #[derive(Serialize)]
    struct UnmatchedJson of(one: Unmatched) after {
        let reason = one.reason();
    } {
        seller_id: UserId = one.seller_id,
        vendedor: String = one.seller,
        ml_id: String = one.ml_id,
        titulo: String = one.title,
        sku: String = one.sku,
        ean: String = one.ean,
        motivo: &'static str = reason.name(),
    }
}

/// The listings that the address asks for.
fn wanted(owner: UserId, query: &ListQuery, seller: Option<UserId>) -> UnmatchedQuery {
    UnmatchedQuery {
        supplier: owner,
        seller,
        reason: query.filter("motivo").and_then(Reason::from_name),
        foreign: Some(query.filter("situacao").is_some()),
    }
}

/// The address of the list as it was, for an act that comes back to it.
pub(in crate::suppliers) fn address(request: &Request) -> Result<String, Problem> {
    let seller = asked(request, SELLER)?.map_or_else(String::new, |id| id.to_string());
    Ok(LIST.address(&LIST.read(request)?, &[(SELLER, &seller)]))
}

/// The list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let owner = person.account.user_id;
    let seller = asked(request, SELLER)?;
    let wanted = wanted(owner, &query, seller);
    if query.csv {
        let keys = app.db.read(request.lane, |tx| unmatched::keys(tx, &wanted))?;
        return export::list(app, person, &LIST, keys, move |_, tx, (seller, item)| {
            Ok(unmatched::one(tx, &wanted, seller, item)?.map(UnmatchedJson::of))
        });
    }
    if request.wants_json() {
        let window = query.window();
        let (rows, total) = app.db.read(request.lane, |tx| unmatched::page(tx, &wanted, window))?;
        return ListReply::of(total, rows, UnmatchedJson::of);
    }
    page((app, person, request), query, &wanted)
}

fn page(
    (app, person, request): Visit<'_>,
    mut query: ListQuery,
    wanted: &UnmatchedQuery,
) -> Result<Reply, Problem> {
    let (owner, is_aside) = (wanted.supplier, wanted.foreign == Some(true));
    let read = |window| {
        app.db.read(request.lane, |tx| {
            let (rows, total) = unmatched::page(tx, wanted, window)?;
            let suggested = if is_aside {
                vec![None; rows.len()]
            } else {
                unmatched::suggested(tx, owner, &rows)?
            };
            Ok::<_, Problem>((relations::sellers(tx, owner)?, rows, suggested, total))
        })
    };
    let mut found = read(query.window())?;
    if found.1.is_empty() && found.3 > 0 && request.notice.is_some() {
        query.end_at(found.3);
        found = read(query.window())?;
    }
    let (sellers, rows, suggested, total) = found;
    let choice = choice(SELLER, "Vendedor", &sellers, wanted.seller);
    let table = LIST.table_by(&query, LIST.heads, total, &choice, None);
    let last = rows.len().saturating_sub(1);
    Reply::page(&UnmatchedPage {
        layout: layout(app, person, request).with_flash(flash(request, &table.query)),
        has_sellers: !sellers.is_empty(),
        sum: match (total, is_aside) {
            (1, true) => "1 anúncio que não é seu".to_owned(),
            (total, true) => format!("{} anúncios que não são seus", grouped(total)),
            (1, false) => "1 anúncio sem produto".to_owned(),
            (total, false) => format!("{} anúncios sem produto", grouped(total)),
        },
        focus: line_of(request).map(|line| line.min(last)),
        aside: is_aside,
        table,
        rows: rows.into_iter().zip(suggested).collect(),
    })
}

/// The word of an act on a row: what was done, at which line of the page, and to what.
pub(in crate::suppliers) fn word(done: &str, request: &Request, what: &str) -> String {
    let mut lines = form::all_sent(request, "linha");
    let line = lines.next().and_then(|line| line.parse::<u16>().ok()).unwrap_or(0);
    format!("{done}-{line}-{what}")
}

/// The line of the page at which the last act was: the row that follows takes its place,
/// and the focus.
fn line_of(request: &Request) -> Option<usize> {
    request.notice.as_deref()?.split('-').nth(1)?.parse().ok()
}

fn flash(request: &Request, query: &str) -> Option<Notice> {
    let mut parts = request.notice.as_deref()?.splitn(3, '-');
    let mut next = || parts.next().unwrap_or_default();
    let (done, line, what) = (next(), next().to_owned(), next());
    match done {
        "aceito" => {
            let text = "As próximas vendas dele viram pedidos.";
            let notice = Notice::new(Tone::Good, "Anúncio vinculado", text);
            let action = format!("{}/{what}/excluir{query}", links::PATH);
            let fields = vec![("volta", "conferencia".to_owned()), ("linha", line)];
            Some(notice.undone_by(action, fields))
        }
        "separado" => {
            let (seller, listing) = what.split_once('-')?;
            let text = "Ele não volta a esta lista. Está em Filtros, Não são meus.";
            let notice = Notice::new(Tone::Good, "Anúncio separado", text);
            let fields =
                vec![(SELLER, seller.to_owned()), ("anuncio", listing.to_owned()), ("linha", line)];
            Some(notice.undone_by(format!("{PATH}/mostrar{query}"), fields))
        }
        "de_volta" => Some(Notice::new(Tone::Good, "Anúncio de volta à lista", "")),
        "desfeito" => Some(Notice::new(Tone::Good, "Vínculo desfeito", "")),
        _ => Flash::notice(links::LIST.flashes, done),
    }
}

/// The listing that a form is about.
fn sent(app: &App, request: &Request) -> Result<(UserId, String, i64), Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let seller = sent.reference(SELLER);
    if seller.is_none() {
        sent.check.fail(SELLER, "is required");
    }
    let listing = sent.line("anuncio", 1..=40).to_ascii_uppercase();
    let item = item_number(&listing);
    if item.is_none() {
        sent.check.fail("anuncio", "must be a listing id, such as MLB123");
    }
    sent.finish()?;
    Ok((UserId(seller.unwrap_or_default()), listing, item.unwrap_or_default()))
}

/// `POST /fornecedor/conferencia/separar`: the listing sells nothing of the supplier's.
pub fn put_aside(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (seller, listing, item) = sent(app, request)?;
    let (owner, answer, page) = (person.account.user_id, Answer::to(request), address(request)?);
    let word = word("separado", request, &format!("{seller}-{listing}"));
    Ok(Box::new(move |tx| {
        if !unmatched::put_aside(tx, owner, seller, item)? {
            return Err(Problem::not_found());
        }
        answer.done(listing, &page, &word)
    }))
}

/// `POST /fornecedor/conferencia/mostrar`: it may sell something of theirs after all.
pub fn take_up(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (seller, listing, item) = sent(app, request)?;
    let (owner, answer, page) = (person.account.user_id, Answer::to(request), address(request)?);
    let word = word("de_volta", request, "");
    Ok(Box::new(move |tx| {
        unmatched::take_up(tx, owner, seller, item)?;
        answer.done(listing, &page, &word)
    }))
}
