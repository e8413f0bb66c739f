//! `notify_seller`: a notification to the owner of the token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::edge::route::Todo;
use crate::http::{Check, Code, Field, Problem, schema};
use crate::identity::Seller;
use crate::messages::choices::{self, ChannelSet};
use crate::messages::notices::{self, CUSTOM, LONGEST_BODY, LONGEST_TITLE, Notice};
use crate::outbox::Channel;
use crate::partner::operation::{Begun, Operation};

/// The channels of a notification.
pub const CHANNELS: [&str; 3] =
    [Channel::Telegram.name(), Channel::Email.name(), Channel::Push.name()];

/// A notification to the owner of the token.
#[derive(Deserialize, JsonSchema)]
pub struct NotificationRequest {
    /// The way it takes; the owner must have connected it.
    #[serde(default)]
    #[schemars(!default, extend("enum" = CHANNELS))]
    channel: Field<String>,
    /// What it is about.
    #[serde(default)]
    #[schemars(!default, extend("const" = CUSTOM))]
    event: Field<String>,
    /// One line of 1 to 120 characters.
    #[serde(default)]
    #[schemars(!default, extend("pattern" = schema::line(1..=LONGEST_TITLE)))]
    title: Field<String>,
    /// 1 to 2000 characters, in as many lines as it takes.
    #[serde(default)]
    #[schemars(!default, length(max = LONGEST_BODY), extend("pattern" = schema::lines()))]
    body: Field<String>,
}

/// A notification that will leave.
#[derive(Serialize, JsonSchema)]
pub struct QueuedNotification {
    /// Number of the notification, as `list_notifications` has it.
    id: String,
    /// The way it takes.
    #[schemars(extend("enum" = CHANNELS))]
    channel: &'static str,
    /// It waits to be sent.
    #[schemars(extend("const" = "queued"))]
    status: &'static str,
}

impl Operation for NotificationRequest {
    type By = Seller;
    type Reply = QueuedNotification;

    /// The owner has not connected the channel.
    const ERRORS: &'static [Code] = &[Code::ChannelNotConnected];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let channel: String = check.required("channel", self.channel);
        let channel = CHANNELS.contains(&&*channel).then(|| Channel::from_name(&channel)).flatten();
        if channel.is_none() {
            check.fail("channel", format!("must be one of {}", CHANNELS.join(", ")));
        }
        let event: String = check.required("event", self.event);
        if event != CUSTOM {
            check.fail("event", format!("must be {CUSTOM}"));
        }
        let title = check.line("title", self.title, 1..=LONGEST_TITLE);
        let body = check.lines("body", self.body, LONGEST_BODY);
        check.finish()?;
        let channel = channel.unwrap_or(Channel::Email);
        let (owner, channel_set) = (seller.account.user_id, ChannelSet::of(&app.config));
        Ok(Todo::Write(Box::new(move |tx| {
            if !choices::reach(tx, channel_set, owner)?.has(channel) {
                let said = format!("the owner of the token has not connected {}", channel.name());
                return Err(Problem::new(Code::ChannelNotConnected, said));
            }
            let notice = Notice { channel, title, body };
            let id = notices::send(tx, owner, &notice)?;
            Ok(QueuedNotification { id: id.to_string(), channel: channel.name(), status: "queued" })
        })))
    }
}
