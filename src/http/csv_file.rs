//! Lists as CSV (RFC 4180), safe to open in a spreadsheet.
//!
//! A cell that a spreadsheet would take for a formula gets an apostrophe
//! before it (OWASP, "CSV Injection"); reading takes it off again.

use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;

use super::{Problem, Reply};

const MEDIA: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
/// Says to spreadsheets that the text is UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A CSV file in the making.
pub struct CsvFile {
    name: &'static str,
    rows: csv::Writer<Vec<u8>>,
}

impl CsvFile {
    /// A file called `name`, such as `alunos.csv`, with its header row.
    pub fn new(name: &'static str, header: &[&str]) -> Result<Self, Problem> {
        let mut rows = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(MARK.to_vec());
        rows.write_record(header).map_err(Problem::internal)?;
        Ok(Self { name, rows })
    }

    /// Adds a row.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> Result<(), Problem> {
        let cells = cells.into_iter().map(harmless);
        for cell in cells {
            self.rows
                .write_field(cell.as_bytes())
                .map_err(Problem::internal)?;
        }
        self.rows
            .write_record(None::<&[u8]>)
            .map_err(Problem::internal)
    }

    /// The file as a download.
    pub fn reply(self) -> Result<Reply, Problem> {
        let bytes = self
            .rows
            .into_inner()
            .map_err(|error| Problem::internal(error.to_string()))?;
        let place = format!("attachment; filename=\"{}\"", self.name);
        let place = HeaderValue::try_from(place).map_err(Problem::internal)?;
        Ok(Reply::of(MEDIA, bytes).with(CONTENT_DISPOSITION, place))
    }
}

/// What begins a formula, also in full width, as some spreadsheets read it.
const FORMULA: [char; 9] = ['=', '+', '-', '@', '\0', '＝', '＋', '－', '＠'];

/// A cell that no spreadsheet computes.
fn harmless(cell: &str) -> std::borrow::Cow<'_, str> {
    let bare = cell.trim_start_matches(' ');
    if cell.starts_with(['\t', '\r', '\n', '\'']) || bare.starts_with(FORMULA) {
        format!("'{cell}").into()
    } else {
        cell.into()
    }
}

/// The cell as it was before [`CsvFile::row`] made it harmless.
pub fn original(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if harmless(rest) != rest => rest,
        _ => cell,
    }
}

/// Reads a CSV text: cells separated by commas or, when the header has more
/// of them, by semicolons; UTF-8 with or without its mark. Rows may differ in
/// length. Gives back the header in lower case and the rows.
pub fn read(bytes: &[u8]) -> Result<(Vec<String>, Vec<Vec<String>>), &'static str> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text")?;
    let first = text.lines().next().unwrap_or_default();
    let separator = if first.matches(';').count() > first.matches(',').count() {
        b';'
    } else {
        b','
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|_| "the header row cannot be read")?;
    let header = header.iter().map(str::to_lowercase).collect();
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|_| "a row cannot be read")?;
        rows.push(row.iter().map(|cell| original(cell).to_owned()).collect());
    }
    Ok((header, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let reply = file.reply().unwrap();
        let text = String::from_utf8(reply.body.in_memory().to_vec()).unwrap();
        assert!(text.contains("'=1+1,'+55,'-3,'@sum"), "{text}");
        assert!(text.contains("'＝1,'＋1－2,'＠x,'\0=1"), "{text}");
        assert_eq!(harmless("  =1"), "'  =1");
        let rows = read(reply.body.in_memory()).unwrap().1;
        let trimmed = cells.map(|cell| if cell == "\tx" { "\tx" } else { cell });
        assert_eq!(rows, [trimmed.map(str::to_owned).to_vec()]);
    }

    #[test]
    fn semicolons_separate_when_the_header_has_them() {
        let (header, rows) = read("\u{feff}Nome;E-mail\r\nAna;a@b.c\r\n".as_bytes()).unwrap();
        assert_eq!(header, ["nome", "e-mail"]);
        assert_eq!(rows, [["Ana", "a@b.c"]]);
        assert!(read(b"nome\n\xff\xfe").is_err());
    }
}
