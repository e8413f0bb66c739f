//! What the operator's pages for meets print.

use askama::Template;

use crate::panel::form::{FormView, Pick};
use crate::panel::list::Table;
use crate::panel::view::{Badge, Layout};

/// `GET /admin/meets`: the list of meets.
#[derive(Debug, Template)]
#[template(path = "meets.html", config = "assets/askama.toml")]
pub struct MeetsPage {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The frame of the list.
    pub table: Table,
    /// The meets of this page.
    pub meets: Vec<MeetRow>,
}

/// A meet in the list.
#[derive(Debug)]
pub struct MeetRow {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Who holds it and for whom, in words; may be empty.
    pub about: String,
    /// `31/12/2026 14:05`.
    pub starts: String,
    /// `60 min`.
    pub length: String,
    /// To come, going on, over.
    pub state: Badge,
}

/// `GET /admin/meets/novo`, `GET /admin/meets/{id}`, and their answers when
/// fields are at fault.
#[derive(Debug, Template)]
#[template(path = "meet_form.html", config = "assets/askama.toml")]
pub struct MeetForm {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The meet that is changed; `None` for a new one.
    pub existing: Option<ExistingMeet>,
    /// `titulo`, `descricao`, `data_hora`, `duracao_minutos`, `professor_id`,
    /// `link`, `publico`.
    pub form: FormView,
    /// What `professor_id` offers.
    pub teachers: Vec<Pick>,
    /// Which time zone `data_hora` is in, in words.
    pub zone_help: String,
}

/// The stored meet that a form changes.
#[derive(Debug)]
pub struct ExistingMeet {
    /// Its id.
    pub id: String,
    /// Its stored title, whatever was typed since.
    pub title: String,
}

/// What to correct in a field of the form, in the words of its label.
pub fn fault_words(field: &str) -> &'static str {
    match field {
        "titulo" => "Dê um título de 2 a 120 letras.",
        "descricao" => "Use até 2.000 letras.",
        "data_hora" => "Informe um dia e uma hora que existam, como 31/12/2026 20:00.",
        "duracao_minutos" => "Informe de 5 a 1440 minutos.",
        "professor_id" => "Escolha um professor da lista.",
        "link" => "Informe um endereço que comece com https://.",
        _ => "Confira este campo.",
    }
}
