//! Marking notifications as read: a few in one job of the writer, many piece by
//! piece in the slow lane.

use std::sync::Arc;

use super::store;
use crate::app::App;
use crate::base::UserId;
use crate::db::{DbError, Lane, Result, WriteTx};
use crate::edge::route::Todo;
use crate::http::{Problem, Reply};

/// Notifications that one job of the writer marks.
const PIECE: usize = 100;

/// Which notifications of whom.
struct Marking {
    owner: UserId,
    /// All up to `last` when it is `None`.
    ids: Option<Vec<i64>>,
    last: i64,
}

/// Marks the notifications of `ids` as read, or all that a person has now.
/// `reply` is told how many were unread.
pub fn mark(
    app: &App,
    owner: UserId,
    ids: Option<Vec<i64>>,
    reply: impl FnOnce(usize) -> std::result::Result<Reply, Problem> + Send + 'static,
) -> std::result::Result<Todo<Reply>, Problem> {
    let (last, unread) = app.db.read(Lane::InPlace, |tx| store::newest(tx, owner))?;
    let count = ids.as_ref().map_or(unread, Vec::len);
    let marking = Arc::new(Marking { owner, ids, last });
    if count <= PIECE {
        return Ok(Todo::Write(Box::new(move |tx| {
            let (mut marked, mut is_over) = (0, false);
            while !is_over {
                let more;
                (more, is_over) = marking.mark_piece(tx, 0)?;
                marked += more;
            }
            reply(marked)
        })));
    }
    Ok(Todo::Slow(Box::new(move |app| {
        let (mut marked, mut is_over, mut piece) = (0, false, 0);
        while !is_over {
            let (more, marking) = (marked, Arc::clone(&marking));
            (marked, is_over) = app.db.write_piece(move |tx| {
                let (some, is_over) = marking.mark_piece(tx, piece)?;
                Ok::<_, DbError>((more + some, is_over))
            })?;
            piece += 1;
        }
        reply(marked)
    })))
}

impl Marking {
    /// Marks a piece; returns how many were unread, and whether it was the last.
    fn mark_piece(&self, tx: &WriteTx<'_>, piece: usize) -> Result<(usize, bool)> {
        let Some(ids) = &self.ids else { return store::mark_unread(tx, self.owner, self.last) };
        let of = ids.chunks(PIECE).nth(piece).unwrap_or_default();
        Ok((store::mark_read(tx, self.owner, of)?, (piece + 1) * PIECE >= ids.len()))
    }
}
