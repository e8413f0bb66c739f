//! The sandbox's pages: the way of the overview's buttons and the
//! marketplace's consent page. They work without scripts; texts are Brazilian
//! Portuguese.

use askama::Template;

use super::buttons::press;
use super::http::{Reply, Request, first};
use super::oauth::Asked;
use super::overview::overview;
use super::state::{Sandbox, World};
use super::{inbox, routes};
use crate::base::clock::{Instant, Zone};

const STYLE: &str = include_str!("sandbox.css");
const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);

/// What a page may load and who may frame it. Forms of the consent page are
/// redirected to the platform, so `form-action` stays open.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "sandbox/consent.html", config = "assets/askama.toml")]
struct Consent {
    problem: Option<String>,
    query: String,
    shops: Vec<(i64, String, bool)>,
}

/// Answers the overview, its style sheet and its buttons.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => overview(sandbox, request),
        ("GET", "/mensagens") => inbox::inbox(&sandbox.world()),
        ("GET", "/estilo.css") => Reply::css(STYLE),
        ("POST", action) if !routes::from_elsewhere(request) => {
            let form = request.form();
            let now = sandbox.clock.now();
            let done = press(&mut sandbox.world(), action, &form, now);
            sandbox.ring();
            let (name, text) = match done {
                Ok(text) => ("feito", text),
                Err(text) => ("erro", text),
            };
            let mut query = form_urlencoded::Serializer::new(String::new());
            Reply::see_other(&format!("/?{}", query.append_pair(name, &text).finish()))
        }
        ("POST", _) => Reply::text(403, "O pedido veio da página de outro site.".to_owned()),
        _ => Reply::text(404, "Esta página não existe.".to_owned()),
    }
}

/// A page of the sandbox.
pub fn page(template: &impl Template, status: u16) -> Reply {
    match template.render() {
        Ok(html) => Reply::html(status, html)
            .header("content-security-policy", POLICY)
            .header("cache-control", "no-store"),
        Err(error) => {
            tracing::error!(%error, "a sandbox page could not be rendered");
            Reply::text(500, "A página não pôde ser montada.".to_owned())
        }
    }
}

/// `GET /authorization`: who authorises, or what is wrong with the request.
pub fn consent(sandbox: &Sandbox, world: &World, request: &Request) -> Reply {
    let problem = Asked::read(sandbox, world, &request.query).err();
    let now = sandbox.clock.now();
    let shops = world
        .sellers
        .values()
        .map(|seller| {
            let connected = world.grants.connected(seller.id, now);
            (seller.id, seller.nickname.clone(), connected)
        })
        .collect();
    let status = if problem.is_some() { 400 } else { 200 };
    let consent = Consent { problem, query: request.raw_query.clone(), shops };
    page(&consent, status)
}

/// `POST /authorization`: sends the browser back with a code or a refusal.
pub fn decide(sandbox: &Sandbox, world: &mut World, request: &Request, now: Instant) -> Reply {
    if routes::from_elsewhere(request) {
        return Reply::text(403, "O pedido veio da página de outro site.".to_owned());
    }
    let Ok(asked) = Asked::read(sandbox, world, &request.query) else {
        return consent(sandbox, world, request);
    };
    let form = request.form();
    if first(&form, "decisao") == Some("recusar") {
        return Reply::see_other(&asked.refuse());
    }
    let seller = first(&form, "ml_user_id").and_then(|id| id.parse().ok());
    match seller.filter(|id| world.sellers.contains_key(id)) {
        Some(seller) => Reply::see_other(&asked.accept(world, seller, now)),
        None => consent(sandbox, world, request),
    }
}

/// A log's instant as the pages show it.
pub fn time(rfc3339: &str) -> String {
    Instant::parse(rfc3339)
        .map(|at| ZONE.civil(at).format("%H:%M:%S").to_string())
        .unwrap_or_default()
}
