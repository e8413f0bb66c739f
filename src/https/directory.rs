//! Calls to the directory of certificates, with the client of all our outgoing calls.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use parking_lot::Mutex;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::{Source, certificate, directory_of};
use crate::base::{Clock, Instant};
use crate::config::Config;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Most bytes of an answer.
const MOST_BYTES: u64 = 1 << 20;
/// Longest pause that a directory may ask for.
const LONGEST_PAUSE_S: i64 = 7 * 86_400;

/// Calls a directory.
#[derive(Clone)]
pub struct Client {
    agent: ureq::Agent,
    /// Seconds for which the directory asked us to wait.
    wait_s: Arc<Mutex<Option<i64>>>,
}

impl Client {
    /// A client that trusts the authority in this file, or without one those that
    /// browsers trust.
    pub fn new(root: Option<&Path>) -> Result<Self, String> {
        let mut tls = TlsConfig::builder();
        if let Some(root) = root {
            let bytes = certificate::bytes(root)?;
            let known: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
            let known =
                known.map_err(|error| format!("cannot read {}: {error}", root.display()))?;
            if known.is_empty() {
                return Err(format!("{} holds no certificate (PEM)", root.display()));
            }
            let known = known.iter().map(|der| Certificate::from_der(der).to_owned());
            tls = tls.root_certs(RootCerts::Specific(Arc::new(known.collect())));
        }
        let agent = ureq::Agent::config_builder()
            .https_only(true)
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .build()
            .into();
        Ok(Self { agent, wait_s: Arc::default() })
    }

    /// Seconds for which the directory asked us to wait since this was last asked.
    pub fn wait_s(&self) -> Option<i64> {
        self.wait_s.lock().take()
    }

    /// Whether the directory answers as one.
    pub fn ask(&self, directory: &str) -> Result<(), String> {
        let request = Request::get(directory).body(Vec::new());
        let request = request.map_err(|error| error.to_string())?;
        let answer = self.call(request).map_err(|error| error.to_string())?;
        let body: Option<serde_json::Value> = serde_json::from_slice(answer.body()).ok();
        match (answer.status(), body) {
            (StatusCode::OK, Some(body)) if body["newOrder"].is_string() => Ok(()),
            (status, _) => Err(format!("it answers {}, which no directory does", status.as_u16())),
        }
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Bytes>, ureq::Error> {
        let (head, body) = request.into_parts();
        let answer = if body.is_empty() {
            self.agent.run(Request::from_parts(head, ()))?
        } else {
            self.agent.run(Request::from_parts(head, body))?
        };
        let (head, mut body) = answer.into_parts();
        let bytes = body.with_config().limit(MOST_BYTES).read_to_vec()?;
        let is_refused =
            matches!(head.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        if is_refused && let Some(seconds) = asked_wait_s(&head.headers, Clock::System.now()) {
            *self.wait_s.lock() = Some(seconds);
        }
        Ok(Response::from_parts(head, bytes.into()))
    }
}

/// Seconds for which an answer asks us to wait: it names them, or an instant, which
/// counts from the answer's own date.
fn asked_wait_s(headers: &HeaderMap, now: Instant) -> Option<i64> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let after = text(RETRY_AFTER)?;
    let seconds = after.parse().ok().or_else(|| {
        let answered = text(DATE).and_then(Instant::parse_mail_date).unwrap_or(now);
        Some(Instant::parse_mail_date(after)?.since(answered))
    })?;
    Some(seconds.clamp(0, LONGEST_PAUSE_S))
}

impl HttpClient for Client {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body =
                body.collect().await.map_or_else(|_| Vec::new(), |body| body.to_bytes().into());
            let request = Request::from_parts(head, body);
            let called = tokio::task::spawn_blocking(move || client.call(request)).await;
            let answer = called.map_err(|error| Error::Other(error.into()))?;
            let answer = answer.map_err(|error| Error::Other(error.into()))?;
            Ok(answer.map(Full::new).into())
        })
    }
}

/// Whether the directory answers; the problem when not. Nothing without one.
pub fn asked(config: &Config) -> Option<(String, Result<(), String>)> {
    if Source::of(&config.server)? != Source::Directory {
        return None;
    }
    let address = directory_of(&config.server).to_owned();
    let client = Client::new(config.server.acme_root.as_deref());
    let asked = client
        .map_err(|problem| format!("server.acme_root: {problem}"))
        .and_then(|client| client.ask(&address));
    Some((address, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_may_name_seconds_or_an_instant() {
        let now = Instant(1_795_183_200);
        let asked = |after: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, after.parse().unwrap());
            if let Some(date) = date {
                headers.insert(DATE, date.parse().unwrap());
            }
            asked_wait_s(&headers, now)
        };
        assert_eq!(asked(" 120 ", None), Some(120));
        assert_eq!(asked(&now.plus(90).http_date(), None), Some(90));
        let (later, past) = (now.plus(5_000), now.minus(5));
        assert_eq!(asked(&later.plus(60).http_date(), Some(&later.http_date())), Some(60));
        assert_eq!(asked(&past.http_date(), None), Some(0));
        assert_eq!(asked("99999999", None), Some(LONGEST_PAUSE_S));
        assert_eq!(asked("soon", None), None);
    }
}
