//! What the page of kept views prints.

use askama::Template;

use super::SavedView;
use crate::panel::Layout;
use crate::panel::view::Field;

/// `GET /visoes`, and the answer to a form that was refused.
#[derive(Template)]
#[template(path = "saved_views.html", config = "assets/askama.toml")]
pub struct SavedViewsPage {
    pub layout: Layout,
    /// Where the reader came from: the list with what narrows it.
    pub list: String,
    pub views: Vec<SavedView>,
    pub name: Field,
}
