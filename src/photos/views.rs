//! What the page for a person's photo prints.

use askama::Template;

use crate::panel::Layout;
use crate::panel::view::Field;

/// `GET /admin/alunos/{id}/foto`, and its answer when the file is invalid.
#[derive(Template)]
#[template(path = "photo.html", config = "assets/askama.toml")]
pub struct PhotoPage {
    pub layout: Layout,
    /// Address of the owner's page.
    pub page: String,
    /// Name of the owner.
    pub name: String,
    /// Address of the present photo, empty without one.
    pub photo: String,
    /// `foto`.
    pub file: Field,
}
