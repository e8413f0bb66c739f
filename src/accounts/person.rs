//! What a person is on the lists of people: on which of the two, and in which
//! status. Both are numbers that the database derives.

use super::Role;
use crate::named;
use crate::panel::Badge;

named! {
    /// Which of the two lists a person is on, by the names of the audit log.
    pub enum Group: number {
        Students = 0, "aluno";
        /// Suppliers and administrators.
        Staff = 1, "equipe";
    }
}

impl Group {
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
}

named! {
    /// The status of a person. A suspended person is not shown as late.
    pub enum PersonStatus: number {
        Good = 0, "ativo";
        /// A renewal is unpaid.
        Late = 1, "atrasado";
        Suspended = 2, "suspenso";
    }
}

impl PersonStatus {
    /// The badge of the status.
    pub const fn badge(self) -> Badge {
        match self {
            Self::Good => Badge::Active,
            Self::Late => Badge::Late,
            Self::Suspended => Badge::Suspended,
        }
    }
}
