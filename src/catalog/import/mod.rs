//! Import of products from a file: all rows or none, and every bad row is reported.
//!
//! A missing column or an empty cell leaves the stored value. A new product needs a
//! title and a price. The stock in a file is a count, so it becomes an adjustment.

pub mod apply;
pub mod fault;
pub mod pages;

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use super::{MAX_PRODUCTS, MOST_UNITS, Product, ProductEntry, is_amount, is_ean, is_sku, is_title};
use crate::base::{Cents, search_key, shortened};
use crate::db::DbError;
use crate::http::input::FromField as _;
use crate::panel::csv_read;
use crate::row;
use fault::{BadRows, FileFault, Names, RowFault};

/// The columns, the same as in an export.
pub const COLUMNS: [&str; 6] = ["sku", "ean", "title", "cost", "price", "stock"];
/// Names of the columns in the panels.
const TRANSLATED: [&str; 6] = ["sku", "ean", "titulo", "custo", "preco", "estoque"];

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct File {
    /// Names of columns that say nothing of a product and are left out.
    pub ignored: Vec<String>,
    names: Names,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    number: usize,
    sku: String,
    ean: Option<String>,
    title: Option<String>,
    cost: Option<Cents>,
    price: Option<Cents>,
    stock: Option<i64>,
    /// The errors that can be found without the database.
    faults: Vec<RowFault>,
}

/// Why a file was rejected.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{0}")]
    File(FileFault),
    #[error("{0}")]
    Rows(Box<BadRows>),
    /// Another file of the same person.
    #[error("another file is being imported; try again when it is done")]
    UnderWay,
    #[error(transparent)]
    Db(#[from] DbError),
}

row! {
    /// What an import did.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Counts {
        #[serde(rename = "criados")]
        pub created: u32,
        #[serde(rename = "alterados")]
        pub changed: u32,
        #[serde(rename = "sem_mudanca")]
        pub unchanged: u32,
    }
}

/// Reads a file. Errors of rows are not returned here: [`apply::run`] reports them,
/// with those that need the database.
pub fn read(bytes: &[u8]) -> Result<File, FileFault> {
    let mut sheet = csv_read::read(bytes)?;
    if sheet.header.is_empty() {
        return Err(FileFault::Blank);
    }
    let columns = columns(&sheet.header)?;
    let (mut rows, mut count) = (Vec::new(), 0);
    let mut seen: HashMap<String, usize> = HashMap::new();
    while let Some(csv_read::Row { number, cells }) = sheet.next_row()? {
        count += 1;
        // Rows over the limit are counted but not stored.
        if count > MAX_PRODUCTS {
            continue;
        }
        let mut row = read_row(number, &columns, cells);
        let first = *seen.entry(row.sku.clone()).or_insert(number);
        if first != number && !row.sku.is_empty() {
            row.faults.push(RowFault::Repeated(first));
        }
        rows.push(row);
    }
    match count {
        0 => return Err(FileFault::Empty),
        count if count > MAX_PRODUCTS => return Err(FileFault::TooMany(count)),
        _ => {}
    }
    let mut names = Names::default();
    let mut ignored = Vec::new();
    for (column, name) in columns.into_iter().zip(&sheet.header) {
        let name = shortened(name, 40).to_owned();
        match column {
            Some(column) => names.0[column] = Some(name),
            None => ignored.push(name),
        }
    }
    Ok(File { ignored, names, rows })
}

/// For each cell of a row, its index in [`COLUMNS`], or `None` for a further column. A
/// file in which only the SKU is known has an error: its columns are misspelled.
fn columns(header: &[String]) -> Result<Vec<Option<usize>>, FileFault> {
    let mut columns = Vec::with_capacity(header.len());
    for name in header {
        let key = search_key(name);
        let known = |names: &[&str; 6]| names.iter().position(|known| *known == key);
        let column = known(&COLUMNS).or_else(|| known(&TRANSLATED));
        if let Some(twice) = column.filter(|_| columns.contains(&column)) {
            return Err(FileFault::Twice(COLUMNS[twice].to_owned()));
        }
        columns.push(column);
    }
    let further = header.iter().zip(&columns).find(|(_, column)| column.is_none());
    match further {
        Some((name, _)) if columns.iter().flatten().all(|column| *column == 0) => {
            Err(FileFault::Unknown(shortened(name, 40).to_owned()))
        }
        _ if columns.contains(&Some(0)) => Ok(columns),
        _ => Err(FileFault::NoSku),
    }
}

fn read_row(number: usize, columns: &[Option<usize>], cells: &[Cow<'_, str>]) -> Row {
    let cell = |column: usize| {
        let place = columns.iter().position(|known| *known == Some(column))?;
        cells.get(place).map(|cell| &**cell).filter(|text| !text.is_empty())
    };
    let mut faults = Vec::new();
    let mut expect = |good: bool, fault| {
        if !good {
            faults.push(fault);
        }
    };
    let (sku, ean, title) = (cell(0).unwrap_or_default(), cell(1), cell(2));
    expect(is_sku(sku), RowFault::Sku);
    expect(ean.is_none_or(is_ean), RowFault::Ean);
    expect(title.is_none_or(is_title), RowFault::Title);
    let amount = |column: usize| {
        let text = cell(column)?;
        Some(Cents::from_field(text.into(), true).filter(|amount| is_amount(*amount)))
    };
    let (cost, price) = (amount(3), amount(4));
    expect(cost != Some(None), RowFault::Cost);
    expect(price != Some(None), RowFault::Price);
    let bounds = -MOST_UNITS..=MOST_UNITS;
    let stock = cell(5).map(|text| text.parse().ok().filter(|count| bounds.contains(count)));
    expect(stock != Some(None), RowFault::Stock);
    expect(cells.len() <= columns.len(), RowFault::TooLong);
    Row {
        number,
        sku: sku.to_owned(),
        ean: ean.map(str::to_owned),
        title: title.map(str::to_owned),
        cost: cost.flatten(),
        price: price.flatten(),
        stock: stock.flatten(),
        faults,
    }
}

impl Row {
    /// All errors of the row, given the product that is stored.
    fn faults(&self, before: Option<&Product>, has_room: bool) -> Vec<RowFault> {
        let mut faults = self.faults.clone();
        // Without a valid SKU the product of the row is not known.
        let is_nobodys = |fault: &RowFault| matches!(fault, RowFault::Sku | RowFault::Repeated(_));
        if faults.iter().any(is_nobodys) {
            return faults;
        }
        if before.is_none() && self.title.is_none() {
            faults.push(RowFault::NoTitle);
        }
        if before.is_none() && self.price.is_none() && !faults.contains(&RowFault::Price) {
            faults.push(RowFault::NoPrice);
        }
        // An export has negative stock for oversold products; importing it
        // again is allowed.
        let present = before.map_or(0, |before| before.stock);
        if self.stock.is_some_and(|counted| counted < 0 && counted != present) {
            faults.push(RowFault::Stock);
        }
        if before.is_none() && !has_room {
            faults.push(RowFault::NoRoom);
        }
        faults
    }

    /// The fields of the product after the import.
    fn entry(&self, before: Option<&ProductEntry>) -> ProductEntry {
        let text = |own: &Option<String>, of: fn(&ProductEntry) -> &String| {
            let kept = || before.map(|before| of(before).clone());
            own.clone().or_else(kept).unwrap_or_default()
        };
        let amount = |own: Option<Cents>, of: fn(&ProductEntry) -> Cents| {
            own.or_else(|| before.map(of)).unwrap_or_default()
        };
        ProductEntry {
            sku: self.sku.clone(),
            ean: text(&self.ean, |entry| &entry.ean),
            title: text(&self.title, |entry| &entry.title),
            cost: amount(self.cost, |entry| entry.cost),
            price: amount(self.price, |entry| entry.price),
            low_stock: before.and_then(|before| before.low_stock),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_any_order_and_may_be_left_out() {
        let file = read("Preço;SKU;Título\n1.234,50;A-1;Garrafa\n;;\n;B;\n".as_bytes()).unwrap();
        assert_eq!(file.names.0[4].as_deref(), Some("Preço"));
        let rows = file.rows;
        assert_eq!(rows[0].price, Some(Cents(123_450)));
        assert_eq!(rows[0].title.as_deref(), Some("Garrafa"));
        assert_eq!((rows[1].number, rows[1].price, &rows[1].title), (4, None, &None));
    }

    #[test]
    fn every_bad_row_is_named_with_all_that_is_wrong() {
        use RowFault::{Cost, Ean, Price, Repeated, Sku, Stock, TooLong};
        let text = "sku,ean,title,cost,price,stock\n\
                    A,,Um,1,2,3\n\
                    ,12,Dois,x,-1,1.5\n\
                    A,,Outro,,,\n\
                    C,,Três,1.999,2,\n\
                    D,,Quatro,1,2,3,4\n";
        let rows = read(text.as_bytes()).unwrap().rows.into_iter();
        let bad: Vec<_> =
            rows.filter(|row| !row.faults.is_empty()).map(|row| (row.number, row.faults)).collect();
        assert_eq!(
            bad,
            [
                (3, vec![Sku, Ean, Cost, Price, Stock]),
                (4, vec![Repeated(2)]),
                (5, vec![Cost]),
                (6, vec![TooLong]),
            ]
        );
    }

    #[test]
    fn a_file_that_is_none_is_refused_as_a_whole() {
        for (text, fault) in [
            ("", FileFault::Blank),
            ("\r\n", FileFault::Blank),
            ("sku,title\nA,\"Um\nB,Dois\n", FileFault::Unclosed(2)),
            ("title,price\nA,1\n", FileFault::NoSku),
            ("sku,foo\nA,1\n", FileFault::Unknown("foo".to_owned())),
            ("sku,sku\nA,B\n", FileFault::Twice("sku".to_owned())),
            ("sku,title\n", FileFault::Empty),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err(), fault, "{text:?}");
        }
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("csv", |bytes| {
            let _ = read(bytes);
        });
    }
}
