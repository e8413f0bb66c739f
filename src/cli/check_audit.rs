//! `check` of the audit log: whether its chain is whole, and whether it goes on
//! from where it was when the newest copy was made.

use super::Context;
use super::check::{Finding, Verdict, finding};
use crate::audit::chain::{self, Walk};
use crate::db::{Kept, read_without_traces};

const WHAT: &str = "audit";
/// Pieces of the chain that are read in one look.
const PIECES: usize = 25;

/// Walks the chain, piece by piece. `None` for a database from before it.
pub(super) fn chain(context: &Context, copies: &[Kept]) -> Option<Finding> {
    match walk(context) {
        Ok(None) => None,
        Err(error) => {
            let text = format!("the audit log cannot be read: {error}");
            Some(finding(WHAT, Verdict::Bad, text))
        }
        Ok(Some(Walk { broken: Some(entry), .. })) => {
            let text = format!(
                "entry {entry} does not fit the chain: it was changed, or one before it was changed or removed, past the service; compare with a copy of before"
            );
            Some(finding(WHAT, Verdict::Bad, text))
        }
        Ok(Some(walk)) => Some(judge_end(context, &walk, copies)),
    }
}

fn walk(context: &Context) -> anyhow::Result<Option<Walk>> {
    let (path, now) = (&context.config().database.path, context.clock.now());
    if !read_without_traces(path, now, chain::exists)? {
        return Ok(None);
    }
    let mut walk = Walk::START;
    while !walk.is_over {
        // Several pieces in one look, which may have to copy the file first; not all,
        // because a long look keeps the log of a server from being folded in.
        walk = read_without_traces(path, now, |tx| {
            (0..PIECES).try_fold(walk, |walk, _| if walk.is_over { Ok(walk) } else { walk.on(tx) })
        })?;
    }
    Ok(Some(walk))
}

/// The chain is whole; it may have been computed anew, or entries at its end may be
/// missing: heads in copies say so.
fn judge_end(context: &Context, walk: &Walk, copies: &[Kept]) -> Finding {
    let path = &context.config().database.path;
    let head = |copy: &Kept| copy.manifest().and_then(|manifest| manifest.audit_head.clone());
    // The oldest first.
    let heads = copies.iter().rev().filter_map(|copy| head(copy).map(|head| (copy, head)));
    let heads: Vec<_> = heads.collect();
    let denied = read_without_traces(path, context.clock.now(), |tx| {
        for (copy, head) in &heads {
            if !chain::holds(tx, head)? {
                return Ok(Some(*copy));
            }
        }
        Ok(None)
    });
    if let Ok(Some(copy)) = denied {
        let text = format!(
            "the chain fits, but not the copy {}: entries that it has were changed or removed, or this is a database that was restored from before that copy; compare them",
            copy.path.display()
        );
        return finding(WHAT, Verdict::Note, text);
    }
    let text = match walk.entries {
        0 => "no entries yet".to_owned(),
        entries => format!("{entries} entries, the chain fits; its head is {}", walk.at),
    };
    finding(WHAT, Verdict::Good, text)
}
