//! What the pages for plans print.

use askama::Template;

use super::{Period, Plan};
use crate::panel::{Badge, FormView, Layout, Pick, Table};

/// `GET /admin/planos`: the list of plans.
#[derive(Template)]
#[template(path = "plans.html", config = "assets/askama.toml")]
pub struct PlansPage {
    pub layout: Layout,
    pub table: Table,
    pub plans: Vec<Plan>,
}

impl Plan {
    /// On sale or not.
    pub const fn badge(&self) -> Badge {
        if self.entry.active { Badge::Active } else { Badge::Inactive }
    }
}

/// `GET /admin/planos/novo`, `GET /admin/planos/{id}`, and their answers
/// when fields are invalid.
#[derive(Template)]
#[template(path = "plan_form.html", config = "assets/askama.toml")]
pub struct PlanForm {
    pub layout: Layout,
    /// The stored plan; `None` for a new one.
    pub existing: Option<Plan>,
    pub form: FormView,
}

/// What the field `periodicidade` offers.
pub fn periods() -> [Pick; 3] {
    Period::ALL
        .map(|period| Pick { value: period.name().to_owned(), label: period.words().to_owned() })
}
