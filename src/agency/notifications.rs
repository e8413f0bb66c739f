//! Notifications to the agency's team, and to students about the agency.

use super::page_of;
use super::store::is_of_team;
use crate::accounts::store::administrators;
use crate::base::UserId;
use crate::db::{Result, WriteTx};
use crate::messages::{self, News, NotificationKind};

/// Most administrators who are notified about a client without a keeper.
const MOST: u32 = 50;
/// Where students see their accounts.
const OWN_ACCOUNTS: &str = "/painel/ml";

/// Notifies the keeper of a client, or the administrators when it has none;
/// once per `cause`. The notification leads to the client's page.
pub fn notify_team(
    tx: &WriteTx<'_>,
    client: i64,
    title: &str,
    text: &str,
    cause: &str,
) -> Result<()> {
    for person in whom(tx, client)? {
        tell(tx, person, title, text, &page_of(client), cause)?;
    }
    Ok(())
}

/// The keeper of a client, if that person is in the team; otherwise the
/// administrators.
fn whom(tx: &WriteTx<'_>, client: i64) -> Result<Vec<UserId>> {
    let keeper: Option<Option<UserId>> =
        tx.maybe("SELECT keeper_id FROM agency_client WHERE client_id = ?1", [client])?;
    if let Some(keeper) = keeper.flatten()
        && is_of_team(tx, keeper)?
    {
        return Ok(vec![keeper]);
    }
    administrators(tx, MOST)
}

/// Tells a student that the agency looks after an account of theirs.
pub fn notify_joined(tx: &WriteTx<'_>, owner: UserId, nickname: &str) -> Result<()> {
    let title = format!("A agência cuida de {nickname}");
    let text = "A equipe dela vê as vendas, os anúncios, as perguntas e as reclamações desta conta, e responde a compradores. Dá para encerrar quando quiser, em Contas.";
    let cause = format!("agencia:cuida:{nickname}:{}", tx.now().0);
    tell(tx, owner, &title, text, OWN_ACCOUNTS, &cause)
}

/// Tells a student that the agency no longer looks after the account.
pub fn notify_left(tx: &WriteTx<'_>, owner: UserId, nickname: &str) -> Result<()> {
    let title = format!("A agência deixou de cuidar de {nickname}");
    let text = "A equipe dela não vê mais esta conta. O vínculo com a plataforma continua seu.";
    let cause = format!("agencia:deixou:{nickname}:{}", tx.now().0);
    tell(tx, owner, &title, text, OWN_ACCOUNTS, &cause)
}

fn tell(
    tx: &WriteTx<'_>,
    person: UserId,
    title: &str,
    text: &str,
    page: &str,
    cause: &str,
) -> Result<()> {
    let news = News {
        title,
        text,
        reference: Some(page),
        ..News::notice(NotificationKind::Sistema, cause)
    };
    messages::tell(tx, person, news).map(drop)
}
