//! Accounts of the Partner API in the operator's panel.

use crate::support::actors::Actor;
use crate::support::cron::json_of;

pub const LIST: &str = "/admin/parceiros";

/// The address of somebody's page.
#[track_caller]
pub fn page_of(admin: &Actor<'_>, name: &str) -> String {
    let listed = json_of(admin, &format!("{LIST}?q={name}%40"));
    assert_eq!(listed["total"], 1, "{listed}");
    format!("{LIST}/{}", listed["dados"][0]["id"].as_str().unwrap())
}
