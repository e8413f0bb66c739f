//! What the two gateways to the chat network have in common (`evolution.rs`, `cloud.rs`).

use super::call::Call;
use super::logs::ChatMessage;

/// Whether a number is on the network.
pub fn is_on_network(number: &str) -> bool {
    !number.ends_with("000")
}

/// Stores a message that reaches its recipient.
pub fn keep(
    call: &mut Call<'_>,
    gateway: &'static str,
    id: &str,
    (to, text): (&str, &str),
    template: Option<&str>,
) {
    call.state.messages.push(ChatMessage {
        at: call.now.rfc3339(),
        gateway,
        to: to.to_owned(),
        text: text.to_owned(),
        template: template.map(str::to_owned),
        id: id.to_owned(),
    });
}
