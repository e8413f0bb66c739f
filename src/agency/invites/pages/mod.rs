//! The pages of an invitation, for its visitor and for the team.

pub mod returns;

use http::header::{CONTENT_SECURITY_POLICY, SET_COOKIE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::store::{self, Invited};
use super::views::{EndPage, InvitationGonePage, InvitationMade, InvitationPage};
use super::{Ending, address, cookie, state_of};
use crate::accounts::page_layout::layout;
use crate::agency::{act, page_of};
use crate::app::{App, Visit};
use crate::audit::{self, Actor};
use crate::base::{TokenHash, secrets};
use crate::db::WriteTx;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::limit::{Class, Limit};
use crate::http::problem::Told;
use crate::http::{Code, Problem, Reply, Request, policy};
use crate::identity::{Person, Visitor};
use crate::marketplace::account::link::LinkStart;
use crate::panel::{Answer, Layout, Sent};
use crate::services::Services;

/// Limit of an address: unknown codes, and visits to the consent page.
const OF_ADDRESS: Limit = Limit { count: 60, window_s: 3_600 };
/// Search engines must not index invitations.
const NO_INDEX: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex, nofollow"));

/// `GET /convite/{code}`: shows who asks for which access, before anything is
/// authorised.
pub fn page(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    match find_valid(app, request)? {
        Some(invited) => show(app, request, invited),
        None => gone(app, request),
    }
}

fn show(services: &Services, request: &Request, invited: Invited) -> Result<Reply, Problem> {
    let zone = services.zone();
    let reply = if request.wants_json() {
        let expires_at = zone.spaced(invited.expires_at);
        Reply::ok(&json!({ "cliente": invited.name, "expira_em": expires_at }))?
    } else {
        let page = InvitationPage {
            layout: Layout::outside(&services.config.server.name, request.now),
            action: request.path().to_owned(),
            client: invited.name,
            configured: !services.config.marketplace.client_id.is_empty(),
            until: zone.page(invited.expires_at),
        };
        let policy = policy::page_with_way_to(way_out(&services.config.marketplace.auth_base));
        Reply::page(&page)?.with(CONTENT_SECURITY_POLICY, policy)
    };
    Ok(reply.with(NO_INDEX.0, NO_INDEX.1))
}

/// Where the form may lead, for the content security policy. The marketplace
/// redirects through several of its hosts before it shows the consent page, so
/// any https address is allowed.
fn way_out(auth_base: &str) -> &str {
    if auth_base.starts_with("https:") { "https:" } else { auth_base }
}

/// The client that the path's code invites. Unknown codes count against the
/// address they come from.
fn find_valid(app: &App, request: &Request) -> Result<Option<Invited>, Problem> {
    let (limiter, now) = (&app.callers.limiter, request.now);
    let verdict = limiter.peek_address(Class::InviteAddress, request.client, OF_ADDRESS, now);
    if !verdict.allowed {
        return Err(too_many(verdict.retry_after_s(now)));
    }
    let code = TokenHash::of(request.variable("code"));
    let found = app.db.read(request.lane, |tx| store::invited(tx, &code))?;
    if found.is_none() {
        count(app, request);
    }
    Ok(found)
}

/// Counts a request against the address it comes from.
fn count(app: &App, request: &Request) {
    let limiter = &app.callers.limiter;
    limiter.count_address(Class::InviteAddress, request.client, OF_ADDRESS, request.now);
}

fn too_many(retry_after_s: i64) -> Problem {
    let told = Told {
        title: "Muitas tentativas",
        text: "Vieram pedidos demais deste endereço. Espere uma hora e abra o link do convite de novo; ele continua valendo."
            .to_owned(),
        href: "/".to_owned(),
        button: None,
    };
    Problem {
        retry_after_s: Some(retry_after_s),
        ..Problem::new(Code::RateLimited, "too many invitations; wait until the window ends")
    }
    .telling(told)
}

/// The answer to a code that is unknown or has ended.
fn gone(services: &Services, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return Err(Problem::not_found());
    }
    let layout = Layout::outside(&services.config.server.name, request.now);
    let reply = Reply::page(&InvitationGonePage { layout })?.status(StatusCode::NOT_FOUND);
    Ok(reply.with(NO_INDEX.0, NO_INDEX.1))
}

/// `POST /convite/{code}`: leads to the consent page, bound to this browser.
pub fn begin(app: &App, _: &Visitor, request: &Request) -> Result<Job, Problem> {
    let Some(invited) = find_valid(app, request)? else {
        return gone(app, request).map(nothing_to_do);
    };
    let secret = secrets::random_hex::<32>();
    let Some(start) = LinkStart::prepare(app, &state_of(&secret), request.now) else {
        // The page itself says that there is no marketplace.
        return show(app, request, invited).map(nothing_to_do);
    };
    count(app, request);
    let code = TokenHash::of(request.variable("code"));
    let cookie = cookie(app, &secret);
    Ok(Box::new(move |tx| {
        // The invitation may have been ended meanwhile.
        let invited = store::invited(tx, &code)?.ok_or_else(Problem::not_found)?;
        let shell = store::own_shell(tx, &invited)?;
        Ok(Reply::redirect(&start.store(tx, shell)?)?.with(SET_COOKIE, cookie))
    }))
}

#[derive(Serialize)]
struct EndJson<'a> {
    ok: bool,
    resultado: &'static str,
    conta: &'a str,
}

/// `GET /convite/pronto`: the result of a visit to the consent page.
pub fn done(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let sealed = Sent::of_query(request, app.zone())?.optional::<String>("fim");
    let sealed = sealed.unwrap_or_default();
    let Some((ending, account)) = super::open_outcome(app, &sealed) else {
        return gone(app, request);
    };
    let reply = if request.wants_json() {
        let ok = matches!(ending, Ending::Joined | Ending::JoinedForHours);
        Reply::json(&EndJson { ok, resultado: ending.name(), conta: &account })?
    } else {
        let layout = Layout::outside(&app.config.server.name, request.now);
        Reply::page(&EndPage::of(layout, ending, &account))?
    };
    Ok(reply.with(NO_INDEX.0, NO_INDEX.1))
}

/// `POST /admin/agencia/clientes/{id}/convite`: replaces the client's
/// invitation and shows the new link this once.
pub fn renew(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (client, invite) = (request.id()?, inviting((app, person, request)));
    Ok(Box::new(move |tx| {
        let name = store::name_of(tx, client)?.ok_or_else(Problem::not_found)?;
        invite(tx, client, &name)
    }))
}

/// What replaces a client's invitation, given the client's number and name; its
/// answer shows the new link this once.
pub fn inviting(
    (app, person, request): Visit<'_>,
) -> impl FnOnce(&WriteTx<'_>, i64, &str) -> Result<Reply, Problem> + Send + use<> {
    let (layout, actor) = (layout(app, person, request), Actor::person(person, request));
    let (base, zone, wants_json) = (address(app, ""), app.zone(), request.wants_json());
    move |tx, client, name| {
        let invitation = format!("{base}{}", store::renew(tx, client)?);
        let until = tx.now().plus(store::LIFE_S);
        let after = json!({ "expira_em": zone.spaced(until) });
        audit::note(tx, &actor, &act("cliente.convite", client, name), (), &after)?;
        if wants_json {
            let id = client.to_string();
            return Reply::json(&json!({ "ok": true, "id": id, "convite": invitation }));
        }
        let (name, until) = (name.to_owned(), zone.page(until));
        Reply::page(&InvitationMade { layout, client, name, invitation, until })
    }
}

/// `POST /admin/agencia/clientes/{id}/convite/encerrar`: ends an invitation.
pub fn end(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (client, actor) = (request.id()?, Actor::person(person, request));
    let answer = Answer::to(request);
    Ok(Box::new(move |tx| {
        let name = store::name_of(tx, client)?.ok_or_else(Problem::not_found)?;
        let page = page_of(client);
        if !store::end(tx, client)? {
            return answer.done(client, &page, "sem_convite");
        }
        audit::note(tx, &actor, &act("cliente.convite_encerrar", client, &name), (), ())?;
        answer.done(client, &page, "convite_encerrado")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_lets_the_form_lead_to_the_consent_page() {
        assert_eq!(way_out("https://auth.mercadolivre.com.br"), "https:");
        assert_eq!(way_out("http://127.0.0.1:9000"), "http://127.0.0.1:9000");
    }
}
