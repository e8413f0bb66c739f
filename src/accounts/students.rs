//! Creating, suspending and reactivating students, whether the panel, an
//! integration or a purchase asks for it.
//!
//! Suspension closes every access at once: sessions, extension tokens and
//! connected apps end, and waiting messages are dropped. Reactivation restores
//! none of them; the person signs in again.

use std::sync::Arc;

use serde_json::json;

use super::person::PersonEntry;
use super::{links, store, viewing};
use crate::base::{Instant, Sealer, UserId};
use crate::db::{Column, ReadTx, Result, WriteTx};
use crate::outbox::unreachable;
use crate::outbox::{self, Channel, MessageKind, NewMessage};
use crate::services::Services;

/// What is needed to change people, apart from the transaction.
#[derive(Clone)]
pub struct AccountServices {
    sealer: Arc<Sealer>,
    email_works: bool,
}

impl AccountServices {
    /// The services of a running platform.
    pub fn of(services: &Services) -> Self {
        Self {
            sealer: Arc::clone(&services.sealer),
            email_works: !services.config.email.smtp_url.is_empty(),
        }
    }

    /// Whether a message to a person can be queued at all: always when e-mail is
    /// configured, otherwise only with a chat number.
    pub const fn reaches(&self, has_number: bool) -> bool {
        self.email_works || has_number
    }

    /// Whether a person with this e-mail address was erased.
    pub fn is_erased(&self, tx: &ReadTx<'_>, email: &str) -> Result<bool> {
        let digest = self.sealer.noted(&["address", email]);
        tx.value("SELECT EXISTS (SELECT 1 FROM erasure WHERE email = ?1)", [digest])
    }
}

/// A student to be made.
#[derive(Clone, Debug)]
pub struct NewStudent {
    pub person: PersonEntry,
    /// End of what was paid for.
    pub paid_until: Option<Instant>,
    /// Whether the welcome message is queued.
    pub welcome: bool,
}

/// Makes a student without a password and queues the welcome message, if wanted; `None`
/// when the e-mail address is taken.
pub fn create(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    new: &NewStudent,
) -> Result<Option<UserId>> {
    let now = tx.now();
    let more: [Column<'_>; 2] = [("created_at", &now), ("paid_until", &new.paid_until)];
    let user = tx.put_new("INSERT INTO user", &new.person, &more, "email")?;
    let user = user.map(UserId);
    if let Some(user) = user.filter(|_| new.welcome) {
        queue_link(tx, services, user, MessageKind::Welcome, new.person.chat_number.is_some())?;
    }
    Ok(user)
}

/// Suspends anybody: sessions, extension tokens and connected apps end, waiting
/// messages are dropped. False when the person is suspended already or is not there.
pub fn suspend(tx: &WriteTx<'_>, user: UserId, reason: &str) -> Result<bool> {
    let suspended = tx.execute(
        "UPDATE user SET suspended_at = ?2, suspended_for = ?3 WHERE user_id = ?1 AND suspended_at IS NULL",
        (user, tx.now(), reason),
    )?;
    if suspended == 0 {
        return Ok(false);
    }
    store::end_sessions(tx, user)?;
    store::revoke_extension_tokens(tx, user)?;
    store::end_grants(tx, user)?;
    tx.execute(
        "UPDATE one_time_link SET used_at = ?2 WHERE user_id = ?1 AND used_at IS NULL",
        (user, tx.now()),
    )?;
    outbox::drop_waiting(tx, user, "a pessoa está suspensa")?;
    viewing::close_of(tx, user)?;
    Ok(true)
}

/// Ends a suspension and deletes its reason. False when the person is not
/// suspended.
pub fn reactivate(tx: &WriteTx<'_>, user: UserId) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE user SET suspended_at = NULL, suspended_for = NULL, late_since = NULL, ends_at = NULL
         WHERE user_id = ?1 AND suspended_at IS NOT NULL",
        [user],
    )?;
    Ok(changed == 1)
}

/// Queues a message with a link to choose a password, on every channel by
/// which the person can be reached. Earlier links stop working. Returns
/// the number of messages.
pub fn send_password_link(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    user: UserId,
    kind: MessageKind,
) -> Result<usize> {
    let has_chat = unreachable::is_reached(tx, user)?;
    if services.reaches(has_chat) {
        links::end_earlier(tx, user)?;
    }
    queue_link(tx, services, user, kind, has_chat)
}

/// Queues the message for a person who has no other link.
fn queue_link(
    tx: &WriteTx<'_>,
    services: &AccountServices,
    user: UserId,
    kind: MessageKind,
    has_chat: bool,
) -> Result<usize> {
    if !services.reaches(has_chat) {
        return Ok(0);
    }
    let life = if kind == MessageKind::Welcome { links::FIRST_S } else { links::FORGOTTEN_S };
    let expires_at = tx.now().plus(life);
    let link = links::issue(tx, user, expires_at, Some(&services.sealer))?.name;
    let message = NewMessage {
        user,
        kind,
        cause: &link,
        params: json!({ "link": link }),
        run_at: None,
        expires_at: Some(expires_at),
    };
    let channels = [(Channel::Chat, has_chat), (Channel::Email, services.email_works)];
    let working = channels.into_iter().filter_map(|(channel, works)| works.then_some(channel));
    Ok(outbox::send(tx, &message, working)?.len())
}
