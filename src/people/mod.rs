//! People in the operator's panel: students on one list, suppliers and staff
//! on another.
//!
//! What happens to a person is in `accounts::students`, for all callers; here
//! is what the panel shows and reads. At least one person must always be able
//! to administer: the last administrator who can sign in is neither suspended
//! nor demoted nor removed.

pub mod acts;
pub mod detail;
pub mod entry;
pub mod import;
pub mod pages;
pub mod roles;
pub mod store;
pub mod view_as;
pub mod views;

use serde::Serialize;

use crate::accounts::Role;
use crate::accounts::person::PersonStatus;
use crate::base::{Instant, UserId, Zone};
use crate::row;
use crate::wire;

row! {
    /// A person as lists show it.
    #[derive(Clone, Debug)]
    pub struct Listed {
        pub id: UserId = "user_id",
        pub name: String,
        pub email: String,
        /// Path of the photo, empty without one.
        pub photo: String,
        pub role: Role,
        pub chat_number: Option<String>,
        pub status: PersonStatus = "standing",
        pub disputed: bool,
        pub paid_until: Option<Instant>,
        pub created_at: Instant,
        pub last_access_at: Option<Instant>,
    }
}

wire! {
    /// A person in the panel's JSON.
    #[derive(Serialize)]
    pub struct WirePerson of(person: Listed, zone: Zone) after {
        let spaced = |at: Option<Instant>| at.map(|at| zone.spaced(at));
        let name = person.role.name();
        let is_student = person.role.is_student();
    } {
        pub id: UserId = person.id,
        pub nome: String = person.name,
        pub email: String = person.email,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub plano: Option<&'static str> = is_student.then_some(name),
        #[serde(skip_serializing_if = "Option::is_none")]
        pub papel: Option<&'static str> = (!is_student).then_some(name),
        pub chat_number: Option<String> = person.chat_number,
        pub status: &'static str = person.status.name(),
        pub em_disputa: bool = person.disputed,
        pub pago_ate: Option<String> = spaced(person.paid_until),
        pub criado_em: String = zone.spaced(person.created_at),
        pub ultimo_acesso: Option<String> = spaced(person.last_access_at),
    }
}
