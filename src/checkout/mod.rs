//! Purchase events of the checkout platform, and what they do to a student.
//!
//! An event is stored, applied and answered in one transaction (`hook.rs`,
//! `apply.rs`), so an answered event has had its effect. Events come late,
//! twice and in any order; therefore an account does not follow the newest
//! message but the whole set: `standing.rs` says what all purchases of a
//! person together amount to, and the same set always amounts to the same.
//!
//! `parse.rs` reads the two forms of the platform's payload, `pages.rs` shows
//! the inbox to staff, `sweep.rs` ends what was not paid for.

pub mod apply;
pub mod hook;
pub mod pages;
mod parse;
mod standing;
pub mod store;
pub mod sweep;
pub mod views;
mod words;

#[cfg(test)]
mod tests;

use crate::accounts::Role;
use crate::base::clock::Instant;
use crate::config::Checkout;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal, $name:literal, $slug:literal, $words:literal, $chip:literal;)*) => {
        /// What an event means. The number is stored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind = $code,)*
        }

        impl Kind {
            /// Every kind there is.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// What the platform calls it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// What people read.
            pub const fn words(self) -> &'static str {
                match self { $(Self::$kind => $words,)* }
            }

            /// The value of the inbox's filter.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$kind => $slug,)* }
            }

            /// Filter values with short words.
            pub const FILTER: &[(&'static str, &'static str)] = &[$(($slug, $chip),)*];
        }
    };
}

kinds! {
    /// Money is confirmed.
    Approved = 1, "PURCHASE_APPROVED", "aprovada", "Compra aprovada", "Aprovada";
    /// The guarantee is over, the sale is settled.
    Complete = 2, "PURCHASE_COMPLETE", "concluida", "Compra concluída", "Concluída";
    /// Money went back to the buyer.
    Refunded = 3, "PURCHASE_REFUNDED", "reembolsada", "Compra reembolsada", "Reembolsada";
    /// The card holder's bank took the money back.
    Chargeback = 4, "PURCHASE_CHARGEBACK", "chargeback", "Chargeback", "Chargeback";
    /// An attempt was refused, or an approved purchase undone.
    Canceled = 5, "PURCHASE_CANCELED", "cancelada", "Compra cancelada", "Cancelada";
    /// The buyer asks for the money back.
    Protest = 6, "PURCHASE_PROTEST", "disputa", "Pedido de reembolso", "Disputa";
    /// A renewal is unpaid.
    Delayed = 7, "PURCHASE_DELAYED", "atrasada", "Pagamento atrasado", "Atrasada";
    /// A slip or code ran out unpaid.
    Expired = 8, "PURCHASE_EXPIRED", "vencida", "Compra vencida", "Vencida";
    /// No more charges of a subscription.
    Cancellation = 9, "SUBSCRIPTION_CANCELLATION", "assinatura-cancelada", "Assinatura cancelada", "Assinatura";
    /// A subscription has another plan.
    SwitchPlan = 10, "SWITCH_PLAN", "troca-de-plano", "Troca de plano", "Troca";
    /// A slip or code was issued.
    Printed = 11, "PURCHASE_BILLET_PRINTED", "boleto", "Boleto ou Pix gerado", "Boleto ou Pix";
    /// A subscription is charged on another day.
    ChargeDate = 12, "UPDATE_SUBSCRIPTION_CHARGE_DATE", "data-de-cobranca", "Data de cobrança alterada", "Data";
    /// Somebody left without buying.
    Cart = 13, "PURCHASE_OUT_OF_SHOPPING_CART", "carrinho", "Carrinho abandonado", "Carrinho";
    /// Anything that this service does not follow.
    Other = 0, "", "outro", "Outro evento", "Outro";
}

impl Kind {
    /// The kind of an event's name or of a purchase's status, in any spelling
    /// that the platform documents or sends.
    pub fn of(name: &str) -> Self {
        let name = name.trim().to_ascii_uppercase();
        match name.strip_prefix("PURCHASE_").unwrap_or(&name) {
            "APPROVED" => Self::Approved,
            "COMPLETE" | "COMPLETED" => Self::Complete,
            "REFUNDED" => Self::Refunded,
            "CHARGEBACK" => Self::Chargeback,
            // A charge that failed for want of money or by the bank's will.
            "CANCELED" | "CANCELLED" | "NO_FUNDS" | "BLOCKED" => Self::Canceled,
            "PROTEST" | "PROTESTED" | "DISPUTE" => Self::Protest,
            "DELAYED" | "OVERDUE" => Self::Delayed,
            "EXPIRED" => Self::Expired,
            "SUBSCRIPTION_CANCELLATION" => Self::Cancellation,
            "SWITCH_PLAN" => Self::SwitchPlan,
            "BILLET_PRINTED" | "PRINTED_BILLET" => Self::Printed,
            "UPDATE_SUBSCRIPTION_CHARGE_DATE" => Self::ChargeDate,
            "OUT_OF_SHOPPING_CART" => Self::Cart,
            _ => Self::Other,
        }
    }

    /// The kind of a stored number.
    pub fn from_code(code: u8) -> Self {
        let known = Self::ALL.iter().find(|kind| **kind as u8 == code);
        known.copied().unwrap_or(Self::Other)
    }

    /// Whether it can change what a person may do.
    pub const fn acts(self) -> bool {
        !matches!(self, Self::Other | Self::Printed | Self::ChargeDate | Self::Cart)
    }

    /// Whether money was confirmed.
    pub const fn is_payment(self) -> bool {
        matches!(self, Self::Approved | Self::Complete)
    }

    /// Whether money that was confirmed is gone again.
    pub const fn is_reversal(self) -> bool {
        matches!(self, Self::Refunded | Self::Chargeback)
    }
}

/// What became of an event. The number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It changed a student.
    Applied = 1,
    /// It counts, and nothing had to change.
    NoEffect = 2,
    /// It asks for no action.
    Kept = 3,
    /// Its product stands for no plan.
    NoPlan = 4,
    /// Nobody has its e-mail address; it counts once somebody does.
    NoStudent = 5,
    /// Its e-mail address is that of a supplier or of staff.
    NotStudent = 6,
}

impl State {
    /// Filter values with their words; the same words as the badges.
    pub const FILTER: &[(&'static str, &'static str)] = &[
        ("aplicado", "Aplicado"),
        ("sem-efeito", "Sem efeito"),
        ("guardado", "Guardado"),
        ("sem-plano", "Sem plano"),
        ("sem-aluno", "Sem aluno"),
        ("nao-e-aluno", "Não é aluno"),
    ];

    const ALL: [Self; 6] = [
        Self::Applied,
        Self::NoEffect,
        Self::Kept,
        Self::NoPlan,
        Self::NoStudent,
        Self::NotStudent,
    ];

    /// The value of the inbox's filter.
    pub const fn slug(self) -> &'static str {
        Self::FILTER[self as usize - 1].0
    }

    /// The state of a filter's value.
    pub fn of_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.slug() == slug)
    }

    /// The state of a stored number.
    pub fn from_code(code: u8) -> Self {
        let known = Self::ALL.iter().find(|state| **state as u8 == code);
        known.copied().unwrap_or(Self::Kept)
    }
}

/// An event as this service understands it, whichever form it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The platform's id of the event.
    pub id: Option<String>,
    /// What it is called: as it was sent, or what its status stands for.
    pub name: String,
    pub kind: Kind,
    /// When the platform says it happened, in milliseconds.
    pub created_ms: Option<i64>,
    /// When the purchase was paid, else ordered, in milliseconds.
    pub purchased_ms: Option<i64>,
    /// The charge; each renewal has its own.
    pub transaction: Option<String>,
    /// The subscription, by its subscriber's code.
    pub subscriber: Option<String>,
    /// In the form in which addresses are stored.
    pub email: Option<String>,
    /// Fit to be a person's name; empty when there is none.
    pub person: String,
    /// 10 to 15 digits.
    pub phone: Option<String>,
    pub offer: Option<String>,
    pub plan: Option<String>,
    pub product: Option<String>,
    /// 1 for the first charge of a subscription.
    pub recurrence: Option<i64>,
    /// Until when a confirmed payment pays; `None` for every other event,
    /// because theirs already points to the period after.
    pub paid_until: Option<Instant>,
}

impl Event {
    /// Whether it is the platform's own test.
    pub fn is_test(&self) -> bool {
        self.product.as_deref() == Some("0")
    }

    /// The plan that its product stands for.
    pub fn plan_by(&self, config: &Checkout) -> Option<Role> {
        let listed = [&self.offer, &self.plan, &self.product]
            .into_iter()
            .flatten()
            .find_map(|code| config.plans.get(code));
        Role::from_name(listed.unwrap_or(&config.default_plan))
    }
}
