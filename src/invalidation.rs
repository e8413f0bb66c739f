//! Which changes of the database make data in memory stale.
//!
//! The writer reports every change of these tables (`db/watch.rs`), so code that
//! writes does not have to know about caches. Code that caches something new
//! adds the tables and columns that it shows. A test compares what the
//! dashboard and the pages of orders read with this list.

use std::sync::Arc;

use crate::base::cache::Versions;
use crate::base::ids::UserId;
use crate::db::{Db, Result, Watch};

/// Which version a change raises.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Invalidates {
    /// That of the person whose id is in the row.
    Person,
    /// That of the data that belongs to the person.
    Books,
    /// That of the notifications that partner programs sent to the person.
    Notices,
    Everybody,
    Content,
    Tokens,
    Keys,
    /// No version: webhooks may have something to send, so their worker wakes.
    Told,
}

const ALL: &[&str] = &["INSERT", "DELETE", "UPDATE"];

/// Tables with the columns that are kept in memory.
#[rustfmt::skip] // A table.
pub const WATCHED: &[Watch<Invalidates>] = &[
    of_person("user", "user_id", &["DELETE", "UPDATE OF name, email, role, photo, suspended_at"]),
    of_person("user_permission", "user_id", ALL),
    of_person("session", "user_id", &["DELETE", "UPDATE OF ended_at, viewing_id, viewing_until"]),
    of_person("extension_token", "user_id", &["DELETE", "UPDATE OF expires_at, revoked_at"]),
    of_person("partner_token", "user_id", &["DELETE", "UPDATE OF name, revoked_at"]),
    of_person("partner_account", "user_id", ALL),
    of_person("oauth_grant", "user_id", &["DELETE", "UPDATE OF client_name, ends_at"]),
    of_books("notification", "owner_id", ALL),
    of_books("notification_count", "owner_id", &["INSERT", "DELETE", "UPDATE OF unread"]),
    of_books("ml_account", "owner_id", &["INSERT", "DELETE",
        "UPDATE OF owner_id, nickname, token_ok, error, reputation, listings, open_claims, open_questions, synced_at, linked_at"]),
    of_books("sales_day", "owner_id", ALL),
    of_books("sale_order", "owner_id", ALL),
    of_books("program_student", "student_id", &["INSERT", "DELETE", "UPDATE OF checkins, last_checkin, streak"]),
    of_books("order_count", "owner_id", ALL),
    of_books("owner_change", "owner_id", ALL),
    Watch { table: "partner_notification", events: ALL, key: "owner_id", meaning: Invalidates::Notices },
    of_all("role_permission", Invalidates::Everybody, ALL),
    of_all("session", Invalidates::Tokens, &["INSERT"]),
    of_all("extension_token", Invalidates::Tokens, &["INSERT"]),
    of_all("partner_token", Invalidates::Tokens, &["INSERT"]),
    of_all("oauth_token", Invalidates::Tokens, &["INSERT"]),
    of_all("api_key", Invalidates::Keys, &["INSERT", "DELETE",
        "UPDATE OF name, scopes, networks, rate_limit, expires_at, revoked_at, replaced_by, ends_at"]),
    of_all("plan", Invalidates::Content, ALL),
    of_all("teacher", Invalidates::Content, ALL),
    of_all("course", Invalidates::Content, ALL),
    of_all("lesson", Invalidates::Content, ALL),
    of_all("meet", Invalidates::Content, ALL),
    of_all("total", Invalidates::Content, ALL),
    of_all("webhook_event", Invalidates::Told, &["INSERT"]),
    of_all("webhook_endpoint", Invalidates::Told, &["UPDATE OF next_at, state"]),
];

const fn of_person(
    table: &'static str,
    key: &'static str,
    events: &'static [&'static str],
) -> Watch<Invalidates> {
    Watch { table, events, key, meaning: Invalidates::Person }
}

const fn of_books(
    table: &'static str,
    key: &'static str,
    events: &'static [&'static str],
) -> Watch<Invalidates> {
    Watch { meaning: Invalidates::Books, ..of_person(table, key, events) }
}

const fn of_all(
    table: &'static str,
    meaning: Invalidates,
    events: &'static [&'static str],
) -> Watch<Invalidates> {
    Watch { table, events, key: "", meaning }
}

/// After each commit, raises the versions of what it changed, and calls `wake`
/// when webhooks may have something to send.
pub fn watch(
    db: &Db,
    versions: &Arc<Versions>,
    wake: impl Fn() + Send + Sync + 'static,
) -> Result<()> {
    let versions = Arc::clone(versions);
    db.watch(WATCHED, move |subject, key| match subject {
        Invalidates::Person => versions.raise(UserId(key)),
        Invalidates::Books => versions.raise_books(UserId(key)),
        Invalidates::Notices => versions.raise_notices(UserId(key)),
        Invalidates::Everybody => versions.raise_everything(),
        Invalidates::Content => versions.raise_content(),
        Invalidates::Tokens => versions.raise_tokens(),
        Invalidates::Keys => versions.raise_keys(),
        Invalidates::Told => wake(),
    })
}

/// Whether a change of a column raises one of the versions `raised`. Key columns
/// count as watched: a key never changes, a row with another key is another row.
#[cfg(test)]
pub fn is_watched(table: &str, column: &str, raised: &[Invalidates]) -> bool {
    let watches = WATCHED.iter().filter(|watch| watch.table == table);
    let mut watches = watches.filter(|watch| raised.contains(&watch.meaning));
    watches.any(|watch| {
        ["meet_id", "teacher_id", "ml_user_id", "user_id"].contains(&column)
            || watch.events.iter().any(|event| match event.strip_prefix("UPDATE OF ") {
                Some(columns) => columns.split(", ").any(|known| known == column),
                None => *event == "UPDATE",
            })
            || column == watch.key
    })
}
