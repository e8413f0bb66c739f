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
mod store;
pub mod views;

pub use store::{
    ToPrint, WaitingElse, barred, count_to_print, named_parcels, parcels, to_print, unknown,
    waiting_else,
};

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use http::StatusCode;

use crate::base::{Instant, MlUserId, OrderId};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::books::orders::effects::and_more;
use crate::marketplace::client::{Failure, RETRY, Unprinted};
use crate::marketplace::tools::{Refusal, out_of_reach};
use crate::panel::view::address;
use crate::row;

/// The reason when the marketplace suspects a fraud in a sale of the parcel.
const BARRED: &str = "fraud_risk";

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
        /// Units of the first line of an order that is alone in it.
        first_units: i64 = "min(coalesce((SELECT b.units FROM basket_line b
        WHERE b.basket_id = o.basket_id AND b.line = 0), o.quantity))",
        /// How many different things are in it beside the first.
        pub others: i64 = "sum(iif(o.basket_id IS NULL, 0, (SELECT count(*) - 1 FROM basket_line b WHERE b.basket_id = o.basket_id)))",
        /// What its first order sold; may be empty.
        pub title: String = "coalesce(min(i.title), '')",
        pub buyer: String = "max(o.buyer_nickname)",
        pub sold_at: Instant = "min(o.created_at)",
        /// Until when it is to be handed over, when the marketplace says so.
        pub due: Option<Instant> = "min(o.dispatch_by)",
        /// Whether it is to leave within minutes of its sale.
        pub is_same_day: bool = "max(o.marks & 2) > 0",
        /// When its label was printed here.
        pub printed_at: Option<Instant> = "(SELECT b.printed_at FROM label_print p JOIN label_batch b USING (batch_id)
        WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id)",
    }
}

impl Parcel {
    /// `2× Garrafa e mais 1 venda`.
    pub fn words(&self) -> String {
        let title = if self.title.is_empty() { "Venda" } else { &self.title };
        let more = match (self.others, self.orders) {
            (0, ..2) => String::new(),
            (0, 2) => " e mais 1 venda".to_owned(),
            (0, count) => format!(" e mais {} vendas", count - 1),
            (others, count) => and_more(usize::try_from(others + count).unwrap_or(usize::MAX)),
        };
        // As the sale says it, whose first thing this is.
        let units = if self.orders == 1 { self.first_units } else { self.units };
        format!("{units}× {title}{more}")
    }
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
        BARRED => {
            "O marketplace suspeita de fraude em uma venda deste pacote. Não envie; cancele a venda."
        }
        RETRY => {
            "O marketplace não conseguiu dar a etiqueta agora. Tente de novo em alguns minutos."
        }
        _ => "O marketplace não deu a etiqueta deste envio. Veja nele, na venda, o que falta.",
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
            (RETRY, 400),
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
}
