//! What the page of labels prints.

use askama::Template;

use crate::panel::{Layout, Paging, When};

/// `GET /painel/ml/etiquetas`.
#[derive(Template)]
#[template(path = "labels.html", config = "assets/askama.toml")]
pub struct LabelsPage {
    pub layout: Layout,
    /// Whether there is an account at all.
    pub is_linked: bool,
    /// Accounts to choose among; none when there is one only.
    pub tabs: Vec<AccountTab>,
    pub parcels: Parcels,
}

/// The parcels of an account, and what can be printed of them.
pub struct Parcels {
    /// Number of the account that is shown.
    pub account: String,
    /// Where files of labels are.
    pub file: &'static str,
    /// Whether the account can be asked for labels.
    pub is_living: bool,
    /// How many labels of this page can be printed, as far as is known.
    pub printable: usize,
    /// Address of these in one file.
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
    /// Why its label could not be printed of late.
    pub refused: Option<&'static str>,
    pub buyer: String,
    pub sold: When,
}
