//! Browsers with push subscriptions, in the database.

use super::encrypt::BrowserKeys;
use super::{Device, MOST_DEVICES, Subscription};
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// The result of [`add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    pub device: i64,
    /// Whether the person did not have this browser before.
    pub is_new: bool,
}

/// Enables messages in a browser. A browser that belonged to another person now
/// belongs to this one, because it shows messages to its current user. Above
/// [`MOST_DEVICES`] the oldest is removed.
pub fn add(
    tx: &WriteTx<'_>,
    user: UserId,
    subscription: &Subscription,
    agent: &str,
) -> Result<Added> {
    let (keys, endpoint) = (&subscription.keys, &*subscription.endpoint);
    let known: Option<(i64, UserId)> =
        tx.tuple("SELECT device_id, user_id FROM push_device WHERE endpoint = ?1", [endpoint])?;
    if let Some((device, owner)) = known
        && owner == user
    {
        tx.execute(
            "UPDATE push_device SET p256dh = ?2, auth = ?3, agent = ?4 WHERE device_id = ?1",
            (device, keys.p256dh(), keys.auth(), agent),
        )?;
        return Ok(Added { device, is_new: false });
    }
    if known.is_some() {
        forget(tx, endpoint)?;
    }
    tx.execute(
        "DELETE FROM push_device WHERE device_id IN (
             SELECT device_id FROM push_device WHERE user_id = ?1
             ORDER BY device_id DESC LIMIT -1 OFFSET ?2)",
        (user, MOST_DEVICES - 1),
    )?;
    let device = tx.value(
        "INSERT INTO push_device (user_id, endpoint, p256dh, auth, agent, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         RETURNING device_id",
        (user, endpoint, keys.p256dh(), keys.auth(), agent, tx.now().0),
    )?;
    Ok(Added { device, is_new: true })
}

/// A person's browsers, the newest first.
pub fn of(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<Device>> {
    let all = tx.all(
        "SELECT device_id, endpoint, p256dh, auth, agent, created_at, sent_at
         FROM push_device WHERE user_id = ?1
         ORDER BY device_id DESC",
        [user],
        |row| {
            let (p256dh, auth): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
            // Keys are validated before they are stored, so none is skipped.
            let Some(keys) = BrowserKeys::new(&p256dh, &auth) else { return Ok(None) };
            Ok(Some(Device {
                id: row.get(0)?,
                subscription: Subscription { endpoint: row.get(1)?, keys },
                agent: row.get(4)?,
                created_at: row.get(5)?,
                sent_at: row.get(6)?,
            }))
        },
    )?;
    Ok(all.into_iter().flatten().collect())
}

/// Switches messages off in one of a person's browsers; false when the person
/// has no such browser.
pub fn remove(tx: &WriteTx<'_>, user: UserId, device: i64) -> Result<bool> {
    let removed = tx
        .execute("DELETE FROM push_device WHERE device_id = ?1 AND user_id = ?2", (device, user))?;
    Ok(removed == 1)
}

/// Removes a browser that cannot be reached any more, whoever owns it now.
pub fn forget(tx: &WriteTx<'_>, endpoint: &str) -> Result<()> {
    tx.run("DELETE FROM push_device WHERE endpoint = ?1", [endpoint])
}

/// Removes all browsers: none can be reached with another key of ours.
pub fn forget_all(tx: &WriteTx<'_>) -> Result<usize> {
    tx.execute("DELETE FROM push_device", [])
}

/// Stores when the service accepted a message for a browser.
pub fn note_sent(tx: &WriteTx<'_>, endpoint: &str) -> Result<()> {
    tx.run("UPDATE push_device SET sent_at = ?2 WHERE endpoint = ?1", (endpoint, tx.now().0))
}

/// How many browsers are subscribed.
pub fn count(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT count(*) FROM push_device", [])
}
