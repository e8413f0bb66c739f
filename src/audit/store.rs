//! The entries in the database, one after the other.

use serde::Serialize;

use super::{Act, Actor, chain};
use crate::base::chain::FixedFields;
use crate::db::{ReadTx, Result, WriteTx};

/// Notes an act. `before` is `()` for something new, `after` for something
/// removed.
pub fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    act: &Act<'_>,
    before: impl Serialize,
    after: impl Serialize,
) -> Result<()> {
    let (before, after) = (json(&before), json(&after));
    let fields = FixedFields {
        number: 0,
        at: tx.now().0,
        actor_kind: actor.kind.name(),
        actor_id: actor.id,
        action: act.action,
        object_kind: act.object,
        object_id: &act.object_id,
    };
    let words = chain::Words {
        who: [Some(&actor.name), Some(&actor.address), Some(&actor.request_id)],
        what: [Some(act.object_name), before.as_deref(), after.as_deref()],
    };
    let added = chain::add(tx, &fields, &words)?;
    tx.run(
        "INSERT INTO audit (audit_id, at, actor_kind, actor_id, actor_name, address, request_id,
                            action, object_kind, object_id, object_name, before, after, who, what, link)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        rusqlite::params![
            added.number,
            tx.now().0,
            actor.kind,
            actor.id,
            actor.name,
            actor.address,
            actor.request_id,
            act.action,
            act.object,
            act.object_id,
            act.object_name,
            before,
            after,
            added.who,
            added.what,
            added.link,
        ],
    )
}

/// The number of the newest entry; 0 without one.
pub fn newest(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT coalesce(max(audit_id), 0) FROM audit", [])
}

/// The value as JSON; nothing for `()` and `None`.
fn json(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(value).expect("plain values become JSON");
    Some(text).filter(|text| text != "null")
}
