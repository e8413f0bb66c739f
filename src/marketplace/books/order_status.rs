//! States of orders: number, name at the marketplace, words and badge, in one
//! table.

use crate::named;
use crate::panel::{Badge, Tone};

named! {
    /// A state of an order that the marketplace documents. The number is that
    /// of its word in `schema.sql`; the text is the label in a list's filter.
    pub enum OrderStatus: number {
        Confirmed = 1, "confirmed", "Confirmadas";
        PaymentRequired = 2, "payment_required", "Aguardando pagamento";
        PaymentInProcess = 3, "payment_in_process", "Pagamento em análise";
        PartiallyPaid = 4, "partially_paid", "Pagas em parte";
        Paid = 5, "paid", "Pagas";
        PartiallyRefunded = 6, "partially_refunded", "Reembolso parcial";
        PendingCancel = 7, "pending_cancel", "Em cancelamento";
        Cancelled = 8, "cancelled", "Canceladas";
        Invalid = 9, "invalid", "Inválidas";
    }
}

impl OrderStatus {
    /// The values of a list's filter, the most wanted first.
    pub const SALES_FILTER: [(&'static str, &'static str); 9] = [
        Self::Paid.choice(),
        Self::PaymentRequired.choice(),
        Self::PaymentInProcess.choice(),
        Self::PartiallyPaid.choice(),
        Self::Confirmed.choice(),
        Self::PartiallyRefunded.choice(),
        Self::PendingCancel.choice(),
        Self::Cancelled.choice(),
        Self::Invalid.choice(),
    ];

    const fn choice(self) -> (&'static str, &'static str) {
        (self.name(), self.words())
    }

    /// Whether the order counts as a sale, with its full amount (docs/contract.md, "Sales").
    pub const fn is_sale(self) -> bool {
        matches!(self, Self::Paid | Self::PartiallyRefunded)
    }

    const fn badge(self) -> Badge {
        match self {
            Self::Confirmed => Badge::Confirmed,
            Self::PaymentRequired => Badge::AwaitingPayment,
            Self::PaymentInProcess => Badge::PaymentInReview,
            Self::PartiallyPaid => Badge::PartlyPaid,
            Self::Paid => Badge::Paid,
            Self::PartiallyRefunded => Badge::PartlyRefunded,
            Self::PendingCancel => Badge::BeingCancelled,
            Self::Cancelled => Badge::Cancelled,
            Self::Invalid => Badge::Invalid,
        }
    }
}

/// The state of an order in a page; prints as a [`Badge`] does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderState(Result<Badge, String>);

impl OrderState {
    /// The state that the marketplace calls `status`.
    pub fn new(status: &str) -> Self {
        Self(OrderStatus::from_name(status).map(OrderStatus::badge).ok_or_else(|| match status {
            "" => "Sem situação".to_owned(),
            _ => format!("Situação nova: {status}"),
        }))
    }

    /// The label that people read; for a new state it has the marketplace's
    /// name.
    pub fn word(&self) -> &str {
        match &self.0 {
            Ok(badge) => badge.word(),
            Err(words) => words,
        }
    }

    /// The tone of the badge; neutral for a state that we do not know.
    pub fn tone(&self) -> Tone {
        self.0.as_ref().map_or(Tone::Info, |badge| badge.tone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_state_is_shown_by_its_name() {
        let order = |status| {
            let state = OrderState::new(status);
            (state.word().to_owned(), state.tone())
        };
        assert_eq!(order("paid"), ("Paga".to_owned(), Tone::Good));
        assert_eq!(order("payment_required"), ("Aguardando pagamento".to_owned(), Tone::Warn));
        assert_eq!(order("on_the_moon"), ("Situação nova: on_the_moon".to_owned(), Tone::Info));
        assert_eq!(order(""), ("Sem situação".to_owned(), Tone::Info));
    }
}
