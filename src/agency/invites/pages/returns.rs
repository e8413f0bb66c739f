//! The return from the consent page: a student goes to the accounts, a guest of
//! an invitation to a page with the result.
//!
//! Marketplaces have one return address, so both arrive here. A visit that
//! began as a guest in this browser is handled as a guest, signed in or not.
//! Everybody else must be signed in as a student.

use std::cell::Cell;

use serde_json::json;

use crate::agency::clients::MOST_ACCOUNTS;
use crate::agency::invites::store::Guest;
use crate::agency::invites::{Ending, began_here, seal_outcome, store};
use crate::agency::{act, notifications, store as agency};
use crate::app::App;
use crate::audit::{self, Actor, ActorKind};
use crate::base::{MlUserId, TokenHash, UserId};
use crate::db::{Lane, ReadTx, WriteTx};
use crate::edge::route::Todo;
use crate::http::{Problem, Reply, Request};
use crate::identity::Visitor;
use crate::identity::guard;
use crate::marketplace::account::link::{self, LinkCallback};
use crate::marketplace::account::store::{self as accounts, NewLink};
use crate::marketplace::client::TokenPair;
use crate::services::Services;

/// `GET /painel/ml/retorno`: the return, with a code or a refusal.
pub fn finish(app: &App, _: &Visitor, request: &Request) -> Result<Todo<Reply>, Problem> {
    let callback = LinkCallback::of(request);
    let state = callback.as_ref().map_or("", |callback| &callback.state);
    let is_ours = began_here(app, request, state);
    let guest = app.db.read(request.lane, |tx| store::guest(tx, &TokenHash::of(state)))?;
    match (guest, is_ours) {
        (Some(guest), true) => {
            let callback = callback?;
            let actor = Actor::requesting(ActorKind::System, "Convite".to_owned(), request);
            return Ok(Todo::Outside(Box::new(move |app| {
                let (ending, account) = receive(app, &guest, &callback, actor)?;
                Reply::redirect(&seal_outcome(app, ending, &account))
            })));
        }
        (Some(_), false) => return end(app, Ending::Elsewhere),
        (None, true) => return end(app, Ending::Expired),
        (None, false) => {}
    }
    let user = guard::student(app, request)?.account.user_id;
    let callback = callback?;
    Ok(Todo::Outside(Box::new(move |app| link::finish_link(app, user, &callback)?.redirect())))
}

fn end(services: &Services, ending: Ending) -> Result<Todo<Reply>, Problem> {
    Reply::redirect(&seal_outcome(services, ending, "")).map(Todo::Now)
}

/// Exchanges a guest's code and makes the agency look after the account.
/// Returns the ending and the account's name.
fn receive(
    app: &App,
    guest: &Guest,
    callback: &LinkCallback,
    actor: Actor,
) -> Result<(Ending, String), Problem> {
    let client = guest.client;
    let is_full = Cell::new(false);
    let is_free = |tx: &ReadTx<'_>, account| {
        if let Some(joined) = agency::joined(tx, account)? {
            return Ok(joined.client == client);
        }
        is_full.set(agency::accounts_of(tx, client)?.len() >= MOST_ACCOUNTS);
        Ok(!is_full.get())
    };
    let pair = match callback.redeem(app, guest.shell, is_free)? {
        Ok(pair) => pair,
        Err(_) if is_full.get() => return Ok((Ending::Full, String::new())),
        Err(outcome) => return Ok((Ending::without(outcome), String::new())),
    };
    let account = pair.ml_user_id;
    let Some(taken) = take_in(app, guest.clone(), &pair, actor)? else {
        // The client was removed meanwhile.
        return Ok((Ending::Expired, String::new()));
    };
    link::read_account(app, taken.owner, &pair)?;
    if !taken.is_joined {
        return Ok((Ending::OfAnother, String::new()));
    }
    let nickname = app.db.read(Lane::Brief, |tx| store::nickname(tx, account))?;
    if taken.is_new {
        let (guest, nickname) = (guest.clone(), nickname.clone());
        app.db.write(move |tx| tell(tx, &guest, taken.owner, account, &nickname))?;
    }
    let renews = pair.refresh.is_some();
    Ok((if renews { Ending::Joined } else { Ending::JoinedForHours }, nickname))
}

/// An account that a guest authorised, after its tokens were stored.
#[derive(Clone, Copy)]
struct Taken {
    /// Who owns the account.
    owner: UserId,
    /// Whether the agency looks after it for this client.
    is_joined: bool,
    /// Whether the agency did not look after it before.
    is_new: bool,
}

/// Stores the tokens for the owner of the account, because the new
/// authorisation ended the old tokens, and joins the account to the client. An
/// account without an owner becomes the shell's.
fn take_in(
    app: &App,
    guest: Guest,
    pair: &TokenPair,
    actor: Actor,
) -> Result<Option<Taken>, Problem> {
    let new = NewLink::of(app, pair);
    let wanted = app.marketplace.wanted.clone();
    app.db.write(move |tx| {
        if store::shell_of(tx, guest.client)? != Some(guest.shell) {
            return Ok(None);
        }
        let account = new.ml_user_id;
        let owner = accounts::owner_of(tx, account)?.map_or(guest.shell, |(owner, _)| owner);
        accounts::link(tx, owner, &new)?;
        tx.after_commit(move || wanted.ring());
        let is_new = agency::join(tx, guest.client, account)?;
        if is_new {
            let after = json!({ "conta": account.to_string() });
            let act = act("cliente.conta_entrou", guest.client, &guest.name);
            audit::note(tx, &actor, &act, (), &after)?;
        }
        let joined = agency::joined(tx, account)?;
        let is_joined = joined.is_some_and(|joined| joined.client == guest.client);
        Ok(Some(Taken { owner, is_joined, is_new }))
    })
}

/// Tells the team, and the student whose account it is.
fn tell(
    tx: &WriteTx<'_>,
    guest: &Guest,
    owner: UserId,
    account: MlUserId,
    nickname: &str,
) -> Result<(), Problem> {
    if owner != guest.shell {
        notifications::notify_joined(tx, owner, nickname)?;
    }
    let title = format!("{nickname} foi autorizada");
    let text =
        format!("A conta chegou pelo convite de {}. A primeira leitura já começou.", guest.name);
    let cause = format!("agencia:entrou:{account}:{}", tx.now().0);
    Ok(notifications::notify_team(tx, guest.client, &title, &text, &cause)?)
}
