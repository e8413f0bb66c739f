//! Types with default values: [`usual!`](crate::usual) declares each default
//! next to its field.

/// Declares a type and its `Default`: `title: String, minutes: i64 = 60`. A
/// field without a value gets the default of its type.
#[macro_export]
macro_rules! usual {
    ($(#[$meta:meta])* $vis:vis struct $type:ident {
        $($(#[$about:meta])* $access:vis $field:ident: $kind:ty $(= $usual:expr)?),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $type {
            $($(#[$about])* $access $field: $kind,)*
        }

        impl Default for $type {
            fn default() -> Self {
                Self { $($field: $crate::usual!(@value $($usual)?),)* }
            }
        }
    };
    (@value) => { Default::default() };
    (@value $usual:expr) => { $usual };
}
