//! Login and logout of the browser extension.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::WireUser;
use super::{Account, login, store};
use crate::app::App;
use crate::base::{DAY_S, TokenHash, secrets};
use crate::edge::route::Job;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::identity::guard;
use crate::services::Services;

/// Lifetime of an extension token.
const TOKEN_S: i64 = 30 * DAY_S;

/// E-mail and password.
#[derive(Deserialize, JsonSchema)]
pub struct AuthBody {
    #[serde(default)]
    #[schemars(!default)]
    email: Field<String>,
    #[serde(default)]
    #[schemars(!default)]
    senha: Field<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct AuthReply {
    ok: bool,
    /// 64 characters, valid for 30 days; every earlier one is revoked.
    token: String,
    /// Whether the person may use the extension.
    tem_acesso: bool,
    user: WireUser,
    /// A chat link for people without access, when one is configured.
    chat_upgrade: Option<String>,
}

/// `POST /api/ext/auth`: a token for e-mail and password.
pub fn auth(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let body: AuthBody = request.json()?;
    let mut check = Check::json();
    let email = check.required("email", body.email);
    let password = check.required("senha", body.senha);
    check.finish()?;
    let login = login::check(app, &email, &password, request)?;
    let token = secrets::random_hex::<32>();
    let hash = TokenHash::of(&token);
    let (account, tem_acesso) = app.db.write(move |tx| {
        login.note(tx)?;
        let user = login.account.user_id;
        store::replace_extension_token(tx, user, &hash, tx.now().plus(TOKEN_S))?;
        let permissions = store::permissions(tx, user, login.account.role)?;
        Ok::<_, Problem>((login.account, permissions.extensao_browser))
    })?;
    Reply::json(&AuthReply {
        ok: true,
        token,
        tem_acesso,
        chat_upgrade: if tem_acesso { None } else { upgrade_link(app, &account) },
        user: WireUser::of(&account),
    })
}

/// A prefilled chat with the person who sells access; none unless a number is
/// configured.
fn upgrade_link(services: &Services, account: &Account) -> Option<String> {
    let number = &services.config.chat.upgrade_number;
    if number.is_empty() {
        return None;
    }
    let text = format!("Olá! Sou {} ({}) e quero liberar a extensão.", account.name, account.email);
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("text", &text).finish();
    Some(format!("https://wa.me/{number}?{query}"))
}

#[derive(Serialize, JsonSchema)]
pub struct LogoutReply {
    ok: bool,
}

/// `POST /api/ext/logout`: ends the presented token, if it is one.
pub fn logout(_: &App, (): &(), request: &Request) -> Result<Job, Problem> {
    let token = guard::bearer(request).map(TokenHash::of);
    Ok(Box::new(move |tx| {
        if let Some(token) = token {
            store::revoke_extension_token(tx, &token)?;
        }
        Reply::json(&LogoutReply { ok: true })
    }))
}
