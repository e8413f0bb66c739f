//! States of orders, in one table: number, name at the marketplace, words, badge,
//! and what each means for sales and goods.

use crate::db::in_list;
use crate::named;
use crate::panel::{Badge, Tone};

named! {
    /// A state of an order that the marketplace documents, the most wanted
    /// first, as in a list's filter. The number is that of its word in
    /// `schema.sql`; the text is the label in the filter.
    pub enum OrderStatus: number {
        Paid = 5, "paid", "Pagas";
        PaymentRequired = 2, "payment_required", "Aguardando pagamento";
        Cancelled = 8, "cancelled", "Canceladas";
        PaymentInProcess = 3, "payment_in_process", "Pagamento em análise";
        PartiallyPaid = 4, "partially_paid", "Pagas em parte";
        Confirmed = 1, "confirmed", "Confirmadas";
        PartiallyRefunded = 6, "partially_refunded", "Reembolso parcial";
        PendingCancel = 7, "pending_cancel", "Em cancelamento";
        Invalid = 9, "invalid", "Inválidas";
    }
}

/// What an order means for its goods and for what is owed for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaleState {
    /// It counts as a sale, with its full amount (docs/contract.md, "Sales"): its
    /// goods are out.
    Paid,
    /// It was cancelled: nothing is out.
    Cancelled,
    /// Any other state: nothing is out.
    Open,
}

struct StatusRow {
    badge: Badge,
    sale: SaleState,
    /// Whether the marketplace's search finds such orders without being asked for them.
    is_listed: bool,
}

const fn listed(badge: Badge, sale: SaleState) -> StatusRow {
    StatusRow { badge, sale, is_listed: true }
}

const fn left_out(badge: Badge, sale: SaleState) -> StatusRow {
    StatusRow { badge, sale, is_listed: false }
}

impl OrderStatus {
    const fn row(self) -> StatusRow {
        match self {
            Self::Confirmed => listed(Badge::Confirmed, SaleState::Open),
            Self::PaymentRequired => listed(Badge::AwaitingPayment, SaleState::Open),
            Self::PaymentInProcess => listed(Badge::PaymentInReview, SaleState::Open),
            Self::PartiallyPaid => listed(Badge::PartlyPaid, SaleState::Open),
            Self::Paid => listed(Badge::Paid, SaleState::Paid),
            Self::PartiallyRefunded => listed(Badge::PartlyRefunded, SaleState::Paid),
            Self::PendingCancel => left_out(Badge::BeingCancelled, SaleState::Open),
            Self::Cancelled => left_out(Badge::Cancelled, SaleState::Cancelled),
            Self::Invalid => left_out(Badge::Invalid, SaleState::Cancelled),
        }
    }

    const fn badge(self) -> Badge {
        self.row().badge
    }

    /// What the state means for its goods.
    pub const fn sale(self) -> SaleState {
        self.row().sale
    }

    /// What a stored status means; open when the marketplace has added it.
    pub const fn sale_of(number: i64) -> SaleState {
        match Self::from_number(number) {
            Some(status) => status.sale(),
            None => SaleState::Open,
        }
    }

    /// The stored numbers of the states that count as a sale, for `IN (…)`.
    pub fn sales_in_sql() -> String {
        let mut numbers: Vec<u8> =
            Self::ALL.into_iter().filter(|one| one.is_sale()).map(Self::number).collect();
        numbers.sort_unstable();
        in_list(&numbers)
    }

    /// The names of the states that a search leaves out unless it asks for them.
    pub fn left_out() -> String {
        let left_out = Self::ALL.into_iter().filter(|one| !one.row().is_listed);
        left_out.map(Self::name).collect::<Vec<_>>().join(",")
    }

    /// Whether the order counts as a sale.
    pub const fn is_sale(self) -> bool {
        matches!(self.sale(), SaleState::Paid)
    }
}

/// States of an order, as the marketplace documents them, in the order of their
/// numbers.
pub const ORDER_STATES: [&str; OrderStatus::ALL.len()] = names_by_number();

/// States of a parcel, as the marketplace documents them.
pub const PARCEL_STATES: [&str; 15] = [
    "to_be_agreed",
    "pending",
    "handling",
    "ready_to_ship",
    "shipped",
    "delivered",
    "not_delivered",
    "not_verified",
    "cancelled",
    "closed",
    "error",
    "active",
    "not_specified",
    "stale_ready_to_ship",
    "stale_shipped",
];

const fn names_by_number() -> [&'static str; OrderStatus::ALL.len()] {
    let (mut names, mut found, mut number) = ([""; OrderStatus::ALL.len()], 0, 0);
    while found < names.len() {
        if let Some(status) = OrderStatus::from_number(number) {
            names[found] = status.name();
            found += 1;
        }
        number += 1;
    }
    names
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
