//! Health probes, embedded files, and the web app manifest with its service worker.

pub mod copies;
pub mod metrics;

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::soundness::{self, Outage};
use crate::app::App;
use crate::http::{Code, Family, Problem, Reply, Request, assets, policy};

/// `GET /healthz`: the process is up.
pub fn healthz(_: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    Reply::json(&json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }))
}

#[derive(Serialize)]
struct Ready {
    ok: bool,
    /// `ok`: the database accepts writes.
    database: &'static str,
    /// What an operator must know although the service works.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Why the service is not ready, with the error fields of the integration family.
#[derive(Serialize)]
struct NotReady {
    ok: bool,
    success: bool,
    code: &'static str,
    message: String,
    database: &'static str,
}

/// `Retry-After` in seconds while the service is not ready.
const AGAIN_S: u16 = 5;

/// `GET /readyz`: the database accepts writes, no damage was found and no file is
/// gone. The answer comes from memory, so it never waits. Migrations are done
/// before the server listens.
pub fn readyz(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let Some(outage) = soundness::outage(app) else {
        let warning = soundness::missing(app);
        return Reply::json(&Ready { ok: true, database: "ok", warning });
    };
    let code = Code::Unavailable.name(Family::Integration);
    let Outage { word: database, said: message, .. } = outage;
    let not_ready = NotReady { ok: false, success: false, code, message, database };
    Ok(Reply::json(&not_ready)?
        .status(StatusCode::SERVICE_UNAVAILABLE)
        .with(http::header::RETRY_AFTER, AGAIN_S.into()))
}

/// `GET /assets/…`: an embedded file.
pub fn asset(_: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    assets::answer(request.variable("rest"), request.headers())
}

/// `GET /favicon.ico`: redirects to the icon under its hashed address.
pub fn favicon(_: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    Reply::redirect(assets::url("img/favicon.svg"))
}

/// `GET /sw.js`: the service worker. It is at the root, because a service worker
/// only controls paths below its own address.
pub fn service_worker(_: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    const ALLOWED: HeaderName = HeaderName::from_static("service-worker-allowed");
    let reply = assets::named("js/sw.js", request.headers())?;
    Ok(reply
        .with(ALLOWED, HeaderValue::from_static("/"))
        .with(CONTENT_SECURITY_POLICY, policy::worker())
        // The same policy as on pages, for the requests of the worker.
        .with(REFERRER_POLICY, HeaderValue::from_static("same-origin")))
}

#[derive(Serialize)]
struct Manifest<'m> {
    id: &'static str,
    name: &'m str,
    short_name: &'m str,
    lang: &'static str,
    start_url: &'static str,
    scope: &'static str,
    display: &'static str,
    background_color: &'static str,
    theme_color: &'static str,
    icons: [Icon; 3],
}

#[derive(Serialize)]
struct Icon {
    src: &'static str,
    sizes: &'static str,
    r#type: &'static str,
    purpose: &'static str,
}

/// `GET /manifest.webmanifest`: lets a phone put the panels on its home screen.
/// An iPhone shows push messages only for apps on the home screen.
pub fn manifest(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let icon =
        |name, sizes, purpose| Icon { src: assets::url(name), sizes, r#type: "image/png", purpose };
    let manifest = Manifest {
        id: "/",
        name: &app.config.server.name,
        short_name: crate::base::text::first_words(&app.config.server.name, 12),
        lang: "pt-BR",
        start_url: "/",
        scope: "/",
        display: "standalone",
        background_color: "#ffffff",
        theme_color: "#4f4fd6",
        icons: [
            icon("img/icon-192.png", "192x192", "any"),
            icon("img/icon-512.png", "512x512", "any"),
            icon("img/icon-full-512.png", "512x512", "maskable"),
        ],
    };
    let body = serde_json::to_vec(&manifest).map_err(Problem::internal)?;
    let media = HeaderValue::from_static("application/manifest+json");
    // Browsers request the manifest with every page.
    let a_day = HeaderValue::from_static("public, max-age=86400");
    Ok(Reply::of(media, body).with(CACHE_CONTROL, a_day))
}
