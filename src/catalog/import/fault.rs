//! Errors in a file of products, in English for programs and in Portuguese for
//! people.

use std::fmt;

use crate::base::grouped;
use crate::catalog::{MAX_PRODUCTS, MOST_UNITS};

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Sku,
    /// The SKU is already in this earlier row.
    Repeated(usize),
    Ean,
    Title,
    /// A new product without a title.
    NoTitle,
    Cost,
    Price,
    /// A new product without a price.
    NoPrice,
    Stock,
    /// More cells than columns.
    TooLong,
    /// Its owner has the most products allowed.
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
    fn english(self, names: &Names) -> String {
        let name = |column| names.of(column, &ENGLISH);
        let amount = |column| {
            format!(
                "{} must be an amount from 0 to 10000000 with at most two decimals",
                name(column)
            )
        };
        match self {
            Self::Sku => format!("{} must have 1 to 80 characters", name(0)),
            Self::Repeated(row) => format!("{} stands in row {row} already", name(0)),
            Self::Ean => format!("{} must have 8 to 14 digits", name(1)),
            Self::Title => format!("{} must have 1 to 200 characters", name(2)),
            Self::NoTitle => format!("{} is required for a new product", name(2)),
            Self::Cost => amount(3),
            Self::Price => amount(4),
            Self::NoPrice => format!("{} is required for a new product", name(4)),
            Self::Stock => format!("{} must be a whole number from 0 to {MOST_UNITS}", name(5)),
            Self::TooLong => "has more cells than the header row".to_owned(),
            Self::NoRoom => {
                format!("there is no room: a person has at most {MAX_PRODUCTS} products")
            }
        }
    }

    fn portuguese(self, names: &Names) -> String {
        let name = |column| names.of(column, &PORTUGUESE);
        let amount = |column| {
            format!(
                "“{}” precisa ser um valor a partir de 0, com até duas casas, como 12,50",
                name(column)
            )
        };
        match self {
            Self::Sku => format!("“{}” precisa ter de 1 a 80 letras", name(0)),
            Self::Repeated(row) => format!("“{}” já está na linha {row}", name(0)),
            Self::Ean => format!("“{}” precisa ter de 8 a 14 números", name(1)),
            Self::Title => format!("“{}” precisa ter de 1 a 200 letras", name(2)),
            Self::NoTitle => format!("falta “{}”, que um produto novo precisa ter", name(2)),
            Self::Cost => amount(3),
            Self::Price => amount(4),
            Self::NoPrice => format!("falta “{}”, que um produto novo precisa ter", name(4)),
            Self::Stock => format!("“{}” precisa ser um número inteiro a partir de 0", name(5)),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// It is not UTF-8 text.
    NotText,
    /// A quote that opens in this row is never closed.
    Unclosed(usize),
    /// More columns than a spreadsheet can have; the number is that limit.
    TooWide(usize),
    /// The file is empty.
    Blank,
    /// A column with an unknown name.
    Unknown(String),
    /// The same column twice.
    Twice(String),
    /// No SKU column.
    NoSku,
    Empty,
    /// More rows than allowed; the number is how many there are.
    TooMany(usize),
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = ENGLISH.join(",");
        match self {
            Self::NotText => f.write_str(
                "the file is not UTF-8 text; save it as \"CSV UTF-8\" in the spreadsheet and import that",
            ),
            Self::Unclosed(row) => write!(f, "a quote that opens in row {row} is never closed"),
            Self::TooWide(most) => write!(f, "the header row has more than {most} columns"),
            Self::Blank => f.write_str("the file is empty"),
            Self::Unknown(name) => {
                write!(f, "the header row names {name:?}; it can name {columns}")
            }
            Self::Twice(name) => write!(f, "the header row names {name} twice"),
            Self::NoSku => write!(f, "the header row has no sku; it must be {columns}"),
            Self::Empty => f.write_str("the file has no row besides the header"),
            Self::TooMany(rows) => write!(f, "the file has {rows} rows; at most {MAX_PRODUCTS} are taken"),
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
            Self::TooWide(most) => {
                format!("o cabeçalho tem mais de {} colunas", grouped(*most))
            }
            Self::Blank => "o arquivo está vazio".to_owned(),
            Self::Unknown(name) => {
                format!("o cabeçalho tem “{name}”; ele pode ter {columns}")
            }
            Self::Twice(name) => format!("o cabeçalho tem “{name}” duas vezes"),
            Self::NoSku => format!("falta o SKU no cabeçalho; ele pode ter {columns}"),
            Self::Empty => "o arquivo não tem nenhuma linha além do cabeçalho".to_owned(),
            Self::TooMany(rows) => {
                format!(
                    "o arquivo tem {} linhas; cabem até {}",
                    grouped(*rows),
                    grouped(MAX_PRODUCTS)
                )
            }
        })
    }
}

/// The text with a capital first letter and a full stop.
fn sentence(said: &str) -> String {
    let mut letters = said.chars();
    let first: String = letters.next().map(char::to_uppercase).into_iter().flatten().collect();
    format!("{first}{}.", letters.as_str())
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
