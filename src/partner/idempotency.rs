//! Calls that are safe to repeat: the same key and body within a day get the
//! first answer, and the work is done once (contract §9).
//!
//! The answer is stored in the transaction of the work, so neither a hundred
//! calls at a time nor the end of the process does it twice. A call that was
//! refused did nothing and leaves nothing: its key is still free.

use http::HeaderName;

use crate::base::ids::short_digest;
use crate::base::{UserId, retention};
use crate::db::{self, ReadTx, WriteTx};
use crate::http::{Problem, Request};

/// The header that carries the key.
const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Name of the header in faults.
const NAME: &str = "Idempotency-Key";
/// Longest key.
pub const LONGEST: usize = 128;

/// A key with what it stands for.
#[derive(Clone, Copy)]
pub struct CallKey {
    owner: UserId,
    key: [u8; 16],
    body: [u8; 16],
}

impl CallKey {
    /// The key of a call, if it brings one.
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

    /// The first answer, when the work was done within the last day; a problem
    /// when it was asked for with another body.
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

    /// Stores the answer with the work.
    pub fn keep(&self, tx: &WriteTx<'_>, reply: &[u8]) -> db::Result<()> {
        tx.run(
            "INSERT INTO partner_call (user_id, key, body, made_at, reply) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (user_id, key) DO UPDATE SET body = ?3, made_at = ?4, reply = ?5",
            (self.owner, self.key, self.body, tx.now(), reply),
        )
    }
}

/// Removes answers that are no longer promised, at most `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> db::Result<usize> {
    tx.execute(
        "DELETE FROM partner_call WHERE call_id IN (
             SELECT call_id FROM partner_call WHERE made_at <= ?1 LIMIT ?2)",
        (retention::CALLS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}
