//! A description of the database, for programs that want to understand the
//! platform.
//!
//! Tables and columns come from the live database. Their meaning comes from the
//! comments of `schema.sql`, which describes every table and every column.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

use crate::accounts::{Role, store as accounts};
use crate::db::{ReadTx, Result, SCHEMA};

/// Tables and roles.
#[derive(Serialize, JsonSchema)]
pub struct WireSchema {
    tabelas: Vec<WireTable>,
    papeis: Vec<WireRole>,
}

#[derive(Serialize, JsonSchema)]
struct WireTable {
    nome: String,
    descricao: &'static str,
    campos: Vec<WireColumn>,
}

#[derive(Serialize, JsonSchema)]
struct WireColumn {
    nome: String,
    /// As declared: `INTEGER`, `TEXT` or `BLOB`.
    tipo: String,
    /// Whether it always holds a value.
    obrigatorio: bool,
    descricao: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct WireRole {
    role: Role,
    descricao: &'static str,
    /// What the role may do unless a person has an exception.
    permissoes: Vec<String>,
}

impl WireSchema {
    /// The schema of the live database. Search indexes and SQLite's own tables
    /// hold no data of the platform and are left out.
    pub fn read(tx: &ReadTx<'_>) -> Result<Self> {
        let names: Vec<String> = tx.values(
            "SELECT name FROM pragma_table_list
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
             ORDER BY name",
            [],
        )?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            tables.push(table(tx, name)?);
        }
        let mut roles = Vec::with_capacity(Role::ALL.len());
        for role in Role::ALL {
            roles.push(WireRole {
                role,
                descricao: role.about(),
                permissoes: accounts::permissions_of_role(tx, role)?,
            });
        }
        Ok(Self { tabelas: tables, papeis: roles })
    }
}

fn table(tx: &ReadTx<'_>, name: String) -> Result<WireTable> {
    let described = DESCRIBED.get(&*name);
    let columns = tx.all(
        "SELECT name, type, \"notnull\" OR pk > 0 FROM pragma_table_xinfo(?1) ORDER BY cid",
        [&name],
        |row| {
            let column: String = row.get(0)?;
            let about = described.and_then(|table| table.columns.get(&*column));
            Ok(WireColumn {
                descricao: about.copied().unwrap_or_default(),
                nome: column,
                tipo: row.get(1)?,
                obrigatorio: row.get(2)?,
            })
        },
    )?;
    Ok(WireTable {
        descricao: described.map_or("", |table| table.about),
        nome: name,
        campos: columns,
    })
}

/// What `schema.sql` says of a table.
#[derive(Debug, Default)]
struct Described {
    about: &'static str,
    columns: BTreeMap<&'static str, &'static str>,
}

static DESCRIBED: LazyLock<BTreeMap<&'static str, Described>> = LazyLock::new(|| read(SCHEMA));

/// Reads the comments: the line above each table, and behind each column.
fn read(schema: &'static str) -> BTreeMap<&'static str, Described> {
    let mut tables = BTreeMap::new();
    let (mut above, mut lines) = ("", schema.lines());
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            let name = rest.split([' ', '(']).next().unwrap_or_default();
            let columns = read_columns(lines.by_ref());
            tables.insert(name, Described { about: above, columns });
        }
        above = line.strip_prefix("-- ").unwrap_or_default();
    }
    tables
}

/// Reads lines up to the end of the table. A definition may take several lines;
/// the comment is at the end of its last one.
fn read_columns(
    lines: &mut impl Iterator<Item = &'static str>,
) -> BTreeMap<&'static str, &'static str> {
    const RULES: [&str; 5] = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"];
    let mut columns = BTreeMap::new();
    let (mut depth, mut column) = (0_usize, "");
    for line in lines.take_while(|line| !line.starts_with(')')) {
        let (code, comment) = line.split_once("--").unwrap_or((line, ""));
        let first = code.split_whitespace().next().unwrap_or_default();
        if depth == 0 && !first.is_empty() && !RULES.contains(&first) {
            column = first;
        }
        depth += code.matches('(').count();
        depth = depth.saturating_sub(code.matches(')').count());
        if !comment.is_empty() && !column.is_empty() {
            columns.insert(column, comment.trim());
        }
        if depth == 0 {
            column = "";
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
-- Not about a table.

-- What people own.
CREATE TABLE thing (
    thing_id INTEGER PRIMARY KEY,  -- its number
    kind     TEXT NOT NULL CHECK (kind IN
                 ('a', 'b')),      -- what it is
    bare     TEXT,
    PRIMARY KEY (thing_id, kind)   -- no column
) STRICT;
";

    #[test]
    fn comments_are_told_apart() {
        let tables = read(SAMPLE);
        let thing = &tables["thing"];
        assert_eq!(thing.about, "What people own.");
        let columns: Vec<_> = thing.columns.iter().collect();
        assert_eq!(columns, [(&"kind", &"what it is"), (&"thing_id", &"its number")]);
    }

    /// Reads `schema.sql` itself, so that no table or column is published
    /// without a description.
    #[test]
    fn every_table_and_every_column_is_described() {
        let live = rusqlite::Connection::open_in_memory().unwrap();
        live.execute_batch(SCHEMA).unwrap();
        let mut statement = live
            .prepare(
                "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
                 WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'",
            )
            .unwrap();
        let columns: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert!(columns.len() > 150, "that cannot be all of it");
        let bare: Vec<String> = columns
            .iter()
            .filter(|(table, column)| {
                !DESCRIBED.get(&**table).is_some_and(|described| {
                    !described.about.is_empty() && described.columns.contains_key(&**column)
                })
            })
            .map(|(table, column)| format!("{table}.{column}"))
            .collect();
        assert!(bare.is_empty(), "schema.sql says nothing of {bare:#?}");
    }
}
