//! Rows of the route table: who may call them, and the rules for pages.

use crate::support::actors::Actor;
use crate::support::dropshipping::relate;
use crate::support::page_rules::{Row, Rules};
use crate::support::site::{CRON_SECRET, Route, Site};

/// A row for guests of the agency; for all others it is like a student's own row.
pub const RETURN: &str = "/painel/ml/retorno";

/// The rules, with the route table of this site.
#[track_caller]
pub fn rules(site: &Site) -> Rules {
    let rows = site.routes().into_iter().map(|route| Row {
        is_page: route.family == "page",
        method: route.method,
        path: route.path,
        changes_state: route.changes_state,
    });
    Rules::new(rows.collect())
}

/// An actor who may call the row.
pub fn caller<'s>(site: &'s Site, row: &Route) -> Actor<'s> {
    match &*row.call {
        "extension" => site.extension("ana"),
        "seller" | "agent" => site.seller("ana").plan("scale"),
        "supplier" => related(site),
        "key:write" | "key:webhook_receive" | "key:admin" => site.key(&["admin"]),
        "session:student" | "session:anyone" => site.person("ana"),
        "session:supplier" => site.person_as("rui", "drop"),
        "session:admin" | "session:agency" => site.administrator(),
        "cron" => site.bearer(CRON_SECRET),
        "public" | "visitor" | "marketplace_hook" | "checkout_hook" | "telegram_hook"
        | "chat_hook" => site.anonymous(),
        unknown => panic!("{}: who is {unknown:?}?", row.path),
    }
}

/// A supplier's program, with a seller for whom it may act.
pub fn related(site: &Site) -> Actor<'_> {
    let supplier = site.supplier("rui").plan("scale");
    relate(site, &supplier, &site.person("ana"));
    supplier
}
