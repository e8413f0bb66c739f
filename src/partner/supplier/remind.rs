//! `drop_remind_order` and `drop_remind_all`: reminders to pay drop orders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::ids::OrderId;
use crate::drop::orders::{self, Standing};
use crate::drop::reminders::{self, Told, Way};
use crate::edge::docs::Example;
use crate::edge::guard::Supplier;
use crate::edge::route::Todo;
use crate::http::input::{Check, Field, RowNumber};
use crate::http::{Code, Problem};
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;
use crate::partner::operation::{Effect, Operation, Tool};

/// The channels of a reminder.
const WAYS: [&str; 5] = [
    Channel::Chat.name(),
    Channel::Telegram.name(),
    Channel::Push.name(),
    Channel::Email.name(),
    Way::Panel.name(),
];

pub struct RemindOrder;

/// The drop order to be reminded of.
#[derive(Deserialize, JsonSchema)]
pub struct Reminder {
    /// The marketplace's order, as `drop_list_orders` shows it.
    #[serde(default)]
    #[schemars(!default)]
    order_id: Field<RowNumber>,
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

impl Operation for RemindOrder {
    type By = Supplier;
    type Args = Reminder;
    type Reply = Reminded;

    /// There is no such drop order.
    const ERRORS: &'static [Code] = &[Code::NotFound];
    const DETAILS: &'static str = "\
        The text of the reminder is fixed. A seller is reminded of an order once in 24 \
        hours; asked again meanwhile, this answers the same and sends nothing. Of what is \
        paid or cancelled nobody is reminded.";
    const EXAMPLE: Example = Example {
        sent: r#"{"order_id": "2000003508419013"}"#,
        answer: r#"{"reminded": true, "channel": "telegram"}"#,
    };
    const TOOL: Tool = Tool {
        title: "Remind of one payment",
        when: "\
            Use it when the person wants a seller reminded of one order. `order_id` is that of \
            `drop_list_orders`. The text is fixed, and a seller is told of an order once in 24 \
            hours.",
        effect: Effect::Sends,
    };

    fn begin(app: &App, supplier: &Supplier, sent: Reminder) -> Result<Todo<Reminded>, Problem> {
        let mut check = Check::json();
        let RowNumber(order) = check.required("order_id", sent.order_id);
        check.finish()?;
        let (owner, channel_set) = (supplier.account.user_id, ChannelSet::of(&app.config));
        Ok(Todo::Write(Box::new(move |tx| {
            let order = orders::of_order(tx, owner, OrderId(order))?;
            let order = order.ok_or_else(Problem::not_found)?;
            match order.standing(tx.now()) {
                Standing::Pending | Standing::Overdue => {}
                Standing::Paid => return Err(Problem::field("order_id", "is paid already")),
                Standing::Cancelled => return Err(Problem::field("order_id", "was cancelled")),
            }
            let way = reminders::of_order(tx, channel_set, &order)?;
            Ok(Reminded { reminded: true, channel: way.name() })
        })))
    }
}

pub struct RemindAll;

/// Whom the reminders told.
#[derive(Serialize, JsonSchema)]
pub struct AllReminded {
    /// Sellers with overdue orders.
    sellers: i64,
    /// Their overdue orders.
    orders: i64,
}

impl Operation for RemindAll {
    type By = Supplier;
    type Args = Nothing;
    type Reply = AllReminded;

    const DETAILS: &'static str = "\
        Each seller is told once of all that is overdue. Each token may call it once in \
        five minutes; the headers show that window. A connected app counts as one token.";
    const EXAMPLE: Example = Example { sent: "{}", answer: r#"{"sellers": 2, "orders": 5}"# };
    const TOOL: Tool = Tool {
        title: "Remind all who are overdue",
        when: "\
            Use it only when the person asked to remind everybody: each seller with something \
            overdue is told once. It takes no arguments and may be called once in five minutes.",
        effect: Effect::Sends,
    };

    fn sent(request: &crate::http::Request) -> Result<Nothing, Problem> {
        // The body has no fields, so it may be empty.
        if request.body.is_empty() { Ok(Nothing {}) } else { request.json() }
    }

    fn begin(app: &App, supplier: &Supplier, _: Nothing) -> Result<Todo<AllReminded>, Problem> {
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
