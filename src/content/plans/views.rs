//! What the pages for plans print.

use askama::Template;

use super::store::{self, CourseOfPlan};
use super::{API_PLANS, Period, Plan};
use crate::accounts::Role;
use crate::db::{ReadTx, Result};
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

    /// `Conta Pro · API Starter`: what a purchase gives; empty while nothing is said.
    pub fn grants(&self) -> String {
        let account = self.entry.grants_role.map(|role| format!("Conta {}", role.title()));
        let api = self.entry.grants_api.as_deref().map(|api| format!("API {}", api_words(api)));
        account.into_iter().chain(api).collect::<Vec<_>>().join(" · ")
    }

    /// `R$ 97,00 por mês`.
    pub fn price_words(&self) -> String {
        let price = self.entry.price.page();
        match self.entry.period {
            Period::Monthly => format!("{price} por mês"),
            Period::Yearly => format!("{price} por ano"),
            Period::Once => format!("{price}, uma vez"),
        }
    }
}

/// The words of an API plan's name.
pub fn api_words(name: &str) -> &str {
    API_PLANS.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words)
}

/// What the plan's page says of what the plan grants.
#[derive(Default)]
pub struct Grants {
    /// The role, how many students have it, and the courses with whether it sees them.
    pub of: Option<(Role, i64, Vec<(CourseOfPlan, bool)>)>,
}

impl Grants {
    /// What a plan of the account gives.
    pub fn of(tx: &ReadTx<'_>, role: Role) -> Result<Self> {
        let courses = store::courses(tx)?.into_iter().map(|course| {
            let sees = course.is_for(role);
            (course, sees)
        });
        Ok(Self { of: Some((role, store::students_of(tx, role)?, courses.collect())) })
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
    pub grants: Grants,
}

/// What the field `periodicidade` offers.
pub fn periods() -> [Pick; 3] {
    Period::ALL
        .map(|period| Pick { value: period.name().to_owned(), label: period.words().to_owned() })
}

/// What the field `plano_da_conta` offers.
pub fn account_plans() -> Vec<Pick> {
    let nothing = Pick { value: String::new(), label: "Nenhum".to_owned() };
    let roles = Role::STUDENTS
        .map(|role| Pick { value: role.name().to_owned(), label: role.title().to_owned() });
    std::iter::once(nothing).chain(roles).collect()
}

/// What the field `plano_de_api` offers.
pub fn api_plans() -> Vec<Pick> {
    let nothing = Pick { value: String::new(), label: "Nenhum".to_owned() };
    let plans =
        API_PLANS.map(|(value, label)| Pick { value: value.to_owned(), label: label.to_owned() });
    std::iter::once(nothing).chain(plans).collect()
}
