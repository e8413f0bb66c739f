//! The supplier's panel, and what sellers see of their suppliers.
//!
//! The rules and the SQL are in `dropshipping/`. Labels and fiscal notes come through
//! `partner/supplier/files.rs`, as for API clients.

pub mod home;
pub mod links;
pub mod list;
pub mod orders;
pub mod owed;
pub mod sellers;
pub mod unmatched;
pub mod views;

use crate::base::UserId;
use crate::dropshipping::relations::RelatedSeller;
use crate::http::{Check, Field, Problem, Request};
use crate::panel::list::Choice;

/// Name of the seller in addresses.
const SELLER: &str = "vendedor";

/// The person that a parameter of the address names.
fn asked(request: &Request, name: &'static str) -> Result<Option<UserId>, Problem> {
    let mut given = form_urlencoded::parse(request.query_text().as_bytes());
    let Some((_, value)) = given.find(|(given, value)| given == name && !value.is_empty()) else {
        return Ok(None);
    };
    let mut check = Check::text();
    let id = check.number(name, Field::of(value.into_owned()), 1..=i64::MAX);
    check.finish()?;
    Ok(id.map(UserId))
}

/// The filter by seller.
fn choice(sellers: &[RelatedSeller], present: Option<UserId>) -> Choice {
    Choice {
        name: SELLER,
        label: "Vendedor",
        values: sellers.iter().map(|one| (one.id.to_string(), one.name.clone())).collect(),
        present: present.map_or_else(String::new, |id| id.to_string()),
    }
}
