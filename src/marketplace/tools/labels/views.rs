//! Template data of the page of labels.

use askama::Template;

use super::batches::{Batch, PrintedLabel};
use super::desk::{Desk, LabelStore};
use super::press::labels;
use super::{Parcel, WaitingElse};
use crate::base::{MlUserId, counted, grouped};
use crate::panel::{Due, Layout, PageTime, Paging, address};

/// `GET /painel/ml/etiquetas`.
#[derive(Template)]
#[template(path = "labels.html", config = "assets/askama.toml")]
pub struct LabelsPage {
    pub layout: Layout,
    pub desk: LabelDesk,
}

/// What is to be printed at a desk, or what was.
pub struct LabelDesk {
    pub desk: &'static Desk,
    pub stores: Vec<LabelStore>,
    /// The store that the list is narrowed to.
    pub only: Option<MlUserId>,
    /// Whether the part with what was printed is shown.
    pub printed: bool,
    /// How many labels are to be printed, and how many of them can be, as far as is known.
    pub to_print: u64,
    pub ready: u64,
    /// How many batches were printed.
    pub batches: u64,
    /// What waits beside what is to be printed.
    pub waiting_else: WaitingElse,
    /// The most urgent deadline of what is to be printed.
    pub first: Option<Due>,
    /// Stores whose link is lost.
    pub lost: Vec<String>,
    pub rows: Vec<ParcelRow>,
    pub done: Vec<BatchRow>,
    /// Batches of the press that this page tells of: nobody has opened their files yet.
    pub fresh: Vec<i64>,
    pub paging: Paging,
    pub time: PageTime,
}

/// A parcel whose label is to be printed.
pub struct ParcelRow {
    /// Account and shipment, as forms name it.
    pub id: String,
    pub store: String,
    pub can_print: bool,
    pub due: Option<Due>,
    /// Why its label could not be printed recently.
    pub refused: Option<&'static str>,
    pub parcel: Parcel,
}

/// A batch that was printed.
pub struct BatchRow {
    pub batch: Batch,
    pub store: String,
    pub can_print: bool,
    pub labels: Vec<PrintedLabel>,
}

impl BatchRow {
    /// `12 etiquetas`.
    pub fn title(&self) -> String {
        labels(self.labels.len() as u64)
    }

    /// How many of its parcels are still to be handed over.
    pub fn waiting(&self) -> usize {
        self.labels.iter().filter(|label| label.waits).count()
    }

    /// `3 já saíram`; empty when none has left.
    pub fn gone(&self) -> String {
        match self.labels.len() - self.waiting() {
            0 => String::new(),
            1 => "1 já saiu".to_owned(),
            gone if gone == self.labels.len() => "todos já saíram".to_owned(),
            gone => format!("{gone} já saíram"),
        }
    }
}

impl LabelDesk {
    /// The line under the title: how much there is, and until when.
    pub fn sum(&self) -> String {
        match self.to_print {
            0 => "Nenhuma etiqueta a imprimir.".to_owned(),
            count => {
                let first = self.first.as_ref().map(|due| format!(" · {}", due.text));
                format!("{} a imprimir{}", labels(count), first.unwrap_or_default())
            }
        }
    }

    /// What waits beside what is to be printed: `3 sem nota fiscal · 2 impressas fora daqui`;
    /// empty without any.
    pub fn beside(&self) -> String {
        let WaitingElse { without_note, printed_elsewhere } = self.waiting_else;
        let note = match without_note {
            0 => None,
            1 => Some("1 pacote espera a nota fiscal".to_owned()),
            count => Some(format!("{count} pacotes esperam a nota fiscal")),
        };
        let printed = match printed_elsewhere {
            0 => None,
            1 => Some("1 etiqueta impressa fora daqui, pronta para despachar".to_owned()),
            count => {
                Some(format!("{count} etiquetas impressas fora daqui, prontas para despachar"))
            }
        };
        note.into_iter().chain(printed).collect::<Vec<_>>().join(" · ")
    }

    /// Whether rows say of which store they are.
    pub fn names_stores(&self) -> bool {
        self.desk.is_agency || self.stores.len() > 1
    }

    /// How many labels one press prints, as people read it.
    pub fn all(&self) -> String {
        grouped(self.ready)
    }

    /// `3 lotes`.
    pub fn batches(&self) -> String {
        counted(self.batches, "lote", "lotes")
    }

    /// The address of a part, narrowed to the same store.
    pub fn part(&self, part: &str) -> String {
        let only = self.only.map(|only| only.to_string()).unwrap_or_default();
        address(self.desk.path, &[("conta", &only), ("parte", part)])
    }

    /// The store that the list is narrowed to, as forms name it.
    pub fn only_text(&self) -> String {
        self.only.map(|only| only.to_string()).unwrap_or_default()
    }

    pub fn is_only(&self, store: &LabelStore) -> bool {
        self.only == Some(store.account)
    }
}
