//! Products from a file: all of it or nothing, and every bad row is named.
//!
//! A column that is left out, and a cell that is empty, leave what is there.
//! What a file says of stock is a count, so it becomes an adjustment.

pub mod fault;
pub mod pages;

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::{Entry, MOST, MOST_UNITS, Product, is_amount, is_ean, is_sku, is_title, stock, store};
use crate::db::{DbError, WriteTx};
use crate::http::csv_file;
use crate::http::input::FromField as _;
use crate::ids::UserId;
use crate::money::Cents;
use crate::text::{search_key, shortened};
use fault::{BadRow, FileFault, RowFault};

/// The columns, as an export writes them too.
pub const COLUMNS: [&str; 6] = ["sku", "ean", "title", "cost", "price", "stock"];
/// What the columns are called in the panels.
const TRANSLATED: [&str; 6] = ["sku", "ean", "titulo", "custo", "preco", "estoque"];

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// From 1, without the header, for telling what is wrong.
    pub number: usize,
    pub sku: String,
    pub ean: Option<String>,
    pub title: Option<String>,
    pub cost: Option<Cents>,
    pub price: Option<Cents>,
    pub stock: Option<i64>,
}

/// Why a file was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{0}")]
    File(FileFault),
    /// All rows at fault.
    #[error("{}", told(.0))]
    Rows(Vec<BadRow>),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// All bad rows, one a line.
fn told(rows: &[BadRow]) -> String {
    let mut text = match rows.len() {
        1 => "1 row cannot be taken".to_owned(),
        count => format!("{count} rows cannot be taken"),
    };
    text.push_str(", so nothing was imported");
    for row in rows {
        let _ = write!(text, "\n  {row}");
    }
    text
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    #[serde(rename = "criados")]
    pub created: usize,
    #[serde(rename = "alterados")]
    pub changed: usize,
    #[serde(rename = "sem_mudanca")]
    pub unchanged: usize,
}

/// Reads a file. Everything that can be known without the database is checked.
pub fn read(bytes: &[u8]) -> Result<Vec<Row>, ImportError> {
    let (header, records) = csv_file::read(bytes).map_err(|said| match said {
        "the file is not UTF-8 text" => ImportError::File(FileFault::NotText),
        _ => ImportError::File(FileFault::NotCsv),
    })?;
    let columns = columns(&header).map_err(ImportError::File)?;
    let is_filled = |cells: &Vec<String>| cells.iter().any(|cell| !cell.is_empty());
    let records: Vec<_> = (1..)
        .zip(records)
        .filter(|(_, cells)| is_filled(cells))
        .collect();
    match records.len() {
        0 => return Err(ImportError::File(FileFault::Empty)),
        count if count > MOST => return Err(ImportError::File(FileFault::TooMany(count))),
        _ => {}
    }
    let (mut rows, mut bad) = (Vec::with_capacity(records.len()), Vec::new());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (number, cells) in records {
        let (row, mut faults) = read_row(number, &columns, &cells);
        let first = *seen.entry(row.sku.clone()).or_insert(number);
        if first != number && !row.sku.is_empty() {
            faults.push(RowFault::Repeated(first));
        }
        if faults.is_empty() {
            rows.push(row);
        } else {
            bad.push(BadRow { number, faults });
        }
    }
    if bad.is_empty() {
        Ok(rows)
    } else {
        Err(ImportError::Rows(bad))
    }
}

/// For each cell of a row, which of [`COLUMNS`] it is. An unknown name is at
/// fault: a misspelled column would be lost without a word.
fn columns(header: &[String]) -> Result<Vec<usize>, FileFault> {
    let mut columns = Vec::with_capacity(header.len());
    for name in header {
        let key = search_key(name);
        let known = |names: &[&str; 6]| names.iter().position(|known| *known == key);
        let column = known(&COLUMNS).or_else(|| known(&TRANSLATED));
        let column = column.ok_or_else(|| FileFault::Unknown(shortened(name, 40).to_owned()))?;
        if columns.contains(&column) {
            return Err(FileFault::Twice(COLUMNS[column].to_owned()));
        }
        columns.push(column);
    }
    if columns.contains(&0) {
        Ok(columns)
    } else {
        Err(FileFault::NoSku)
    }
}

/// A row, with all that is wrong with it.
fn read_row(number: usize, columns: &[usize], cells: &[String]) -> (Row, Vec<RowFault>) {
    let cell = |column: usize| {
        let place = columns.iter().position(|known| *known == column)?;
        cells
            .get(place)
            .map(|text| text.trim())
            .filter(|text| !text.is_empty())
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
    let row = Row {
        number,
        sku: sku.to_owned(),
        ean: ean.map(str::to_owned),
        title: title.map(str::to_owned),
        cost: cost.flatten(),
        price: price.flatten(),
        stock: stock.flatten(),
    };
    (row, faults)
}

impl Row {
    /// The product it makes, or makes of the one that is there.
    fn entry(&self, before: Option<&Entry>) -> Result<Entry, RowFault> {
        let text = |own: &Option<String>, of: fn(&Entry) -> &String| {
            own.clone()
                .or_else(|| before.map(|before| of(before).clone()))
        };
        let amount = |own: Option<Cents>, of: fn(&Entry) -> Cents| {
            own.or_else(|| before.map(of)).unwrap_or_default()
        };
        Ok(Entry {
            sku: self.sku.clone(),
            ean: text(&self.ean, |entry| &entry.ean).unwrap_or_default(),
            title: text(&self.title, |entry| &entry.title).ok_or(RowFault::NoTitle)?,
            cost: amount(self.cost, |entry| entry.cost),
            price: amount(self.price, |entry| entry.price),
        })
    }
}

/// Brings the products of a person to what the rows say, or changes nothing.
pub fn apply(tx: &WriteTx<'_>, owner: UserId, rows: &[Row]) -> Result<Counts, ImportError> {
    let (mut counts, mut bad) = (Counts::default(), Vec::new());
    let mut room = MOST.saturating_sub(store::count(tx, owner)?);
    for row in rows {
        let before = store::by_sku(tx, owner, &row.sku)?;
        match apply_row(tx, owner, row, before.as_ref(), &mut room)? {
            Ok(Change::Created) => counts.created += 1,
            Ok(Change::Changed) => counts.changed += 1,
            Ok(Change::None) => counts.unchanged += 1,
            Err(fault) => bad.push(BadRow {
                number: row.number,
                faults: vec![fault],
            }),
        }
    }
    // The error undoes what good rows did.
    if bad.is_empty() {
        Ok(counts)
    } else {
        Err(ImportError::Rows(bad))
    }
}

enum Change {
    Created,
    Changed,
    None,
}

type Taken = Result<Change, RowFault>;

fn apply_row(
    tx: &WriteTx<'_>,
    owner: UserId,
    row: &Row,
    before: Option<&Product>,
    room: &mut usize,
) -> Result<Taken, DbError> {
    let entry = match row.entry(before.map(|before| &before.entry)) {
        Ok(entry) => entry,
        Err(fault) => return Ok(Err(fault)),
    };
    let present = before.map_or(0, |before| before.stock);
    let counted = row.stock.unwrap_or(present);
    // An export of what was sold beyond stock comes back as it is.
    if counted < 0 && counted != present {
        return Ok(Err(RowFault::Stock));
    }
    let Some(before) = before else {
        if *room == 0 {
            return Ok(Err(RowFault::NoRoom));
        }
        *room -= 1;
        let id = store::insert(tx, owner, &entry)?;
        stock::count_to(tx, id, 0, counted, REASON)?;
        return Ok(Ok(Change::Created));
    };
    if before.entry == entry && counted == present {
        return Ok(Ok(Change::None));
    }
    if before.entry != entry {
        store::update(tx, owner, before.id, &entry)?;
    }
    stock::count_to(tx, before.id, present, counted, REASON)?;
    Ok(Ok(Change::Changed))
}

/// The reason of the movements that a file makes.
const REASON: &str = "Importação";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_any_order_and_may_be_left_out() {
        let rows = read("Preço;SKU;Título\n1.234,50;A-1;Garrafa\n;;\n;B;\n".as_bytes()).unwrap();
        assert_eq!(rows[0].price, Some(Cents(123_450)));
        assert_eq!(rows[0].title.as_deref(), Some("Garrafa"));
        assert_eq!(
            (rows[1].number, rows[1].price, &rows[1].title),
            (3, None, &None)
        );
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
        let Err(ImportError::Rows(bad)) = read(text.as_bytes()) else {
            panic!("it was taken");
        };
        let bad: Vec<_> = bad
            .into_iter()
            .map(|row| (row.number, row.faults))
            .collect();
        assert_eq!(
            bad,
            [
                (2, vec![Sku, Ean, Cost, Price, Stock]),
                (3, vec![Repeated(1)]),
                (4, vec![Cost]),
                (5, vec![TooLong]),
            ]
        );
    }

    #[test]
    fn a_file_that_is_none_is_refused_as_a_whole() {
        for (text, fault) in [
            ("", FileFault::NoSku),
            ("title,price\nA,1\n", FileFault::NoSku),
            ("sku,foo\nA,1\n", FileFault::Unknown("foo".to_owned())),
            ("sku,sku\nA,B\n", FileFault::Twice("sku".to_owned())),
            ("sku,title\n", FileFault::Empty),
        ] {
            let Err(ImportError::File(found)) = read(text.as_bytes()) else {
                panic!("{text:?} was taken");
            };
            assert_eq!(found, fault);
        }
    }
}
