//! Which changes of the database make data in memory stale.
//!
//! The writer reports every change of these tables (`db/watch.rs`), so code that
//! writes does not have to know about caches. Code that caches something new
//! adds the tables and columns that it shows. A test compares what the
//! dashboard and the pages of orders read with this list.

use std::sync::Arc;

use crate::base::{UserId, Versions};
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
    /// What operators and the agency's team work on.
    Desk,
    /// No version: webhooks may have something to send, so their worker wakes.
    Told,
}

const ALL: &[&str] = &["INSERT", "DELETE", "UPDATE"];

/// Tables with the columns that are kept in memory.
#[rustfmt::skip] // A table.
pub const WATCHED: &[Watch<Invalidates>] = &[
    on(Invalidates::Person, "user", "user_id", &["DELETE", "UPDATE OF name, email, role, photo, suspended_at"]),
    on(Invalidates::Person, "user_permission", "user_id", ALL),
    on(Invalidates::Person, "session", "user_id", &["DELETE", "UPDATE OF ended_at, viewing_id, viewing_until"]),
    on(Invalidates::Person, "extension_token", "user_id", &["DELETE", "UPDATE OF expires_at, revoked_at"]),
    on(Invalidates::Person, "partner_token", "user_id", &["DELETE", "UPDATE OF name, revoked_at, may_change"]),
    on(Invalidates::Person, "partner_account", "user_id", ALL),
    on(Invalidates::Person, "oauth_grant", "user_id", &["DELETE", "UPDATE OF client_name, ends_at"]),
    on(Invalidates::Books, "notification", "owner_id", ALL),
    on(Invalidates::Books, "notification_count", "owner_id", &["INSERT", "DELETE", "UPDATE OF unread"]),
    on(Invalidates::Books, "ml_account", "owner_id", &["INSERT", "DELETE",
        "UPDATE OF owner_id, nickname, token_ok, error, reputation, listings, open_claims, open_questions, synced_at, linked_at, \
         access_token, refresh_token, token_expires_at"]),
    on(Invalidates::Books, "sales_day", "owner_id", ALL),
    on(Invalidates::Books, "sale_order", "owner_id", ALL),
    on(Invalidates::Books, "program_student", "student_id", &["INSERT", "DELETE", "UPDATE OF checkins, last_checkin, streak"]),
    on(Invalidates::Books, "order_count", "owner_id", ALL),
    on(Invalidates::Books, "owner_change", "owner_id", ALL),
    on(Invalidates::Books, "partner_event", "user_id", &["INSERT", "DELETE"]),
    on(Invalidates::Books, "label_print", "owner_id", ALL),
    on(Invalidates::Books, "drop_order_count", "supplier_id", &["INSERT", "DELETE", "UPDATE OF orders"]),
    on(Invalidates::Desk, "agency_question_count", "", ALL),
    on(Invalidates::Desk, "outbox_count", "", ALL),
    on(Invalidates::Notices, "partner_notification", "owner_id", ALL),
    on(Invalidates::Everybody, "role_permission", "", ALL),
    on(Invalidates::Tokens, "session", "", &["INSERT"]),
    on(Invalidates::Tokens, "extension_token", "", &["INSERT"]),
    on(Invalidates::Tokens, "partner_token", "", &["INSERT"]),
    on(Invalidates::Tokens, "oauth_token", "", &["INSERT"]),
    on(Invalidates::Keys, "api_key", "", &["INSERT", "DELETE",
        "UPDATE OF name, scopes, networks, rate_limit, expires_at, revoked_at, replaced_by, ends_at"]),
    on(Invalidates::Content, "plan", "", ALL),
    on(Invalidates::Content, "teacher", "", ALL),
    on(Invalidates::Content, "course", "", ALL),
    on(Invalidates::Content, "lesson", "", ALL),
    on(Invalidates::Content, "meet", "", ALL),
    on(Invalidates::Content, "total", "", ALL),
    on(Invalidates::Told, "webhook_event", "", &["INSERT"]),
    on(Invalidates::Told, "webhook_endpoint", "", &["UPDATE OF next_at, state"]),
];

/// `key` is the column with the person; empty when the change concerns everybody.
const fn on(
    meaning: Invalidates,
    table: &'static str,
    key: &'static str,
    events: &'static [&'static str],
) -> Watch<Invalidates> {
    Watch { table, events, key, meaning }
}

/// After each commit, raises the versions of what it changed and calls `raised`; calls
/// `wake` when webhooks may have something to send.
pub fn watch(
    db: &Db,
    versions: &Arc<Versions>,
    wake: impl Fn() + Send + Sync + 'static,
    raised: impl Fn() + Send + Sync + 'static,
) -> Result<()> {
    let versions = Arc::clone(versions);
    db.watch(WATCHED, move |subject, key| {
        match subject {
            Invalidates::Person => versions.raise(UserId(key)),
            Invalidates::Books => versions.raise_books(UserId(key)),
            Invalidates::Notices => versions.raise_notices(UserId(key)),
            Invalidates::Everybody => versions.raise_everything(),
            Invalidates::Content => versions.raise_content(),
            Invalidates::Tokens => versions.raise_tokens(),
            Invalidates::Keys => versions.raise_keys(),
            Invalidates::Desk => versions.raise_desk(),
            Invalidates::Told => return wake(),
        }
        raised();
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
