//! What is to be done with a parcel, from the marketplace's states of its shipment.
//!
//! Home, menu, lists, buttons and both APIs ask the stage alone, so that all tell one
//! number. The marketplace's list of sub-states is open: with one that nobody knows, a
//! parcel that was ready counts as handed over, so that nobody is sent after it. Decision
//! marketplace-43.

use super::order_status::OrderStatus;
use crate::base::Instant;
use crate::{named, row};

named! {
    /// The stage of an order's parcel. The numbers stand in `sale_order.stage`.
    pub enum ParcelStage: number {
        /// There is no parcel, or nothing was told of it.
        Unknown = 0, "unknown";
        /// The marketplace prepares it, or it is sent by its warehouse: nothing to do.
        Early = 1, "early";
        /// To be sent, but its label cannot be printed, now or at the marketplace.
        Held = 2, "held";
        /// To be sent, once the fiscal note is there.
        NeedsNote = 3, "needs_note";
        /// To be sent; its label is to be printed.
        ToPrint = 4, "to_print";
        /// To be handed over; its label was printed.
        Printed = 5, "printed";
        /// Handed over, and not yet on its way to the buyer.
        HandedOver = 6, "handed_over";
        Sent = 7, "sent";
        Arrived = 8, "arrived";
        /// It will not arrive: cancelled, lost, or on its way back.
        Ended = 9, "ended";
        /// The marketplace says that its goods must not be sent.
        DoNotSend = 10, "do_not_send";
        /// It came back to its seller.
        Returned = 11, "returned";
    }
}

/// Condition in SQL that a parcel is to be sent, as its partial index has it.
pub const TO_SEND: &str = "stage BETWEEN 2 AND 5";
const _: () = assert!(
    ParcelStage::Held as u8 == 2 && ParcelStage::Printed as u8 == 5,
    "the index of parcels to be sent has these numbers"
);

/// Kinds of logistics whose labels sellers print; empty while the kind is not known.
const PRINTED_BY_SELLERS: [&str; 5] =
    ["drop_off", "xd_drop_off", "cross_docking", "self_service", ""];

impl ParcelStage {
    /// The stage of a shipment in a state, with a kind of logistics.
    pub fn of(status: &str, substatus: &str, logistic: &str) -> Self {
        let stage = match (status, substatus) {
            ("handling" | "ready_to_ship", "invoice_pending") => Self::NeedsNote,
            ("pending" | "handling" | "to_be_agreed" | "active", _)
            | ("ready_to_ship", "buffered") => Self::Early,
            ("ready_to_ship", "" | "ready_to_print") => Self::ToPrint,
            (
                "ready_to_ship",
                "printed"
                | "ready_for_pickup"
                | "ready_for_dropoff"
                | "ready_for_pkl_creation"
                | "in_pickup_list"
                | "claimed_me",
            ) => Self::Printed,
            (
                "ready_to_ship",
                "waiting_for_label_generation" | "regenerating" | "delayed" | "stale",
            ) => Self::Held,
            ("ready_to_ship", _) => Self::HandedOver,
            ("shipped" | "stale_shipped", _) => Self::Sent,
            ("not_delivered" | "cancelled" | "closed" | "delivered", "returned") => Self::Returned,
            ("delivered", _) => Self::Arrived,
            ("not_delivered" | "cancelled" | "closed" | "error" | "stale_ready_to_ship", _) => {
                Self::Ended
            }
            _ => Self::Unknown,
        };
        match stage {
            _ if !stage.is_to_send() => stage,
            _ if logistic == "fulfillment" => Self::Early,
            Self::ToPrint if !PRINTED_BY_SELLERS.contains(&logistic) => Self::Held,
            stage => stage,
        }
    }

    /// Whether its seller has something to do with the parcel.
    pub const fn is_to_send(self) -> bool {
        matches!(self, Self::Held | Self::NeedsNote | Self::ToPrint | Self::Printed)
    }

    /// Whether its label can be printed, for the first time or again.
    pub const fn has_label(self) -> bool {
        matches!(self, Self::ToPrint | Self::Printed)
    }

    /// Whether the goods have left their seller, as far as the stage alone tells.
    pub const fn is_away(self) -> bool {
        matches!(self, Self::HandedOver | Self::Sent | Self::Arrived)
    }

    /// Whether it is too late to keep it from being sent.
    pub const fn is_over(self) -> bool {
        self.is_away() || matches!(self, Self::Ended | Self::Returned)
    }

    /// Whether its goods must not be sent.
    pub const fn is_barred(self) -> bool {
        matches!(self, Self::DoNotSend)
    }

    /// What its seller should read where a state of the marketplace does not say it;
    /// empty otherwise.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::NeedsNote => "Falta a nota fiscal",
            Self::DoNotSend => "Não envie; cancele",
            Self::HandedOver => "Já entregue ao transporte",
            _ => "",
        }
    }
}

row! {
    /// What the books know of an order's parcel, which says what else to ask of it.
    #[derive(Clone, Copy, Debug)]
    pub struct ParcelKnown {
        pub sold_at: Instant = "o.created_at",
        status: i64 = "o.status",
        stage: ParcelStage = "o.stage",
        has_freight: bool = "o.freight_cents IS NOT NULL",
        has_left_at: bool = "o.sent_at IS NOT NULL",
        has_arrived_at: bool = "o.delivered_at IS NOT NULL",
        dispatch_by: Option<Instant> = "o.dispatch_by",
        deadline_asked_at: Option<Instant> = "o.deadline_asked_at",
    }
}

/// For how long a deadline that was not told is not asked for again.
const ASK_AGAIN_S: i64 = 3_600;
/// Deadlines move until the day before: on their day they are asked for once more.
const DAY_BEFORE_S: i64 = 24 * 3_600;

impl ParcelKnown {
    /// What is known of a parcel whose order is not stored, sold at an instant.
    pub const fn nothing(sold_at: Instant) -> Self {
        Self {
            sold_at,
            status: 0,
            stage: ParcelStage::Unknown,
            has_freight: false,
            has_left_at: false,
            has_arrived_at: false,
            dispatch_by: None,
            deadline_asked_at: None,
        }
    }

    /// The same of an order that is no sale, whose parcel's cost nobody asks for.
    #[must_use]
    pub const fn without_cost(self) -> Self {
        Self { has_freight: true, ..self }
    }

    /// Whether to ask what the parcel costs its seller.
    pub fn wants_cost(&self) -> bool {
        let is_sale = OrderStatus::from_number(self.status).is_none_or(OrderStatus::is_sale);
        is_sale && !self.has_freight
    }

    /// Whether to ask until when a parcel in a stage is to be handed over.
    pub fn wants_deadline(&self, stage: ParcelStage, now: Instant) -> bool {
        if !stage.is_to_send() {
            return false;
        }
        let Some(asked) = self.deadline_asked_at else { return true };
        match self.dispatch_by {
            None => now.since(asked) >= ASK_AGAIN_S,
            Some(due) => {
                let last_day = due.minus(DAY_BEFORE_S);
                asked < last_day && now >= last_day
            }
        }
    }

    /// Whether to ask for the history of a parcel in a stage: when it first left, and when it
    /// is where it stays.
    pub const fn wants_history(&self, stage: ParcelStage) -> bool {
        match stage {
            ParcelStage::HandedOver | ParcelStage::Sent => !self.has_left_at,
            ParcelStage::Arrived => !self.has_arrived_at,
            ParcelStage::Ended | ParcelStage::Returned => {
                !self.has_left_at
                    && !matches!(self.stage, ParcelStage::Ended | ParcelStage::Returned)
            }
            _ => false,
        }
    }
}

/// Marks of an order, bits in one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub i64);

impl Marks {
    /// The marketplace says that its goods must not be sent.
    pub const FRAUD: i64 = 1;
    /// Its parcel is to leave within minutes of the sale.
    pub const SAME_DAY: i64 = 2;
    /// Its goods left and were returned.
    pub const CAME_BACK: i64 = 4;
    /// It was cancelled because its parcel was divided.
    pub const SPLIT: i64 = 8;
    /// Its label, which was printed, is to be printed again.
    pub const REPRINT: i64 = 16;

    pub const fn has(self, mark: i64) -> bool {
        self.0 & mark != 0
    }

    /// The same with a mark set or not.
    #[must_use]
    pub const fn with(self, mark: i64, is_set: bool) -> Self {
        Self(if is_set { self.0 | mark } else { self.0 & !mark })
    }
}

impl rusqlite::types::ToSql for Marks {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl rusqlite::types::FromSql for Marks {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        value.as_i64().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_is_to_be_printed_only_while_the_marketplace_gives_its_label() {
        let ready = |substatus| ParcelStage::of("ready_to_ship", substatus, "cross_docking");
        for (substatus, stage) in [
            ("", ParcelStage::ToPrint),
            ("ready_to_print", ParcelStage::ToPrint),
            ("printed", ParcelStage::Printed),
            ("in_pickup_list", ParcelStage::Printed),
            ("invoice_pending", ParcelStage::NeedsNote),
            ("waiting_for_label_generation", ParcelStage::Held),
            ("buffered", ParcelStage::Early),
            ("dropped_off", ParcelStage::HandedOver),
            ("picked_up", ParcelStage::HandedOver),
            ("in_hub", ParcelStage::HandedOver),
            ("in_packing_list", ParcelStage::HandedOver),
            ("authorized_by_carrier", ParcelStage::HandedOver),
            ("a_word_of_tomorrow", ParcelStage::HandedOver),
        ] {
            assert_eq!(ready(substatus), stage, "{substatus}");
        }
        let of = ParcelStage::of;
        assert_eq!(of("handling", "invoice_pending", ""), ParcelStage::NeedsNote);
        assert_eq!(of("pending", "buffered", ""), ParcelStage::Early);
        assert_eq!(of("ready_to_ship", "ready_to_print", "fulfillment"), ParcelStage::Early);
        assert_eq!(of("ready_to_ship", "", "custom"), ParcelStage::Held);
        assert_eq!(of("shipped", "out_for_delivery", ""), ParcelStage::Sent);
        assert_eq!(of("not_delivered", "returning_to_sender", ""), ParcelStage::Ended);
        assert_eq!(of("not_delivered", "returned", ""), ParcelStage::Returned);
        assert_eq!(of("on_the_moon", "", ""), ParcelStage::Unknown);
    }

    #[test]
    fn marks_are_set_and_taken_back_one_by_one() {
        let both = Marks::default().with(Marks::FRAUD, true).with(Marks::SPLIT, true);
        assert!(both.has(Marks::FRAUD) && both.has(Marks::SPLIT) && !both.has(Marks::SAME_DAY));
        assert_eq!(both.with(Marks::FRAUD, false), Marks(Marks::SPLIT));
    }
}
