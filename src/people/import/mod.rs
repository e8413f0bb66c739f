//! Students from a list: read and checked first, then made.
//!
//! The checked rows are stored, so the report is still there after leaving the
//! page and after a restart. Once somebody has asked for it, a worker makes the
//! students of all good rows in small jobs, and after a stop goes on where it
//! was. A row whose address got an account in the meantime is left as it is.
//! Only one import runs at a time.

pub mod apply;
pub mod pages;
pub mod running;
pub mod store;
pub mod views;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::accounts::Role;
use crate::base::{phone, search_key, text};
use crate::messages::delivery;
use crate::named;
use crate::panel::csv_read::Unreadable;
use crate::panel::{Badge, csv_read};
use crate::row;

/// The columns; the last may be missing.
const COLUMNS: [&str; 4] = ["nome", "email", "plano", "chat_number"];
/// Most rows of a file.
pub const MOST_ROWS: usize = 20_000;

named! {
    /// What will happen to a row, or what happened to it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RowOutcome: text {
        Criar = "criar", "A importar";
        Criado = "criado", "Importados";
        /// Has an account already, which stays as it is.
        Existe = "existe", "Já existem";
        Erro = "erro", "Com erro";
    }
}

impl RowOutcome {
    pub const fn badge(self) -> Badge {
        match self {
            Self::Criar => Badge::ToImport,
            Self::Criado => Badge::Imported,
            Self::Existe => Badge::Exists,
            Self::Erro => Badge::Faulty,
        }
    }
}

/// A row of the file with the result of its check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Line number as in spreadsheets: the header is 1.
    pub linha: usize,
    pub nome: String,
    /// In its stored form, when it is an address.
    pub email: String,
    /// A role's name, when it is one.
    pub plano: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_number: Option<String>,
    pub situacao: RowOutcome,
    /// Why the row cannot be made, in words; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub motivo: String,
}

impl Row {
    /// The role of a row that can be made.
    pub fn role(&self) -> Option<Role> {
        Role::from_name(&self.plano).filter(|role| role.is_student())
    }

    /// The title of the plan, or the text of the file.
    pub fn plan(&self) -> &str {
        match Role::from_name(&self.plano) {
            Some(role) => role.words(),
            None => &self.plano,
        }
    }
}

/// Reads a file. Rows are checked by themselves and against each other, not yet
/// against existing people.
pub fn read(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let mut sheet = csv_read::read(bytes).map_err(unreadable)?;
    let header = &sheet.header;
    let places = COLUMNS.map(|name| header.iter().position(|known| known.to_lowercase() == name));
    let named = COLUMNS.into_iter().zip(places).take(3);
    let missing: Vec<&str> =
        named.filter(|(_, place)| place.is_none()).map(|(name, _)| name).collect();
    if !missing.is_empty() {
        return Err(format!(
            "a primeira linha precisa nomear as colunas; falta: {}",
            missing.join(", ")
        ));
    }
    let (mut rows, mut count) = (Vec::new(), 0);
    let mut seen: HashMap<String, usize> = HashMap::new();
    while let Some(row) = sheet.next_row().map_err(unreadable)? {
        count += 1;
        // Rows over the limit are counted, but not kept.
        if count <= MOST_ROWS {
            let cells = places.map(|place| {
                let cell = place.and_then(|place| row.cells.get(place));
                cell.map_or("", |cell| &**cell)
            });
            rows.push(check(row.number, cells, &mut seen));
        }
    }
    match count {
        0 => Err("o arquivo não tem nenhuma linha além do cabeçalho".to_owned()),
        1..=MOST_ROWS => Ok(rows),
        _ => Err(format!(
            "o arquivo tem {} linhas; divida-o em partes de até {}",
            text::grouped(count),
            text::grouped(MOST_ROWS)
        )),
    }
}

fn unreadable(problem: Unreadable) -> String {
    match problem {
        Unreadable::NotText => {
            "o arquivo não é um texto em UTF-8; salve-o como CSV UTF-8".to_owned()
        }
        Unreadable::Unclosed(row) => format!("as aspas que abrem na linha {row} não fecham"),
        Unreadable::TooWide(most) => {
            format!("a primeira linha tem mais de {} colunas", text::grouped(most))
        }
    }
}

/// Letters of a wrong name, address and plan that a report keeps. With these
/// limits every report fits into the database, even one with faulty rows only.
const SHOWN: [usize; 3] = [120, 80, 20];

fn check(
    number: usize,
    [name, address, plan, chat]: [&str; 4],
    seen: &mut HashMap<String, usize>,
) -> Row {
    let mut wrong = Vec::new();
    if text::person_name(name).is_none() {
        wrong.push("o nome precisa ter de 2 a 120 letras".to_owned());
    }
    let email = text::email(address);
    match &email {
        None => wrong.push("o e-mail não é válido".to_owned()),
        Some(email) => {
            let first = *seen.entry(email.clone()).or_insert(number);
            if first != number {
                wrong.push(format!("o e-mail já está na linha {first}"));
            }
        }
    }
    let role = role_of(plan);
    if role.is_none() {
        wrong.push("o plano não existe".to_owned());
    }
    let chat_number = phone::normal("", chat).filter(|_| is_number(chat));
    if chat_number.is_none() && !chat.is_empty() {
        wrong.push("o número de chat precisa ter de 10 a 15 números".to_owned());
    }
    let motivo = if wrong.is_empty() && email.as_deref().is_some_and(text::has_accents) {
        delivery::ACCENTS_NOTE.to_owned()
    } else {
        wrong.join("; ")
    };
    let [most_name, most_address, most_plan] = SHOWN;
    Row {
        linha: number,
        nome: shown(name, most_name),
        email: email.unwrap_or_else(|| shown(address, most_address)),
        plano: role.map_or_else(|| shown(plan, most_plan), |role| role.name().to_owned()),
        chat_number,
        situacao: if wrong.is_empty() { RowOutcome::Criar } else { RowOutcome::Erro },
        motivo,
    }
}

/// The start of the typed text, as a report keeps it.
fn shown(typed: &str, most: usize) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text::shortened(typed, most).chars().map(plain).collect()
}

/// Whether a text has only digits and the characters that people write between
/// them.
fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || " -.()+".contains(c))
}

/// A student's role by its name or by its title.
fn role_of(typed: &str) -> Option<Role> {
    let key = search_key(typed);
    Role::STUDENTS.into_iter().find(|role| role.name() == key || search_key(role.words()) == key)
}

row! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Counts: stored {
        pub total: u32,
        pub to_make: u32,
        pub made: u32,
        pub existing: u32,
        pub faulty: u32,
    }
}

impl Counts {
    /// The counts of rows.
    pub fn of(rows: &[Row]) -> Self {
        // A file has at most [`MOST_ROWS`].
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let count = |outcome| number(rows.iter().filter(|row| row.situacao == outcome).count());
        Self {
            total: number(rows.len()),
            to_make: count(RowOutcome::Criar),
            made: count(RowOutcome::Criado),
            existing: count(RowOutcome::Existe),
            faulty: count(RowOutcome::Erro),
        }
    }

    /// How many rows have an outcome.
    pub const fn with(self, outcome: RowOutcome) -> u32 {
        match outcome {
            RowOutcome::Criar => self.to_make,
            RowOutcome::Criado => self.made,
            RowOutcome::Existe => self.existing,
            RowOutcome::Erro => self.faulty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(csv: &str) -> Vec<(usize, String, String)> {
        read(csv.as_bytes())
            .unwrap()
            .into_iter()
            .map(|row| (row.linha, row.situacao.name().to_owned(), row.motivo))
            .collect()
    }

    #[test]
    fn rows_are_checked_by_themselves_and_against_each_other() {
        let csv = "plano;email;nome;chat_number;outra\r\n\
                   pro;ana@x.com;Ana;+55 (11) 91234-5678;1\r\n\
                   Pódio; BIA@x.com ;Bia;;2\r\n\
                   ;;;;\r\n\
                   ouro;sem arroba;A;123\r\n\
                   vip;ana@X.com;Outra Ana\r\n\
                   admin;c@x.com;Caio;abc5511912345678\r\n";
        let fine = |number| (number, "criar".to_owned(), String::new());
        assert_eq!(
            told(csv),
            [
                fine(2),
                fine(3),
                (
                    5,
                    "erro".to_owned(),
                    "o nome precisa ter de 2 a 120 letras; o e-mail não é válido; o plano não existe; \
                     o número de chat precisa ter de 10 a 15 números"
                        .to_owned()
                ),
                (
                    6,
                    "erro".to_owned(),
                    "o e-mail já está na linha 2".to_owned()
                ),
                (
                    7,
                    "erro".to_owned(),
                    "o plano não existe; o número de chat precisa ter de 10 a 15 números".to_owned()
                ),
            ]
        );
        let rows = read(csv.as_bytes()).unwrap();
        assert_eq!(rows[0].chat_number.as_deref(), Some("5511912345678"));
        assert_eq!((&*rows[1].email, &*rows[1].plano), ("bia@x.com", "podio"));
    }

    #[test]
    fn files_that_are_no_list_are_refused_as_a_whole() {
        for (csv, said) in [
            ("", "falta: nome, email, plano"),
            ("nome,email\nAna,ana@x.com\n", "falta: plano"),
            ("Ana,ana@x.com,pro\n", "falta: nome, email, plano"),
            ("nome,email,plano\n", "nenhuma linha"),
            ("nome,email,plano\n,,\n \n", "nenhuma linha"),
        ] {
            let refused = read(csv.as_bytes()).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
        assert!(read(b"nome,email,plano\n\xff,a@x.com,pro").unwrap_err().contains("UTF-8"));
        let many = "nome,email,plano\n".to_owned() + &"Ana,a@x.com,pro\n".repeat(MOST_ROWS + 1);
        assert!(read(many.as_bytes()).unwrap_err().contains("20.001 linhas"));
    }

    #[test]
    fn an_exported_list_reads_back() {
        let csv = "\u{feff}id,nome,email,plano,chat_number,status\r\n7,'=1+1,a@x.com,pro,'+5511912345678,ativo\r\n";
        let rows = read(csv.as_bytes()).unwrap();
        assert_eq!(rows[0].nome, "=1+1");
        assert_eq!(rows[0].chat_number.as_deref(), Some("5511912345678"));
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("csv", |bytes| {
            let _ = read(bytes);
        });
    }
}
