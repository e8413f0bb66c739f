//! Pages of the marketplace that people are led to.

use crate::base::OrderId;

/// The page of a sale at the marketplace, which also has its claims and messages. Its
/// host is that of the authorisation page, for people: `www.` instead of `auth.`.
pub fn sale(auth_base: &str, order: OrderId) -> String {
    format!("{}/{order}/detalhe", sales(auth_base))
}

/// The list of sales at the marketplace.
pub fn sales(auth_base: &str) -> String {
    format!("{}/vendas", auth_base.replacen("://auth.", "://www.", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_go_to_the_marketplace_that_gives_leave() {
        let of = |base| sale(base, OrderId(7));
        assert_eq!(
            of("https://auth.market.example"),
            "https://www.market.example/vendas/7/detalhe"
        );
        assert_eq!(of("http://127.0.0.1:9000"), "http://127.0.0.1:9000/vendas/7/detalhe");
    }
}
