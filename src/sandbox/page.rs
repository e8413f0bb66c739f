//! The common parts of the sandbox's pages. The pages work without scripts; texts
//! are Brazilian Portuguese.

use askama::Template;

use super::call::{Call, HandlerResult};
use super::http::Reply;
use super::things::ZONE;
use crate::base::Instant;

/// What a page may load and who may frame it. Forms of the consent page are
/// redirected to the platform, so `form-action` stays open.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// A page of the sandbox.
pub fn page(template: &impl Template, status: u16) -> Reply {
    match template.render() {
        Ok(html) => Reply::html(status, &html)
            .header("content-security-policy", POLICY)
            .header("cache-control", "no-store"),
        Err(error) => {
            tracing::error!(%error, "a sandbox page could not be rendered");
            Reply::text(500, "A página não pôde ser montada.")
        }
    }
}

/// `GET /estilo.css`.
pub fn style(_call: &mut Call<'_>) -> HandlerResult {
    Ok(Reply::new(200, "text/css; charset=utf-8", include_bytes!("sandbox.css").to_vec()))
}

/// The answer for a page that does not exist.
pub fn missing(_call: &mut Call<'_>) -> HandlerResult {
    Err(Reply::text(404, "Esta página não existe."))
}

/// An instant as the pages show it.
pub fn date(at: &Instant) -> String {
    ZONE.page(*at)
}

/// A log's instant as the pages show it.
pub fn time(rfc3339: &str) -> String {
    clock(rfc3339, "%H:%M:%S")
}

/// The same, without seconds.
pub fn minutes(rfc3339: &str) -> String {
    clock(rfc3339, "%H:%M")
}

fn clock(rfc3339: &str, form: &str) -> String {
    let at = Instant::parse(rfc3339);
    at.map(|at| ZONE.civil(at).strftime(form).to_string()).unwrap_or_default()
}
