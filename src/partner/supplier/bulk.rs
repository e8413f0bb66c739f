//! `drop_link_listings_bulk`: many links from a CSV list, sent as the body, as
//! a file of a form, or within JSON.

use http::header::CONTENT_TYPE;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::dropshipping::bulk::{self, Header, RowStatus};
use crate::edge::docs::SchemaOf;
use crate::edge::route::Todo;
use crate::http::input::{Check, Field, only_text};
use crate::http::schema::or_null;
use crate::http::{Problem, Request, upload};
use crate::identity::Supplier;
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// A list of links as text in CSV. Its columns are `seller_id`, `ml_id` and
/// `sku`, with commas or semicolons between; at most 500 rows.
#[derive(Deserialize, JsonSchema)]
pub struct LinkList {
    /// The list, with its header row.
    #[serde(default, deserialize_with = "only_text")]
    #[schemars(!default, extend("pattern" = LIST))]
    csv: Field<String>,
}

/// What became of the rows of a list.
#[derive(Serialize, JsonSchema)]
pub struct LinkedList {
    /// Rows that were linked now.
    created: usize,
    /// Rows that were linked before.
    unchanged: usize,
    /// Rows that could not be linked.
    failed: usize,
    /// Each row, in the order of the list.
    rows: Vec<LinkedRow>,
}

wire! {
    /// What became of a row.
    #[derive(Serialize, JsonSchema)]
    struct LinkedRow of(one: &bulk::RowResult, listing: String) {
        /// From 1, without the header.
        row: usize = one.row,
        /// Listing id of the row, as it was sent.
        ml_id: String = listing,
        /// What became of it.
        #[schemars(extend("enum" = RowStatus::ALL.map(RowStatus::name)))]
        status: &'static str = one.status.name(),
        /// Why it failed, for programs; null when it did not.
        #[schemars(extend("enum" = or_null(bulk::FAULT_CODES)))]
        code: Option<&'static str> = one.fault.map(bulk::RowFault::code),
        /// Why it failed, in words; null when it did not.
        error: Option<&'static str> = one.fault.map(bulk::RowFault::said),
    }
}

/// The form of a list for the schema: the three columns in this order, and rows
/// of up to three cells, valid or not, with commas between and no quotes.
const LIST: &str = "^seller_id,ml_id,sku([\\r\\n]+[^\\r\\n\",]*[!#-+.-~-][^\\r\\n\",]*(,[^\\r\\n\",]*){0,2}){1,500}[\\r\\n]*$";

fn as_text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": LIST })
}

/// Without `properties`: generators import a type for them that they do not make.
fn as_file(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": { "enum": ["file"] },
        "additionalProperties": { "type": "string", "format": "binary", "pattern": LIST },
        "required": ["file"],
    })
}

impl Operation for LinkList {
    type By = Supplier;
    type Reply = LinkedList;

    const OTHERS: &'static [(&'static str, SchemaOf)] =
        &[("text/csv", as_text), ("multipart/form-data", as_file)];

    fn sent(request: &Request) -> Result<Self, Problem> {
        let media = request.header(&CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let bytes = if upload::is_upload(request) {
            upload::file(request, "file")?.ok_or_else(|| Problem::field("file", "is required"))?
        } else if media.split(';').next().is_some_and(|media| media.trim() == "text/csv") {
            request.body.clone()
        } else {
            return request.json();
        };
        let text = String::from_utf8(bytes.into()).map_err(|_| fault(bulk::ListFault::NotText))?;
        Ok(Self { csv: Field::of(text) })
    }

    fn begin(self, _: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let csv: String = check.required("csv", self.csv);
        check.finish()?;
        let rows = bulk::read(csv.as_bytes(), Header::Exact).map_err(fault)?;
        let owner = supplier.account.user_id;
        let listings: Vec<String> = rows.iter().map(|row| row.listing.clone()).collect();
        Ok(Todo::Slow(Box::new(move |app| {
            let outcomes = bulk::apply(&app.db, owner, rows)?;
            let count = |status| outcomes.iter().filter(|one| one.status == status).count();
            Ok(LinkedList {
                created: count(RowStatus::Created),
                unchanged: count(RowStatus::Unchanged),
                failed: count(RowStatus::Failed),
                rows: outcomes
                    .iter()
                    .zip(listings)
                    .map(|(one, listing)| LinkedRow::of(one, listing))
                    .collect(),
            })
        })))
    }
}

fn fault(fault: bulk::ListFault) -> Problem {
    Problem::field("csv", fault.to_string())
}
