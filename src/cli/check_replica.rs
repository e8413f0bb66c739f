//! `check` of the replica: is Litestream there, and how far is it?

use std::time::Duration;

use super::Context;
use super::check::{Finding, Verdict, finding};
use crate::base::{Clock, secrets};
use crate::db::is_served;
use crate::replica::epoch::{self, Turn};
use crate::replica::tool::Tool;
use crate::replica::{Fault, Replica, control};

/// A replica that is behind by more than this is pointed out.
const BEHIND_S: i64 = 60;
/// How long the replica may take to answer.
const LOOK: Duration = Duration::from_secs(8);

pub(super) fn replica(context: &Context) -> Finding {
    const WHAT: &str = "replica";
    let Some(replica) = Replica::of(context.config()) else {
        let text = "not configured: no second machine could go on from here; set replica.url";
        return finding(WHAT, Verdict::Note, text);
    };
    match look(&replica) {
        Ok(text) => finding(WHAT, Verdict::Good, format!("{}: {text}", replica.url)),
        Err(fault) => finding(WHAT, Verdict::Bad, format!("{}: {fault}", replica.url)),
    }
}

fn look(replica: &Replica) -> Result<String, Fault> {
    if let Some(fault) = replica.obstacle() {
        return Err(fault);
    }
    let tool = Tool::find(replica)?;
    // Nothing of this look stays beside the database.
    let name = format!("seller-platform-check-{}", secrets::random_hex::<6>());
    let folder = Folder(std::env::temp_dir().join(name));
    let elsewhere = Replica { folder: folder.0.clone(), ..replica.clone() };
    let own = epoch::of_file(&replica.database)?;
    let is_ours = own.as_ref().is_some_and(|own| epoch::is_ours(&replica.database, own));
    let from = own.as_ref().map_or(1, |own| own.number);
    let newest = epoch::newest(&tool, &elsewhere, from, LOOK)?;
    let number = match epoch::judge(own, newest, is_ours, Clock::System.now()) {
        Turn::Lost(by) => return Err(Fault(epoch::lost(&by))),
        Turn::Held(by) => return Err(Fault(epoch::held(&by))),
        Turn::Ours(own) => own.number,
        Turn::Free(_) => return Ok("reached; `serve` begins to write to it".to_owned()),
    };
    let version = &tool.version;
    if !is_served(&replica.database) {
        return Ok(format!("reached, epoch {number}, Litestream {version}"));
    }
    let level_at = control::level_at(&replica.folder).ok_or_else(|| {
        Fault("Litestream does not run beside the server, or sent nothing yet; the server's log says why".to_owned())
    })?;
    let behind = Clock::System.now().since(level_at).max(0);
    let text = format!("{behind} s behind, epoch {number}, Litestream {version}");
    if behind > BEHIND_S { Err(Fault(text)) } else { Ok(text) }
}

/// A folder that is removed when the value is dropped.
struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
