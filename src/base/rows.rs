//! Tables of fixed properties: [`rows!`](crate::rows) declares the row of each value
//! of an enum, with what it leaves out as usual.

/// Declares `row()` of an enum: `rows! { MessageKind: MessageKindRow = USUAL; Welcome {
/// page: "/" } … }`.
#[macro_export]
macro_rules! rows {
    ($type:ident: $row:ident = $usual:ident;
        $($value:ident { $($property:ident: $is:expr),* $(,)? })*
    ) => {
        impl $type {
            /// Its row of the table.
            pub const fn row(self) -> &'static $row {
                match self {
                    $(Self::$value => {
                        const ROW: &$row = &$row { $($property: $is,)* ..$usual };
                        ROW
                    })*
                }
            }
        }
    };
}
