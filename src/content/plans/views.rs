//! What the pages for plans print.

use askama::Template;

use crate::panel::list::Table;
use crate::panel::view::{Badge, Choice, Field, Layout, Notice};

/// `GET /admin/planos`: the list of plans.
#[derive(Debug, Template)]
#[template(path = "plans.html", config = "assets/askama.toml")]
pub struct PlansPage {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The frame of the list.
    pub table: Table,
    /// The plans of this page.
    pub plans: Vec<PlanRow>,
}

/// A plan in the list.
#[derive(Debug)]
pub struct PlanRow {
    /// Its id.
    pub id: String,
    /// Its name.
    pub title: String,
    /// Short name for addresses.
    pub slug: String,
    /// `Mensal`, `Anual`, `Pagamento único`.
    pub period: &'static str,
    /// Price.
    pub price: String,
    /// On sale or not.
    pub state: Badge,
}

/// What the field `periodicidade` offers.
pub static PERIODS: &[Choice] = &[
    Choice { value: "mensal", label: "Mensal" },
    Choice { value: "anual", label: "Anual" },
    Choice { value: "unico", label: "Pagamento único" },
];

/// What to correct in a field of the plan form, in the words of its label.
pub fn fault_words(field: &str) -> &'static str {
    match field {
        "titulo" => "Dê um título de 2 a 120 letras.",
        "slug" => "Use só letras minúsculas sem acento, números e hífens, até 60.",
        "preco" => "Informe um valor de 0 a 10.000.000,00, como 97 ou 97,90.",
        "moeda" => "Informe as três letras da moeda, como BRL.",
        "periodicidade" => "Escolha uma das opções da lista.",
        "beneficios" => "São até 30 benefícios, cada um com até 200 letras.",
        "link_checkout" => "Informe um endereço que comece com https://.",
        _ => "Confira este campo.",
    }
}

/// What to correct when another plan has the same short name.
pub const SLUG_TAKEN: &str = "Já existe um plano com este endereço.";

/// The words of a period as the plan stores it.
pub fn period_words(period: &str) -> &'static str {
    PERIODS.iter().find(|choice| choice.value == period).map_or("Outra", |choice| choice.label)
}

/// `GET /admin/planos/novo`, `GET /admin/planos/{id}`, and their answers
/// when fields are at fault.
#[derive(Debug, Template)]
#[template(path = "plan_form.html", config = "assets/askama.toml")]
pub struct PlanForm {
    /// The frame of the signed-in operator.
    pub layout: Layout,
    /// The plan that is changed; `None` for a new one.
    pub existing: Option<ExistingPlan>,
    /// Above the form when fields are at fault.
    pub alert: Option<Notice>,
    /// `titulo`.
    pub title: Field,
    /// `slug`.
    pub slug: Field,
    /// `preco`, as `97,00`.
    pub price: Field,
    /// `moeda`.
    pub currency: Field,
    /// `periodicidade`.
    pub period: Field,
    /// `beneficios`, one a line.
    pub benefits: Field,
    /// `link_checkout`.
    pub checkout_link: Field,
    /// `ativo`.
    pub active: bool,
}

/// The stored plan that a form changes.
#[derive(Debug)]
pub struct ExistingPlan {
    /// Its id.
    pub id: String,
    /// Its stored name, whatever was typed since.
    pub title: String,
}
