//! Columns and their reader from one place: [`row!`](crate::row) lists the
//! fields of a type with their columns, so a SELECT and the reading of its rows
//! cannot differ in order.

use rusqlite::{Row, ToSql};

/// A type that is read from the columns of a row.
pub trait Record: Sized {
    /// The columns, as a SELECT or an INSERT lists them.
    const COLUMNS: &'static str;

    /// Reads the columns from the index `at` on, and moves `at` past them.
    fn read_at(row: &Row<'_>, at: &mut usize) -> rusqlite::Result<Self>;

    /// Reads a row that begins with the columns.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Self::read_at(row, &mut 0)
    }
}

/// A record whose fields are all columns of one table, so that it is also
/// written: its values stand in the order of [`Record::COLUMNS`].
pub trait Stored: Record {
    /// The values of the columns.
    fn values(&self) -> Vec<&dyn ToSql>;
}

/// Declares a record with its columns: `row! { pub struct Course { id: i64 =
/// "course_id", title: String, teacher: Teacher as row, fee: Cents = "fee_cents" =>
/// Cents, } }`. A field is read from the column of its name or from the expression
/// after `=`; `as row` reads a nested record; `=>` converts. `struct Entry: stored`
/// declares a [`Stored`] one.
///
/// Where another macro declares the type, its columns stand apart, without the types:
/// `row!(stored Entry { title, teacher row Teacher })`.
#[macro_export]
macro_rules! row {
    ($(#[$meta:meta])* $access:vis struct $type:ident $(: $stored:ident)? {
        $($(#[$about:meta])* $open:vis $field:ident: $kind:ty $(as $nested:ident)?
            $(= $column:expr)? $(=> $convert:expr)?),* $(,)?
    }) => {
        $(#[$meta])*
        $access struct $type {
            $($(#[$about])* $open $field: $kind,)*
        }
        $crate::row!($($stored)? $type {
            $($field $($nested $kind)? $(= $column)? $(=> $convert)?),*
        });
    };
    (stored $type:ident { $($field:ident $(row $nested:ty)? $(= $column:expr)?),* $(,)? }) => {
        $crate::row!($type { $($field $(row $nested)? $(= $column)?),* });
        impl $crate::db::Stored for $type {
            #[allow(clippy::vec_init_then_push, reason = "a nested record adds several")]
            fn values(&self) -> Vec<&dyn rusqlite::ToSql> {
                let mut all: Vec<&dyn rusqlite::ToSql> = Vec::new();
                $($crate::row!(@values all self $field $(row $nested)?);)*
                all
            }
        }
    };
    ($type:ident { $($field:ident $(row $nested:ty)? $(= $column:expr)? $(=> $convert:expr)?),* $(,)? }) => {
        impl $crate::db::Record for $type {
            const COLUMNS: &'static str = {
                const PARTS: &[&str] =
                    &[$($crate::row!(@column $field $(row $nested)? $(= $column)?)),*];
                const BYTES: [u8; $crate::db::row::length(PARTS)] = $crate::db::row::joined(PARTS);
                match std::str::from_utf8(&BYTES) {
                    Ok(columns) => columns,
                    Err(_) => panic!("columns are text"),
                }
            };

            fn read_at(row: &rusqlite::Row<'_>, at: &mut usize) -> rusqlite::Result<Self> {
                Ok(Self {
                    $($field: $crate::row!(@value row at $(row $nested)? $(=> $convert)?)),*
                })
            }
        }
    };
    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident row $nested:ty) => { <$nested as $crate::db::Record>::COLUMNS };
    (@column $field:ident = $column:expr) => { $column };
    (@value $row:ident $at:ident) => {{ *$at += 1; $row.get(*$at - 1)? }};
    (@value $row:ident $at:ident row $nested:ty) => {
        <$nested as $crate::db::Record>::read_at($row, $at)?
    };
    (@value $row:ident $at:ident => $convert:expr) => {{ *$at += 1; $convert($row.get(*$at - 1)?) }};
    (@values $all:ident $self:ident $field:ident) => { $all.extend([&$self.$field as &dyn rusqlite::ToSql]); };
    (@values $all:ident $self:ident $field:ident row $nested:ty) => {
        $all.extend($crate::db::Stored::values(&$self.$field));
    };
}

/// Bytes of the parts with `, ` between them.
pub const fn length(parts: &[&str]) -> usize {
    let (mut sum, mut part) = (0, 0);
    while part < parts.len() {
        sum += parts[part].len() + 2;
        part += 1;
    }
    sum - 2
}

/// The parts with `, ` between them.
pub const fn joined<const N: usize>(parts: &[&str]) -> [u8; N] {
    let (mut all, mut to, mut part) = ([0; N], 0, 0);
    while part < parts.len() {
        let (bytes, mut from) = (parts[part].as_bytes(), 0);
        while from < bytes.len() {
            all[to] = bytes[from];
            (to, from) = (to + 1, from + 1);
        }
        part += 1;
        if part < parts.len() {
            (all[to], all[to + 1]) = (b',', b' ');
            to += 2;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, params_from_iter};

    use super::*;
    use crate::base::clock::Instant;
    use crate::base::money::Cents;

    row! {
        #[derive(Debug, PartialEq)]
        struct Goods: stored {
            sku: String,
            price: Cents = "price_cents",
        }
    }

    row! {
        #[derive(Debug, PartialEq)]
        struct Sale {
            id: i64 = "sale_id",
            goods: Goods as row,
            paid_at: Option<Instant>,
            size: String = "length(sku) + 1" => |letters: i64| format!("{letters} letters"),
        }
    }

    #[test]
    fn columns_are_read_by_the_fields_that_name_them() {
        assert_eq!(Sale::COLUMNS, "sale_id, sku, price_cents, paid_at, length(sku) + 1");
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE sale (sale_id INTEGER, sku TEXT, price_cents, paid_at)")
            .unwrap();
        let goods = || Goods { sku: "AB".to_owned(), price: Cents(1_250) };
        let insert = format!("INSERT INTO sale (sale_id, {}) VALUES (7, ?, ?)", Goods::COLUMNS);
        db.execute(&insert, params_from_iter(goods().values())).unwrap();
        let select = format!("SELECT {} FROM sale", Sale::COLUMNS);
        let sale = db.query_row(&select, [], Sale::read).unwrap();
        let size = "3 letters".to_owned();
        assert_eq!(sale, Sale { id: 7, goods: goods(), paid_at: None, size });
    }
}
