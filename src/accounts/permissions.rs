//! What people may do: each role has its set, and a person may have
//! exceptions that win.
//!
//! Everything that can be granted is listed in [`ALL`]; pages and input checks
//! read it there.

use rusqlite::named_params;

use super::Role;
use super::person::Group;
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// Something that can be granted.
#[derive(Debug)]
pub struct Permission {
    /// The name in the database and on the wire.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it opens.
    pub about: &'static str,
    /// Whether it is only given to single people of the team, never to a role.
    pub is_personal: bool,
}

impl Permission {
    const fn new(name: &'static str, title: &'static str, about: &'static str) -> Self {
        Self { name, title, about, is_personal: false }
    }
}

/// Opens the agency's pages to a person who is not an administrator.
pub const AGENCY: &str = "agencia";

/// Everything that can be granted.
#[rustfmt::skip] // A table.
pub const ALL: [Permission; 9] = [
    Permission::new("extensao_browser", "Extensão do navegador", "Entrar na extensão e ver o painel dela."),
    Permission::new("ml_analisar", "Analisar anúncios", "Ver números de um anúncio na página dele."),
    Permission::new("ml_calculadora", "Calculadora de taxas", "Calcular o que sobra de uma venda."),
    Permission::new("ml_tendencias", "Tendências", "Ver o que mais se procura."),
    Permission::new("ml_raio_x", "Raio X", "Ver vendas e visitas de outros vendedores."),
    Permission::new("ml_clonar", "Clonar anúncios", "Copiar um anúncio para a própria conta."),
    Permission::new("fotos_ia", "Fotos com IA", "Melhorar fotos de produtos."),
    Permission::new("meets", "Encontros ao vivo", "Ver os encontros e ser lembrado deles."),
    Permission { is_personal: true, ..Permission::new(AGENCY, "Equipe da agência", "Cuidar das contas dos clientes da agência.") },
];

/// The permissions that a role may have.
pub fn of_roles() -> impl Iterator<Item = &'static Permission> {
    ALL.iter().filter(|one| !one.is_personal)
}

/// Whether roles may be given a permission of that name.
pub fn exists(name: &str) -> bool {
    of_roles().any(|one| one.name == name)
}

/// What a role may do, in the order of [`ALL`].
pub fn of_role(tx: &ReadTx<'_>, role: Role) -> Result<Vec<&'static str>> {
    let granted: Vec<String> =
        tx.values("SELECT permission FROM role_permission WHERE role = ?1", [role])?;
    let granted = of_roles().filter(|one| granted.iter().any(|name| name == one.name));
    Ok(granted.map(|one| one.name).collect())
}

/// Replaces what a role may do.
pub fn set_role(tx: &WriteTx<'_>, role: Role, granted: &[&'static str]) -> Result<()> {
    tx.execute("DELETE FROM role_permission WHERE role = ?1", [role])?;
    for name in granted {
        tx.execute("INSERT INTO role_permission (role, permission) VALUES (?1, ?2)", (role, name))?;
    }
    Ok(())
}

/// A person's exceptions: granted or denied, in the order of [`ALL`].
pub fn exceptions(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<(&'static str, bool)>> {
    let stored: Vec<(String, bool)> =
        tx.tuples("SELECT permission, granted FROM user_permission WHERE user_id = ?1", [user])?;
    let of = |name: &str| stored.iter().find(|(known, _)| known == name);
    let exceptions = ALL.iter().filter_map(|one| Some((one.name, of(one.name)?.1)));
    Ok(exceptions.collect())
}

/// SQL condition on `user u`: students who have the permission `:permission` and are not
/// suspended. The plus sign makes SQLite search by `user_id`.
pub const STUDENTS_WITH: &str = "+u.kind = :students AND u.suspended_at IS NULL AND coalesce(
    (SELECT p.granted FROM user_permission p WHERE p.user_id = u.user_id AND p.permission = :permission),
    EXISTS (SELECT 1 FROM role_permission r WHERE r.role = u.role AND r.permission = :permission))";

/// Whether a person is a student who is not suspended.
pub fn is_active_student(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM user
             WHERE user_id = ?1 AND kind = ?2 AND suspended_at IS NULL)",
        (user, Group::Students),
    )
}

/// Whether somebody is a student as [`STUDENTS_WITH`] says.
pub fn is_student_with(tx: &ReadTx<'_>, user: UserId, permission: &str) -> Result<bool> {
    tx.value(
        &format!(
            "SELECT EXISTS (SELECT 1 FROM user u WHERE u.user_id = :user AND {STUDENTS_WITH})"
        ),
        named_params! { ":user": user, ":permission": permission, ":students": Group::Students },
    )
}

/// Sets or removes an exception of a person.
pub fn set_exception(
    tx: &WriteTx<'_>,
    user: UserId,
    name: &str,
    granted: Option<bool>,
) -> Result<()> {
    match granted {
        Some(granted) => tx.execute(
            "INSERT INTO user_permission (user_id, permission, granted) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id, permission) DO UPDATE SET granted = ?3",
            (user, name, granted),
        )?,
        None => tx.execute(
            "DELETE FROM user_permission WHERE user_id = ?1 AND permission = ?2",
            (user, name),
        )?,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::Permissions;

    #[test]
    fn every_permission_of_the_extension_can_be_granted() {
        let wire = serde_json::to_value(Permissions::default()).unwrap();
        for name in wire.as_object().unwrap().keys() {
            assert!(exists(name), "{name}");
        }
    }
}
