//! By whose token something is changed: the owner and the token or app, for the audit log.

use serde_json::Value;

use crate::audit::{self, Act, Actor};
use crate::base::UserId;
use crate::db::{Result, WriteTx};
use crate::identity::PartnerCaller;

/// Who changes something.
pub struct By {
    pub owner: UserId,
    actor: Actor,
    /// What the program is, and its name.
    program: (&'static str, String),
}

impl By {
    pub fn of(caller: &PartnerCaller) -> Self {
        let kind = if caller.granted.is_some() { "aplicativo" } else { "token" };
        Self {
            owner: caller.account.user_id,
            actor: Actor::program(caller),
            program: (kind, caller.token.name.clone()),
        }
    }

    /// Notes an act with the program's name. `before` and `after` are objects.
    pub fn note(
        &self,
        tx: &WriteTx<'_>,
        act: &Act<'_>,
        before: Option<&Value>,
        mut after: Value,
    ) -> Result<()> {
        let (kind, name) = &self.program;
        after[*kind] = Value::from(&**name);
        audit::note(tx, &self.actor, act, before, &after)
    }
}
