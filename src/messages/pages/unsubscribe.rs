//! Unsubscribing from optional e-mails, by the link that each of them contains:
//! no login, one click in mail programs (RFC 8058).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::app::App;
use crate::base::UserId;
use crate::base::secrets::SealContext;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::messages::choices;
use crate::messages::views::LeavePage;
use crate::outbox::Channel;
use crate::panel::{Layout, Sent};
use crate::services::Services;

/// The page's address.
pub const PATH: &str = "/avisos/sair";

/// What a code is sealed for; it is valid for nothing else.
const PLACE: SealContext<'static> =
    SealContext { table: "message_choice", column: "wanted", row: "email" };

/// The unsubscribe link of a person. It never expires and does nothing else.
pub fn address(app: &App, user: UserId) -> String {
    let sealed = app.sealer.seal(user.to_string().as_bytes(), PLACE);
    let code = URL_SAFE_NO_PAD.encode(sealed);
    format!("{}{PATH}?codigo={code}", app.server.addresses.base_url)
}

/// The person whom a code is for.
fn person_of(services: &Services, code: &str) -> Option<UserId> {
    let sealed = URL_SAFE_NO_PAD.decode(code).ok()?;
    let opened = services.sealer.open_text(&sealed, PLACE).ok()?;
    opened.reveal().parse().ok().map(UserId)
}

fn code_of(services: &Services, request: &Request) -> Result<String, Problem> {
    Ok(Sent::of_query(request, services.zone())?.optional("codigo").unwrap_or_default())
}

fn page(
    services: &Services,
    request: &Request,
    code: String,
    done: bool,
) -> Result<Reply, Problem> {
    let layout = Layout::outside(&services.config.server.name, request.now);
    Reply::page(&LeavePage { layout, code, done })
}

/// `GET /avisos/sair?codigo=`: the page that asks for confirmation.
pub fn ask(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let code = code_of(app, request)?;
    let known = person_of(app, &code).is_some();
    let shown = if known { code } else { String::new() };
    let page = page(app, request, shown, false)?;
    Ok(if known { page } else { page.status(http::StatusCode::NOT_FOUND) })
}

/// `POST /avisos/sair?codigo=`: stops all e-mails except those that must be
/// sent.
pub fn leave(app: &App, (): &(), request: &Request) -> Result<Job, Problem> {
    let user = person_of(app, &code_of(app, request)?).ok_or_else(Problem::not_found)?;
    let reply = if request.wants_json() {
        Reply::json(&json!({ "ok": true }))?
    } else {
        page(app, request, String::new(), true)?
    };
    Ok(Box::new(move |tx| {
        if !choices::exists(tx, user)? {
            return Err(Problem::not_found());
        }
        choices::set(tx, user, Channel::Email.name(), false)?;
        Ok(reply)
    }))
}
