//! Health probes and embedded files.

use http::StatusCode;
use serde::Serialize;

use crate::app::App;
use crate::http::{Problem, Reply, Request, assets};

#[derive(Serialize)]
struct Health {
    ok: bool,
    version: &'static str,
}

/// `GET /healthz`: the process is up.
pub fn healthz(_: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    Reply::json(&Health {
        ok: true,
        version: env!("CARGO_PKG_VERSION"),
    })
}

#[derive(Serialize)]
struct Ready {
    ok: bool,
    /// Whether a write went through just now.
    database: &'static str,
}

/// `GET /readyz`: the database takes writes and no damage was found.
/// Migrations are done before the server listens.
pub fn readyz(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let database = match app.db.is_writable() {
        _ if app.soundness.is_damaged() => "damaged",
        Ok(()) => "ok",
        Err(error) => {
            tracing::warn!(request_id = request.id.to_str().unwrap_or_default(), %error, "the database takes no writes");
            "not writable"
        }
    };
    if database == "ok" {
        return Reply::json(&Ready { ok: true, database });
    }
    Ok(Reply::json(&Ready {
        ok: false,
        database,
    })?
    .status(StatusCode::SERVICE_UNAVAILABLE)
    .with(http::header::RETRY_AFTER, 5.into()))
}

/// `GET /assets/…`: an embedded file.
pub fn asset(_: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    assets::answer(request.variable("rest"), request.headers())
}

/// `GET /favicon.ico`: leads to the icon under its hashed address.
pub fn favicon(_: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    Reply::redirect(assets::url("img/favicon.svg"))
}
