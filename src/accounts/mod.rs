//! People: who they are, what they may do and how they sign in.
//!
//! The row of a suspended person stays, but the person cannot sign in. All
//! passwords are checked in one place (`login.rs`), so the throttle counts
//! every kind of login together.

pub mod api;
pub mod confirm;
pub mod confirmations;
pub mod known_addresses;
pub mod links;
pub mod login;
pub mod menu;
pub mod page_layout;
pub mod pages;
pub mod passwords;
pub mod permissions;
pub mod person;
pub mod self_service;
pub mod session;
pub mod setup;
pub mod store;
pub mod students;
pub mod terms;
pub mod viewing;
pub mod views;
pub mod wire;

use std::sync::Arc;

use serde::Serialize;

use crate::base::{Instant, UserId};
use crate::named;
use crate::row;

named! {
    /// What a person is to the platform.
    #[derive(Default, Hash, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Role: text {
        #[default]
        Free = "free";
        Pro = "pro";
        Vip = "vip";
        PilotoPro = "piloto_pro";
        Podio = "podio";
        /// A supplier.
        Drop = "drop";
        Admin = "admin";
    }
}

impl Role {
    /// Roles of students.
    pub const STUDENTS: [Self; 5] =
        [Self::Free, Self::Pro, Self::Vip, Self::PilotoPro, Self::Podio];

    /// Whether the person is a student.
    pub const fn is_student(self) -> bool {
        !matches!(self, Self::Drop | Self::Admin)
    }

    /// The page a person of this role starts on.
    pub const fn home(self) -> &'static str {
        match self {
            Self::Admin => "/admin",
            Self::Drop => "/fornecedor",
            _ => "/painel",
        }
    }

    /// A short description of the role.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Free => "Aluno sem plano pago",
            Self::Pro => "Aluno do plano Pro",
            Self::Vip => "Aluno do plano VIP",
            Self::PilotoPro => "Aluno do plano Piloto Pro",
            Self::Podio => "Aluno do plano Pódio",
            Self::Drop => "Fornecedor que vende por meio dos alunos",
            Self::Admin => "Quem administra a plataforma",
        }
    }

    /// The name that people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Free => "Gratuito",
            Self::Pro => "Pro",
            Self::Vip => "VIP",
            Self::PilotoPro => "Piloto Pro",
            Self::Podio => "Pódio",
            Self::Drop => "Fornecedor",
            Self::Admin => "Administração",
        }
    }
}

row! {
    /// A person as carried by identities (`edge/guard/`).
    #[derive(Clone, Debug)]
    pub struct Account {
        pub user_id: UserId = "u.user_id",
        pub name: String = "u.name",
        pub email: String = "u.email",
        pub role: Role = "u.role",
        /// Path of the photo, empty without one.
        pub photo: String = "u.photo",
        pub suspended: bool = "u.suspended_at IS NOT NULL",
        /// Whether the person was given the agency's pages; administrators always
        /// have them.
        pub agency: bool = "EXISTS (SELECT 1 FROM user_permission ap
                      WHERE ap.user_id = u.user_id AND ap.permission = 'agencia' AND ap.granted = 1)",
    }
}

impl Account {
    /// Whether the person may use the agency's pages.
    pub const fn is_of_agency(&self) -> bool {
        self.agency || matches!(self.role, Role::Admin)
    }
}

/// Effective extension permissions, each true or false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "seven independent permissions")]
pub struct Permissions {
    pub extensao_browser: bool,
    pub ml_analisar: bool,
    pub ml_tendencias: bool,
    pub ml_raio_x: bool,
    pub ml_calculadora: bool,
    pub ml_clonar: bool,
    pub fotos_ia: bool,
}

impl Permissions {
    /// Sets a permission by name; names that are not the extension's are ignored.
    pub fn set(&mut self, name: &str, granted: bool) {
        match name {
            "extensao_browser" => self.extensao_browser = granted,
            "ml_analisar" => self.ml_analisar = granted,
            "ml_tendencias" => self.ml_tendencias = granted,
            "ml_raio_x" => self.ml_raio_x = granted,
            "ml_calculadora" => self.ml_calculadora = granted,
            "ml_clonar" => self.ml_clonar = granted,
            "fotos_ia" => self.fotos_ia = granted,
            _ => {}
        }
    }
}

/// The student as whom a session views the panel, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewing {
    pub student: UserId,
    pub until: Instant,
}

/// A running view.
#[derive(Clone, Debug)]
pub struct View {
    pub student: Arc<Account>,
    pub until: Instant,
}
