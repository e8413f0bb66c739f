//! How the agency stops looking after an account. It takes effect at once,
//! whatever the cause.
//!
//! A student ends it on the page of accounts. Unlinking the account or removing
//! the student also ends it, because the row of `agency_account` is deleted
//! with the link. Removing a client also removes the data of its shell.

use serde_json::json;

use crate::agency::invites::store as invites;
use crate::agency::store::JoinedAccount;
use crate::agency::{act, notifications, store};
use crate::app::App;
use crate::audit::{self, Actor};
use crate::base::MlUserId;
use crate::db::{Lane, WriteTx};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::link::{self, ACCOUNTS, LinkOutcome};
use crate::marketplace::account::store as accounts;
use crate::messages::store as messages;
use crate::panel::Answer;
use crate::people::store as people;
use crate::services::Services;

/// `POST /painel/ml/contas/{ml_user_id}/agencia/encerrar`: a student ends the
/// agency's care of an account.
pub fn end(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let account = link::account_in(request)?;
    let owner = person.account.user_id;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let joined = app.db.read(request.lane, |tx| store::joined(tx, account))?;
    if joined.is_some_and(|joined| joined.owner == owner) {
        forget_care(app, account)?;
    }
    app.db.write(move |tx| {
        let joined = store::joined(tx, account)?.filter(|joined| joined.owner == owner);
        let joined = joined.ok_or_else(Problem::not_found)?;
        store::leave(tx, joined.client, account)?;
        let before = json!({ "conta": joined.nickname });
        audit::note(
            tx,
            &actor,
            &act("cliente.conta_saiu", joined.client, &joined.client_name),
            &before,
            (),
        )?;
        let title = format!("{} saiu da agência", joined.nickname);
        let text = format!("Quem vende encerrou o acesso a esta conta de {}.", joined.client_name);
        let cause = format!("agencia:saiu:{account}:{}", tx.now().0);
        notifications::notify_team(tx, joined.client, &title, &text, &cause)?;
        answer.with(ACCOUNTS, LinkOutcome::AgencyEnded.name(), &[])
    })
}

/// Removes a client with its invitation, its accounts and the data of its
/// shell. Returns false when the client does not exist. Waits for the
/// marketplace and runs several write jobs, so it must not run on an async
/// worker. After an interruption, calling it again continues.
pub fn remove_client(app: &App, actor: &Actor, client: i64) -> Result<bool, Problem> {
    let is_there = app.db.write(move |tx| {
        invites::end(tx, client)?;
        invites::name_of(tx, client)
    })?;
    if is_there.is_none() {
        return Ok(false);
    }
    remove_accounts(app, client)?;
    loop {
        let actor = actor.clone();
        if app.db.write_piece(move |tx| remove_some(tx, &actor, client))? {
            return Ok(true);
        }
    }
}

/// Stops looking after all accounts of a client. Accounts of its shell are
/// unlinked and their authorisation is revoked at the marketplace; students
/// keep their accounts.
pub fn remove_accounts(app: &App, client: i64) -> Result<(), Problem> {
    let shell = app.db.read(Lane::Brief, |tx| invites::shell_of(tx, client))?;
    if let Some(shell) = shell {
        for account in app.db.read(Lane::Brief, |tx| accounts::linked_accounts(tx, shell))? {
            link::unlink_and_revoke(app, shell, account.ml_user_id)?;
        }
    }
    for joined in app.db.read(Lane::Brief, |tx| store::accounts_of(tx, client))? {
        forget_care(app, joined.ml_user_id)?;
        app.db.write(move |tx| leave(tx, &joined))?;
    }
    Ok(())
}

/// Stops looking after one account of a client. An account of its shell is
/// unlinked and its authorisation is revoked at the marketplace; a student
/// keeps the account. `None` when the account does not belong to the client.
/// Waits for the marketplace, so it must not run on an async worker.
pub fn remove_account(
    app: &App,
    client: i64,
    account: MlUserId,
) -> Result<Option<JoinedAccount>, Problem> {
    let (joined, shell) = app.db.read(Lane::Brief, |tx| {
        Ok::<_, Problem>((store::joined(tx, account)?, invites::shell_of(tx, client)?))
    })?;
    let Some(joined) = joined.filter(|joined| joined.client == client) else { return Ok(None) };
    let was_there = if shell == Some(joined.owner) {
        link::unlink_and_revoke(app, joined.owner, account)?
    } else {
        let joined = joined.clone();
        forget_care(app, account)?;
        app.db.write(move |tx| leave(tx, &joined))?
    };
    Ok(was_there.then_some(joined))
}

/// Removes what the agency knows of an account, which can be many rows.
fn forget_care(services: &Services, account: MlUserId) -> Result<(), Problem> {
    Ok(services
        .db
        .write_pieces(move |tx| tx.work_off(|most| accounts::empty_care(tx, account, most)))?)
}

/// Stops looking after an account and notifies its owner. Returns false when
/// that had already happened.
fn leave(tx: &WriteTx<'_>, joined: &JoinedAccount) -> Result<bool, Problem> {
    let is_left = store::leave(tx, joined.client, joined.ml_user_id)?;
    if is_left {
        notifications::notify_left(tx, joined.owner, &joined.nickname)?;
    }
    Ok(is_left)
}

/// Removes some rows of a client's shell. When none are left, removes the shell
/// and the client. Returns true when both are gone.
fn remove_some(tx: &WriteTx<'_>, actor: &Actor, client: i64) -> Result<bool, Problem> {
    let Some(name) = invites::name_of(tx, client)? else { return Ok(true) };
    let shell = invites::shell_of(tx, client)?;
    if let Some(shell) = shell {
        // A consent may have linked an account just before the invitation
        // ended.
        let is_empty = tx.work_off(|most| {
            Ok::<_, Problem>(
                accounts::forget_accounts(tx, shell, most)?
                    + accounts::forget_history(tx, shell, most)?
                    + messages::forget(tx, shell, most)?
                    + people::forget_rest(tx, shell, most)?,
            )
        })?;
        if !is_empty {
            return Ok(false);
        }
    }
    let before = json!({ "nome": name });
    audit::note(tx, actor, &act("cliente.excluir", client, &name), &before, ())?;
    store::remove(tx, client)?;
    if let Some(shell) = shell {
        people::replace_by_shell(tx, shell)?;
    }
    Ok(true)
}
