//! What the pages for plans print.

use askama::Template;

use super::store::{self, CourseOfPlan};
use super::{API_PLANS, Period, Plan};
use crate::accounts::{Role, permissions};
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
        let account = self.entry.grants_role.map(|role| format!("Conta {}", role.words()));
        let api = self.entry.grants_api.as_deref().map(|api| format!("API {}", api_words(api)));
        account.into_iter().chain(api).collect::<Vec<_>>().join(" · ")
    }

    /// `R$ 97,00 por mês`.
    pub fn price_words(&self) -> String {
        let price = match &*self.entry.currency {
            "BRL" => self.entry.price.page(),
            currency => format!("{currency} {}", self.entry.price.typed()),
        };
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
    pub of: Option<Granted>,
}

/// A plan of the account that is granted.
pub struct Granted {
    pub role: Role,
    /// How many students have it.
    pub students: i64,
    /// The courses, with whether it sees them.
    pub courses: Vec<(CourseOfPlan, bool)>,
}

impl Grants {
    /// What a plan of the account gives.
    pub fn of(tx: &ReadTx<'_>, role: Role) -> Result<Self> {
        let courses = store::courses(tx)?.into_iter().map(|course| {
            let sees = course.is_for(role);
            (course, sees)
        });
        let (students, courses) = (store::students_of(tx, role)?, courses.collect());
        Ok(Self { of: Some(Granted { role, students, courses }) })
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
        .map(|role| Pick { value: role.name().to_owned(), label: role.words().to_owned() });
    std::iter::once(nothing).chain(roles).collect()
}

/// What the field `plano_de_api` offers.
pub fn api_plans() -> Vec<Pick> {
    let nothing = Pick { value: String::new(), label: "Nenhum".to_owned() };
    let plans =
        API_PLANS.map(|(value, label)| Pick { value: value.to_owned(), label: label.to_owned() });
    std::iter::once(nothing).chain(plans).collect()
}

/// Most plans that are offered at once.
const MOST: usize = 3;

/// The plans that are offered, and how to reach the platform where nothing is sold by a link.
#[derive(Clone, Template)]
#[template(path = "plan_offer.html", config = "assets/askama.toml")]
pub struct Offer {
    pub plans: Vec<Plan>,
    /// Digits that people without access write to; empty without one.
    pub number: String,
}

impl Offer {
    /// The cheapest plans on sale for which `fits` holds.
    pub fn of(tx: &ReadTx<'_>, fits: impl Fn(&Plan) -> bool) -> Result<Self> {
        let mut plans = store::active_plans(tx)?;
        plans.retain(fits);
        plans.truncate(MOST);
        Ok(Self { plans, number: String::new() })
    }

    /// With the number that people without access write to.
    #[must_use]
    pub fn reached_by(mut self, number: &str) -> Self {
        number.clone_into(&mut self.number);
        self
    }

    /// The plans that give one of these plans of the account.
    pub fn of_roles(tx: &ReadTx<'_>, roles: &[Role]) -> Result<Self> {
        Self::of(tx, |plan| plan.entry.grants_role.is_some_and(|role| roles.contains(&role)))
    }

    /// The plans whose plan of the account has a permission.
    pub fn of_permission(tx: &ReadTx<'_>, permission: &str) -> Result<Self> {
        let mut roles = Vec::new();
        for role in Role::STUDENTS {
            if permissions::of_role(tx, role)?.contains(&permission) {
                roles.push(role);
            }
        }
        Self::of_roles(tx, &roles)
    }

    /// The plans with an API plan.
    pub fn of_api(tx: &ReadTx<'_>) -> Result<Self> {
        Self::of(tx, |plan| plan.entry.grants_api.is_some())
    }
}
