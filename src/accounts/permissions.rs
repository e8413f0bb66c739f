//! What people may do: each role has its set, and a person may have
//! exceptions that win.
//!
//! Everything that can be granted stands in [`ALL`]; pages and checks of input
//! read it there.

use super::Role;
use crate::base::UserId;
use crate::db::{ReadTx, Result, WriteTx};

/// Something that can be granted.
#[derive(Debug)]
pub struct Permission {
    /// The name in the database and on the wire.
    pub name: &'static str,
    /// What people read.
    pub title: &'static str,
    /// What it opens.
    pub about: &'static str,
}

/// Everything that can be granted.
pub const ALL: [Permission; 8] = [
    Permission {
        name: "extensao_browser",
        title: "Extensão do navegador",
        about: "Entrar na extensão e ver o painel dela.",
    },
    Permission {
        name: "ml_analisar",
        title: "Analisar anúncios",
        about: "Ver números de um anúncio na página dele.",
    },
    Permission {
        name: "ml_calculadora",
        title: "Calculadora de taxas",
        about: "Calcular o que sobra de uma venda.",
    },
    Permission { name: "ml_tendencias", title: "Tendências", about: "Ver o que mais se procura." },
    Permission {
        name: "ml_raio_x",
        title: "Raio X",
        about: "Ver vendas e visitas de outros vendedores.",
    },
    Permission {
        name: "ml_clonar",
        title: "Clonar anúncios",
        about: "Copiar um anúncio para a própria conta.",
    },
    Permission { name: "fotos_ia", title: "Fotos com IA", about: "Melhorar fotos de produtos." },
    Permission {
        name: "meets",
        title: "Encontros ao vivo",
        about: "Ver os encontros e ser lembrado deles.",
    },
];

/// Whether there is a permission of that name.
pub fn exists(name: &str) -> bool {
    ALL.iter().any(|one| one.name == name)
}

/// What a role may do, in the order of [`ALL`].
pub fn of_role(tx: &ReadTx<'_>, role: Role) -> Result<Vec<&'static str>> {
    let granted: Vec<String> =
        tx.values("SELECT permission FROM role_permission WHERE role = ?1", [role])?;
    let granted = ALL.iter().filter(|one| granted.iter().any(|name| name == one.name));
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

/// A person's exceptions: granted or taken away, in the order of [`ALL`].
pub fn exceptions(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<(&'static str, bool)>> {
    let stored: Vec<(String, bool)> =
        tx.tuples("SELECT permission, granted FROM user_permission WHERE user_id = ?1", [user])?;
    let of = |name: &str| stored.iter().find(|(known, _)| known == name);
    let exceptions = ALL.iter().filter_map(|one| Some((one.name, of(one.name)?.1)));
    Ok(exceptions.collect())
}

/// Makes a person an exception, or takes it away.
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
