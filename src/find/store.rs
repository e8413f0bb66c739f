//! Things by name or number. Numbers are found by their index; names among the rows of one
//! owner, as the lists of these things find them.

use super::{Hit, MOST};
use crate::accounts::person::Group;
use crate::base::text::{like_beginning, search_key};
use crate::base::{Cents, Instant, UserId, Zone};
use crate::catalog::store as catalog;
use crate::db::{ReadTx, Result, RowWindow};
use crate::dropshipping::relations;
use crate::marketplace::books::orders;
use crate::people::store::{self as people, PeopleQuery};

/// A person's own sales with this number, or whose cart, payment or parcel has it.
pub fn sales(tx: &ReadTx<'_>, owner: UserId, search: &str, zone: Zone) -> Result<Vec<Hit>> {
    let Some(number) = number(search) else { return Ok(Vec::new()) };
    let mut hits = Vec::new();
    for order in orders::of_number(tx, owner, number, MOST)? {
        let found: Option<(Instant, Cents, String, String)> = tx.tuple(
            "SELECT created_at, total_cents, w.text, buyer_nickname FROM sale_order JOIN word w ON w.word_id = currency
             WHERE order_id = ?1 AND owner_id = ?2",
            (order, owner),
        )?;
        hits.extend(found.map(|(at, total, currency, buyer)| {
            let detail = format!("{} · {} {buyer}", zone.page(at), total.in_currency(&currency));
            Hit {
                text: format!("Venda {order}"),
                detail: detail.trim_end().to_owned(),
                href: format!("/painel/vendas/{order}"),
            }
        }));
    }
    Ok(hits)
}

/// A person's own products, below the address `list`.
pub fn products(tx: &ReadTx<'_>, owner: UserId, search: &str, list: &str) -> Result<Vec<Hit>> {
    let found = catalog::found(tx, owner, search, MOST)?;
    let hit = |one: crate::catalog::Product| Hit {
        href: format!("{list}/{}", one.id),
        text: one.entry.title,
        detail: one.entry.sku,
    };
    Ok(found.into_iter().map(hit).collect())
}

/// A person's own listings.
pub fn listings(tx: &ReadTx<'_>, owner: UserId, search: &str) -> Result<Vec<Hit>> {
    let found: Vec<(String, String)> = tx.tuples(
        "SELECT site || item_id, title FROM listing
         WHERE owner_id = ?1
             AND (holds(title, ?2) OR sku LIKE ?3 ESCAPE '\\' OR site || item_id LIKE ?3 ESCAPE '\\')
         LIMIT ?4",
        (owner, search_key(search), like_beginning(search), MOST),
    )?;
    let hit = |(id, title): (String, String)| Hit {
        text: title,
        href: format!("/painel/anuncios/{id}"),
        detail: id,
    };
    Ok(found.into_iter().map(hit).collect())
}

/// The agency's clients.
pub fn clients(tx: &ReadTx<'_>, search: &str) -> Result<Vec<Hit>> {
    let found: Vec<(i64, String, String)> = tx.tuples(
        "SELECT client_id, name, tags FROM agency_client INDEXED BY agency_client_by_name
         WHERE holds(search, ?1) ORDER BY search, client_id LIMIT ?2",
        (search_key(search), MOST),
    )?;
    let hit = |(id, name, tags): (i64, String, String)| Hit {
        text: name,
        detail: tags,
        href: format!("/admin/agencia/clientes/{id}"),
    };
    Ok(found.into_iter().map(hit).collect())
}

/// A supplier's order for the sale with this number.
pub fn drop_orders(tx: &ReadTx<'_>, supplier: UserId, search: &str) -> Result<Vec<Hit>> {
    let Some(number) = number(search) else { return Ok(Vec::new()) };
    let found: Vec<(i64, String, Cents)> = tx.tuples(
        "SELECT order_id, title, amount_cents FROM drop_order
         WHERE order_id = ?1 AND supplier_id = ?2 LIMIT ?3",
        (number, supplier, MOST),
    )?;
    let hit = |(id, title, amount): (i64, String, Cents)| Hit {
        text: format!("Pedido {id}"),
        detail: format!("{title} · {}", amount.page()),
        href: format!("/fornecedor/pedidos?q={id}"),
    };
    Ok(found.into_iter().map(hit).collect())
}

pub fn sellers(tx: &ReadTx<'_>, supplier: UserId, words: &[String]) -> Result<Vec<Hit>> {
    let found = relations::sellers(tx, supplier)?.into_iter();
    let found = found.filter(|one| super::has(&format!("{} {}", one.name, one.email), words));
    let hit = |one: relations::Related| Hit {
        text: one.name,
        detail: one.email,
        href: format!("/fornecedor/pedidos?vendedor={}", one.id.0),
    };
    Ok(found.take(MOST as usize).map(hit).collect())
}

/// Students, or suppliers and administrators, for operators.
pub fn persons(tx: &ReadTx<'_>, group: Group, search: &str) -> Result<Vec<Hit>> {
    let wanted = PeopleQuery {
        group,
        search: search.to_owned(),
        role: None,
        status: None,
        disputed: None,
        order: "nome",
        descending: false,
    };
    let list = match group {
        Group::Students => "/admin/alunos",
        Group::Staff => "/admin/equipe",
    };
    let (found, _) = people::page(tx, &wanted, RowWindow::first(MOST))?;
    let hit = |one: crate::accounts::person::Listed| Hit {
        href: format!("{list}/{}", one.id.0),
        text: one.entry.nome,
        detail: one.entry.email,
    };
    Ok(found.into_iter().map(hit).collect())
}

/// The number that a search is, such as that of an order.
fn number(search: &str) -> Option<i64> {
    search.trim().trim_start_matches('#').parse().ok().filter(|number| *number > 0)
}
