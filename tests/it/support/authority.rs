//! A certificate authority of a test, and requests by HTTPS that trust it alone.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// How long a reply may take.
const REPLY_LIMIT: Duration = Duration::from_mins(1);

/// The present instant of the machine.
#[expect(clippy::disallowed_methods, reason = "Caddy and pebble go by the machine's clock")]
pub fn now() -> Timestamp {
    std::time::SystemTime::now().try_into().unwrap()
}

/// A certificate with its key, PEM.
pub struct Issued {
    pub chain: String,
    pub key: String,
}

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), root }
    }

    /// Its own certificate, PEM.
    pub fn pem(&self) -> String {
        pem("CERTIFICATE", &self.root)
    }

    /// A certificate for these names that ends at an instant, 90 days after its begin.
    pub fn issue(&self, names: &[&str], end: Timestamp) -> Issued {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        let at = |when: Timestamp| {
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(when.as_second().cast_unsigned())
        };
        params.not_before = at(end - SignedDuration::from_hours(90 * 24));
        params.not_after = at(end);
        let key = KeyPair::generate().unwrap();
        let chain = params.signed_by(&key, &self.issuer).unwrap().pem();
        Issued { chain, key: key.serialize_pem() }
    }

    /// Asks by HTTPS under a name and trusts this authority alone, at an instant.
    pub fn ask(
        &self,
        to: SocketAddr,
        name: &str,
        at: Timestamp,
        request: &str,
    ) -> io::Result<Answer> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let time =
            Frozen(UnixTime::since_unix_epoch(Duration::from_secs(at.as_second().cast_unsigned())));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_details(provider, Arc::new(time))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Session::open(to, name, config)?.finish(request)
    }
}

/// A clock that stands still.
#[derive(Debug)]
struct Frozen(UnixTime);

impl rustls::time_provider::TimeProvider for Frozen {
    fn current_time(&self) -> Option<UnixTime> {
        Some(self.0)
    }
}

fn pem(kind: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
}

/// An answer, and the certificate that was shown with it.
pub struct Answer {
    pub text: String,
    pub certificate: Vec<u8>,
    pub version: rustls::ProtocolVersion,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = self.text.split("\r\n\r\n").next()?;
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// An open connection by HTTPS.
pub struct Session(StreamOwned<ClientConnection, TcpStream>);

impl Session {
    fn open(to: SocketAddr, name: &str, config: ClientConfig) -> io::Result<Self> {
        let io = TcpStream::connect_timeout(&to, REPLY_LIMIT)?;
        io.set_read_timeout(Some(REPLY_LIMIT))?;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, io);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self(stream))
    }

    /// A connection that trusts every certificate, and speaks one version alone.
    pub fn trusting(
        to: SocketAddr,
        name: &str,
        version: &'static rustls::SupportedProtocolVersion,
    ) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusting))
            .with_no_client_auth();
        Self::open(to, name, config)
    }

    /// Sends a request and reads a short answer with a length; the connection stays.
    pub fn exchange(&mut self, request: &str) -> io::Result<String> {
        self.0.write_all(request.as_bytes())?;
        let mut read = Vec::new();
        loop {
            let text = String::from_utf8_lossy(&read).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if body.len() >= length.unwrap_or("0").parse().unwrap() {
                    return Ok(text);
                }
            }
            let mut space = [0; 4096];
            let length = self.0.read(&mut space)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            read.extend_from_slice(&space[..length]);
        }
    }

    /// Sends the last request, and reads until the server closes.
    pub fn finish(mut self, request: &str) -> io::Result<Answer> {
        // Who refuses early may close before everything was sent.
        self.0.write_all(request.as_bytes()).ok();
        let mut bytes = Vec::new();
        if let Err(error) = self.0.read_to_end(&mut bytes)
            && bytes.is_empty()
        {
            return Err(error);
        }
        let shown = self.0.conn.peer_certificates().and_then(|chain| chain.first());
        Ok(Answer {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            certificate: shown.map_or_else(Vec::new, |der| der.to_vec()),
            version: self.0.conn.protocol_version().unwrap(),
        })
    }
}

/// Takes every certificate.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        let provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms.supported_schemes()
    }
}
