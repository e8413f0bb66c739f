//! Forms that do their work once, however often they are sent.
//!
//! Each form that a page prints has a random value ([`FIELD`], see [`field`]).
//! The first time a form is sent, its answer is stored in the transaction that
//! makes the change. If the same person sends it to the same path again, the
//! stored answer is returned and nothing is done. Answers to invalid input are
//! not stored, so the form can be corrected. Programs send no such field, and
//! nothing changes for them.
//!
//! An answer may show something only once, such as a new API key. So answers
//! are encrypted with a key made from the form's value, and only a digest of
//! that value is stored. Decisions panel-1, panel-2.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::base::ids::short_digest;
use crate::base::secrets::SealContext;
use crate::base::{Sealer, retention, secrets};
use crate::db::{self, Db, ReadTx, WriteTx};
use crate::http::input::is_form;
use crate::http::{Body, Problem, Reply, Request, upload};

/// Name of the field with the random value.
pub const FIELD: &str = "envio";
/// Most answers kept for one person, and for all people together.
const MOST_OWN: i64 = 32;
const MOST: i64 = 20_000;
/// Most expired answers that are deleted when a new one is stored.
const SWEPT: i64 = 20;
/// Largest answer that is stored; a page is some 40 KB.
const LARGEST: usize = 128 * 1024;
/// Bytes of an upload, from the field's name on, in which its value must end.
const PART_HEAD: usize = 512;

/// The value of the field of one form, new each time.
pub fn field() -> String {
    secrets::random_hex::<16>()
}

/// One form, sent by one person to one address.
#[derive(Clone)]
pub struct FormSubmission {
    user: i64,
    digest: [u8; 16],
    key: [u8; 32],
    /// Held until the work is done, even when the caller has disconnected.
    _lock: Option<Arc<FormLockGuard>>,
}

impl FormSubmission {
    /// The form of a request, if it has our field. The field is removed from
    /// the body of a browser's form, so that no handler sees it.
    pub fn take(user: i64, request: &mut Request) -> Option<Self> {
        let value = if is_form(request.headers()) {
            taken(&mut request.body)?
        } else if upload::is_upload(request) {
            in_upload(&request.body)?
        } else {
            return None;
        };
        let is_ours =
            (16..=64).contains(&value.len()) && value.iter().all(u8::is_ascii_alphanumeric);
        is_ours.then(|| Self {
            user,
            digest: short_digest(&[&user.to_le_bytes(), request.path().as_bytes(), &value]),
            key: Sha256::new().chain_update("form_sent").chain_update(&value).finalize().into(),
            _lock: None,
        })
    }

    /// The form that was found in a request before.
    pub fn of(request: &Request) -> Option<&Self> {
        request.head.extensions.get()
    }

    /// The same form, holding its lock (see [`FormLocks`]).
    pub fn holding(self, lock: FormLockGuard) -> Self {
        Self { _lock: Some(Arc::new(lock)), ..self }
    }

    /// Runs a job, or returns the stored answer of the form.
    pub fn answer(
        &self,
        tx: &WriteTx<'_>,
        job: impl FnOnce(&WriteTx<'_>) -> Result<Reply, Problem>,
    ) -> Result<Reply, Problem> {
        if let Some(reply) = self.answered(tx)? {
            return Ok(reply);
        }
        let reply = job(tx)?;
        self.keep(tx, &reply)?;
        Ok(reply)
    }

    /// Stores the answer of work that was not one write job, right after it.
    pub fn keep_after(self, db: &Db, reply: &Reply) {
        let Some(sealed) = self.sealed(reply) else { return };
        if let Err(error) = db.write(move |tx| self.store(tx, &sealed)) {
            tracing::warn!(%error, "what a form was answered is not stored");
        }
    }

    /// The stored answer of the form; `None` when it has done no work yet.
    pub fn answered(&self, tx: &ReadTx<'_>) -> Result<Option<Reply>, Problem> {
        let since = retention::FORMS.before(tx.now()).0;
        let sealed: Option<Vec<u8>> = tx.maybe(
            "SELECT reply FROM form_sent WHERE digest = ?1 AND sent_at > ?2",
            (&self.digest[..], since),
        )?;
        let Some(sealed) = sealed else { return Ok(None) };
        let plain = Sealer::new(self.key).open(&sealed, PLACE).map_err(Problem::internal)?;
        let stored: StoredReply = serde_json::from_slice(&plain).map_err(Problem::internal)?;
        stored.reply().map(Some)
    }

    /// Stores the answer of the form after its work is done. An error is not
    /// stored, so that the form can be sent again.
    pub fn keep(&self, tx: &WriteTx<'_>, reply: &Reply) -> db::Result<()> {
        match self.sealed(reply) {
            Some(sealed) => self.store(tx, &sealed),
            None => Ok(()),
        }
    }

    /// The answer as [`FormSubmission::store`] takes it; `None` for one that is not stored.
    pub fn sealed(&self, reply: &Reply) -> Option<Vec<u8>> {
        let plain = serde_json::to_vec(&StoredReply::of(reply)?).ok()?;
        Some(Sealer::new(self.key).seal(&plain, PLACE))
    }

    /// Stores a sealed answer, unless there is one.
    pub fn store(&self, tx: &WriteTx<'_>, sealed: &[u8]) -> db::Result<()> {
        let since = retention::FORMS.before(tx.now()).0;
        tx.execute(
            "DELETE FROM form_sent WHERE sent_at <= ?1
             AND form_id IN (SELECT form_id FROM form_sent ORDER BY form_id LIMIT ?2)",
            (since, SWEPT),
        )?;
        tx.execute(
            "DELETE FROM form_sent WHERE digest = ?1 AND sent_at <= ?2",
            (&self.digest[..], since),
        )?;
        let added = tx.execute(
            "INSERT OR IGNORE INTO form_sent (digest, user_id, sent_at, reply)
             VALUES (?1, ?2, ?3, ?4)",
            (&self.digest[..], self.user, tx.now().0, sealed),
        )?;
        if added == 0 {
            return Ok(());
        }
        tx.execute(
            "DELETE FROM form_sent WHERE user_id = ?1 AND form_id <=
             (SELECT form_id FROM form_sent WHERE user_id = ?1 ORDER BY form_id DESC LIMIT 1 OFFSET ?2)",
            (self.user, MOST_OWN),
        )?;
        tx.run(
            "DELETE FROM form_sent WHERE form_id <= (SELECT max(form_id) FROM form_sent) - ?1",
            [MOST],
        )
    }
}

const PLACE: SealContext<'_> = SealContext { table: "form_sent", column: "reply", row: "" };

/// An answer as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredReply {
    status: u16,
    media: Option<String>,
    headers: Vec<(String, String)>,
    notice: Option<(String, String)>,
    body: String,
}

impl StoredReply {
    fn of(reply: &Reply) -> Option<Self> {
        if !(reply.status.is_success() || reply.status.is_redirection()) {
            return None;
        }
        let Body::Bytes(body) = &reply.body else { return None };
        let body = std::str::from_utf8(body).ok()?;
        let text = |value: &HeaderValue| value.to_str().map(str::to_owned).ok();
        let headers = reply.headers.iter();
        (body.len() <= LARGEST).then(|| Self {
            status: reply.status.as_u16(),
            media: reply.media.as_ref().and_then(text),
            headers: headers
                .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
                .collect(),
            notice: reply.notice.as_deref().cloned(),
            body: body.to_owned(),
        })
    }

    fn reply(self) -> Result<Reply, Problem> {
        let status = StatusCode::from_u16(self.status).map_err(Problem::internal)?;
        let mut reply = match self.media {
            Some(media) => {
                let media = HeaderValue::try_from(media).map_err(Problem::internal)?;
                Reply::of(media, self.body)
            }
            None => Reply::empty(status),
        };
        for (name, value) in self.headers {
            let name = HeaderName::try_from(name).map_err(Problem::internal)?;
            reply = reply.with(name, HeaderValue::try_from(value).map_err(Problem::internal)?);
        }
        reply.notice = self.notice.map(Box::new);
        Ok(reply.status(status))
    }
}

/// Removes the field from the body of a browser's form; returns its value.
fn taken(body: &mut Bytes) -> Option<Vec<u8>> {
    let start = memchr::memmem::find_iter(&body[..], b"envio=")
        .find(|at| *at == 0 || body[at - 1] == b'&')?;
    let end = memchr::memchr(b'&', &body[start..]).map_or(body.len(), |length| start + length);
    let value = body[start + FIELD.len() + 1..end].to_vec();
    *body = if start == 0 {
        body.slice((end + 1).min(body.len())..)
    } else {
        [&body[..start - 1], &body[end..]].concat().into()
    };
    Some(value)
}

/// The value of the field in an upload. The field stays in the body, because
/// handlers read uploads by name.
fn in_upload(body: &[u8]) -> Option<Vec<u8>> {
    let name = memchr::memmem::find(body, b"name=\"envio\"")?;
    let rest = &body[name..body.len().min(name + PART_HEAD)];
    let value = &rest[memchr::memmem::find(rest, b"\r\n\r\n")? + 4..];
    Some(value[..memchr::memmem::find(value, b"\r\n")?].to_vec())
}

/// Whether a request may contain a form: a POST with a content type.
pub fn may_bring(request: &Request) -> bool {
    *request.method() == http::Method::POST && request.headers().contains_key(CONTENT_TYPE)
}

/// A lock for each form: a second request with the same form waits, and then
/// finds the answer of the first.
#[derive(Default)]
pub struct FormLocks(Mutex<HashMap<[u8; 16], Arc<tokio::sync::Mutex<()>>>>);

/// A held lock; when it is dropped, the next request continues.
pub type FormLockGuard = OwnedMutexGuard<()>;

impl FormLocks {
    /// Waits until no other request with this form is running.
    pub async fn enter(&self, form: &FormSubmission) -> FormLockGuard {
        let lock = {
            let mut all = self.0.lock();
            all.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(all.entry(form.digest).or_default())
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_taken_out_wherever_it_stands() {
        for (body, value, rest) in [
            ("envio=abc&nome=x", Some("abc"), "nome=x"),
            ("nome=x&envio=abc", Some("abc"), "nome=x"),
            ("nome=x&envio=abc&q=1", Some("abc"), "nome=x&q=1"),
            ("envio=abc", Some("abc"), ""),
            ("reenvio=abc&x=envio=1", None, "reenvio=abc&x=envio=1"),
        ] {
            let mut bytes = Bytes::from(body);
            let found = taken(&mut bytes);
            assert_eq!(found.as_deref(), value.map(str::as_bytes), "{body}");
            assert_eq!(bytes, rest, "{body}");
        }
    }

    #[test]
    fn the_field_of_an_upload_is_found() {
        let part = "--b\r\nContent-Disposition: form-data; name=\"envio\"\r\n\r\nabc\r\n--b--";
        assert_eq!(in_upload(part.as_bytes()).as_deref(), Some(&b"abc"[..]));
        let typed = part.replace("\"envio\"\r\n", "\"envio\"\r\nContent-Type: text/plain\r\n");
        assert_eq!(in_upload(typed.as_bytes()).as_deref(), Some(&b"abc"[..]));
        assert_eq!(in_upload(b"--b\r\nContent-Disposition: form-data; name=\"envio\""), None);
    }
}
