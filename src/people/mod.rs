//! People in the operator's panel: students on one list, suppliers and staff
//! on another.
//!
//! What becomes of a person is decided in `accounts::students`, whoever asks;
//! here is what the panel shows and asks. Somebody must always be able to
//! administer: the last administrator who can sign in is neither suspended
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
use crate::base::clock::{Instant, Zone};
use crate::base::ids::UserId;
use crate::panel::view::Badge;

/// Which of the two lists a person stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Students,
    /// Suppliers and administrators.
    Staff,
}

impl Group {
    /// The kind in the database.
    pub const fn kind(self) -> i64 {
        match self {
            Self::Students => 0,
            Self::Staff => 1,
        }
    }

    /// The group of a role.
    pub const fn of(role: Role) -> Self {
        if role.is_student() { Self::Students } else { Self::Staff }
    }

    /// Roles of the group.
    pub const fn roles(self) -> &'static [Role] {
        match self {
            Self::Students => &Role::STUDENTS,
            Self::Staff => &[Role::Drop, Role::Admin],
        }
    }

    /// The list's path.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Students => "/admin/alunos",
            Self::Staff => "/admin/equipe",
        }
    }

    /// Name of the field that holds the role.
    pub const fn role_field(self) -> &'static str {
        match self {
            Self::Students => "plano",
            Self::Staff => "papel",
        }
    }

    /// What the audit log calls one of them.
    pub const fn object(self) -> &'static str {
        match self {
            Self::Students => "aluno",
            Self::Staff => "equipe",
        }
    }
}

/// Where a person stands. Suspension hides lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Good,
    /// A renewal is unpaid.
    Late,
    Suspended,
}

impl Standing {
    const ALL: [Self; 3] = [Self::Good, Self::Late, Self::Suspended];

    /// The number in the database.
    pub const fn number(self) -> i64 {
        match self {
            Self::Good => 0,
            Self::Late => 1,
            Self::Suspended => 2,
        }
    }

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "ativo",
            Self::Late => "atrasado",
            Self::Suspended => "suspenso",
        }
    }

    /// What pages show.
    pub const fn badge(self) -> Badge {
        match self {
            Self::Good => Badge::Active,
            Self::Late => Badge::Late,
            Self::Suspended => Badge::Suspended,
        }
    }

    fn of_number(number: i64) -> Self {
        let known = Self::ALL.into_iter().find(|one| one.number() == number);
        known.unwrap_or(Self::Good)
    }

    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

/// A person as lists show it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: UserId,
    pub name: String,
    pub email: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    pub role: Role,
    pub chat_number: Option<String>,
    pub standing: Standing,
    pub disputed: bool,
    pub paid_until: Option<Instant>,
    pub created_at: Instant,
    pub last_access_at: Option<Instant>,
}

/// A person in the panel's JSON (contract §6).
#[derive(Serialize)]
pub struct WirePerson {
    pub id: UserId,
    pub nome: String,
    pub email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plano: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub papel: Option<&'static str>,
    pub chat_number: Option<String>,
    pub status: &'static str,
    pub em_disputa: bool,
    pub pago_ate: Option<String>,
    pub criado_em: String,
    pub ultimo_acesso: Option<String>,
}

impl WirePerson {
    /// The person as programs see it.
    pub fn of(person: Listed, zone: Zone) -> Self {
        let spaced = |at: Option<Instant>| at.map(|at| zone.spaced(at));
        let name = person.role.name();
        let is_student = person.role.is_student();
        Self {
            id: person.id,
            nome: person.name,
            email: person.email,
            plano: is_student.then_some(name),
            papel: (!is_student).then_some(name),
            chat_number: person.chat_number,
            status: person.standing.word(),
            em_disputa: person.disputed,
            pago_ate: spaced(person.paid_until),
            criado_em: zone.spaced(person.created_at),
            ultimo_acesso: spaced(person.last_access_at),
        }
    }
}
