//! Template data of the page of labels.

use askama::Template;

use crate::panel::{Layout, Paging, When};

/// `GET /painel/ml/etiquetas`.
#[derive(Template)]
#[template(path = "labels.html", config = "assets/askama.toml")]
pub struct LabelsPage {
    pub layout: Layout,
    /// Whether any account is linked.
    pub is_linked: bool,
    /// Accounts to choose among; none when there is one only.
    pub tabs: Vec<AccountTab>,
    pub parcels: Parcels,
}

/// The parcels of an account, and what can be printed of them.
pub struct Parcels {
    /// Number of the account that is shown.
    pub account: String,
    /// The path of files of labels.
    pub file: &'static str,
    /// Whether labels of the account can be requested.
    pub can_print: bool,
    /// How many labels of this page can be printed, as far as is known.
    pub printable: usize,
    /// Address of a file with all of these labels.
    pub all: String,
    pub rows: Vec<ParcelRow>,
    pub paging: Paging,
}

/// An account to choose.
pub struct AccountTab {
    pub label: String,
    pub href: String,
    pub on: bool,
}

/// A parcel in the list.
pub struct ParcelRow {
    pub shipment: String,
    /// Address of its label.
    pub href: String,
    pub title: String,
    /// Why its label could not be printed recently.
    pub refused: Option<&'static str>,
    pub buyer: String,
    pub sold: When,
}
