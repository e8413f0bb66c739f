//! Links from a CSV list: each row gets its link, or a reason why it has none.
//!
//! If the list as a whole is invalid, nothing changes. A bad row does not stop
//! the others.

use std::sync::Arc;

use super::links::{self, Checked, LinkFault, LinkPlan, Linked, NewLink};
use crate::base::ids::item_number;
use crate::base::{UserId, search_key};
use crate::catalog::store::ByProduct;
use crate::db::{Db, DbError, ReadTx, Result};
use crate::named;
use crate::panel::Badge;
use crate::panel::csv_read::{self, Unreadable};

/// The columns, in the order of the file.
pub const COLUMNS: [&str; 3] = ["seller_id", "ml_id", "sku"];
/// Their names in the panel.
const TRANSLATED: [&str; 3] = ["vendedor", "anuncio", "sku"];
/// Most rows of a list.
pub const MOST: usize = 500;
/// Longest cell, in bytes.
const LONGEST: usize = 256;

/// A row of a list, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// From 1, without the header.
    pub number: usize,
    pub seller: String,
    pub listing: String,
    pub sku: String,
}

/// Why a list was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    #[error("must be text in UTF-8")]
    NotText,
    #[error("has a quote that is never closed")]
    Unclosed,
    #[error("must begin with the columns seller_id,ml_id,sku")]
    Header,
    #[error("has no rows")]
    Empty,
    #[error("has more than 500 rows")]
    TooMany,
}

named! {
    /// The result of a row.
    pub enum RowStatus: text {
        Created = "created", "Vinculado";
        Unchanged = "unchanged", "Já estava vinculado";
        Failed = "failed", "Não vinculado";
    }
}

impl RowStatus {
    /// The badge of what will become of a row.
    pub const fn badge(self) -> Badge {
        match self {
            Self::Created => Badge::ToLink,
            Self::Unchanged => Badge::Exists,
            Self::Failed => Badge::Faulty,
        }
    }
}

/// The result of a row, and why it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowResult {
    pub row: usize,
    pub status: RowStatus,
    pub fault: Option<RowFault>,
}

/// Why a row failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Seller,
    Listing,
    Sku,
    Link(LinkFault),
}

impl RowFault {
    /// The message for API clients.
    pub const fn said(self) -> &'static str {
        match self {
            Self::Seller => "seller_id must be the number of a seller",
            Self::Listing => "ml_id must be a listing id, such as MLB123",
            Self::Sku => "sku must be 1 to 80 characters",
            Self::Link(fault) => fault.said(),
        }
    }

    /// The code for API clients, one of [`FAULT_CODES`].
    pub const fn code(self) -> &'static str {
        match self {
            Self::Seller => "invalid_seller_id",
            Self::Listing => "invalid_ml_id",
            Self::Sku => "invalid_sku",
            Self::Link(fault) => fault.code(),
        }
    }
}

/// The codes of all faults of a row.
pub const FAULT_CODES: [&str; 8] = [
    RowFault::Seller.code(),
    RowFault::Listing.code(),
    RowFault::Sku.code(),
    LinkFault::NoSeller.code(),
    LinkFault::NoListing.code(),
    LinkFault::NoProduct.code(),
    LinkFault::Taken.code(),
    LinkFault::Full.code(),
];

/// Which headers a list may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// The three columns and no other, as programs promise.
    Exact,
    /// Further columns, which are left out, and the panel's names for those that are
    /// not there: a list that was exported comes back as it is.
    Free,
}

pub fn read(bytes: &[u8], header: Header) -> std::result::Result<Vec<Row>, ListFault> {
    let unreadable = |problem| match problem {
        Unreadable::NotText => ListFault::NotText,
        Unreadable::Unclosed(_) => ListFault::Unclosed,
        Unreadable::TooWide(_) => ListFault::Header,
    };
    let mut sheet = csv_read::read(bytes).map_err(unreadable)?;
    let names: Vec<String> = sheet.header.iter().map(|name| search_key(name)).collect();
    let is_free = header == Header::Free;
    let of = |column: &str| names.iter().position(|name| name == column);
    let place =
        |column: usize| of(COLUMNS[column]).or_else(|| of(TRANSLATED[column]).filter(|_| is_free));
    let [Some(seller), Some(listing), Some(sku)] = [0, 1, 2].map(place) else {
        return Err(ListFault::Header);
    };
    if names.len() != COLUMNS.len() && !is_free {
        return Err(ListFault::Header);
    }
    let mut rows = Vec::new();
    while let Some(row) = sheet.next_row().map_err(unreadable)? {
        if rows.len() == MOST {
            return Err(ListFault::TooMany);
        }
        let cell = |place: usize| {
            let text = row.cells.get(place).map_or("", |cell| &**cell);
            // A value that is too long matches nothing, so it is not kept.
            if text.len() > LONGEST { String::new() } else { text.to_owned() }
        };
        rows.push(Row {
            number: rows.len() + 1,
            seller: cell(seller),
            listing: cell(listing),
            sku: cell(sku),
        });
    }
    if rows.is_empty() { Err(ListFault::Empty) } else { Ok(rows) }
}

impl Row {
    /// The link that the row describes.
    fn link(&self) -> std::result::Result<NewLink, RowFault> {
        let seller = self.seller.parse().ok().filter(|id| *id > 0).ok_or(RowFault::Seller)?;
        let item = item_number(&self.listing.to_ascii_uppercase()).ok_or(RowFault::Listing)?;
        if !crate::catalog::is_sku(&self.sku) {
            return Err(RowFault::Sku);
        }
        Ok(NewLink { seller: UserId(seller), item, product: ByProduct::Sku(self.sku.clone()) })
    }
}

/// Returns what applying the rows would do, and changes nothing. Conflicts
/// between rows of the same list show only when the list is applied.
pub fn preview(tx: &ReadTx<'_>, supplier: UserId, rows: &[Row]) -> Result<Vec<RowResult>> {
    let check = |link: &NewLink| {
        Ok(links::check(tx, supplier, link)?.map(|plan| match plan {
            LinkPlan::New { .. } => RowStatus::Created,
            LinkPlan::Known(_) => RowStatus::Unchanged,
        }))
    };
    rows.iter().map(|row| one(row, check)).collect()
}

/// Makes the links of the rows, some in each job; a row that fails is skipped.
pub fn apply(db: &Db, supplier: UserId, rows: Vec<Row>) -> Result<Vec<RowResult>> {
    let rows = Arc::new(rows);
    let mut outcomes = Vec::with_capacity(rows.len());
    while outcomes.len() < rows.len() {
        let (rows, done) = (Arc::clone(&rows), outcomes.len());
        outcomes.extend(db.write_piece(move |tx| {
            let make = |link: &NewLink| {
                Ok(links::make(tx, supplier, link)?.map(|linked| match linked {
                    Linked::Created(_) => RowStatus::Created,
                    Linked::Unchanged(_) => RowStatus::Unchanged,
                }))
            };
            let mut made = Vec::new();
            for row in &rows[done..] {
                made.push(one(row, make)?);
                if tx.is_spent() {
                    break;
                }
            }
            Ok::<_, DbError>(made)
        })?);
    }
    Ok(outcomes)
}

fn one(row: &Row, become_of: impl FnOnce(&NewLink) -> Checked<RowStatus>) -> Result<RowResult> {
    let done = match row.link() {
        Ok(link) => become_of(&link)?.map_err(RowFault::Link),
        Err(fault) => Err(fault),
    };
    let (status, fault) = match done {
        Ok(status) => (status, None),
        Err(fault) => (RowStatus::Failed, Some(fault)),
    };
    Ok(RowResult { row: row.number, status, fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_three_columns_in_any_order_and_up_to_500_rows() {
        let rows = read(
            "sku;ML_ID;seller_id\r\nA-1;MLB7;12\r\n\r\n\"B;2\";mlb8;13\r\n".as_bytes(),
            Header::Exact,
        );
        let row = |number, seller: &str, listing: &str, sku: &str| Row {
            number,
            seller: seller.to_owned(),
            listing: listing.to_owned(),
            sku: sku.to_owned(),
        };
        assert_eq!(rows.unwrap(), [row(1, "12", "MLB7", "A-1"), row(2, "13", "mlb8", "B;2")]);
        let of = |rows: usize| format!("seller_id,ml_id,sku\n{}", "1,MLB2,A\n".repeat(rows));
        assert_eq!(read(of(MOST).as_bytes(), Header::Exact).unwrap().len(), MOST);
        for (list, fault) in [
            (of(MOST + 1), ListFault::TooMany),
            (of(0), ListFault::Empty),
            (String::new(), ListFault::Header),
            ("seller_id,ml_id\n1,MLB2\n".to_owned(), ListFault::Header),
            ("seller_id,ml_id,sku,price\n1,MLB2,A,3\n".to_owned(), ListFault::Header),
            ("seller_id,ml_id,sku\n1,\"MLB2,A\n".to_owned(), ListFault::Unclosed),
        ] {
            assert_eq!(read(list.as_bytes(), Header::Exact), Err(fault), "{list}");
        }
        assert_eq!(
            read(b"seller_id,ml_id,sku\n1,MLB2,\xff\n", Header::Exact),
            Err(ListFault::NotText)
        );
    }

    #[test]
    fn a_list_of_people_may_have_more_columns_and_the_panels_names() {
        let read = |text: &str| {
            let rows = read(text.as_bytes(), Header::Free);
            rows.map(|rows| {
                rows.into_iter().map(|row| (row.seller, row.listing, row.sku)).collect()
            })
        };
        let row = || Ok(vec![("12".to_owned(), "MLB7".to_owned(), "A".to_owned())]);
        let own = "seller_id,ml_id,sku,vendedor,anuncio,produto,criado_em\n12,MLB7,A,Ana,Garrafa,Inox,2026\n";
        assert_eq!(read(own), row());
        assert_eq!(read("Vendedor;Anúncio;SKU;Obs\n12;MLB7;A;x\n"), row());
        assert_eq!(read("vendedor;sku\n12;A\n"), Err::<Vec<_>, _>(ListFault::Header));
    }

    #[test]
    fn a_row_names_a_seller_a_listing_and_a_product() {
        let row = |seller: &str, listing: &str, sku: &str| {
            let row = Row {
                number: 1,
                seller: seller.to_owned(),
                listing: listing.to_owned(),
                sku: sku.to_owned(),
            };
            row.link().map(|link| (link.seller.0, link.item))
        };
        assert_eq!(row("12", "mlb7", "A"), Ok((12, 7)));
        assert_eq!(row("", "MLB7", "A"), Err(RowFault::Seller));
        assert_eq!(row("-1", "MLB7", "A"), Err(RowFault::Seller));
        assert_eq!(row("12", "7", "A"), Err(RowFault::Listing));
        assert_eq!(row("12", "MLB7", ""), Err(RowFault::Sku));
    }
}
