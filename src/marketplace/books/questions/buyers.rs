//! Nicknames of buyers who asked: fetched from the marketplace once, kept for
//! half a year.

use serde_json::json;

use super::store;
use crate::app::App;
use crate::base::UserId;
use crate::db::Lane;
use crate::http::{Code, ForPeople, Problem, Reply};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::books::document::QuestionRow;
use crate::marketplace::tools;

const LONGEST: usize = 200;

/// The nickname of the buyer who asked an owner's question.
pub fn reply(app: &App, owner: UserId, question: &QuestionRow) -> Result<Reply, Problem> {
    let nome = match question.asker_id {
        Some(asker) => name(app, owner, question, asker)?,
        None => String::new(),
    };
    // Null when the marketplace shows no name.
    Reply::ok(&json!({ "nome": Some(nome).filter(|nome| !nome.is_empty()) }))
}

fn name(app: &App, owner: UserId, question: &QuestionRow, asker: i64) -> Result<String, Problem> {
    if let Some(known) = app.db.read(Lane::Brief, |tx| store::buyer_name(tx, asker))? {
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
                ..Problem::told(Code::MarketplaceUnavailable, ForPeople(said))
            });
        }
    };
    let kept = nickname.clone();
    app.db.write(move |tx| store::keep_buyer_name(tx, asker, &kept))?;
    Ok(nickname)
}
