//! Lists as CSV (RFC 4180), safe to open in a spreadsheet.
//!
//! Text that a spreadsheet would run as a formula gets an apostrophe before it
//! (OWASP, "CSV Injection"): at the start of a cell, and wherever a spreadsheet
//! with other separators may start one. A long number gets an apostrophe too,
//! because a spreadsheet would round it to fifteen digits. Reading removes the
//! apostrophes again. Decisions panel-7, panel-8.

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde::Serialize;
use serde_json::Value;

use crate::http::body::PIECE;
use crate::http::{Problem, Reply};

const MEDIA: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
/// The byte order mark, which tells spreadsheets that the text is UTF-8.
pub const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes reserved in a piece: for what the CSV writer still buffers, and for
/// one row of usual size.
const ROOM: usize = 16 * 1024;

/// Columns of a list's file: names of members of its rows, as [`CsvFile::of`] takes them.
macro_rules! columns {
    ($($name:ident $(= $of:ident)? $(. $member:ident)*)*) => {
        &[$(concat!(
            stringify!($name) $(, "=", stringify!($of))? $(, ".", stringify!($member))*
        )),*]
    };
}
pub(crate) use columns;

/// A CSV file that is being written.
pub struct CsvFile {
    name: &'static str,
    rows: csv::Writer<Vec<u8>>,
}

fn writer(start: Vec<u8>) -> csv::Writer<Vec<u8>> {
    csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(start)
}

impl CsvFile {
    /// A file called `name`, such as `alunos.csv`, with its header row.
    pub fn new(name: &'static str, header: &[&str]) -> Result<Self, Problem> {
        let mut rows = writer(MARK.to_vec());
        rows.write_record(header).map_err(Problem::internal)?;
        Ok(Self { name, rows })
    }

    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> Result<(), Problem> {
        let cells = cells.into_iter().map(harmless);
        for cell in cells {
            self.rows.write_field(cell.as_bytes()).map_err(Problem::internal)?;
        }
        self.rows.write_record(None::<&[u8]>).map_err(Problem::internal)
    }

    /// A file with these columns. A column names a member of the rows, such as
    /// `nome` or `redes.site`, whose header is `site`. `autor=quem.nome` sets
    /// the header `autor`.
    pub fn of(name: &'static str, columns: &[&str]) -> Result<Self, Problem> {
        let header = |column: &&str| match column.split_once('=') {
            Some((header, _)) => header.to_owned(),
            None => column.rsplit('.').next().unwrap_or_default().to_owned(),
        };
        let header: Vec<String> = columns.iter().map(header).collect();
        Self::new(name, &header.iter().map(|header| &**header).collect::<Vec<_>>())
    }

    /// Adds a row with the members that the columns name.
    pub fn record(&mut self, columns: &[&str], row: &impl Serialize) -> Result<(), Problem> {
        let row = serde_json::to_value(row).map_err(Problem::internal)?;
        let cell = |column: &&str| {
            let path = column.split_once('=').map_or(*column, |(_, path)| path);
            cell(path.split('.').fold(&row, |value, name| &value[name]))
        };
        let cells: Vec<Cow<'_, str>> = columns.iter().map(cell).collect();
        self.row(cells.iter().map(|cell| &**cell))
    }

    /// Whether there are enough bytes for a piece to send.
    pub fn is_full(&self) -> bool {
        self.rows.get_ref().len() + ROOM >= PIECE
    }

    /// Takes the bytes that were written since the last piece.
    pub fn take(&mut self) -> Result<Bytes, Problem> {
        let rows = std::mem::replace(&mut self.rows, writer(Vec::new()));
        let bytes = rows.into_inner().map_err(|error| Problem::internal(error.to_string()))?;
        Ok(bytes.into())
    }

    /// The response that sends the file as a download, still without a body.
    pub fn reply(&self) -> Result<Reply, Problem> {
        let place = format!("attachment; filename=\"{}\"", self.name);
        let place = HeaderValue::try_from(place).map_err(Problem::internal)?;
        Ok(Reply::of(MEDIA, Bytes::new()).with(CONTENT_DISPOSITION, place))
    }
}

/// A JSON value as a cell: flags are `sim` and `nao`, a list of texts is joined
/// with blanks, other lists and objects stay JSON.
fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "".into(),
        Value::Bool(true) => "sim".into(),
        Value::Bool(false) => "nao".into(),
        Value::String(text) => text.into(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            items.join(" ").into()
        }
        other => other.to_string().into(),
    }
}

/// Characters that start a formula. Some spreadsheets accept the full-width ones.
const FORMULA: [char; 9] = ['=', '+', '-', '@', '\0', '＝', '＋', '－', '＠'];
/// Characters at which some spreadsheet may split a cell: one with Brazilian
/// settings takes a semicolon as the end of a cell.
const SPLITS: [char; 5] = [';', ',', '\t', '\r', '\n'];

/// The cell with apostrophes, so that no spreadsheet runs it, or a piece of it,
/// as a formula.
fn harmless(cell: &str) -> Cow<'_, str> {
    if !begins_badly(cell) && !cell.split(SPLITS).skip(1).any(is_formula) {
        return cell.into();
    }
    let mut safe = String::with_capacity(cell.len() + 2);
    for (place, piece) in cell.split_inclusive(SPLITS).enumerate() {
        let is_bad = match place {
            0 => begins_badly(cell),
            _ => is_formula(piece),
        };
        if is_bad {
            safe.push('\'');
        }
        safe.push_str(piece);
    }
    safe.into()
}

fn begins_badly(cell: &str) -> bool {
    cell.starts_with(['\t', '\r', '\n', '\'']) || is_formula(cell) || is_code(cell)
}

/// Digits of a number that a spreadsheet keeps.
const KEPT: usize = 15;
/// Digits of the shortest code, such as an EAN, that may begin with a zero.
const SHORTEST_CODE: usize = 8;

/// Whether a cell is a code made of digits. A spreadsheet would read it as a
/// number and change it: it keeps fifteen digits, and no leading zero.
fn is_code(cell: &str) -> bool {
    let digits = cell.len();
    cell.bytes().all(|byte| byte.is_ascii_digit())
        && (digits > KEPT || digits >= SHORTEST_CODE && cell.starts_with('0'))
}

/// Whether a piece of a cell starts with a formula, after blanks and quotes,
/// which spreadsheets skip. Apostrophes are skipped too: a piece that already
/// has some gets one more, and reading removes only that one.
fn is_formula(piece: &str) -> bool {
    piece.trim_start_matches('\'').trim_start_matches([' ', '"']).starts_with(FORMULA)
}

/// The cell as it was before [`CsvFile::row`] made it harmless.
pub fn original(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\'') {
        return cell.into();
    }
    let mut typed = String::with_capacity(cell.len());
    let mut at = 0;
    for piece in cell.split_inclusive(SPLITS) {
        let bare = piece.strip_prefix('\'').filter(|bare| match at {
            0 => begins_badly(&cell[1..]),
            _ => is_formula(bare),
        });
        typed.push_str(bare.unwrap_or(piece));
        at += piece.len();
    }
    typed.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::panel::csv_read::tests::rows;

    #[test]
    fn nothing_that_a_semicolon_or_a_line_ends_is_a_formula() {
        for (cell, safe) in [
            ("x;=HYPERLINK(\"a\")", "x;'=HYPERLINK(\"a\")"),
            ("x; \"@a", "x;' \"@a"),
            ("a\t+1", "a\t'+1"),
            ("a,-1", "a,'-1"),
            ("a\r\n=1\n＝2", "a\r\n'=1\n'＝2"),
            ("=1;=2", "'=1;'=2"),
            ("\t=1", "'\t'=1"),
            ("a;'=1", "a;''=1"),
            ("a;b=c, d-e", "a;b=c, d-e"),
        ] {
            assert_eq!(harmless(cell), safe);
            assert_eq!(original(safe), cell);
        }
        // An apostrophe with no formula after it was typed, and stays.
        assert_eq!(original("a;'b"), "a;'b");
    }

    proptest! {
        #[test]
        fn any_digits_read_back(cell in "'{0,2}0?[0-9]{0,20};?") {
            let safe = harmless(&cell).into_owned();
            prop_assert_eq!(original(&safe), &*cell);
        }

        #[test]
        fn any_cell_reads_back(cell in "[=+@'; ,\\t\\r\\n\"\0a＝-]{0,12}") {
            let safe = harmless(&cell).into_owned();
            prop_assert_eq!(original(&safe), &*cell);
            for piece in safe.split(SPLITS) {
                prop_assert!(!piece.trim_start_matches([' ', '"']).starts_with(FORMULA), "{:?}", safe);
            }
        }
    }

    #[test]
    fn a_spreadsheet_keeps_every_digit() {
        for (cell, safe) in [
            ("2000001234567890", "'2000001234567890"),
            ("07891234567895", "'07891234567895"),
            ("7891234567895", "7891234567895"),
            ("5511987654321", "5511987654321"),
            ("0", "0"),
            ("1234.56", "1234.56"),
            ("2000001234567890 x", "2000001234567890 x"),
        ] {
            assert_eq!(harmless(cell), safe);
            assert_eq!(original(safe), cell);
        }
    }

    #[test]
    fn no_cell_is_a_formula_and_every_cell_reads_back() {
        let cells = [
            "Ana",
            "=1+1",
            "+55",
            "-3",
            "@sum",
            "\tx",
            "'=1",
            "'",
            "d'água",
            "",
            "a,\"b\"\nc",
            ";",
            "＝1",
            "＋1－2",
            "＠x",
            "\0=1",
        ];
        let mut file = CsvFile::new("x.csv", &["a"; 16]).unwrap();
        file.row(cells).unwrap();
        let bytes = file.take().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains("'=1+1,'+55,'-3,'@sum"), "{text}");
        assert!(text.contains("'＝1,'＋1－2,'＠x,'\0=1"), "{text}");
        assert_eq!(harmless("  =1"), "'  =1");
        let rows = rows(&bytes);
        assert_eq!(rows[0].1, cells.map(str::to_owned));
    }
}
