//! What a token may do: an operation says which of these it needs.

use super::oauth::{READ, WRITE};

/// What a call does, by what it needs. Decision partner-14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reads the owner's data.
    Read,
    /// Notifies, reminds, links or marks as paid. Every personal token may, as always; an
    /// app needs `partner:write`.
    Act,
    /// Changes the shop, speaks to its buyers or shows their addresses. A token needs
    /// `partner:write`, which none has that was made before there were such operations.
    Change,
}

impl Access {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Act, Self::Change];

    /// The scope, as the protocol writes it.
    pub const fn scope(self) -> &'static str {
        match self {
            Self::Read => READ,
            Self::Act | Self::Change => WRITE,
        }
    }
}
