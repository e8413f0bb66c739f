//! `GET /api/v1/admin/backup`: sends a copy of the live database.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderName, HeaderValue};

use crate::app::App;
use crate::audit::objects::BACKUP;
use crate::audit::{self, Actor};
use crate::db::backup::BackupError;
use crate::http::body::Pieces;
use crate::http::{Problem, Reply, Request};
use crate::identity::KeyHolder;

/// Media type of a SQLite file.
pub const MEDIA: &str = "application/vnd.sqlite3";
/// The SHA-256 of what is sent (RFC 9530).
const DIGEST: HeaderName = HeaderName::from_static("repr-digest");
/// `Retry-After` in seconds while no copy can be made.
const COME_BACK_S: i64 = 30;

/// `GET /api/v1/admin/backup`: copies the database, checks the copy and sends it.
/// Only one request at a time, from the start of the copy to the last byte sent.
pub fn backup(app: &App, holder: &KeyHolder, request: &Request) -> Result<Reply, Problem> {
    let turn = Arc::clone(&app.health.copying).try_acquire_owned();
    let turn = turn.map_err(|_| busy())?;
    let copy = app.db.copy_unnamed().map_err(problem)?;
    let actor = Actor::key(&holder.key, request);
    let bytes = copy.bytes;
    app.db.write(move |tx| {
        audit::note(tx, &actor, &BACKUP.act("backup.baixar", "", ""), (), bytes)
    })?;
    let taken_at = request.now.rfc3339().replace(':', "");
    let name = format!("attachment; filename=\"seller-platform-{taken_at}.db\"");
    let digest = format!("sha-256=:{}:", STANDARD.encode(copy.sha256));
    let header = |text: String| HeaderValue::try_from(text).map_err(Problem::internal);
    let body = Pieces::of_file(copy.file, copy.bytes, turn);
    Ok(Reply::pieces(HeaderValue::from_static(MEDIA), body)
        .with(CONTENT_DISPOSITION, header(name)?)
        .with(DIGEST, header(digest)?))
}

fn busy() -> Problem {
    Problem::unavailable("another copy is being made or sent", COME_BACK_S)
}

fn problem(error: BackupError) -> Problem {
    match error {
        BackupError::InProgress(_) => busy(),
        BackupError::Full(_) => Problem {
            cause: Some(error.into()),
            ..Problem::unavailable("the disk has no room for a copy", COME_BACK_S)
        },
        other if other.is_out_of_handles() => Problem {
            cause: Some(other.into()),
            ..Problem::unavailable("too many files are open for a copy", COME_BACK_S)
        },
        other => Problem::internal(other),
    }
}
