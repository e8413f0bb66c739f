//! Plans that people can buy, shown to anyone while active.

pub mod pages;
pub mod store;
pub mod views;

use serde::Serialize;

use crate::base::money::Cents;

/// How often a plan is paid.
pub const PERIODS: [&str; 3] = ["mensal", "anual", "unico"];

/// A plan that people can buy.
#[derive(Clone, Debug)]
pub struct Plan {
    pub id: i64,
    pub slug: String,
    pub title: String,
    pub price: Cents,
    pub currency: String,
    /// One of [`PERIODS`].
    pub period: String,
    pub benefits: Vec<String>,
    pub checkout_link: String,
    pub active: bool,
}

/// What an operator enters of a plan, in the audit log by the names it is sent with.
#[derive(Clone, Debug, Serialize)]
pub struct PlanEntry {
    pub slug: String,
    #[serde(rename = "titulo")]
    pub title: String,
    #[serde(rename = "preco")]
    pub price: Cents,
    #[serde(rename = "moeda")]
    pub currency: String,
    #[serde(rename = "periodicidade")]
    pub period: String,
    #[serde(rename = "beneficios")]
    pub benefits: Vec<String>,
    #[serde(rename = "link_checkout")]
    pub checkout_link: String,
    #[serde(rename = "ativo")]
    pub active: bool,
}

impl Plan {
    /// What an operator would have entered to get it.
    pub fn entry(&self) -> PlanEntry {
        PlanEntry {
            slug: self.slug.clone(),
            title: self.title.clone(),
            price: self.price,
            currency: self.currency.clone(),
            period: self.period.clone(),
            benefits: self.benefits.clone(),
            checkout_link: self.checkout_link.clone(),
            active: self.active,
        }
    }
}
