//! Types of JSON answers: [`wire!`](crate::wire) declares each field once, with
//! the expression for its value.

/// Declares a type and its constructor `of`: `pub struct WireUser of(account:
/// &Account) { id: String = account.user_id.to_string(), … }`. Values that
/// several fields need are computed before them, in a block `after { let … }`.
#[macro_export]
macro_rules! wire {
    ($(#[$meta:meta])* $vis:vis struct $type:ident of($($given:ident: $of:ty),+) $(after { $($before:tt)* })? {
        $($(#[$about:meta])* $access:vis $field:ident: $kind:ty = $from:expr),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $type {
            $($(#[$about])* $access $field: $kind,)*
        }

        impl $type {
            /// The names of its fields.
            #[allow(dead_code, reason = "each type uses what it needs")]
            $vis const FIELDS: [&'static str; [$(stringify!($field)),*].len()] =
                [$(stringify!($field)),*];

            /// The answer made of these values.
            $vis fn of($($given: $of),+) -> Self {
                $($($before)*)?
                Self { $($field: $from,)* }
            }
        }
    };
}
