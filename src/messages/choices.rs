//! Which channels carry a message to a person: it depends on what reaches the
//! person, and on what the person chose.
//!
//! Messages about a person's access (a link to choose a password, a payment) do
//! not use these choices.

use crate::accounts::person::Group;
use crate::base::UserId;
use crate::config::{Config, Gateway};
use crate::db::{Column, ReadTx, Result, WriteTx};
use crate::outbox::unreachable::IS_REACHED;
use crate::outbox::{Channel, MessageKind};

/// A set of channels, such as those that are configured, or those that reach a
/// person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelSet([bool; Channel::ALL.len()]);

impl ChannelSet {
    /// The configured channels.
    pub fn of(config: &Config) -> Self {
        Self::that(|channel| match channel {
            Channel::Chat => config.chat.gateway != Gateway::None,
            Channel::Email => !config.email.smtp_url.is_empty(),
            Channel::Telegram => !config.telegram.bot_token.is_empty(),
            Channel::Push => !config.push.subject.is_empty(),
        })
    }

    /// The channels for which `holds` is true.
    pub fn that(holds: impl Fn(Channel) -> bool) -> Self {
        Self(Channel::ALL.map(holds))
    }

    /// Whether the set contains a channel.
    pub fn has(self, channel: Channel) -> bool {
        self.all().any(|one| one == channel)
    }

    /// The channels of the set.
    pub fn all(self) -> impl Iterator<Item = Channel> {
        let channels = Channel::ALL.into_iter().zip(self.0);
        channels.filter_map(|(channel, is_one)| is_one.then_some(channel))
    }
}

/// A person's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(Vec<(String, bool)>);

impl Choices {
    /// What was chosen about a channel or a kind of message.
    pub fn about(&self, name: &str) -> Option<bool> {
        let known = self.0.iter().find(|(about, _)| about == name);
        known.map(|(_, wanted)| *wanted)
    }
}

/// The channels to send a message by; empty when no channel reaches the person,
/// or the person does not want messages of this kind.
pub fn chosen(kind: MessageKind, reach: ChannelSet, choices: &Choices) -> Vec<Channel> {
    if kind.is_optional() && choices.about(kind.name()) == Some(false) {
        return Vec::new();
    }
    by_channel(reach, choices)
}

/// The channels to send a person's messages by. Without a choice: chat,
/// Telegram and the browser wherever they are connected, and e-mail when none
/// of them is.
pub fn by_channel(reach: ChannelSet, choices: &Choices) -> Vec<Channel> {
    let wants = |channel: Channel, custom: bool| {
        reach.has(channel) && choices.about(channel.name()).unwrap_or(custom)
    };
    let quick = [Channel::Chat, Channel::Telegram, Channel::Push];
    let mut channels: Vec<Channel> =
        quick.into_iter().filter(|channel| wants(*channel, true)).collect();
    if wants(Channel::Email, channels.is_empty()) {
        channels.push(Channel::Email);
    }
    channels
}

/// [`chosen`] with the person's channels and choices from the database.
pub fn channels_to(
    tx: &ReadTx<'_>,
    channel_set: ChannelSet,
    user: UserId,
    kind: MessageKind,
) -> Result<Vec<Channel>> {
    channels_among(tx, channel_set, user, kind, None)
}

/// The same, of some channels alone.
pub fn channels_among(
    tx: &ReadTx<'_>,
    channel_set: ChannelSet,
    user: UserId,
    kind: MessageKind,
    among: Option<ChannelSet>,
) -> Result<Vec<Channel>> {
    let reach = reach(tx, channel_set, user)?;
    let reach = among.map_or(reach, |among| {
        ChannelSet::that(|channel| reach.has(channel) && among.has(channel))
    });
    Ok(chosen(kind, reach, &of(tx, user)?))
}

/// The next people after an id whom some channel might reach, before their choices are
/// checked, and who fulfil an SQL condition on `user u` with `:students` and a value.
pub fn reachable_students(
    tx: &ReadTx<'_>,
    channel_set: ChannelSet,
    after: UserId,
    most: u32,
    condition: &str,
    value: Column<'_>,
) -> Result<Vec<UserId>> {
    let email = channel_set.has(Channel::Email);
    let values: [Column<'_>; 5] = [
        (":after", &after),
        (":email", &email),
        (":students", &Group::Students),
        (":most", &most),
        value,
    ];
    tx.values(
        &format!(
            "SELECT u.user_id FROM user u
             WHERE u.user_id > :after
                 AND (:email OR {IS_REACHED}
                      OR EXISTS (SELECT 1 FROM telegram_chat t WHERE t.user_id = u.user_id)
                      OR EXISTS (SELECT 1 FROM push_device d WHERE d.user_id = u.user_id))
                 AND {condition}
             ORDER BY u.user_id LIMIT :most"
        ),
        &values[..],
    )
}

/// The channels that reach a person. Chat also counts without a gateway: its
/// messages wait until one is configured. It does not with a number that the network
/// refused time and again.
pub fn reach(tx: &ReadTx<'_>, channel_set: ChannelSet, user: UserId) -> Result<ChannelSet> {
    let sql = format!(
        "SELECT {IS_REACHED},
                EXISTS (SELECT 1 FROM telegram_chat t
                        WHERE t.user_id = u.user_id AND t.blocked_at IS NULL),
                EXISTS (SELECT 1 FROM push_device d WHERE d.user_id = u.user_id)
         FROM user u WHERE u.user_id = ?1"
    );
    let found = tx.optional(&sql, [user], |row| {
        let [number, chat, device]: [bool; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        Ok(ChannelSet::that(|channel| match channel {
            Channel::Chat => number,
            Channel::Email => channel_set.has(channel),
            Channel::Telegram => chat && channel_set.has(channel),
            Channel::Push => device && channel_set.has(channel),
        }))
    })?;
    Ok(found.unwrap_or_default())
}

/// What a person chose.
pub fn of(tx: &ReadTx<'_>, user: UserId) -> Result<Choices> {
    let all = tx.tuples(
        "SELECT about, wanted FROM message_choice WHERE user_id = ?1 ORDER BY about",
        [user],
    )?;
    Ok(Choices(all))
}

/// Whether there is such a person.
pub fn exists(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    let found = "SELECT EXISTS (SELECT 1 FROM user WHERE user_id = ?1)";
    tx.value(found, [user])
}

/// Sets what a person chose about a channel or a kind of message.
pub fn set(tx: &WriteTx<'_>, user: UserId, about: &str, wanted: bool) -> Result<()> {
    tx.run(
        "INSERT INTO message_choice (user_id, about, wanted) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_id, about) DO UPDATE SET wanted = ?3",
        (user, about, wanted),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> ChannelSet {
        ChannelSet::that(|_| true)
    }

    fn all_but(without: Channel) -> ChannelSet {
        ChannelSet::that(|channel| channel != without)
    }

    fn only(channel: Channel) -> ChannelSet {
        ChannelSet::that(|one| one == channel)
    }

    fn of(choices: &[(&str, bool)]) -> Choices {
        let owned = choices.iter().map(|(about, wanted)| ((*about).to_owned(), *wanted));
        Choices(owned.collect())
    }

    #[test]
    fn without_a_choice_email_is_for_those_whom_nothing_else_reaches() {
        let chosen = |reach| chosen(MessageKind::MeetReminder, reach, &Choices::default());
        assert_eq!(chosen(all()), [Channel::Chat, Channel::Telegram, Channel::Push]);
        assert_eq!(chosen(only(Channel::Email)), [Channel::Email]);
        assert_eq!(chosen(ChannelSet::default()), []);
    }

    #[test]
    fn a_choice_about_a_channel_decides_where_it_is_connected() {
        let chosen = |reach, choices| chosen(MessageKind::Inactivity, reach, &of(choices));
        assert_eq!(
            chosen(all(), &[("email", true), ("chat", false), ("push", false)]),
            [Channel::Telegram, Channel::Email]
        );
        assert_eq!(
            chosen(all_but(Channel::Chat), &[("chat", true), ("telegram", false)]),
            [Channel::Push]
        );
        // E-mail is not a fallback when the person switched it off, too.
        assert_eq!(
            chosen(
                all(),
                &[("chat", false), ("telegram", false), ("push", false), ("email", false)]
            ),
            []
        );
    }

    #[test]
    fn a_kind_that_is_not_wanted_takes_no_channel() {
        let choices = of(&[("inatividade", false), ("alerta", false)]);
        assert_eq!(chosen(MessageKind::Inactivity, all(), &choices), []);
        assert_ne!(chosen(MessageKind::MeetReminder, all(), &choices), []);
        assert_ne!(chosen(MessageKind::Alert, all(), &choices), [], "not to be done without");
    }
}
