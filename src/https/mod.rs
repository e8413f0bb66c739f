//! HTTPS of our own: where its certificate comes from, what is known of it, and when
//! its end is told.
//!
//! Certificates come from files of the operator (`worker.rs` reads them again when they
//! change) or from a directory (`acme.rs` gets them, `store.rs` keeps them). Nothing
//! that goes wrong here keeps the service from starting: while there is no certificate,
//! or its port cannot be had, plain HTTP is served as without these settings, and what
//! is wrong is said. How connections are made is in `http/tls.rs`.

mod acme;
pub mod api;
pub mod certificate;
pub mod directory;
pub mod end;
pub mod store;
pub mod worker;
mod x509;

use std::collections::HashMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

pub use x509::Facts;

use crate::base::Instant;
use crate::config::{Config, Server};
use crate::http::addresses::https_origin;
use crate::http::tls::Tls;
use certificate::Certificate;

/// The directory of the authority that gives certificates to everybody for nothing.
const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Where the certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Files of the operator; the key may stand in the file of the certificate.
    Files {
        chain: PathBuf,
        key: PathBuf,
    },
    Directory,
}

impl Source {
    /// The configured source; `None`: HTTPS is not ours. Files win.
    pub fn of(server: &Server) -> Option<Self> {
        match (&server.tls_cert, &server.tls_key) {
            (None, None) => (!server.acme_domains.is_empty()).then_some(Self::Directory),
            (Some(one), None) | (None, Some(one)) => {
                Some(Self::Files { chain: one.clone(), key: one.clone() })
            }
            (Some(chain), Some(key)) => {
                Some(Self::Files { chain: chain.clone(), key: key.clone() })
            }
        }
    }

    /// The certificate in its file, with the directory that gave it.
    fn read(&self, config: &Config) -> Result<Option<(Certificate, Option<String>)>, String> {
        match self {
            Self::Files { chain, key } => {
                certificate::read_files(chain, key).map(|certificate| Some((certificate, None)))
            }
            Self::Directory => Ok(store::load(&config.database.path)?
                .map(|stored| (stored.certificate, Some(stored.directory)))),
        }
    }
}

/// HTTPS of our own.
pub struct Https {
    pub tls: Arc<Tls>,
    server: Server,
    source: Source,
    /// Whether the public address is to be taken from the certificate.
    names_us: bool,
    /// What the directory is to find at plain HTTP, by its token.
    challenges: Mutex<HashMap<String, String>>,
    status: Mutex<CertificateStatus>,
}

/// What is known of the certificate.
#[derive(Clone, Debug, Default)]
pub struct CertificateStatus {
    /// What is served.
    pub served: Option<Facts>,
    /// The directory that gave it.
    issuer: Option<String>,
    /// Why there is none, or why no newer one took its place.
    pub fault: Option<String>,
    /// Why the port of HTTPS is not ours.
    pub port_fault: Option<String>,
    /// When the directory is asked again.
    pub next_try: Option<Instant>,
    /// Why what the directory gave is in memory alone.
    pub unwritten: Option<String>,
}

/// What is known of the certificate before a server runs, from the files alone.
pub fn look(config: &Config) -> Option<Result<Option<Certificate>, String>> {
    let found = Source::of(&config.server)?.read(config);
    Some(found.map(|found| found.map(|(certificate, _)| certificate)))
}

/// The public address of a service with HTTPS of its own and no `server.base_url`.
pub fn origin(config: &Config) -> Option<String> {
    let port = config.server.https_listen.port();
    match Source::of(&config.server)? {
        _ if !config.server.base_url.is_empty() => None,
        Source::Directory => Some(https_origin(config.server.acme_domains.first()?, port)),
        Source::Files { .. } => own_origin(&look(config)?.ok()??.facts, port),
    }
}

/// The address under the first name that is one of a machine.
fn own_origin(facts: &Facts, port: u16) -> Option<String> {
    let name = facts.names.iter().find(|name| !name.contains('*'))?;
    Some(https_origin(name, port))
}

/// Takes the port and the certificate, as far as they are there, and gives the service
/// its public address when none is configured.
pub fn prepare(config: &mut Config) -> Option<Arc<Https>> {
    let source = Source::of(&config.server)?;
    let tls = match Tls::new() {
        Ok(tls) => Arc::new(tls),
        Err(error) => {
            tracing::error!(%error, "HTTPS cannot be served");
            return None;
        }
    };
    let https = Https {
        names_us: config.server.base_url.is_empty() && source != Source::Directory,
        tls,
        server: config.server.clone(),
        source,
        challenges: Mutex::default(),
        status: Mutex::default(),
    };
    https.bind();
    match https.source.read(config) {
        Ok(Some((certificate, issuer))) => https.take(&certificate, issuer),
        Ok(None) => {}
        Err(fault) => https.status.lock().fault = Some(fault),
    }
    if config.server.base_url.is_empty() {
        let port = https.port();
        let name = match https.source {
            Source::Directory => config.server.acme_domains.first(),
            Source::Files { .. } => None,
        };
        let origin = name.map(|name| https_origin(name, port)).or_else(|| https.told_origin());
        config.server.base_url = origin.unwrap_or_default();
    }
    Some(Arc::new(https))
}

impl Https {
    /// What is known of the certificate.
    pub fn status(&self) -> CertificateStatus {
        self.status.lock().clone()
    }

    /// Whether the certificate comes from a directory.
    pub fn is_renewed(&self) -> bool {
        self.source == Source::Directory
    }

    /// The address of the directory.
    fn directory(&self) -> &str {
        directory_of(&self.server)
    }

    fn port(&self) -> u16 {
        self.tls.bound().unwrap_or(self.server.https_listen).port()
    }

    /// The address under the name that the served certificate tells.
    fn told_origin(&self) -> Option<String> {
        own_origin(self.status.lock().served.as_ref()?, self.port())
    }

    /// Takes the port of HTTPS; false when it cannot be had.
    fn bind(&self) -> bool {
        let listen = self.server.https_listen;
        let bound = TcpListener::bind(listen).and_then(|socket| self.tls.listen(socket));
        let fault = bound.err().map(|error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => format!(
                "cannot listen on {listen}: the system does not allow it (ports below 1024 need CAP_NET_BIND_SERVICE)"
            ),
            _ => format!("cannot listen on {listen}: {error}"),
        });
        let is_bound = fault.is_none();
        self.status.lock().port_fault = fault;
        is_bound
    }

    /// Serves a certificate from now on.
    fn take(&self, certificate: &Certificate, issuer: Option<String>) {
        self.tls.serve(Arc::clone(&certificate.key));
        let mut status = self.status.lock();
        status.served = Some(certificate.facts.clone());
        status.issuer = issuer;
        status.fault = None;
    }

    fn hold_challenge(&self, token: &str, answer: &str) {
        self.challenges.lock().insert(token.to_owned(), answer.to_owned());
    }

    /// What the directory is to find under a token.
    pub fn challenge(&self, token: &str) -> Option<String> {
        self.challenges.lock().get(token).cloned()
    }

    fn forget_challenges(&self) {
        self.challenges.lock().clear();
        self.tls.forget();
    }
}

/// The address of the configured directory.
pub fn directory_of(server: &Server) -> &str {
    if server.acme_directory.is_empty() { LETS_ENCRYPT } else { &server.acme_directory }
}
