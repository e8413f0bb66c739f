//! Sends lists as CSV files, piece by piece.
//!
//! The rows of a file and their order are fixed at the start: their keys are
//! read in one short snapshot. The rows are then read by key, one piece at a
//! time. Each piece has its own snapshot, begun when the caller has taken the
//! piece before. So a slow caller costs the memory of one piece and of the
//! remaining keys, not of the whole file, and does not hold up the write-ahead
//! log. Rows removed in the meantime are left out; changed rows are sent as
//! they are by then. Decision http-20.

use std::io;
use std::sync::{Arc, Weak};

use crate::db::{Lane, ReadTx};
use crate::http::body::{Body, Pieces};
use crate::http::{Problem, Reply};
use crate::identity::Person;
use crate::panel::csv::CsvFile;
use crate::panel::list::Listing;
use crate::services::Services;
use bytes::Bytes;
use serde::Serialize;

/// Seconds after which the caller may retry.
const COME_BACK_S: i64 = 10;

/// Sends a list as its file, one row for each key. `read` reads the row, `None`
/// when it is gone. The keys of a short list may be the rows themselves.
pub fn list<K: Send + 'static, R: Serialize>(
    services: &Services,
    person: &Person,
    list: &'static Listing,
    keys: Vec<K>,
    mut read: impl FnMut(&Services, &ReadTx<'_>, K) -> Result<Option<R>, Problem> + Send + 'static,
) -> Result<Reply, Problem> {
    let file = CsvFile::of(list.file, list.csv)?;
    send(services, person, file, keys, move |services, tx, key, file| {
        match read(services, tx, key)? {
            Some(row) => file.record(list.csv, &row),
            None => Ok(()),
        }
    })
}

/// Sends one row for each key. `row` reads the row and adds it to the file,
/// unless it is gone. The keys of a short list may be the rows themselves.
pub fn send<K: Send + 'static>(
    services: &Services,
    person: &Person,
    file: CsvFile,
    keys: Vec<K>,
    row: impl FnMut(&Services, &ReadTx<'_>, K, &mut CsvFile) -> Result<(), Problem> + Send + 'static,
) -> Result<Reply, Problem> {
    let who = ("person", person.account.user_id.0);
    let place = services.sending.files.take(who).ok_or_else(|| {
        let text = "two files are on their way to this account already; wait for one of them";
        Problem::unavailable(text, COME_BACK_S)
    })?;
    let held = services
        .sending
        .unsent
        .take(keys.len().saturating_mul(size_of::<K>()))
        .ok_or_else(unsent)?;
    let mut reply = file.reply()?;
    let mut rows = Rows { file, keys: keys.into_iter(), row };
    let first = rows.piece(services)?;
    reply.body = if rows.keys.len() == 0 {
        Body::Bytes(first)
    } else {
        let (own, mut first) = (services.weak(), Some(first));
        let source = move || match first.take() {
            Some(first) => Ok(first),
            None => rows.next(&own),
        };
        let mut pieces = Pieces::made(source, Arc::clone(&services.sending.turns));
        pieces.hold((place, held));
        Body::from(pieces)
    };
    Ok(reply)
}

/// The error for a large response while too many others wait to be sent.
pub fn unsent() -> Problem {
    Problem::unavailable("too many large answers wait to be sent; try again soon", COME_BACK_S)
}

struct Rows<K, F> {
    file: CsvFile,
    keys: std::vec::IntoIter<K>,
    row: F,
}

impl<K, F> Rows<K, F>
where
    F: FnMut(&Services, &ReadTx<'_>, K, &mut CsvFile) -> Result<(), Problem>,
{
    /// The next piece; empty only when nothing is left.
    fn piece(&mut self, services: &Services) -> Result<Bytes, Problem> {
        services.db.read(Lane::Slow, |tx| {
            while !self.file.is_full()
                && let Some(key) = self.keys.next()
            {
                (self.row)(services, tx, key, &mut self.file)?;
            }
            Ok::<_, Problem>(())
        })?;
        self.file.take()
    }

    /// The same for pieces after the first; an error breaks the connection.
    fn next(&mut self, services: &Weak<Services>) -> io::Result<Bytes> {
        let services = services.upgrade().ok_or(io::ErrorKind::ConnectionAborted)?;
        self.piece(&services).map_err(|problem| {
            tracing::warn!(
                ?problem,
                "a file broke off; its caller was told by a broken connection"
            );
            io::Error::other("a file broke off")
        })
    }
}
