//! Shipping labels, and the sender of a shipment.

use serde_json::Value;

use super::{Answer, Caller, Client, Failure, FileRequest};
use crate::marketplace::books::document::{positive, text};

/// Most labels in one file.
pub const LABELS_AT_ONCE: usize = 50;
/// A label is some tens of kilobytes; fifty of them fit well.
const MAX_LABELS: u64 = 10 * 1024 * 1024;
const PDF: &str = "application/pdf";
/// How a PDF begins.
const MAGIC: &[u8] = b"%PDF-";

/// A shipment whose label cannot be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unprinted {
    /// 0 when the marketplace does not say which.
    pub shipment: i64,
    /// The marketplace's code of the reason, in lower case, or [`RETRY`]; may be empty.
    pub cause: String,
}

/// The reason when the marketplace says that another try may succeed, whatever its code.
pub const RETRY: &str = "retry";
/// The reason that is not told: the label is another account's.
const OF_ANOTHER: &str = "invalid_shipment_caller";

/// The labels that cannot be printed, according to a refusal.
pub(super) fn failed(answer: &Value) -> Vec<Unprinted> {
    let failed = answer["failed_shipments"].as_array();
    let failed = failed.into_iter().flatten().take(LABELS_AT_ONCE);
    let unprinted = |one: &Value| {
        let cause = text(&one["cause"]).unwrap_or_default().to_lowercase();
        let may_retry = one["retry"] == true && cause != OF_ANOTHER;
        Unprinted {
            shipment: positive(&one["shipment_id"]).unwrap_or(0),
            cause: if may_retry { RETRY.to_owned() } else { cause },
        }
    };
    failed.map(unprinted).collect()
}

impl Client {
    /// The labels of shipments of the caller, as one PDF.
    pub fn labels(&self, caller: &Caller<'_>, shipments: &[i64]) -> Answer<Vec<u8>> {
        let ids: Vec<String> = shipments.iter().map(ToString::to_string).collect();
        let wanted = FileRequest {
            path: "/shipment_labels",
            query: &[("shipment_ids", ids.join(",")), ("response_type", "pdf".to_owned())],
            most: MAX_LABELS,
            kind: PDF,
        };
        let file = self.bytes(caller, &wanted)?;
        if file.bytes.starts_with(MAGIC) {
            Ok(file.bytes)
        } else {
            Err(Failure::Garbled("it is no PDF"))
        }
    }

    /// Who sends a shipment, when the marketplace says so.
    pub fn sender_of(&self, caller: &Caller<'_>, shipment: i64) -> Answer<Option<i64>> {
        let answer = self.get(caller, &format!("/shipments/{shipment}"), &[])?;
        let sender = positive(&answer["origin"]["sender_id"]);
        Ok(sender.or_else(|| positive(&answer["sender_id"])))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_which_labels_cannot_be_printed() {
        let answer = json!({ "failed_shipments": [
            { "shipment_id": "44000001", "cause": "NOT_PRINTABLE_STATUS", "retry": false },
            { "shipment_id": 44_000_002, "message": "status is delivered" },
            { "cause": null },
            { "shipment_id": 3, "cause": "BUSY", "retry": true },
            { "shipment_id": 4, "cause": "INVALID_SHIPMENT_CALLER", "retry": true },
        ] });
        let found: Vec<(i64, String)> =
            failed(&answer).into_iter().map(|one| (one.shipment, one.cause)).collect();
        let expected = [
            (44_000_001, "not_printable_status"),
            (44_000_002, ""),
            (0, ""),
            (3, RETRY),
            (4, OF_ANOTHER),
        ];
        assert_eq!(found, expected.map(|(id, cause)| (id, cause.to_owned())));
        for none in [json!(null), json!({ "failed_shipments": [] })] {
            assert_eq!(failed(&none), []);
        }
    }
}
