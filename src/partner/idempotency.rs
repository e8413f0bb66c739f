//! Calls that are safe to repeat: within a day, a call with the same key and
//! body gets the first answer, and the work is done once.
//!
//! The answer is stored in the transaction of the work. So the work is not done
//! twice, even when many calls come at once or the process ends. A rejected
//! call changes nothing and stores nothing: its key is still free.
//!
//! An account has at most [`MOST_KEPT`] of answers. Above that the oldest lose
//! their text but not their place: a repeated call is told that it was done, and
//! does nothing a second time. Decisions partner-4, partner-5.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use crate::base::ids::short_digest;
use crate::base::secrets::SealContext;
use crate::base::{Sealer, UserId, hex, retention};
use crate::db::{self, ReadTx, WriteTx};
use crate::http::reply::media;
use crate::http::{Code, Problem, Reply, Request};

/// The header that carries the key.
const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Name of the header in error messages.
const NAME: &str = "Idempotency-Key";
/// Longest key.
pub const LONGEST: usize = 128;
/// Most bytes of answers that are kept of an account.
const MOST_KEPT: usize = 2 << 20;

/// Tells that an answer was given before.
const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));

const DROPPED: &str = "the call with this Idempotency-Key was done; its answer is no longer kept, because \
                       newer ones of this account have taken its place";

/// A key with its owner and a digest of the body.
#[derive(Clone)]
pub struct CallKey {
    owner: UserId,
    key: [u8; 16],
    body: [u8; 16],
    /// Seals the answer while it is kept, where it holds a secret.
    sealer: Option<Arc<Sealer>>,
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
            sealer: None,
        }))
    }

    /// The same, for an answer that holds a secret.
    pub fn sealed(self, sealer: &Arc<Sealer>) -> Self {
        Self { sealer: Some(Arc::clone(sealer)), ..self }
    }

    /// The first answer, if the key was used within the last day; an error if
    /// it was used with another body.
    pub fn answered(&self, tx: &ReadTx<'_>) -> Result<Option<Reply>, Problem> {
        let since = retention::CALLS.before(tx.now());
        let found: Option<([u8; 16], Vec<u8>)> = tx.optional(
            "SELECT body, reply FROM partner_call WHERE user_id = ?1 AND key = ?2 AND made_at > ?3",
            (self.owner, self.key, since),
            |row| row.try_into(),
        )?;
        let Some((body, reply)) = found else { return Ok(None) };
        if body != self.body {
            let said = "this Idempotency-Key was sent with another body before";
            return Err(Problem::new(Code::IdempotencyKeyReused, said));
        }
        if reply.is_empty() {
            return Err(Problem::program_conflict(DROPPED));
        }
        let reply = match &self.sealer {
            Some(sealer) => {
                let opened = sealer.open(&reply, place(&hex(&self.key)));
                opened.map_err(|_| Problem::program_conflict(DROPPED))?
            }
            None => reply,
        };
        Ok(Some(Reply::of(media::JSON, reply).with(REPLAYED.0, REPLAYED.1)))
    }

    /// Stores the answer in the transaction of the work.
    pub fn keep(&self, tx: &WriteTx<'_>, reply: &[u8]) -> db::Result<()> {
        let sealed = self.sealer.as_ref().map(|sealer| sealer.seal(reply, place(&hex(&self.key))));
        let reply = sealed.as_deref().unwrap_or(reply);
        let reply = if reply.len() > MOST_KEPT { &[] } else { reply };
        // The key may have been used more than a day ago.
        tx.run("DELETE FROM partner_call WHERE user_id = ?1 AND key = ?2", (self.owner, self.key))?;
        // The answers of an account stand one behind the other, so that nothing is added up.
        let start: i64 = tx
            .maybe(
                "SELECT kept_from + length(reply) FROM partner_call
                 WHERE user_id = ?1 AND reply <> x'' ORDER BY kept_from DESC LIMIT 1",
                [self.owner],
            )?
            .unwrap_or(0);
        tx.run(
            "INSERT INTO partner_call (user_id, key, body, made_at, reply, kept_from)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (self.owner, self.key, self.body, tx.now(), reply, start),
        )?;
        let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        tx.run(
            "UPDATE partner_call SET reply = x''
             WHERE user_id = ?1 AND reply <> x'' AND kept_from < ?2",
            (self.owner, start + size(reply.len()) - size(MOST_KEPT)),
        )
    }
}

fn place(key: &str) -> SealContext<'_> {
    SealContext { table: "partner_call", column: "reply", row: key }
}

/// Removes answers older than a day, at most `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> db::Result<usize> {
    tx.execute(
        "DELETE FROM partner_call WHERE call_id IN (
             SELECT call_id FROM partner_call WHERE made_at <= ?1 LIMIT ?2)",
        (retention::CALLS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}
