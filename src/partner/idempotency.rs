//! Calls that are safe to repeat: within a day, a call with the same key and
//! body gets the first answer, and the work is done once (contract §9).
//!
//! The answer is stored in the transaction of the work. So the work is not done
//! twice, even when many calls come at once or the process ends. A rejected
//! call changes nothing and stores nothing: its key is still free.

use http::HeaderName;

use crate::base::ids::short_digest;
use crate::base::{UserId, retention};
use crate::db::{self, ReadTx, WriteTx};
use crate::http::{Problem, Request};

/// The header that carries the key.
const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Name of the header in error messages.
const NAME: &str = "Idempotency-Key";
/// Longest key.
pub const LONGEST: usize = 128;

/// A key with its owner and a digest of the body.
#[derive(Clone, Copy)]
pub struct CallKey {
    owner: UserId,
    key: [u8; 16],
    body: [u8; 16],
}

impl CallKey {
    /// The idempotency key of a call, if it has one.
    pub fn of(
        operation: &'static str,
        owner: UserId,
        request: &Request,
    ) -> Result<Option<Self>, Problem> {
        let mut sent = request.headers().get_all(&HEADER).iter();
        let Some(key) = sent.next() else {
            return Ok(None);
        };
        let key = key.as_bytes();
        let is_good = (1..=LONGEST).contains(&key.len())
            && key.iter().all(|byte| (b' '..=b'~').contains(byte))
            && sent.next().is_none();
        if !is_good {
            let said = format!("must be one text of 1 to {LONGEST} printable ASCII characters");
            return Err(Problem::field(NAME, said));
        }
        Ok(Some(Self {
            owner,
            key: short_digest(&[operation.as_bytes(), key]),
            body: short_digest(&[&request.body]),
        }))
    }

    /// The first answer, if the key was used within the last day; an error if
    /// it was used with another body.
    pub fn answered(&self, tx: &ReadTx<'_>) -> Result<Option<Vec<u8>>, Problem> {
        let since = retention::CALLS.before(tx.now());
        let found: Option<([u8; 16], Vec<u8>)> = tx.optional(
            "SELECT body, reply FROM partner_call WHERE user_id = ?1 AND key = ?2 AND made_at > ?3",
            (self.owner, self.key, since),
            |row| row.try_into(),
        )?;
        match found {
            Some((body, _)) if body != self.body => {
                Err(Problem::field(NAME, "was sent with another body before"))
            }
            found => Ok(found.map(|(_, reply)| reply)),
        }
    }

    /// Stores the answer in the transaction of the work.
    pub fn keep(&self, tx: &WriteTx<'_>, reply: &[u8]) -> db::Result<()> {
        tx.run(
            "INSERT INTO partner_call (user_id, key, body, made_at, reply) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (user_id, key) DO UPDATE SET body = ?3, made_at = ?4, reply = ?5",
            (self.owner, self.key, self.body, tx.now(), reply),
        )
    }
}

/// Removes answers older than a day, at most `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> db::Result<usize> {
    tx.execute(
        "DELETE FROM partner_call WHERE call_id IN (
             SELECT call_id FROM partner_call WHERE made_at <= ?1 LIMIT ?2)",
        (retention::CALLS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}
