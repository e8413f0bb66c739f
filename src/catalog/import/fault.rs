//! Errors in a file of products, in English for programs and in Portuguese for
//! people.

use std::fmt;

use crate::base::grouped;
use crate::base::text::sentence;
use crate::catalog::{MAX_PRODUCTS, MOST_UNITS};
use crate::panel::csv_read::Unreadable;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Sku,
    /// The SKU is already in this earlier row.
    Repeated(usize),
    Ean,
    Title,
    NoTitle,
    Cost,
    Price,
    NoPrice,
    Stock,
    TooLong,
    NoRoom,
}

/// Default names of the columns, in English and in Portuguese.
const ENGLISH: [&str; 6] = super::COLUMNS;
const PORTUGUESE: [&str; 6] = ["SKU", "EAN", "título", "custo", "preço", "estoque"];

/// The names of the columns in a file; `None` for columns that the file does
/// not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub [Option<String>; 6]);

impl Names {
    fn of<'n>(&'n self, column: usize, otherwise: &[&'n str; 6]) -> &'n str {
        self.0[column].as_deref().unwrap_or(otherwise[column])
    }
}

impl RowFault {
    /// The index of the column that it is in.
    const fn column(self) -> usize {
        match self {
            Self::Sku | Self::Repeated(_) | Self::TooLong | Self::NoRoom => 0,
            Self::Ean => 1,
            Self::Title | Self::NoTitle => 2,
            Self::Cost => 3,
            Self::Price | Self::NoPrice => 4,
            Self::Stock => 5,
        }
    }

    fn english(self, names: &Names) -> String {
        let name = names.of(self.column(), &ENGLISH);
        match self {
            Self::Sku => format!("{name} must have 1 to 80 characters"),
            Self::Repeated(row) => format!("{name} stands in row {row} already"),
            Self::Ean => format!("{name} must have 8 to 14 digits"),
            Self::Title => format!("{name} must have 1 to 200 characters"),
            Self::NoTitle | Self::NoPrice => format!("{name} is required for a new product"),
            Self::Cost | Self::Price => {
                format!("{name} must be an amount from 0 to 10000000 with at most two decimals")
            }
            Self::Stock => format!("{name} must be a whole number from 0 to {MOST_UNITS}"),
            Self::TooLong => "has more cells than the header row".to_owned(),
            Self::NoRoom => {
                format!("there is no room: a person has at most {MAX_PRODUCTS} products")
            }
        }
    }

    fn portuguese(self, names: &Names) -> String {
        let name = names.of(self.column(), &PORTUGUESE);
        match self {
            Self::Sku => format!("“{name}” precisa ter de 1 a 80 letras"),
            Self::Repeated(row) => format!("“{name}” já está na linha {row}"),
            Self::Ean => format!("“{name}” precisa ter de 8 a 14 números"),
            Self::Title => format!("“{name}” precisa ter de 1 a 200 letras"),
            Self::NoTitle | Self::NoPrice => {
                format!("falta “{name}”, que um produto novo precisa ter")
            }
            Self::Cost | Self::Price => format!(
                "“{name}” precisa ser um valor a partir de 0, com até duas casas, como 12,50"
            ),
            Self::Stock => format!("“{name}” precisa ser um número inteiro a partir de 0"),
            Self::TooLong => "há mais células do que no cabeçalho".to_owned(),
            Self::NoRoom => "não cabem mais produtos".to_owned(),
        }
    }
}

/// A row that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The row number as in a spreadsheet: the header is row 1.
    pub number: usize,
    /// At least one.
    pub faults: Vec<RowFault>,
}

/// All rows of a file that cannot be imported; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRows {
    pub names: Names,
    pub rows: Vec<BadRow>,
}

impl BadRows {
    /// The errors of each row, in English.
    pub fn english(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| {
            let faults = row.faults.iter().map(|fault| fault.english(&self.names));
            format!("row {}: {}", row.number, joined(faults))
        })
    }

    /// The number of each row and what to correct, in Portuguese.
    pub fn portuguese(&self) -> impl Iterator<Item = (usize, String)> {
        self.rows.iter().map(|row| {
            let faults = row.faults.iter().map(|fault| fault.portuguese(&self.names));
            (row.number, sentence(&joined(faults)))
        })
    }
}

/// Bad rows that a terminal shows unless the caller asks for all.
const MOST_TOLD: usize = 20;

impl BadRows {
    /// How many bad rows there are, and the first `most` of them.
    pub fn told(&self, most: usize) -> String {
        let count = self.rows.len();
        let rows = if count == 1 { "row" } else { "rows" };
        let mut told = format!("{count} {rows} cannot be taken, so nothing was imported");
        let more = (count > most)
            .then(|| format!("and {} more; --all-faults prints them too", count - most));
        for line in self.english().take(most).chain(more) {
            told.push_str("\n  ");
            told.push_str(&line);
        }
        told
    }
}

impl fmt::Display for BadRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(MOST_TOLD))
    }
}

fn joined(faults: impl Iterator<Item = String>) -> String {
    faults.collect::<Vec<_>>().join("; ")
}

/// What is wrong with a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    #[error(
        "the file is not UTF-8 text; save it as \"CSV UTF-8\" in the spreadsheet and import that"
    )]
    NotText,
    #[error("a quote that opens in row {0} is never closed")]
    Unclosed(usize),
    /// More columns than a spreadsheet can have; the number is that limit.
    #[error("the header row has more than {0} columns")]
    TooWide(usize),
    #[error("the file is empty")]
    Blank,
    #[error("the header row names {0:?}; it can name {columns}", columns = ENGLISH.join(","))]
    Unknown(String),
    #[error("the header row names {0} twice")]
    Twice(String),
    #[error("the header row has no sku; it must be {}", ENGLISH.join(","))]
    NoSku,
    #[error("the file has no row besides the header")]
    Empty,
    /// More rows than allowed; the number is how many there are.
    #[error("the file has {0} rows; at most {MAX_PRODUCTS} are taken")]
    TooMany(usize),
}

impl From<Unreadable> for FileFault {
    fn from(problem: Unreadable) -> Self {
        match problem {
            Unreadable::NotText => Self::NotText,
            Unreadable::Unclosed(row) => Self::Unclosed(row),
            Unreadable::TooWide(most) => Self::TooWide(most),
        }
    }
}

impl FileFault {
    /// What to correct, in Portuguese.
    pub fn portuguese(&self) -> String {
        let columns = PORTUGUESE.join(", ");
        sentence(&match self {
            Self::NotText => "o arquivo não é um texto em UTF-8; salve-o como CSV UTF-8".to_owned(),
            Self::Unclosed(row) => {
                format!("as aspas que abrem na linha {row} não fecham; feche-as, ou tire-as")
            }
            Self::TooWide(most) => format!("o cabeçalho tem mais de {} colunas", grouped(*most)),
            Self::Blank => "o arquivo está vazio".to_owned(),
            Self::Unknown(name) => format!("o cabeçalho tem “{name}”; ele pode ter {columns}"),
            Self::Twice(name) => format!("o cabeçalho tem “{name}” duas vezes"),
            Self::NoSku => format!("falta o SKU no cabeçalho; ele pode ter {columns}"),
            Self::Empty => "o arquivo não tem nenhuma linha além do cabeçalho".to_owned(),
            Self::TooMany(rows) => {
                let [rows, most] = [*rows, MAX_PRODUCTS].map(grouped);
                format!("o arquivo tem {rows} linhas; cabem até {most}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_row_is_told_in_both_languages_with_the_names_of_the_file() {
        let mut bad = BadRows {
            names: Names::default(),
            rows: vec![BadRow { number: 7, faults: vec![RowFault::Price, RowFault::Repeated(2)] }],
        };
        let told = |bad: &BadRows| {
            let (row, said) = bad.portuguese().next().unwrap();
            assert_eq!(row, 7);
            (bad.english().next().unwrap(), said)
        };
        let (english, portuguese) = told(&bad);
        let amount = "must be an amount from 0 to 10000000 with at most two decimals";
        assert_eq!(english, format!("row 7: price {amount}; sku stands in row 2 already"));
        assert_eq!(
            portuguese,
            "“preço” precisa ser um valor a partir de 0, com até duas casas, como 12,50; \
             “SKU” já está na linha 2."
        );
        bad.names.0[4] = Some("Preço (R$)".to_owned());
        let (english, portuguese) = told(&bad);
        assert!(english.contains("row 7: Preço (R$) must"), "{english}");
        assert!(portuguese.starts_with("“Preço (R$)” precisa"), "{portuguese}");
    }
}
