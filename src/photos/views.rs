//! What the page for somebody's photo prints.

use askama::Template;

use crate::panel::Layout;
use crate::panel::view::Field;

/// `GET /admin/alunos/{id}/foto`, and its answer when the file is at fault.
#[derive(Template)]
#[template(path = "photo.html", config = "assets/askama.toml")]
pub struct PhotoPage {
    pub layout: Layout,
    /// Address of whose photo it is.
    pub page: String,
    /// Name of whose photo it is.
    pub name: String,
    /// Address of the present photo, empty without one.
    pub photo: String,
    /// `foto`.
    pub file: Field,
}
