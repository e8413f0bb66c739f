//! `/fornecedor/conferencia`: listings without a product, each with the fix beside it.

use serde::Serialize;

use super::views::UnmatchedPage;
use super::{SELLER, asked, choice};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::UserId;
use crate::dropshipping::relations;
use crate::dropshipping::unmatched::{self, Reason, Unmatched, UnmatchedQuery};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Filter, Flash, Head, ListReply, Listing, export};
use crate::wire;

pub const PATH: &str = "/fornecedor/conferencia";

pub(super) const LIST: Listing = Listing {
    path: PATH,
    filters: &[Filter {
        name: "motivo",
        label: "Motivo",
        all: "Todos",
        values: &[
            ("no_sku", "Sem SKU e sem EAN"),
            ("sku_unknown", "SKU desconhecido"),
            ("ean_unknown", "EAN desconhecido"),
        ],
    }],
    sort_keys: &["vendedor"],
    heads: &[Head::plain("Anúncio"), Head::plain("Vendedor"), Head::plain("Vincular a")],
    file: "conferencia.csv",
    csv: &["seller_id", "vendedor", "ml_id", "titulo", "sku", "ean", "motivo"],
    flashes: &[Flash::good(
        "vinculado",
        "Anúncio vinculado",
        "As próximas vendas dele viram pedidos.",
    )],
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

/// The list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let owner = person.account.user_id;
    let seller = asked(request, SELLER)?;
    let reason = query.filter("motivo").and_then(Reason::from_name);
    let wanted = UnmatchedQuery { supplier: owner, seller, reason };
    if query.csv {
        let keys = app.db.read(request.lane, |tx| unmatched::keys(tx, &wanted))?;
        return export::list(app, person, &LIST, keys, move |_, tx, key| {
            Ok(unmatched::one(tx, &wanted, key)?.map(UnmatchedJson::of))
        });
    }
    let (sellers, (rows, total)) = app.db.read(request.lane, |tx| {
        let window = query.window();
        Ok::<_, Problem>((relations::sellers(tx, owner)?, unmatched::page(tx, &wanted, window)?))
    })?;
    if request.wants_json() {
        return ListReply::reply(total, rows.into_iter().map(UnmatchedJson::of).collect());
    }
    Reply::page(&UnmatchedPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        has_sellers: !sellers.is_empty(),
        table: LIST.table_by(
            &query,
            LIST.heads,
            total,
            (&choice(SELLER, "Vendedor", &sellers, seller), None),
        ),
        rows,
    })
}
