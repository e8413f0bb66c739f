//! `user list`.

use serde_json::{Value, json};

use super::{Context, say};
use crate::accounts::Role;
use crate::accounts::store::{self, Listed};
use crate::base::{UserId, Zone};
use crate::db::Lane;

/// People read and printed at a time, so that any number needs no more memory.
const PAGE: usize = 1000;

pub fn run(context: &Context, role: Option<Role>, as_json: bool) -> anyhow::Result<()> {
    let db = context.database()?;
    let zone = context.config().server.timezone;
    let (id, email) = db.read(Lane::Slow, store::list_widths)?;
    let (id, email) = (id.max(2), email.max(6));
    let line = |[number, role, status, seen, address, name]: [&str; 6]| {
        format!("{number:id$}  {role:9}  {status:9}  {seen:19}  {address:email$}  {name}")
    };
    let header = line(["ID", "ROLE", "STATUS", "LAST ACCESS", "E-MAIL", "NAME"]);
    let mut lines = vec![if as_json { "[".to_owned() } else { header }];
    let mut after = UserId(0);
    loop {
        let page = db.read(Lane::Slow, |tx| store::list_after(tx, after, role, PAGE))?;
        for person in &page {
            let account = &person.account;
            let comma = if after == UserId(0) { "" } else { "," };
            after = account.user_id;
            lines.push(if as_json {
                format!("{comma}{}", as_value(person, zone))
            } else {
                let seen = person.last_access_at.map_or("-".to_owned(), |at| zone.spaced(at));
                let (number, role) = (after.to_string(), account.role.name());
                line([&number, role, status(person), &seen, &account.email, &account.name])
            });
        }
        let is_last = page.len() < PAGE;
        if is_last && as_json {
            lines.push("]".to_owned());
        }
        if !lines.is_empty() {
            say(lines.join("\n"))?;
            lines.clear();
        }
        if is_last {
            return Ok(());
        }
    }
}

fn status(person: &Listed) -> &'static str {
    if person.account.suspended { "suspended" } else { "active" }
}

fn as_value(person: &Listed, zone: Zone) -> Value {
    json!({
        "id": person.account.user_id.to_string(),
        "name": person.account.name,
        "email": person.account.email,
        "role": person.account.role.name(),
        "status": status(person),
        "last_access": person.last_access_at.map(|at| zone.spaced(at)),
    })
}
