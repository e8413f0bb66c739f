//! Enums whose values have a fixed name in the database and in addresses, each
//! in one declaration.

/// Declares such an enum: `named! { pub enum Role: text { Free = "free",
/// "Gratuito"; … } }` is stored by its name, `named! { pub enum State: number {
/// Waiting = 0, "na_fila", "Na fila"; … } }` by its number. The words that
/// people read may be left out, then there is no `words()`.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident: text {
        $($(#[$doc:meta])* $value:ident = $name:literal $(, $words:literal)?;)*
    }) => {
        $crate::named!(@enum [$(#[$meta])*] $vis $type [$($(#[$doc])* $value;)*] [$($value $name;)*]);
        $crate::named!(@words $type [$($value $name $($words)?;)*]);

        impl rusqlite::types::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.name().into())
            }
        }

        impl rusqlite::types::FromSql for $type {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                Self::from_name(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $type:ident: number {
        $($(#[$doc:meta])* $value:ident = $number:literal, $name:literal $(, $words:literal)?;)*
    }) => {
        $crate::named!(@enum [$(#[$meta])* #[repr(u8)]] $vis $type
            [$($(#[$doc])* $value = $number;)*] [$($value $name;)*]);
        $crate::named!(@words $type [$($value $name $($words)?;)*]);

        #[allow(dead_code, reason = "each enum uses what it needs of these")]
        impl $type {
            /// The numbers of all values.
            $vis const NUMBERS: [u8; Self::ALL.len()] = [$($number),*];

            /// The number in the database.
            $vis const fn number(self) -> u8 {
                self as u8
            }

            /// The value of a number in the database.
            $vis const fn from_number(number: i64) -> Option<Self> {
                match number { $($number => Some(Self::$value),)* _ => None }
            }
        }

        impl rusqlite::types::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok((*self as u8).into())
            }
        }

        impl rusqlite::types::FromSql for $type {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let number = value.as_i64()?;
                Self::from_number(number)
                    .ok_or(rusqlite::types::FromSqlError::OutOfRange(number))
            }
        }
    };
    (@enum [$($meta:tt)*] $vis:vis $type:ident
        [$($(#[$doc:meta])* $declared:ident $(= $number:literal)?;)*]
        [$($value:ident $name:literal;)*]
    ) => {
        $($meta)*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$doc])* $declared $(= $number)?,)*
        }

        #[allow(dead_code, reason = "each enum uses what it needs of these")]
        impl $type {
            /// All values, in the order of their declaration.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The names of all values.
            $vis const NAMES: [&'static str; [$($name),*].len()] = [$($name),*];

            /// The name in the database, in addresses and in JSON.
            $vis const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)* }
            }

            /// The value of a name.
            $vis fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$value),)* _ => None }
            }
        }
    };
    (@words $type:ident [$($value:ident $name:literal;)*]) => {};
    (@words $type:ident [$($value:ident $name:literal $words:literal;)*]) => {
        #[allow(dead_code, reason = "each enum uses what it needs of these")]
        impl $type {
            /// The values of a list's filter.
            pub const FILTER: [(&'static str, &'static str); Self::ALL.len()] =
                [$(($name, $words)),*];

            /// The words that people read.
            pub const fn words(self) -> &'static str {
                match self { $(Self::$value => $words,)* }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    named! {
        /// Stored by its name.
        enum Fruit: text {
            Pear = "pera", "Pera";
            /// Red.
            Apple = "maca", "Maçã";
        }
    }

    named! {
        /// Stored by its number.
        #[derive(PartialOrd)]
        enum Size: number {
            Small = 1, "p";
            Large = 3, "g";
        }
    }

    #[test]
    fn values_are_stored_and_read_by_name_or_number() {
        let db = Connection::open_in_memory().unwrap();
        let stored = |sql: &str, value: &dyn rusqlite::ToSql| {
            db.query_row(sql, [value], |row| Ok((row.get::<_, Fruit>(0)?, row.get::<_, Size>(1)?)))
        };
        let read = stored("SELECT ?1, 3", &Fruit::Apple).unwrap();
        assert_eq!(read, (Fruit::Apple, Size::Large));
        assert_eq!(stored("SELECT 'pera', ?1", &Size::Small).unwrap(), (Fruit::Pear, Size::Small));
        assert!(stored("SELECT 'uva', ?1", &Size::Small).is_err());
        assert!(stored("SELECT 'pera', ?1", &2).is_err());
        assert_eq!(Fruit::Apple.words(), "Maçã");
        assert_eq!(Fruit::ALL.map(Fruit::name), ["pera", "maca"]);
        assert_eq!(Size::from_name("g"), Some(Size::Large));
        assert!(Size::Small < Size::Large && Size::Large.number() == 3);
        assert_eq!((Size::from_number(2), Size::from_number(259)), (None, None));
    }
}
