//! What the agency's team is told inside the platform, and what students are
//! told of the agency.

use super::store::is_of_team;
use crate::base::UserId;
use crate::db::{Result, WriteTx};
use crate::messages::{NewNotification, NotificationKind, store as messages};

/// Most administrators who are told of a client that nobody keeps.
const MOST: usize = 50;

/// Tells who keeps a client, or the administrators when nobody does; once for
/// a cause. `page` is where it is seen.
pub fn team(
    tx: &WriteTx<'_>,
    client: i64,
    (title, text): (&str, &str),
    page: &str,
    cause: &str,
) -> Result<()> {
    for person in whom(tx, client)? {
        tell(tx, person, (title, text), page, cause)?;
    }
    Ok(())
}

/// Who keeps a client, as long as that person is of the team; else everybody
/// who administers.
fn whom(tx: &WriteTx<'_>, client: i64) -> Result<Vec<UserId>> {
    let keeper: Option<Option<UserId>> =
        tx.maybe("SELECT keeper_id FROM agency_client WHERE client_id = ?1", [client])?;
    if let Some(keeper) = keeper.flatten()
        && is_of_team(tx, keeper)?
    {
        return Ok(vec![keeper]);
    }
    tx.values(
        "SELECT user_id FROM user WHERE role = 'admin' AND suspended_at IS NULL
         ORDER BY user_id LIMIT ?1",
        [i64::try_from(MOST).unwrap_or(1)],
    )
}

/// Tells a student that the agency looks after an account of theirs.
pub fn joined(tx: &WriteTx<'_>, owner: UserId, nickname: &str) -> Result<()> {
    let title = format!("A agência cuida de {nickname}");
    let text = "A equipe dela vê as vendas, os anúncios, as perguntas e as reclamações desta conta, e responde a compradores. Dá para encerrar quando quiser, em Contas.";
    let cause = format!("agencia:cuida:{nickname}:{}", tx.now().0);
    tell(tx, owner, (&title, text), OWN_ACCOUNTS, &cause)
}

/// Tells a student that it no longer does.
pub fn left(tx: &WriteTx<'_>, owner: UserId, nickname: &str) -> Result<()> {
    let title = format!("A agência deixou de cuidar de {nickname}");
    let text = "A equipe dela não vê mais esta conta. O vínculo com a plataforma continua seu.";
    let cause = format!("agencia:deixou:{nickname}:{}", tx.now().0);
    tell(tx, owner, (&title, text), OWN_ACCOUNTS, &cause)
}

/// Where students see their accounts.
const OWN_ACCOUNTS: &str = "/painel/ml";

fn tell(
    tx: &WriteTx<'_>,
    person: UserId,
    (title, message): (&str, &str),
    page: &str,
    cause: &str,
) -> Result<()> {
    let told = NewNotification {
        kind: NotificationKind::Sistema,
        title,
        message,
        ml_user_id: None,
        reference: Some(page),
        cause,
    };
    messages::notify(tx, person, &told)?;
    Ok(())
}
