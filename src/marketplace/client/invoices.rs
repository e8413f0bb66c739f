//! Fiscal notes of sales: those that the marketplace's own biller issued, and
//! files that sellers attached.

use serde_json::Value;

use super::{Answer, Caller, Client, Failure, File, FileRequest};
use crate::base::OrderId;
use crate::marketplace::books::document::{positive, text};

/// An attached note has a megabyte at most, one of the biller's a page or two.
const MAX_NOTE: u64 = 4 * 1024 * 1024;
/// The media types of a note, and how their files begin.
const KINDS: [(&str, &[u8]); 3] =
    [("application/pdf", b"%PDF-"), ("application/xml", b"<"), ("text/xml", b"<")];
/// Most attached files that are checked.
const MOST_FILES: usize = 8;

impl Client {
    /// The fiscal note of an order with its media type; the PDF where there is
    /// one. Without a note the result is a refusal with 404.
    pub fn invoice(
        &self,
        caller: &Caller<'_>,
        order: OrderId,
        shipment: Option<i64>,
    ) -> Answer<File> {
        let biller = format!("/users/{}/invoices", caller.ml_user_id);
        let by_order = self.issued(caller, &format!("{biller}/orders/{order}"))?;
        let issued = match (by_order, shipment) {
            (None, Some(shipment)) => {
                self.issued(caller, &format!("{biller}/shipments/{shipment}"))?
            }
            (found, _) => found,
        };
        if let Some(path) = issued {
            // The path comes from the note. Check that it belongs to this
            // account.
            if !path.starts_with(&format!("{biller}/")) {
                return Err(Failure::Garbled("the note leads elsewhere"));
            }
            return self.note(caller, &path, KINDS[0].0);
        }
        if let Some(file) = self.attached(caller, order.0)? {
            return Ok(file);
        }
        let sale = self.get(caller, &format!("/orders/{order}"), &[])?;
        let pack = positive(&sale["pack_id"]).filter(|pack| *pack != order.0);
        let file = match pack {
            Some(pack) => self.attached(caller, pack)?,
            None => None,
        };
        file.ok_or_else(none)
    }

    /// The path of a note's PDF; `None` when there is no note, or no authorised
    /// one.
    fn issued(&self, caller: &Caller<'_>, path: &str) -> Answer<Option<String>> {
        let Some(note) = unless_missing(self.get(caller, path, &[]))? else {
            return Ok(None);
        };
        let state = text(&note["transaction_status"]).or_else(|| text(&note["status"]));
        if state.as_deref() != Some("authorized") {
            return Ok(None);
        }
        Ok(text(&note["attributes"]["danfe_location"]))
    }

    /// The note that a seller attached to a pack or an order of its own.
    fn attached(&self, caller: &Caller<'_>, pack: i64) -> Answer<Option<File>> {
        let path = format!("/packs/{pack}/fiscal_documents");
        let Some(list) = unless_missing(self.get(caller, &path, &[]))? else {
            return Ok(None);
        };
        let files = list["fiscal_documents"].as_array();
        let files = files.map(Vec::as_slice).unwrap_or_default();
        let files = &files[..files.len().min(MOST_FILES)];
        let found = KINDS.iter().find_map(|(kind, _)| {
            let file = files.iter().find(|file| file["file_type"] == *kind)?;
            Some((*kind, text(&file["id"])?))
        });
        match found {
            Some((kind, id)) => self.note(caller, &format!("{path}/{id}"), kind).map(Some),
            None => Ok(None),
        }
    }

    fn note(&self, caller: &Caller<'_>, path: &str, kind: &'static str) -> Answer<File> {
        let wanted = FileRequest { path, query: &[], most: MAX_NOTE, kind };
        let file = self.bytes(caller, &wanted)?;
        let begins = KINDS.iter().find(|(known, _)| *known == kind);
        // A text file may begin with a byte order mark.
        let bytes = file.bytes.strip_prefix(b"\xEF\xBB\xBF");
        let bytes = bytes.unwrap_or(&file.bytes);
        match begins {
            Some((_, magic)) if bytes.starts_with(magic) => {
                Ok(File { kind: kind.to_owned(), bytes: file.bytes })
            }
            _ => Err(Failure::Garbled("it is no note")),
        }
    }
}

fn none() -> Failure {
    Failure::Refused { status: 404, code: "not_found".to_owned() }
}

/// The marketplace answers 404 or 400 for an order without a note.
fn unless_missing(answer: Answer<Value>) -> Answer<Option<Value>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Refused { status: 400 | 404, .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}
