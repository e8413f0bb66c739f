//! What can be wrong with a file of products, for programs in English and
//! for people in Portuguese.

use std::fmt;

use crate::catalog::{MOST, MOST_UNITS};
use crate::text::grouped;

/// What is wrong with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Sku,
    /// The SKU stands in this earlier row.
    Repeated(usize),
    Ean,
    Title,
    /// A new product without a title.
    NoTitle,
    Cost,
    Price,
    Stock,
    /// More cells than columns.
    TooLong,
    /// Its owner has as many products as one can have.
    NoRoom,
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const AMOUNT: &str = "must be an amount from 0 to 10000000 with at most two decimals";
        match self {
            Self::Sku => f.write_str("sku must have 1 to 80 characters"),
            Self::Repeated(row) => write!(f, "sku stands in row {row} already"),
            Self::Ean => f.write_str("ean must have 8 to 14 digits"),
            Self::Title => f.write_str("title must have 1 to 200 characters"),
            Self::NoTitle => f.write_str("title is required for a new product"),
            Self::Cost => write!(f, "cost {AMOUNT}"),
            Self::Price => write!(f, "price {AMOUNT}"),
            Self::Stock => write!(f, "stock must be a whole number from 0 to {MOST_UNITS}"),
            Self::TooLong => f.write_str("has more cells than the header row"),
            Self::NoRoom => write!(f, "there is no room: a person has at most {MOST} products"),
        }
    }
}

impl RowFault {
    fn portuguese(self) -> String {
        let fixed = match self {
            Self::Repeated(row) => return format!("o sku já está na linha {row}"),
            Self::Sku => "o sku precisa ter de 1 a 80 letras",
            Self::Ean => "o ean precisa ter de 8 a 14 números",
            Self::Title => "o title precisa ter de 1 a 200 letras",
            Self::NoTitle => "falta o title, que um produto novo precisa ter",
            Self::Cost => "o cost precisa ser um valor a partir de 0, como 12,50",
            Self::Price => "o price precisa ser um valor a partir de 0, como 12,50",
            Self::Stock => "o stock precisa ser um número inteiro a partir de 0",
            Self::TooLong => "há mais células do que no cabeçalho",
            Self::NoRoom => "não cabem mais produtos",
        };
        fixed.to_owned()
    }
}

/// A row that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// From 1, without the header.
    pub number: usize,
    /// At least one.
    pub faults: Vec<RowFault>,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}: ", self.number)?;
        for (index, fault) in self.faults.iter().enumerate() {
            let before = if index == 0 { "" } else { "; " };
            write!(f, "{before}{fault}")?;
        }
        Ok(())
    }
}

impl BadRow {
    /// What to correct, as pages say it.
    pub fn portuguese(&self) -> String {
        let parts: Vec<String> = self.faults.iter().map(|fault| fault.portuguese()).collect();
        sentence(&parts.join("; "))
    }
}

/// What is wrong with a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFault {
    /// No text in UTF-8.
    NotText,
    /// No CSV.
    NotCsv,
    /// A column that is none of ours.
    Unknown(String),
    /// The same column twice.
    Twice(String),
    /// No column of SKUs.
    NoSku,
    Empty,
    /// So many rows.
    TooMany(usize),
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = super::COLUMNS.join(",");
        match self {
            Self::NotText => f.write_str("the file is not UTF-8 text"),
            Self::NotCsv => f.write_str("the file is no CSV that can be read"),
            Self::Unknown(name) => {
                write!(f, "the header row names {name:?}; it can name {columns}")
            }
            Self::Twice(name) => write!(f, "the header row names {name} twice"),
            Self::NoSku => write!(f, "the header row has no sku; it must be {columns}"),
            Self::Empty => f.write_str("the file has no row besides the header"),
            Self::TooMany(rows) => write!(f, "the file has {rows} rows; at most {MOST} are taken"),
        }
    }
}

impl FileFault {
    /// What to correct, as pages say it.
    pub fn portuguese(&self) -> String {
        let columns = super::COLUMNS.join(", ");
        sentence(&match self {
            Self::NotText => "o arquivo não é um texto em UTF-8; salve-o como CSV UTF-8".to_owned(),
            Self::NotCsv => "o arquivo não é um CSV que se possa ler".to_owned(),
            Self::Unknown(name) => {
                format!("o cabeçalho tem {name}; ele pode ter {columns}")
            }
            Self::Twice(name) => format!("o cabeçalho tem {name} duas vezes"),
            Self::NoSku => format!("falta o sku no cabeçalho, que deve ser {columns}"),
            Self::Empty => "o arquivo não tem nenhuma linha além do cabeçalho".to_owned(),
            Self::TooMany(rows) => format!(
                "o arquivo tem {} linhas; cabem até {}",
                grouped(*rows as u64),
                grouped(MOST as u64)
            ),
        })
    }
}

/// A capital first and a full stop.
fn sentence(said: &str) -> String {
    let mut letters = said.chars();
    let first: String = letters
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_row_is_told_in_both_languages() {
        let row = BadRow {
            number: 7,
            faults: vec![RowFault::Sku, RowFault::Repeated(2)],
        };
        let english = "row 7: sku must have 1 to 80 characters; sku stands in row 2 already";
        assert_eq!(row.to_string(), english);
        let portuguese = "O sku precisa ter de 1 a 80 letras; o sku já está na linha 2.";
        assert_eq!(row.portuguese(), portuguese);
    }
}
