//! Labels for parcels: which can be printed, and the messages for those that
//! cannot.
//!
//! A parcel is to be printed until its label was (`batches.rs`). One press prints
//! all of them, a file for each batch (`press.rs`); a **desk** (`desk.rs`) is the
//! page where that is done, of a seller or of the agency.
//!
//! A label is requested with the account's own token. The shipment must be
//! known from the owner's orders, or the marketplace must confirm that the
//! account sends it. Nothing else that the marketplace says is passed on.
//! Decisions tools-3, tools-4.

pub mod batches;
pub mod desk;
pub mod files;
pub mod pages;
pub mod parcel_page;
pub mod press;
pub mod print;
pub mod refused;
pub mod views;

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use http::StatusCode;
use rusqlite::{Params, params_from_iter};

use crate::base::{DAY_S, Instant, MlUserId, OrderId, UserId};
use crate::db::{Json, ReadTx, Record, Result, RowWindow};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::READY_TO_SHIP;
use crate::marketplace::client::{Failure, Unprinted};
use crate::marketplace::tools::{Refusal, out_of_reach};
use crate::panel::view::address;
use crate::row;

/// The path of the file of labels.
pub const FILE: &str = "/painel/ml/etiqueta";

/// The address of a file of labels below `file`: of one shipment of an account, or
/// of several with commas between them.
pub fn address_for(file: &str, account: MlUserId, shipments: impl Display) -> String {
    let (account, shipments) = (account.to_string(), shipments.to_string());
    address(file, &[("conta", &account), ("shipment_id", &shipments)])
}

row! {
    /// A parcel that waits to be sent.
    #[derive(Clone, Debug)]
    pub struct Parcel {
        pub shipment: i64 = "o.shipping_id",
        /// Its first order.
        pub order: OrderId = "min(o.order_id)",
        /// How many orders are in it.
        pub orders: i64 = "count(*)",
        pub units: i64 = "sum(o.quantity)",
        /// What its first order sold; may be empty.
        pub title: String = "coalesce(min(i.title), '')",
        pub buyer: String = "max(o.buyer_nickname)",
        pub sold_at: Instant = "min(o.created_at)",
        /// Until when it is to be handed over, when the marketplace says so.
        pub due: Option<Instant> = "min(o.dispatch_by)",
        /// When its label was printed here.
        pub printed_at: Option<Instant> = "(SELECT b.printed_at FROM label_print p JOIN label_batch b USING (batch_id)
        WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id)",
    }
}

impl Parcel {
    /// `2× Garrafa e mais 1 venda`.
    pub fn words(&self) -> String {
        let title = if self.title.is_empty() { "Venda" } else { &self.title };
        let more = match self.orders {
            ..2 => String::new(),
            2 => " e mais 1 venda".to_owned(),
            count => format!(" e mais {} vendas", count - 1),
        };
        format!("{}× {title}{more}", self.units)
    }
}

/// SQL for the orders of one account.
const OF_ACCOUNT: [&str; 2] = ["sale_order o", "o.owner_id = ?1 AND o.ml_user_id = ?2"];
/// The same of all accounts that `?1` names, as owner and number.
const OF_GIVEN: [&str; 2] = [
    "json_each(?1) given CROSS JOIN sale_order o",
    "o.owner_id = given.value ->> 0 AND o.ml_user_id = given.value ->> 1",
];

/// SQL for the parcels of accounts that can be printed: those ready to be
/// sent, of the kinds that sellers print, or of a kind that is not known yet.
fn printable([orders, condition]: [&str; 2]) -> String {
    // The states are literals, so that the index of parcels to be sent is used.
    format!(
        "FROM {orders}
    LEFT JOIN word w ON w.word_id = o.logistic_type
    LEFT JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
    WHERE {condition} AND o.shipping_status = {READY_TO_SHIP} AND o.shipping_id > 0
      AND o.status IN ({sales})
      AND (w.text IS NULL OR w.text IN ('drop_off', 'xd_drop_off', 'cross_docking', 'self_service'))",
        sales = OrderStatus::sales_in_sql()
    )
}

/// Some of an account's parcels, newest first, and how many there are.
pub fn parcels(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<Parcel>, u64)> {
    let printable = printable(OF_ACCOUNT);
    let total =
        tx.count(&format!("SELECT count(DISTINCT o.shipping_id) {printable}"), (owner, account))?;
    let rest = format!(
        "{printable} GROUP BY o.shipping_id ORDER BY o.shipping_id DESC LIMIT ?3 OFFSET ?4"
    );
    Ok((tx.records(&rest, (owner, account, limit, offset))?, total))
}

/// The parcels that are named by owner, account and shipment, as far as they can be
/// printed, in that order; each with its place among the names.
pub fn named_parcels(tx: &ReadTx<'_>, named: Vec<(i64, i64, i64)>) -> Result<Vec<(usize, Parcel)>> {
    let rest = format!(
        "{} AND o.shipping_id = given.value ->> 2 GROUP BY given.key ORDER BY given.key",
        printable(OF_GIVEN)
    );
    placed(tx, &rest, [Json(named)])
}

row! {
    /// A parcel whose label is to be printed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ToPrint {
        pub shipment: i64 = "o.shipping_id",
        /// Its first order.
        pub order: OrderId = "min(o.order_id)",
        pub due: Option<Instant> = "min(o.dispatch_by)",
        pub sold_at: Instant = "min(o.created_at)",
    }
}

/// Records, each with the place of what it belongs to among what the statement was given
/// as JSON; `rest` is the SELECT from FROM on.
fn placed<R: Record>(tx: &ReadTx<'_>, rest: &str, params: impl Params) -> Result<Vec<(usize, R)>> {
    let sql = format!("SELECT given.key, {} {rest}", R::COLUMNS);
    tx.all(&sql, params, |row| Ok((row.get::<_, u32>(0)? as usize, R::read_at(row, &mut 1)?)))
}

/// SQL for those of [`printable`] whose label was not printed.
fn not_printed(of: [&str; 2]) -> String {
    format!(
        "{} AND NOT EXISTS (SELECT 1 FROM label_print p
             WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id)",
        printable(of)
    )
}

/// The parcels of accounts whose labels are to be printed, each with the place of its
/// account among them.
pub fn to_print(tx: &ReadTx<'_>, accounts: &[(i64, i64)]) -> Result<Vec<(usize, ToPrint)>> {
    let rest = format!("{} GROUP BY given.key, o.shipping_id", not_printed(OF_GIVEN));
    placed(tx, &rest, [Json(accounts)])
}

/// How many those are, and until when the first is to be handed over.
pub fn count_to_print(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
) -> Result<(u64, Option<Instant>)> {
    let sql = format!(
        "SELECT count(DISTINCT o.shipping_id), min(o.dispatch_by) {}",
        not_printed(OF_ACCOUNT)
    );
    let (parcels, due): (i64, Option<Instant>) =
        tx.one(&sql, (owner, account), |row| row.try_into())?;
    Ok((parcels.unsigned_abs(), due))
}

/// How far back orders are searched for a parcel that is no longer to be sent:
/// labels of older ones are not requested.
const LOOKED_BACK_S: i64 = 60 * DAY_S;

/// Which of some shipments are in none of the owner's orders of this account.
pub fn unknown(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
) -> Result<Vec<i64>> {
    // The state is a literal, so that the index of parcels to be sent is used.
    let to_be_sent = format!(
        "SELECT EXISTS (SELECT 1 FROM sale_order
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3 AND shipping_status = {READY_TO_SHIP})"
    );
    let mut unknown = Vec::new();
    for shipment in shipments {
        if !tx.value::<bool>(&to_be_sent, (owner, account, shipment))? {
            unknown.push(*shipment);
        }
    }
    if unknown.is_empty() {
        return Ok(unknown);
    }
    // Few of the requested parcels have left, so this needs no index.
    let places = vec!["?"; unknown.len()].join(", ");
    let since = tx.now().minus(LOOKED_BACK_S);
    let values = [owner.0, since.0, account.0].into_iter();
    let left = tx.values::<i64>(
        &format!(
            "SELECT shipping_id FROM sale_order
             WHERE owner_id = ? AND created_at >= ? AND ml_user_id = ? AND shipping_id IN ({places})"
        ),
        params_from_iter(values.chain(unknown.iter().copied()))
    )?;
    unknown.retain(|shipment| !left.contains(shipment));
    Ok(unknown)
}

pub const NOT_FOUND: Refusal =
    (StatusCode::NOT_FOUND, "Este envio não foi encontrado entre as vendas desta conta.");

/// The message when the marketplace returned no file. `asked` are the requested
/// shipments.
pub fn refusal(error: &CallError, asked: &[i64]) -> (StatusCode, Cow<'static, str>) {
    let (status, said) = match error {
        CallError::Failed(Failure::Unprintable(failed)) => return unprinted(failed, asked),
        CallError::NotLinked | CallError::Failed(Failure::Refused { status: 404, .. }) => NOT_FOUND,
        CallError::Failed(Failure::Refused { status: 400, code }) => of_cause(code),
        error => out_of_reach(error),
    };
    (status, said.into())
}

/// The message for labels that cannot be printed: the reason alone when one was
/// requested, otherwise which they are and how to print the others.
fn unprinted(failed: &[Unprinted], asked: &[i64]) -> (StatusCode, Cow<'static, str>) {
    let named: Vec<&Unprinted> =
        failed.iter().filter(|one| asked.contains(&one.shipment)).collect();
    if asked.len() < 2 || named.is_empty() {
        let (status, said) = of_cause(failed.first().map_or("", |one| &one.cause));
        return (status, said.into());
    }
    let mut said = match named.len() {
        1 => format!(
            "Nenhuma etiqueta saiu, porque uma das {} não pode ser impressa agora.",
            asked.len()
        ),
        count => format!(
            "Nenhuma etiqueta saiu, porque {count} das {} não podem ser impressas agora.",
            asked.len()
        ),
    };
    for one in &named {
        let _ = write!(said, "\n\nEnvio {}: {}", one.shipment, of_cause(&one.cause).1);
    }
    if named.len() < asked.len() {
        said.push_str("\n\nVolte à página Etiquetas e imprima de novo: as outras saem sem estas.");
    }
    (StatusCode::BAD_REQUEST, said.into())
}

/// The message for a cause that the marketplace names.
pub fn of_cause(cause: &str) -> Refusal {
    let said = match cause {
        // Do not reveal a shipment of another account.
        "invalid_shipment_caller" => return NOT_FOUND,
        "not_printable_status" => {
            "A etiqueta ainda não pode ser impressa, ou o pacote já foi enviado. Confira se a nota fiscal foi emitida."
        }
        "invalid_shipment_ff_public" => {
            "Este envio sai do depósito do marketplace, que imprime a etiqueta."
        }
        "invalid_shipment_mode" => "Este envio não usa etiquetas do marketplace.",
        "shipment_ids" => "São etiquetas demais de uma vez. Peça até 50.",
        _ => "O marketplace não deu a etiqueta deste envio.",
    };
    (StatusCode::BAD_REQUEST, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unprinted(shipment: i64, cause: &str) -> Unprinted {
        Unprinted { shipment, cause: cause.to_owned() }
    }

    #[test]
    fn refusals_are_short_sentences_of_ours() {
        for (cause, expected) in [
            ("not_printable_status", 400),
            ("invalid_shipment_caller", 404),
            ("invalid_shipment_ff_public", 400),
            ("invalid_shipment_mode", 400),
            ("shipment_ids", 400),
            ("<b>what ever</b>", 400),
        ] {
            let (status, said) = of_cause(cause);
            assert_eq!(status.as_u16(), expected, "{cause}");
            assert!(said.ends_with('.') && !said.contains('<'), "{said}");
            let failed = Failure::Unprintable(vec![unprinted(7, cause)]);
            let alone = refusal(&CallError::Failed(failed), &[7]);
            assert_eq!(alone, (status, said.into()));
        }
        let refused = |status| Failure::Refused { status, code: String::new() };
        for (error, expected) in [
            (CallError::NotLinked, 404),
            (CallError::Failed(refused(404)), 404),
            (CallError::Failed(refused(400)), 400),
            (CallError::Failed(refused(403)), 502),
            (CallError::Failed(Failure::Unreachable), 502),
        ] {
            assert_eq!(refusal(&error, &[7]).0.as_u16(), expected, "{error}");
        }
    }

    #[test]
    fn among_many_those_that_cannot_be_printed_are_named() {
        let failed = [
            unprinted(8, "not_printable_status"),
            unprinted(9, "<b>what ever</b>"),
            unprinted(99, "invalid_shipment_mode"),
        ];
        let told = |failed: &[Unprinted], asked: &[i64]| {
            let failed = Failure::Unprintable(failed.to_vec());
            refusal(&CallError::Failed(failed), asked).1
        };
        let said = told(&failed, &[7, 8, 9]);
        assert!(said.contains("2 das 3 não podem"), "{said}");
        assert!(said.contains("\n\nEnvio 8: A etiqueta ainda não"), "{said}");
        assert!(said.contains("\n\nEnvio 9: O marketplace não deu"), "{said}");
        assert!(!said.contains("99") && !said.contains('<'), "{said}");
        assert!(said.ends_with("saem sem estas."), "{said}");
        let said = told(&failed[..1], &[7, 8]);
        assert!(said.contains("uma das 2 não pode ser"), "{said}");
        let said = told(&failed[..2], &[8, 9]);
        assert!(!said.contains("as outras"), "{said}");
        let said = told(&failed[2..], &[7, 8]);
        assert_eq!(said, of_cause("invalid_shipment_mode").1);
    }

    #[test]
    fn the_query_spells_out_the_words_that_are_fixed() {
        assert_eq!(OrderStatus::sales_in_sql(), "5, 6");
        assert_eq!(READY_TO_SHIP, 10);
    }
}
