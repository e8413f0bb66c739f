//! The inbox of marketplace notifications, for operators: the list with
//! outcomes, and processing one again.

pub mod pages;
pub mod store;
pub mod views;

use crate::base::{Instant, MlUserId};
use crate::marketplace::inbox::hook::NotificationState;
use crate::panel::Badge;
use crate::row;

row! {
    /// A received notification.
    #[derive(Clone, Debug)]
    pub struct Received {
        pub id: i64 = "n.notification_id",
        pub at: Instant = "n.received_at",
        pub topic: String = "n.topic",
        pub resource: String = "n.resource",
        pub account: MlUserId = "n.ml_user_id",
        /// Nickname of the account, while it is linked.
        pub nickname: Option<String> = "a.nickname",
        pub state: NotificationState = "n.state",
        pub attempts: i64 = "n.attempts",
        pub next_try_at: Instant = "n.next_try_at",
        /// The outcome, or the last error.
        pub outcome: Option<String> = "n.outcome",
    }
}

/// Topics that lists can be filtered by, each with its label. The schema counts
/// all other topics together.
pub const TOPICS: &[(&str, &str)] = &[
    ("orders_v2", "Vendas"),
    ("questions", "Perguntas"),
    ("items", "Anúncios"),
    ("claims", "Reclamações"),
    ("post_purchase", "Pós-venda"),
];

/// The badge of a state.
pub const fn badge(state: NotificationState) -> Badge {
    match state {
        NotificationState::Waiting => Badge::Pending,
        NotificationState::Done => Badge::Processed,
        NotificationState::Ignored => Badge::Ignored,
        NotificationState::Failed => Badge::Failed,
        NotificationState::Kept => Badge::Kept,
    }
}

/// The label of a topic; unknown topics keep their own name.
pub fn topic_words(topic: &str) -> &str {
    if topic == "shipments" {
        return "Envios";
    }
    let known = TOPICS.iter().find(|(name, _)| *name == topic);
    known.map_or(topic, |(_, words)| words)
}

/// The label of an outcome, for the panel. Codes and fields of the marketplace
/// are shown unchanged.
pub fn outcome_words(outcome: &str) -> String {
    let words = match outcome {
        "applied" => "aplicada",
        "known already" => "já era conhecida",
        "a newer state was known already" => "já havia um estado mais novo",
        "the account is not linked" => "a conta não está vinculada",
        "the account is not linked any more" => "a conta não está mais vinculada",
        "the account must be linked again" => "a conta precisa ser vinculada de novo",
        "the marketplace has no such order" => "o marketplace não tem este pedido",
        "the marketplace has no such listing" => "o marketplace não tem este anúncio",
        "the marketplace has no such question" => "o marketplace não tem esta pergunta",
        "the marketplace has no such claim" => "o marketplace não tem esta reclamação",
        "the marketplace has no such shipment" => "o marketplace não tem este envio",
        "the shipment carries no order" => "o envio não leva pedido desta conta",
        "the resource is not an order" => "o recurso não é um pedido",
        "the resource is not a listing" => "o recurso não é um anúncio",
        "the resource is not a question" => "o recurso não é uma pergunta",
        "the resource is not a claim" => "o recurso não é uma reclamação",
        "the resource is not a shipment" => "o recurso não é um envio",
        "the order is another account's" => "o pedido é de outra conta",
        "the listing is another account's" => "o anúncio é de outra conta",
        "the question is another account's" => "a pergunta é de outra conta",
        "the claim is another account's" => "a reclamação é de outra conta",
        "no handler for this topic yet" => "esta versão ainda não trata este tópico",
        "the topic is not one this service follows" => "este serviço não acompanha este tópico",
        "too many calls" => "chamadas demais",
        "unreachable or out of order" => "o marketplace não respondeu",
        "the access token is expired or revoked" => "o acesso venceu",
        "the handler panicked" => "falha interna",
        other => return failure_words(other),
    };
    words.to_owned()
}

/// The same for failures that name a code or a field.
fn failure_words(outcome: &str) -> String {
    for (ours, words) in [
        ("the answer makes no sense: ", "a resposta não faz sentido: "),
        ("refused with ", "recusado com "),
    ] {
        if let Some(rest) = outcome.strip_prefix(ours) {
            return format!("{words}{rest}");
        }
    }
    outcome.to_owned()
}
