//! Reading lists in CSV (RFC 4180), as spreadsheets write them.

use super::csv_file::original;

/// Says that a text is UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
const QUOTE: char = '"';

/// A list as it was read. Cells are trimmed.
#[derive(Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The first row; empty when there is none.
    pub header: Vec<String>,
    /// The others, without those that are blank.
    pub rows: Vec<Row>,
}

/// A row of a list. Rows may differ in length.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// As spreadsheets count: the header is 1, and blank rows count.
    pub number: usize,
    pub cells: Vec<String>,
}

/// Why a list cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// No text in UTF-8.
    NotText,
    /// A quote that opens in this row is never closed.
    Unclosed(usize),
}

/// Reads a list: cells separated by commas, semicolons or tabs, whichever the
/// first line has most of or says (`sep=;`); UTF-8 with or without its mark.
pub fn read(bytes: &[u8]) -> Result<Sheet, Unreadable> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
    let (separator, text) = separator(text);
    let mut rows = rows(text, separator)?.into_iter();
    let header = rows.next().map(|row| row.cells).unwrap_or_default();
    Ok(Sheet {
        header,
        rows: rows.filter(|row| row.cells.iter().any(|cell| !cell.is_empty())).collect(),
    })
}

/// What separates cells, and the text without a line that says so.
fn separator(text: &str) -> (char, &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let said = first.trim_end_matches('\r');
    if said.len() == 5 && said.is_char_boundary(4) && said[..4].eq_ignore_ascii_case("sep=") {
        return (said.chars().last().unwrap_or(','), rest);
    }
    let count = |separator: &char| first.matches(*separator).count();
    // The last of equals wins.
    let most = ['\t', ';', ','].into_iter().max_by_key(count);
    (most.unwrap_or(','), text)
}

/// The rows of a text that have anything in them.
fn rows(text: &str, separator: char) -> Result<Vec<Row>, Unreadable> {
    let (mut rows, mut number) = (Vec::new(), 1);
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    loop {
        let letter = letters.next();
        match letter {
            Some(QUOTE) if is_quoted => {
                // Two are one.
                is_quoted = letters.next_if_eq(&QUOTE).is_some();
                if is_quoted {
                    cell.push(QUOTE);
                }
            }
            Some(letter) if is_quoted => cell.push(letter),
            None if is_quoted => return Err(Unreadable::Unclosed(number)),
            Some(QUOTE) if cell.is_empty() => is_quoted = true,
            Some(letter) if letter == separator => cells.push(clean(&std::mem::take(&mut cell))),
            Some('\r' | '\n') | None => {
                if letter == Some('\r') {
                    letters.next_if_eq(&'\n');
                }
                if !cells.is_empty() || !cell.is_empty() {
                    cells.push(clean(&std::mem::take(&mut cell)));
                    rows.push(Row { number, cells: std::mem::take(&mut cells) });
                }
                if letter.is_none() {
                    return Ok(rows);
                }
                number += 1;
            }
            Some(letter) => cell.push(letter),
        }
    }
}

/// A cell as whoever wrote it meant it.
fn clean(cell: &str) -> String {
    original(cell.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers and cells of all rows but the first.
    fn told(text: &str) -> Vec<(usize, String)> {
        let sheet = read(text.as_bytes()).unwrap();
        let rows = sheet.rows.into_iter();
        rows.map(|row| (row.number, row.cells.join("|"))).collect()
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
            let sheet = read(text.as_bytes()).unwrap();
            assert_eq!(sheet.header.len(), 2, "{text:?}");
            assert_eq!(sheet.rows[0].number, 2, "{text:?}");
        }
        let header = read("\u{feff}Nome ; E-mail\n".as_bytes()).unwrap().header;
        assert_eq!(header, ["Nome", "E-mail"]);
        assert_eq!(read(b""), read(b"\n\r\n"));
    }

    #[test]
    fn rows_are_counted_as_spreadsheets_do() {
        let text = "a,b\n\n\"one\ntwo\",x\r\n,\n \"y\" , z\rlast";
        let expected = [(3, "one\ntwo|x"), (5, "\"y\"|z"), (6, "last")];
        assert_eq!(told(text), expected.map(|(row, text)| (row, text.to_owned())));
    }

    #[test]
    fn quotes_hold_whatever_is_between_them() {
        let text = "a,b\n\"x\"\"y\",\"1,2\"\n\"\",\"z\"w\n";
        let expected = [(2, "x\"y|1,2"), (3, "|zw")];
        assert_eq!(told(text), expected.map(|(row, text)| (row, text.to_owned())));
        for (text, row) in [("a\nb\n\"c", 3), ("\"a\nb", 1), ("a\n\"x\"\"\n\n", 2)] {
            assert_eq!(read(text.as_bytes()), Err(Unreadable::Unclosed(row)));
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(read(b"nome\n\xff\xfe"), Err(Unreadable::NotText));
    }
}
