//! The call of the extension API that marks notifications as read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading;
use crate::app::App;
use crate::edge::route::Todo;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::ExtensionUser;

/// Most ids in one call.
const MOST_IDS: usize = 500;
/// What an id looks like.
const ID: &str = "^[0-9]{1,18}$";

/// Which notifications to mark.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [
    { "required": ["ids"], "properties": { "ids": { "type": "array", "items": {} } } },
    { "required": ["todas"], "properties": { "todas": { "const": true } } },
]))]
pub struct MarkReadBody {
    /// Ids of notifications.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>", length(max = MOST_IDS), inner(regex(pattern = ID)))]
    ids: Field<Vec<String>>,
    /// True marks all of them.
    #[serde(default)]
    #[schemars(with = "Option<bool>")]
    todas: Field<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct MarkReadReply {
    ok: bool,
    /// How many were not read before.
    lidas: usize,
}

impl MarkReadReply {
    pub fn reply(lidas: usize) -> Result<Reply, Problem> {
        Reply::json(&Self { ok: true, lidas })
    }
}

/// Parses ids of notifications; at most [`MOST_IDS`] are allowed.
pub(super) fn read_ids(check: &mut Check, texts: &[String]) -> Vec<i64> {
    let is_id = |id: &&String| id.len() <= 18 && id.bytes().all(|byte| byte.is_ascii_digit());
    let ids: Vec<i64> = texts.iter().filter(is_id).filter_map(|id| id.parse().ok()).collect();
    if ids.len() != texts.len() {
        check.fail("ids", "must be ids of notifications");
    } else if ids.len() > MOST_IDS {
        check.fail("ids", format!("must be at most {MOST_IDS}"));
    }
    ids
}

/// `POST /api/ext/notificacoes/lidas`: marks notifications as read.
pub fn mark_read(
    app: &App,
    user: &ExtensionUser,
    request: &Request,
) -> Result<Todo<Reply>, Problem> {
    let body: MarkReadBody = request.json()?;
    let mut check = Check::json();
    let all = check.optional("todas", body.todas).unwrap_or(false);
    let ids = check.optional("ids", body.ids);
    if !all && ids.is_none() {
        check.fail("ids", "is required unless todas is true");
    }
    let ids = read_ids(&mut check, &ids.unwrap_or_default());
    check.finish()?;
    let (owner, ids) = (user.account.user_id, (!all).then_some(ids));
    reading::mark(app, owner, ids, MarkReadReply::reply)
}
