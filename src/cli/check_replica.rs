//! `check` of the replica: is Litestream there, and how far is it?

use std::time::Duration;

use super::Context;
use super::check::{Finding, Topic, Verdict};
use super::healthcheck::{self, Answer};
use super::seal;
use crate::base::files::Scratch;
use crate::base::{Clock, secrets};
use crate::db::{holder, is_served, server_address};
use crate::replica::epoch::{self, Turn};
use crate::replica::tool::Tool;
use crate::replica::{Fault, Replica, control, follow};

/// A replica that is behind by more than this is pointed out.
const BEHIND_S: i64 = 60;
/// How long the replica may take to answer.
const LOOK: Duration = Duration::from_secs(8);

pub(super) fn replica(context: &Context) -> Finding {
    const WHAT: Topic = Topic("replica");
    let Some(replica) = Replica::of(context.config()) else {
        let text = "not configured: no second machine could go on from here; set replica.url";
        return WHAT.note(text);
    };
    match look(&replica) {
        Ok(text) => WHAT.good(format!("{}: {text}", replica.url)),
        Err(fault) => WHAT.bad(format!("{}: {fault}", replica.url)),
    }
}

fn look(replica: &Replica) -> Result<String, Fault> {
    replica.require_there()?;
    let tool = Tool::find(replica)?;
    // Nothing of this look stays beside the database.
    let name = format!("seller-platform-check-{}", secrets::random_hex::<6>());
    let folder = Scratch(std::env::temp_dir().join(name));
    let elsewhere = Replica { folder: folder.0.clone(), ..replica.clone() };
    let own = epoch::of_file(&replica.database)?;
    let is_ours = own.as_ref().is_some_and(|own| epoch::is_ours(&replica.database, own));
    let from = own.as_ref().map_or(1, |own| own.number);
    let newest = epoch::newest(&tool, &elsewhere, from, LOOK)?;
    if let (None, Some(own)) = (&newest, &own)
        && let Some(fault) = epoch::missing(replica, own)
    {
        return Err(fault);
    }
    let epoch = match epoch::judge(own, newest, is_ours, Clock::System.now()) {
        Turn::Lost(by) => return Err(Fault(epoch::lost(&by))),
        Turn::Held(by) => return Err(Fault(epoch::held(&by))),
        Turn::Ours(own) => format!("{} ({})", own.number, own.mark()),
        Turn::Free(_) => return Ok("reached; `serve` begins to write to it".to_owned()),
    };
    let version = &tool.version;
    if !is_served(&replica.database) {
        return Ok(format!("reached, epoch {epoch}, Litestream {version}"));
    }
    let level_at = control::level_at(&replica.folder).ok_or_else(|| {
        Fault("Litestream does not run beside the server, or sent nothing yet; the server's log says why".to_owned())
    })?;
    let behind = Clock::System.now().since(level_at).max(0);
    let text = format!("{behind} s behind, epoch {epoch}, Litestream {version}");
    if behind > BEHIND_S { Err(Fault(text)) } else { Ok(text) }
}

/// The standby of this machine and its key, in the place of what a server would be checked
/// for; `None` when this is no standby.
pub(super) fn standby(context: &Context) -> Option<Vec<Finding>> {
    const WHAT: Topic = Topic("standby");
    let replica = Replica::of(context.config())?;
    let (database, copy) = (&replica.database, follow::copy_of(&replica));
    let runs = holder(database).is_some_and(|holder| holder.is_standby);
    if !runs && (database.exists() || !copy.exists()) {
        return None;
    }
    let (verdict, text) = match server_address(database).filter(|_| runs) {
        None if runs => (Verdict::Note, "it is starting".to_owned()),
        None => {
            let text = "this machine was a standby, and none runs; start it with `systemctl start seller-platform-standby` or `seller-platform standby`, or take over: `serve` would begin an empty database";
            (Verdict::Note, text.to_owned())
        }
        Some(address) => match healthcheck::look(address) {
            Ok((_, Some(answer))) => following(&replica, &answer),
            Ok((status, None)) => (Verdict::Bad, format!("at http://{address}, and says {status}")),
            Err(error) => (Verdict::Bad, format!("does not answer at http://{address}: {error}")),
        },
    };
    let mut findings = vec![WHAT.finding(verdict, text)];
    // A copy that is being changed may not be readable for a moment.
    if let Ok(status) = seal::fits(context, &copy) {
        findings.push(match status {
            None => Topic("key").good(format!("{}, which fits", seal::source(context))),
            Some(why) => Topic("key").bad(why),
        });
    }
    Some(findings)
}

/// How a standby follows, by what it says of itself.
fn following(replica: &Replica, answer: &Answer) -> (Verdict, String) {
    let url = &replica.url;
    match (answer.lag_s, &answer.verified_at) {
        (Some(lag_s), Some(at)) if lag_s <= BEHIND_S => {
            (Verdict::Good, format!("follows, {lag_s} s behind {url}; checked at {at}"))
        }
        (Some(lag_s), at) => {
            let why = answer.message.as_deref().unwrap_or("it does not say why");
            let verdict =
                if at.is_none() && lag_s <= BEHIND_S { Verdict::Note } else { Verdict::Bad };
            (verdict, format!("{lag_s} s behind {url}: {why}"))
        }
        (None, _) => (Verdict::Bad, "it does not answer as a standby does".to_owned()),
    }
}
