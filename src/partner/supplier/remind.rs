//! `drop_remind_order` and `drop_remind_all`: reminders to pay drop orders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::ids::OrderId;
use crate::dropshipping::orders::{self, DropOrderStatus};
use crate::dropshipping::reminders::{self, Told, Way};
use crate::edge::route::Todo;
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Supplier;
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;
use crate::partner::operation::{Begun, Operation};

/// The channels of a reminder.
const WAYS: [&str; 5] = [
    Channel::Chat.name(),
    Channel::Telegram.name(),
    Channel::Push.name(),
    Channel::Email.name(),
    Way::Panel.name(),
];

/// The drop order to be reminded of.
#[derive(Deserialize, JsonSchema)]
pub struct Reminder {
    /// The marketplace's order, as `drop_list_orders` shows it.
    #[serde(default)]
    #[schemars(!default)]
    order_id: Field<OrderId>,
}

/// The seller is reminded.
#[derive(Serialize, JsonSchema)]
pub struct Reminded {
    /// True also while a reminder of the last 24 hours stands; it is not sent again.
    #[schemars(extend("const" = true))]
    reminded: bool,
    /// The way it takes; `panel` when the seller has connected no channel.
    #[schemars(extend("enum" = WAYS))]
    channel: &'static str,
}

impl Operation for Reminder {
    type By = Supplier;
    type Reply = Reminded;

    /// There is no such drop order.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let order: OrderId = check.required("order_id", self.order_id);
        check.finish()?;
        let (owner, channel_set) = (supplier.account.user_id, ChannelSet::of(&app.config));
        Ok(Todo::Write(Box::new(move |tx| {
            let order = orders::of_order(tx, owner, order)?;
            let order = order.ok_or_else(Problem::not_found)?;
            match order.status(tx.now()) {
                DropOrderStatus::Pending | DropOrderStatus::Overdue => {}
                DropOrderStatus::Paid => return Err(Problem::field("order_id", "is paid already")),
                DropOrderStatus::Cancelled => {
                    return Err(Problem::field("order_id", "was cancelled"));
                }
            }
            let way = reminders::of_order(tx, channel_set, &order)?;
            Ok(Reminded { reminded: true, channel: way.name() })
        })))
    }
}

/// Whom the reminders told.
#[derive(Serialize, JsonSchema)]
pub struct AllReminded {
    /// Sellers with overdue orders.
    sellers: i64,
    /// Their overdue orders.
    orders: i64,
}

impl Operation for Nothing {
    type By = Supplier;
    type Reply = AllReminded;

    fn sent(request: &crate::http::Request) -> Result<Nothing, Problem> {
        // The body has no fields, so it may be empty.
        if request.body.is_empty() { Ok(Nothing {}) } else { request.json() }
    }

    fn begin(self, app: &App, supplier: &Supplier, _: Check) -> Begun<Self> {
        let (owner, channel_set) = (supplier.account.user_id, ChannelSet::of(&app.config));
        Ok(Todo::Slow(Box::new(move |app| {
            let Told { sellers, orders } = reminders::of_all(&app.db, channel_set, owner)?;
            Ok(AllReminded { sellers, orders })
        })))
    }
}

/// An object of which nothing is read.
#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}
