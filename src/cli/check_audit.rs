//! `check` of the audit log: whether its chain is whole, and whether it goes on
//! from where it was when the newest copy was made.

use super::Context;
use super::check::{Finding, Topic};
use crate::audit::chain::{self, Walk};
use crate::db::BackupCopy;

const WHAT: Topic = Topic("audit");
/// Pieces of the chain that are read in one look.
const PIECES: usize = 25;

/// Walks the chain, piece by piece. `None` for a database from before it.
pub(super) fn chain(context: &Context, copies: &[BackupCopy]) -> Option<Finding> {
    match walk(context) {
        Ok(None) => None,
        Err(error) => {
            Some(WHAT.bad(format!("the audit log cannot be read: {error}")))
        }
        Ok(Some(Walk { broken: Some(entry), .. })) => {
            Some(WHAT.bad(format!(
                "entry {entry} does not fit the chain: it was changed, or one before it was changed or removed, past the service; compare with a copy of before"
            )))
        }
        Ok(Some(walk)) => Some(judge_end(context, &walk, copies)),
    }
}

fn walk(context: &Context) -> anyhow::Result<Option<Walk>> {
    if !context.look(chain::exists)? {
        return Ok(None);
    }
    let mut walk = Walk::START;
    while !walk.is_over {
        // Several pieces in one look, which may have to copy the file first; not all,
        // because a long look keeps the log of a server from being folded in.
        walk = context.look(|tx| {
            (0..PIECES).try_fold(walk, |walk, _| if walk.is_over { Ok(walk) } else { walk.on(tx) })
        })?;
    }
    Ok(Some(walk))
}

/// The chain is whole; it may have been computed anew, or entries at its end may be
/// missing: heads in copies say so.
fn judge_end(context: &Context, walk: &Walk, copies: &[BackupCopy]) -> Finding {
    let head = |copy: &BackupCopy| copy.manifest().and_then(|manifest| manifest.audit_head.clone());
    // The oldest first.
    let heads = copies.iter().rev().filter_map(|copy| head(copy).map(|head| (copy, head)));
    let heads: Vec<_> = heads.collect();
    let denied = context.look(|tx| {
        for (copy, head) in &heads {
            if !chain::holds(tx, head)? {
                return Ok(Some(*copy));
            }
        }
        Ok(None)
    });
    if let Ok(Some(copy)) = denied {
        return WHAT.note(format!(
            "the chain fits, but not the copy {}: entries that it has were changed or removed, or this is a database that was restored from before that copy; compare them",
            copy.path.display()
        ));
    }
    let text = match walk.entries {
        0 => "no entries yet".to_owned(),
        entries => format!("{entries} entries, the chain fits; its head is {}", walk.at),
    };
    WHAT.good(text)
}
