//! What a sale costs its seller; the calculator shows it (`catalog/calculator/`).
//!
//! Fees come from the marketplace and are cached for a day. They are fetched
//! with the account's token, because an account may have its own. The discount
//! for reputation and the tax are settings, because the marketplace returns
//! neither. Freight and cost are typed, or come from the product.

pub mod remains;
pub mod store;
pub mod views;

use crate::app::App;
use crate::base::{MlUserId, UserId};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{FeeQuestion, Fees};
use crate::services::Services;

/// The permission that a person needs.
pub const PERMISSION: &str = "ml_calculadora";

/// Kinds of shipping, as the marketplace names them, with their labels.
pub const LOGISTICS: [(&str, &str); 9] = [
    ("drop_off", "Mercado Envios, você leva à agência"),
    ("xd_drop_off", "Mercado Envios, você leva a um ponto de coleta"),
    ("cross_docking", "Mercado Envios, coleta na sua porta"),
    ("self_service", "Flex, você entrega no mesmo dia"),
    ("turbo", "Turbo"),
    ("fulfillment", "Full, estoque no marketplace"),
    ("default", "Transportadora sua (ME1)"),
    ("custom", "Frete por sua conta"),
    ("not_specified", "Sem envio"),
];

/// The fees for a question, from the cache or from the marketplace.
pub fn ask(
    app: &App,
    owner: UserId,
    account: MlUserId,
    question: &FeeQuestion,
) -> Result<Fees, CallError> {
    let key = store::key(account, question);
    let cached = app.db.read(crate::db::Lane::Brief, |tx| store::cached(tx, &key))?;
    if let Some(fees) = cached {
        return Ok(fees);
    }
    let fees = with_own_token(app, owner, account, |caller| {
        app.marketplace.client.fees(caller, question)
    })?;
    let told = fees.clone();
    // An answer that cannot be cached is still returned.
    if let Err(error) = app.db.write(move |tx| store::keep(tx, &key, &told)) {
        tracing::warn!(%error, "fees were not kept");
    }
    Ok(fees)
}

/// The tax rate of a person in percent: their own, else the platform's.
pub fn tax_rate(services: &Services, own: Option<f64>) -> f64 {
    own.unwrap_or(services.config.tax.rate)
}

/// The same; `None` when nobody has set one, which is not the same as no tax.
pub fn known_tax_rate(services: &Services, own: Option<f64>) -> Option<f64> {
    own.or_else(|| Some(services.config.tax.rate).filter(|rate| *rate > 0.0))
}

/// Percent taken off the commission for a reputation.
pub fn discount(services: &Services, reputation: &str) -> f64 {
    let discounts = &services.config.marketplace.reputation_discount;
    discounts.get(reputation).copied().unwrap_or(0.0)
}

/// A person's own settings for the calculator.
pub struct CalculatorSettings {
    pub may: bool,
    /// In percent; `None` for the platform's.
    pub tax: Option<f64>,
    pub owner: UserId,
}
