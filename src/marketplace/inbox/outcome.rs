//! What became of a notification: as it is stored, and in words for the panel.

use crate::marketplace::kinds::{OutcomeCode, outcome_of};
use crate::named;

named! {
    /// Outcomes that are the same for all kinds of records; the others stand in
    /// the table of kinds. The stored sentences are codes and never change.
    pub enum InboxOutcome: text {
        Applied = "applied", "aplicada";
        Unchanged = "known already", "já era conhecida";
        Stale = "a newer state was known already", "já havia um estado mais novo";
        NotLinked = "the account is not linked", "a conta não está vinculada";
        Unlinked = "the account is not linked any more", "a conta não está mais vinculada";
        LinkLost = "the account must be linked again", "a conta precisa ser vinculada de novo";
        EmptyShipment = "the shipment carries no order", "o envio não leva pedido desta conta";
        NoListing = "no listing sells the user product", "nenhum anúncio desta conta vende este produto";
        OtherTopic = "the topic is not one this service follows", "este serviço não acompanha este tópico";
        Panicked = "the handler panicked", "falha interna";
        /// Of an older version.
        NoHandler = "no handler for this topic yet", "esta versão ainda não trata este tópico";
        // As the marketplace's failures print.
        RateLimited = "too many calls", "chamadas demais";
        Unreachable = "unreachable or out of order", "o marketplace não respondeu";
        Expired = "the access token is expired or revoked", "o acesso venceu";
    }
}

impl InboxOutcome {
    /// The code with its words, as those of one kind of record have them.
    pub const fn code(self) -> OutcomeCode {
        OutcomeCode { stored: self.name(), words: self.words() }
    }
}

/// The label of a stored outcome, for the panel. Codes and fields of the
/// marketplace are shown unchanged.
pub fn words_of(stored: &str) -> String {
    let code = InboxOutcome::from_name(stored).map(InboxOutcome::code);
    if let Some(code) = code.or_else(|| outcome_of(stored)) {
        return code.words.to_owned();
    }
    for (ours, words) in [
        ("the answer makes no sense: ", "a resposta não faz sentido: "),
        ("refused with ", "recusado com "),
    ] {
        if let Some(rest) = stored.strip_prefix(ours) {
            return format!("{words}{}", unreadable(rest).unwrap_or(rest));
        }
    }
    stored.to_owned()
}

/// What is wrong with a field of a sale, in words; `None` for other fields.
fn unreadable(field: &str) -> Option<&'static str> {
    Some(match field {
        "order_items" => "a venda não tem itens",
        "order_items.length" => "a venda tem itens demais",
        "order_items.quantity" => "um item da venda tem quantidade impossível",
        "order_items.unit_price" => "um item da venda não tem preço",
        "item.id" => "um item da venda não tem anúncio",
        "currency_id" => "o valor da venda não tem moeda",
        "total_amount" => "a venda não tem valor",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::client::Failure;

    #[test]
    fn every_outcome_has_words_for_the_panel() {
        for (failure, words) in [
            (Failure::RateLimited { retry_after_s: None }, "chamadas demais"),
            (Failure::Unreachable, "o marketplace não respondeu"),
            (Failure::Expired, "o acesso venceu"),
            (Failure::Garbled("price"), "a resposta não faz sentido: price"),
            (
                Failure::Garbled("item.id"),
                "a resposta não faz sentido: um item da venda não tem anúncio",
            ),
            (Failure::Refused { status: 403, code: "x".to_owned() }, "recusado com 403 x"),
        ] {
            assert_eq!(words_of(&failure.to_string()), words);
        }
        assert_eq!(words_of("applied"), "aplicada");
        assert!(words_of("the claim is another account's").contains("ou entre o comprador e"));
        assert_eq!(words_of("something else"), "something else");
    }
}
