//! Nicknames of buyers who asked: fetched from the marketplace once, kept for
//! half a year.

use serde::Serialize;

use super::pages;
use super::store::QuestionRow;
use crate::app::App;
use crate::base::{DAY_S, Instant, UserId};
use crate::db::{Lane, ReadTx, Result, WriteTx};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::tools;

/// A name is deleted after this time, and fetched again when it is needed.
const KEPT_S: i64 = 180 * DAY_S;
/// Longest name that is kept.
const LONGEST: usize = 200;

#[derive(Serialize)]
struct NameReply {
    ok: bool,
    /// `None` when the marketplace shows no name.
    nome: Option<String>,
}

/// `GET /painel/perguntas/{id}/comprador`: the nickname of a question's buyer.
pub fn buyer(app: &App, person: &Person, request: &Request) -> std::result::Result<Reply, Problem> {
    let question = pages::read(app, person, request)?.0.row;
    reply(app, person.account.user_id, &question)
}

/// The same for a question of an owner.
pub fn reply(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
) -> std::result::Result<Reply, Problem> {
    let nome = match question.asker_id {
        Some(asker) => name(app, owner, (question, asker))?,
        None => String::new(),
    };
    Reply::json(&NameReply { ok: true, nome: Some(nome).filter(|nome| !nome.is_empty()) })
}

fn name(
    app: &App,
    owner: UserId,
    (question, asker): (&QuestionRow, i64),
) -> std::result::Result<String, Problem> {
    let since = app.clock.now().minus(KEPT_S);
    if let Some(known) = app.db.read(Lane::Brief, |tx| known(tx, asker, since))? {
        return Ok(known);
    }
    let client = &app.marketplace.client;
    let account = question.ml_user_id;
    let told = with_own_token(app, owner, account, |caller| client.nickname(caller, asker));
    let nickname = match told {
        Ok(nickname) => crate::base::shortened(&nickname, LONGEST).to_owned(),
        Err(CallError::Failed(failure)) if failure.is_not_found() => String::new(),
        Err(CallError::NotLinked) => return Err(Problem::not_found()),
        Err(CallError::Db(error)) => return Err(error.into()),
        Err(error) => {
            let said = tools::out_of_reach(&error).1;
            let retry_after_s = error.retry_after_s();
            return Err(Problem {
                retry_after_s,
                ..Problem::new(Code::MarketplaceUnavailable, said)
            });
        }
    };
    let kept = nickname.clone();
    app.db.write(move |tx| keep(tx, asker, &kept))?;
    Ok(nickname)
}

fn known(tx: &ReadTx<'_>, asker: i64, since: Instant) -> Result<Option<String>> {
    tx.maybe(
        "SELECT nickname FROM buyer_name WHERE buyer_id = ?1 AND read_at >= ?2",
        (asker, since),
    )
}

/// Stores a name, and deletes some of those that were read long ago: more than
/// come in.
fn keep(tx: &WriteTx<'_>, asker: i64, nickname: &str) -> Result<()> {
    tx.execute(
        "DELETE FROM buyer_name WHERE buyer_id IN (
             SELECT buyer_id FROM buyer_name WHERE read_at < ?1 LIMIT 20)",
        [tx.now().minus(KEPT_S)],
    )?;
    tx.run(
        "INSERT OR REPLACE INTO buyer_name (buyer_id, nickname, read_at) VALUES (?1, ?2, ?3)",
        (asker, nickname, tx.now()),
    )
}
