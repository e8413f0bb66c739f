//! Answers on the wire: [`wire!`](crate::wire) declares each field once, with
//! where it comes from.

/// Declares a type and its constructor `of`: `pub struct WireUser of(account:
/// &Account) { id: String = account.user_id.to_string(), … }`. What several
/// fields come from is read before them, in a block `after { let … }`.
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
            /// What is sent of it.
            $vis fn of($($given: $of),+) -> Self {
                $($($before)*)?
                Self { $($field: $from,)* }
            }
        }
    };
}
