//! The fee calculator: what remains of a sale.
//!
//! Fees come from the marketplace and are cached for a day. They are fetched
//! with the account's token, because an account may have its own. The discount
//! for reputation and the tax are settings, because the marketplace returns
//! neither.

pub mod pages;
pub mod store;
pub mod views;

use crate::app::App;
use crate::base::{Cents, MlUserId, UserId};
use crate::content::plans::offer::Offer;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::client::{Fee, FeeQuestion, Fees};
use crate::panel::view::address;
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

/// The path of the calculator.
pub const PATH: &str = "/painel/ml/calculadora";

/// The address of the calculator, filled in from a listing of an account.
pub fn address_for(account: MlUserId, price: Cents, category: &str, logistic: &str) -> String {
    let is_known = LOGISTICS.iter().any(|(known, _)| *known == logistic);
    address(
        PATH,
        &[
            ("conta", &account.to_string()),
            ("preco", &price.typed()),
            ("categoria", category),
            ("logistica", if is_known { logistic } else { "" }),
        ],
    )
}

/// The fees for a question, from the cache or from the marketplace.
pub fn ask(
    app: &App,
    owner: UserId,
    account: MlUserId,
    question: &FeeQuestion,
) -> Result<Fees, CallError> {
    let key = store::key(account, question);
    let kept = app.db.read(crate::db::Lane::Brief, |tx| store::kept(tx, &key))?;
    if let Some(fees) = kept {
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

/// Percent taken off the commission for a reputation.
pub fn discount(services: &Services, reputation: &str) -> f64 {
    let discounts = &services.config.marketplace.reputation_discount;
    discounts.get(reputation).copied().unwrap_or(0.0)
}

/// What remains of a sale for its seller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    pub commission: Cents,
    pub discount: Cents,
    pub fixed: Cents,
    pub tax: Cents,
    pub left: Cents,
}

impl Remains {
    /// What remains of a price after a fee, a discount of the commission and
    /// a tax of the price, both in percent.
    pub fn of(price: Cents, fee: Fee, discount: f64, tax: f64) -> Self {
        let commission = share(price, fee.percent);
        let discount = share(commission, discount);
        let tax = share(price, tax);
        Self {
            commission,
            discount,
            fixed: fee.fixed,
            tax,
            left: Cents(price.0 - commission.0 + discount.0 - fee.fixed.0 - tax.0),
        }
    }
}

/// A share of an amount, to the nearest centavo.
fn share(of: Cents, percent: f64) -> Cents {
    Cents::from_reais(of.reais() * percent / 100.0).unwrap_or_default()
}

/// A person's own settings for the calculator.
pub struct Own {
    pub may: bool,
    /// The plans with it, for who may not.
    pub offer: Option<Offer>,
    /// In percent; `None` for the platform's.
    pub tax: Option<f64>,
    pub owner: UserId,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_remains_is_the_price_without_all_that_goes() {
        let fee = Fee { percent: 14.0, fixed: Cents(675) };
        let remains = Remains::of(Cents(8_990), fee, 10.0, 6.0);
        assert_eq!(
            remains,
            Remains {
                commission: Cents(1_259),
                discount: Cents(126),
                fixed: Cents(675),
                tax: Cents(539),
                left: Cents(6_643),
            }
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_the_parts(
            price in 1_i64..1_000_000_000, percent in 0.0..=100.0_f64,
            fixed in 0_i64..10_000, discount in 0.0..=100.0_f64, tax in 0.0..=100.0_f64,
        ) {
            let fee = Fee { percent, fixed: Cents(fixed) };
            let parts = Remains::of(Cents(price), fee, discount, tax);
            let sum = parts.left.0 + parts.commission.0 - parts.discount.0 + parts.fixed.0 + parts.tax.0;
            prop_assert_eq!(sum, price);
            prop_assert!(parts.discount <= parts.commission);
        }
    }
}
