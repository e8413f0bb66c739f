//! Reading lists in CSV (RFC 4180), as spreadsheets write them.
//!
//! A list is read row by row, and cells borrow from its text. So reading needs
//! almost no memory besides the file itself, even with millions of short rows,
//! one row of millions of cells, or one cell of megabytes.
//!
//! The crate `csv`, which writes our lists, does not read them: it keeps every cell of
//! a row, skips empty lines without counting them, so that nobody could be told the
//! number of a faulty row as their spreadsheet shows it, and takes a quote that is
//! never closed for the end of the file.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde::Deserialize;

use crate::http::input::only_text;
use crate::http::{Check, Field, Problem, Request, upload};
use crate::panel::csv::{MARK, original};

/// Most columns that a spreadsheet can have.
const MOST_COLUMNS: usize = 16_384;

/// A list that is being read. Cells are trimmed.
pub struct Sheet<'t> {
    /// The first row; empty when there is none.
    pub header: Vec<String>,
    separator: u8,
    /// The text that has not been read yet.
    rest: &'t str,
    /// Number of the row that was read last.
    number: usize,
    /// The cells of that row. One more than the header has means that the row is
    /// too long.
    cells: Vec<Cow<'t, str>>,
}

/// A row of a list. Rows may differ in length.
#[derive(Debug, PartialEq, Eq)]
pub struct Row<'s, 't> {
    /// As spreadsheets count: the header is 1, and blank rows count.
    pub number: usize,
    /// At most one more than the header has; further cells are skipped.
    pub cells: &'s [Cow<'t, str>],
}

/// Why a list cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Not valid UTF-8.
    NotText,
    /// A quote that opens in this row is never closed.
    Unclosed(usize),
    /// More columns than a spreadsheet can have; the number is that limit.
    TooWide(usize),
}

/// The CSV text of a request: the file `arquivo` of an uploaded form, the whole
/// body if it is `text/csv`, or the field `csv` of a form or of JSON.
pub fn sent(request: &Request) -> Result<Bytes, Problem> {
    if upload::is_upload(request) {
        // When no file is chosen, browsers send one without name and bytes.
        let is_file = |part: &upload::Part| {
            part.name == "arquivo" && !(part.file_name.is_empty() && part.bytes.is_empty())
        };
        let file = upload::parts(request)?.into_iter().find(is_file);
        let file = file.ok_or_else(|| Problem::field("arquivo", "choose a CSV file"))?;
        return Ok(file.bytes);
    }
    let media = request.header(&CONTENT_TYPE).unwrap_or_default();
    if media.to_ascii_lowercase().starts_with("text/csv") {
        return Ok(request.body.clone());
    }
    sent_as_field(request)
}

#[derive(Deserialize)]
struct CsvBody {
    #[serde(default, deserialize_with = "only_text")]
    csv: Field<String>,
}

/// The CSV text in the field `csv` of a form or of JSON.
pub fn sent_as_field(request: &Request) -> Result<Bytes, Problem> {
    let CsvBody { csv } = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let csv: String = check.required("csv", csv);
    check.finish()?;
    Ok(csv.into())
}

/// Starts to read a list in UTF-8, with or without a byte order mark. The
/// separator is the one that a first line such as `sep=;` names, else the most
/// frequent of comma, semicolon and tab in the first line.
pub fn read(bytes: &[u8]) -> Result<Sheet<'_>, Unreadable> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
    let (separator, rest) = separator(text);
    let mut sheet = Sheet { header: Vec::new(), separator, rest, number: 0, cells: Vec::new() };
    while sheet.header.is_empty() && !sheet.rest.is_empty() {
        sheet.read_row(MOST_COLUMNS)?;
        if !is_empty_line(&sheet.cells) {
            sheet.header = sheet.cells.drain(..).map(Cow::into_owned).collect();
        }
    }
    if sheet.header.len() > MOST_COLUMNS {
        return Err(Unreadable::TooWide(MOST_COLUMNS));
    }
    Ok(sheet)
}

/// The separator of cells, and the text without a `sep=` line.
fn separator(text: &str) -> (u8, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if let [s, e, p, b'=', said] = *first.trim_end_matches('\r').as_bytes()
        && [s, e, p].eq_ignore_ascii_case(b"sep")
        && said.is_ascii()
    {
        return (said, rest);
    }
    let count = |separator: &u8| memchr::memchr_iter(*separator, first.as_bytes()).count();
    // Among equal counts the last one wins.
    let most = [b'\t', b';', b','].into_iter().max_by_key(count);
    (most.unwrap_or(b','), text)
}

/// Whether a line is empty: no separator and no text.
fn is_empty_line(cells: &[Cow<'_, str>]) -> bool {
    matches!(cells, [only] if only.is_empty())
}

impl<'t> Sheet<'t> {
    /// The next row that has anything in a cell; `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<Row<'_, 't>>, Unreadable> {
        while !self.rest.is_empty() {
            if self.read_row(self.header.len())? {
                return Ok(Some(Row { number: self.number, cells: &self.cells }));
            }
        }
        Ok(None)
    }

    /// Reads a row and keeps at most `most` + 1 of its cells. Returns whether any
    /// cell has text.
    fn read_row(&mut self, most: usize) -> Result<bool, Unreadable> {
        self.number += 1;
        self.cells.clear();
        let (mut is_last, mut has_text) = (false, false);
        while !is_last {
            let cell;
            (cell, is_last) = self.read_cell()?;
            has_text = has_text || !cell.trim().is_empty();
            if self.cells.len() <= most {
                self.cells.push(clean(cell));
            }
        }
        Ok(has_text)
    }

    /// Reads a cell; also returns whether it is the last of its row.
    fn read_cell(&mut self) -> Result<(Cow<'t, str>, bool), Unreadable> {
        let mut cell = match self.rest.strip_prefix('"') {
            Some(quoted) => self.read_quoted(quoted)?,
            None => Cow::Borrowed(""),
        };
        let bytes = self.rest.as_bytes();
        let end = memchr::memchr3(self.separator, b'\r', b'\n', bytes).unwrap_or(bytes.len());
        let (plain, rest) = self.rest.split_at(end);
        if cell.is_empty() {
            cell = plain.into();
        } else if !plain.is_empty() {
            cell.to_mut().push_str(plain);
        }
        let is_last = rest.as_bytes().first().is_none_or(|end| *end != self.separator);
        let length = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
        self.rest = &rest[length..];
        Ok((cell, is_last))
    }

    /// Reads a quoted cell, from after the opening quote to the closing one.
    fn read_quoted(&mut self, text: &'t str) -> Result<Cow<'t, str>, Unreadable> {
        let mut cell = Cow::Borrowed("");
        let mut from = 0;
        loop {
            let found = memchr::memchr(b'"', &text.as_bytes()[from..]);
            let end = from + found.ok_or(Unreadable::Unclosed(self.number))?;
            self.rest = &text[end + 1..];
            if !self.rest.starts_with('"') {
                if from == 0 {
                    return Ok(Cow::Borrowed(&text[..end]));
                }
                cell.to_mut().push_str(&text[from..end]);
                return Ok(cell);
            }
            // Two quotes stand for one.
            cell.to_mut().push_str(&text[from..=end]);
            from = end + 2;
        }
    }
}

/// The cell trimmed, without apostrophes that our CSV export has added.
fn clean(cell: Cow<'_, str>) -> Cow<'_, str> {
    match cell {
        Cow::Borrowed(text) => original(text.trim()),
        Cow::Owned(text) => original(text.trim()).into_owned().into(),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// All rows but the first: their numbers and cells.
    pub fn rows(bytes: &[u8]) -> Vec<(usize, Vec<String>)> {
        let mut sheet = read(bytes).unwrap();
        let mut rows = Vec::new();
        while let Some(row) = sheet.next_row().unwrap() {
            rows.push((row.number, row.cells.iter().map(ToString::to_string).collect()));
        }
        rows
    }

    /// Numbers and cells of all rows but the first.
    fn told(text: &str) -> Vec<(usize, String)> {
        let rows = rows(text.as_bytes()).into_iter();
        rows.map(|(number, cells)| (number, cells.join("|"))).collect()
    }

    /// Reads to the end; returns the error if there is one.
    fn refused(text: &str) -> Option<Unreadable> {
        let mut sheet = match read(text.as_bytes()) {
            Ok(sheet) => sheet,
            Err(unreadable) => return Some(unreadable),
        };
        loop {
            match sheet.next_row() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(unreadable) => return Some(unreadable),
            }
        }
    }

    #[test]
    fn cells_are_separated_as_the_first_line_says() {
        for text in [
            "a,b\n1;2,3\n",
            "a;b\r\n1;2;3\r\n",
            "a\tb\n1;2\t3",
            "sep=;\na,x;b\n1;2;3\n",
            "SEP=|\r\na,b|c\r\n1;2|3",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap().header.len(), 2, "{text:?}");
            assert_eq!(rows(text.as_bytes())[0].0, 2, "{text:?}");
        }
        let header = read("\u{feff}Nome ; E-mail\n".as_bytes()).unwrap().header;
        assert_eq!(header, ["Nome", "E-mail"]);
        for text in ["", "\n\r\n", "sep=;\n", "  \n"] {
            assert!(read(text.as_bytes()).unwrap().header.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn rows_are_counted_as_spreadsheets_do() {
        let text = "a,b\n\n\"one\ntwo\",x\r\n,\n \"y\" , z\rlast";
        let expected = [(3, "one\ntwo|x"), (5, "\"y\"|z"), (6, "last")];
        assert_eq!(told(text), expected.map(|(row, text)| (row, text.to_owned())));
    }

    #[test]
    fn quotes_hold_whatever_is_between_them() {
        let text = "a,b\n\"x\"\"y\",\"1,2\"\n\"\",\"z\"w\n\"\"\"\",\"á\r\n\"\"é\"\"\"\n";
        let expected = [(2, "x\"y|1,2"), (3, "|zw"), (4, "\"|á\r\n\"é\"")];
        assert_eq!(told(text), expected.map(|(row, text)| (row, text.to_owned())));
        for (text, row) in [("a\nb\n\"c", 3), ("\"a\nb", 1), ("a\n\"x\"\"\n\n", 2)] {
            assert_eq!(refused(text), Some(Unreadable::Unclosed(row)));
        }
    }

    #[test]
    fn no_more_cells_are_kept_than_tell_that_a_row_is_too_long() {
        let text = format!("a,b\n1,2{}\n{},x\n{}\n", ",3".repeat(9), ",".repeat(9), ",".repeat(9));
        // The text of row 3 is beyond the header's columns; the row is not blank.
        assert_eq!(told(&text), [(2, "1|2|3".to_owned()), (3, "||".to_owned())]);
        let wide = |columns: usize| refused(&",".repeat(columns - 1));
        assert_eq!(wide(MOST_COLUMNS), None);
        assert_eq!(wide(MOST_COLUMNS + 1), Some(Unreadable::TooWide(MOST_COLUMNS)));
        assert_eq!(wide(4_000_000), Some(Unreadable::TooWide(MOST_COLUMNS)));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(read(b"nome\n\xff\xfe").err(), Some(Unreadable::NotText));
    }
}
