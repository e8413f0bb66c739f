//! Template data of the page of labels.

use askama::Template;

use super::Parcel;
use crate::base::MlUserId;
use crate::marketplace::account::store::LinkedAccount;
use crate::panel::PageTime;
use crate::panel::{Layout, Paging};

/// `GET /painel/ml/etiquetas`.
#[derive(Template)]
#[template(path = "labels.html", config = "assets/askama.toml")]
pub struct LabelsPage {
    pub layout: Layout,
    pub accounts: Vec<LinkedAccount>,
    pub parcels: Parcels,
}

/// The parcels of an account, and what can be printed of them.
pub struct Parcels {
    pub account: MlUserId,
    /// The path of files of labels.
    pub file: &'static str,
    /// Whether labels of the account can be requested.
    pub can_print: bool,
    /// How many labels of this page can be printed, as far as is known.
    pub printable: usize,
    /// Address of a file with all of these labels.
    pub all: String,
    /// Why its label could not be printed recently, and the parcel.
    pub rows: Vec<(Option<&'static str>, Parcel)>,
    pub paging: Paging,
    pub time: PageTime,
}
