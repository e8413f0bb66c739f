//! Purchase events of the checkout platform, and what they do to a student.
//!
//! An event is stored and applied in one transaction before it is answered
//! (`api.rs`, `apply.rs`), so an answered event has had its effect. Events
//! come late, twice and in any order. So an account does not follow the newest
//! event but the whole set: `purchase_state.rs` computes one state from all purchases
//! of a person, and the same set always gives the same state.
//!
//! `parse.rs` reads the two forms of the platform's payload, `pages.rs` shows
//! the inbox to staff, `sweep.rs` suspends people whose access is no longer paid.

pub mod api;
pub mod apply;
pub mod pages;
mod parse;
mod purchase_state;
mod reduced;
pub mod sold;
pub mod store;
pub mod sweep;
pub mod views;
mod words;

#[cfg(test)]
mod tests;

use crate::accounts::Role;
use crate::base::Instant;
use crate::config::Checkout;

crate::named! {
    /// What an event means. The name is the value of the inbox's filter.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum EventKind: number {
        /// Money is confirmed.
        Approved = 1, "aprovada", "Aprovada";
        /// The guarantee is over, the sale is settled.
        Complete = 2, "concluida", "Concluída";
        /// Money went back to the buyer.
        Refunded = 3, "reembolsada", "Reembolsada";
        /// The card holder's bank took the money back.
        Chargeback = 4, "chargeback", "Chargeback";
        /// An attempt was refused, or an approved purchase undone.
        Canceled = 5, "cancelada", "Cancelada";
        /// The buyer asks for the money back.
        Protest = 6, "disputa", "Disputa";
        /// A renewal is unpaid.
        Delayed = 7, "atrasada", "Em atraso";
        /// A payment slip or a Pix code expired unpaid.
        Expired = 8, "vencida", "Vencida";
        /// No more charges of a subscription.
        Cancellation = 9, "assinatura-cancelada", "Assinatura";
        /// A subscription has another plan.
        SwitchPlan = 10, "troca-de-plano", "Troca";
        /// A payment slip or a Pix code was issued.
        Printed = 11, "boleto", "Boleto ou Pix";
        /// A subscription is charged on another day.
        ChargeDate = 12, "data-de-cobranca", "Data";
        /// A visitor left the cart without buying.
        Cart = 13, "carrinho", "Carrinho";
        /// A part of the money went back to the buyer, who keeps what was bought.
        PartRefund = 14, "reembolso-parcial", "Reembolso parcial";
        /// Anything that this service does not follow.
        Other = 0, "outro", "Outro";
    }
}

/// A name without what some of the platform's names begin with.
fn bare(name: &str) -> &str {
    name.strip_prefix("PURCHASE_").unwrap_or(name)
}

impl EventKind {
    /// The kind of an event's name or of a purchase's status, in any spelling
    /// that the platform documents or sends.
    pub fn of(name: &str) -> Self {
        let name = name.trim().to_ascii_uppercase();
        match bare(&name) {
            "COMPLETED" => Self::Complete,
            // A charge that failed for want of money or by the bank's will.
            "CANCELLED" | "NO_FUNDS" | "BLOCKED" => Self::Canceled,
            "PROTESTED" | "DISPUTE" => Self::Protest,
            "OVERDUE" => Self::Delayed,
            "PRINTED_BILLET" => Self::Printed,
            name => {
                let known = Self::ALL.into_iter().find(|kind| bare(kind.platform_name()) == name);
                known.unwrap_or(Self::Other)
            }
        }
    }

    /// The platform's name for it; empty if this service does not follow it.
    pub const fn platform_name(self) -> &'static str {
        match self {
            Self::Approved => "PURCHASE_APPROVED",
            Self::Complete => "PURCHASE_COMPLETE",
            Self::Refunded => "PURCHASE_REFUNDED",
            Self::Chargeback => "PURCHASE_CHARGEBACK",
            Self::Canceled => "PURCHASE_CANCELED",
            Self::Protest => "PURCHASE_PROTEST",
            Self::Delayed => "PURCHASE_DELAYED",
            Self::Expired => "PURCHASE_EXPIRED",
            Self::Cancellation => "SUBSCRIPTION_CANCELLATION",
            Self::SwitchPlan => "SWITCH_PLAN",
            Self::Printed => "PURCHASE_BILLET_PRINTED",
            Self::ChargeDate => "UPDATE_SUBSCRIPTION_CHARGE_DATE",
            Self::Cart => "PURCHASE_OUT_OF_SHOPPING_CART",
            Self::PartRefund => "PURCHASE_PARTIALLY_REFUNDED",
            Self::Other => "",
        }
    }

    /// The title of the event's own page; the words of the filter are shorter.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Approved => "Compra aprovada",
            Self::Complete => "Compra concluída",
            Self::Refunded => "Compra reembolsada",
            Self::Canceled => "Compra cancelada",
            Self::Protest => "Pedido de reembolso",
            Self::Delayed => "Pagamento em atraso",
            Self::Expired => "Compra vencida",
            Self::Cancellation => "Assinatura cancelada",
            Self::SwitchPlan => "Troca de plano",
            Self::Printed => "Boleto ou Pix gerado",
            Self::ChargeDate => "Data de cobrança alterada",
            Self::Cart => "Carrinho abandonado",
            Self::Other => "Outro evento",
            Self::Chargeback | Self::PartRefund => self.words(),
        }
    }

    /// Whether it can change what a person may do.
    pub const fn acts(self) -> bool {
        !matches!(self, Self::Other | Self::Printed | Self::ChargeDate | Self::Cart)
    }

    /// Whether money was confirmed.
    pub const fn is_payment(self) -> bool {
        matches!(self, Self::Approved | Self::Complete)
    }

    /// Whether confirmed money went back.
    pub const fn is_reversal(self) -> bool {
        matches!(self, Self::Refunded | Self::Chargeback)
    }
}

crate::named! {
    /// The result of an event; the same words as the badges.
    pub enum EventState: number {
        /// It changed a student.
        Applied = 1, "aplicado", "Aplicado";
        /// It counts, and nothing had to change.
        NoEffect = 2, "sem-efeito", "Sem efeito";
        /// It needs no action. SQL says `state <> 3`, to match the partial indexes.
        Kept = 3, "guardado", "Guardado";
        /// No plan is configured for its product.
        NoPlan = 4, "sem-plano", "Sem plano";
        /// No student has its e-mail address; it counts when there is one.
        NoStudent = 5, "sem-aluno", "Sem aluno";
        /// Its e-mail address is that of a supplier or of staff.
        NotStudent = 6, "nao-e-aluno", "Não é aluno";
    }
}

/// An event as this service understands it, whichever form it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The platform's id of the event.
    pub id: Option<String>,
    /// Its name: as it was sent, or the one that its status stands for.
    pub name: String,
    pub kind: EventKind,
    /// When the platform says it happened, in milliseconds.
    pub created_ms: Option<i64>,
    /// When the purchase was paid, else ordered, in milliseconds.
    pub purchased_ms: Option<i64>,
    /// The charge; each renewal has its own.
    pub transaction: Option<String>,
    /// The subscription, by its subscriber's code.
    pub subscriber: Option<String>,
    /// In the form in which e-mail addresses are stored.
    pub email: Option<String>,
    /// A valid person's name; empty when there is none.
    pub person: String,
    /// 10 to 15 digits.
    pub phone: Option<String>,
    pub offer: Option<String>,
    pub plan: Option<String>,
    pub product: Option<String>,
    /// 1 for the first charge of a subscription.
    pub recurrence: Option<i64>,
    /// End of the period that a confirmed payment pays; `None` for every other
    /// event, because its date already points to the period after.
    pub paid_until: Option<Instant>,
}

impl Event {
    /// Whether it is the platform's own test.
    pub fn is_test(&self) -> bool {
        self.product.as_deref() == Some("0")
    }

    /// Its offer, plan and product, as plans on sale name them.
    pub fn codes(&self) -> Vec<String> {
        [&self.offer, &self.plan, &self.product].into_iter().flatten().cloned().collect()
    }

    /// The plan configured for its offer, plan or product; else the default plan.
    pub fn plan_by(&self, config: &Checkout) -> Option<Role> {
        let listed = [&self.offer, &self.plan, &self.product]
            .into_iter()
            .flatten()
            .find_map(|code| config.plans.get(code));
        Role::from_name(listed.unwrap_or(&config.default_plan))
    }
}
