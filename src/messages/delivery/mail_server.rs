//! Queries the mail server without sending anything.

use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{SmtpConnection, Tls, TlsParameters};
use lettre::transport::smtp::commands::Mail;
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::base::Secret;
use crate::base::text::has_accents;

/// A mail server parsed from its address, in the types of `lettre`.
pub struct MailServer {
    host: String,
    port: u16,
    tls: Tls,
    name: ClientId,
    login: Option<Credentials>,
}

impl MailServer {
    /// The server of an address such as `smtps://user:password@host`.
    pub fn new(address: &Secret) -> Result<Self, String> {
        let url = Url::parse(address.reveal()).map_err(|error| error.to_string())?;
        let host = url.host_str().ok_or("it names no host")?.to_owned();
        let parameters = || TlsParameters::new(host.clone()).map_err(|error| error.to_string());
        let wish = url.query_pairs().find(|(name, _)| name == "tls").map(|(_, value)| value);
        let (port, tls) = match (url.scheme(), wish.as_deref()) {
            ("smtps", _) => (465, Tls::Wrapper(parameters()?)),
            (_, Some("required")) => (587, Tls::Required(parameters()?)),
            (_, Some("opportunistic")) => (587, Tls::Opportunistic(parameters()?)),
            _ => (25, Tls::None),
        };
        let name = match url.path().trim_matches('/') {
            "" => ClientId::default(),
            name => ClientId::Domain(name.to_owned()),
        };
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let login = url.password().map(|word| Credentials::new(plain(url.username()), plain(word)));
        Ok(Self { port: url.port().unwrap_or(port), host, tls, name, login })
    }

    /// `mail.example.com:465`, without name and password.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Connects as for sending a mail, signs in if `sign_in`, and closes the
    /// connection; each step within the timeout. Returns whether the server
    /// accepts non-ASCII addresses (SMTPUTF8).
    pub fn greet(&self, sign_in: bool, timeout: Duration) -> Result<bool, Error> {
        let mut talk = self.connect(timeout)?;
        let outcome = self.introduce(&mut talk, sign_in);
        talk.abort();
        outcome
    }

    /// Connects and signs in as for sending a mail, and says whom it is from,
    /// but sends none.
    pub fn offer(&self, from: &Address, timeout: Duration) -> Result<(), Error> {
        let mut talk = self.connect(timeout)?;
        let outcome = self.introduce(&mut talk, true).and_then(|takes_accents| {
            let letters = (takes_accents && has_accents(from.as_ref()))
                .then_some(MailParameter::SmtpUtfEight);
            talk.command(Mail::new(Some(from.clone()), letters.into_iter().collect()))
        });
        talk.abort();
        outcome.map(drop)
    }

    fn connect(&self, timeout: Duration) -> Result<SmtpConnection, Error> {
        let wrapper = match &self.tls {
            Tls::Wrapper(parameters) => Some(parameters),
            _ => None,
        };
        let place = (self.host.trim_matches(['[', ']']), self.port);
        SmtpConnection::connect(place, Some(timeout), &self.name, wrapper, None)
    }

    fn introduce(&self, talk: &mut SmtpConnection, sign_in: bool) -> Result<bool, Error> {
        match &self.tls {
            Tls::Opportunistic(parameters) if talk.can_starttls() => {
                talk.starttls(parameters, &self.name)?;
            }
            Tls::Required(parameters) => talk.starttls(parameters, &self.name)?,
            _ => {}
        }
        if let Some(login) = self.login.as_ref().filter(|_| sign_in) {
            talk.auth(DEFAULT_MECHANISMS, login)?;
        }
        Ok(talk.server_info().supports_feature(Extension::SmtpUtfEight))
    }
}
