//! Allowed addresses of an endpoint: public, by HTTPS.
//!
//! The address is checked when it is entered. At each connection the IP address
//! that its host name resolves to is checked, and the connection goes to that same
//! IP address. Redirects are not followed. The setting `webhooks.extra_hosts` lists
//! exceptions: hosts with port, which may be in a private network and use plain
//! HTTP, and `loopback`, which is this machine at any port.

use std::net::IpAddr;

use http::Uri;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::messages::push::address::{PublicOnly, is_public};

/// Longest address of an endpoint.
pub const LONGEST: usize = 2048;
/// The name of this machine, at any port, in the setting.
pub const LOOPBACK: &str = "loopback";

/// Why an address is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    NoAddress,
    NotHttps,
    NotPublic,
    OddPort,
}

impl AddressFault {
    /// For programs, in English.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoAddress => "must be an address, such as https://example.com/webhooks",
            Self::NotHttps => "must begin with https://",
            Self::NotPublic => "must be on the public Internet",
            Self::OddPort => "must have the port 443 or one from 1024 on",
        }
    }

    /// For people, in Portuguese.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoAddress => {
                "Informe um endereço completo, como https://exemplo.com.br/webhooks."
            }
            Self::NotHttps => "O endereço precisa começar com https://.",
            Self::NotPublic => {
                "O endereço precisa estar na internet: uma rede interna não pode ser alcançada."
            }
            Self::OddPort => "Use a porta 443 ou uma a partir de 1024.",
        }
    }
}

/// Checks an address; returns the error when it is not allowed.
pub fn check(text: &str, extra_hosts: &[String]) -> Result<Uri, AddressFault> {
    if text.len() > LONGEST || !text.is_ascii() || text.contains(['#', ' ']) {
        return Err(AddressFault::NoAddress);
    }
    let uri: Uri = text.parse().map_err(|_| AddressFault::NoAddress)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(AddressFault::NoAddress);
    };
    let host = authority.host();
    let port = authority.port_u16();
    let has_odd_port = authority.as_str() != host && port.is_none_or(|port| port == 0);
    // With a user name, the authority would not start with the host.
    if host.is_empty() || has_odd_port || !authority.as_str().starts_with(host) {
        return Err(AddressFault::NoAddress);
    }
    if is_extra(&uri, extra_hosts) {
        return if matches!(scheme, "http" | "https") {
            Ok(uri)
        } else {
            Err(AddressFault::NoAddress)
        };
    }
    if scheme != "https" {
        return Err(AddressFault::NotHttps);
    }
    if let Some(address) = literal(host) {
        if !is_public(address) {
            return Err(AddressFault::NotPublic);
        }
    } else if !host.contains('.') || host.to_ascii_lowercase().ends_with(".localhost") {
        return Err(AddressFault::NotPublic);
    }
    match port {
        Some(443 | 1024..) | None => Ok(uri),
        Some(_) => Err(AddressFault::OddPort),
    }
}

/// The IP address, when the host is one and not a name.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether the setting lists the host as an exception.
fn is_extra(uri: &Uri, extra_hosts: &[String]) -> bool {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    extra_hosts.iter().any(|extra| match extra.as_str() {
        LOOPBACK => is_loopback(uri),
        named => named.eq_ignore_ascii_case(authority),
    })
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    host.eq_ignore_ascii_case("localhost") || literal(host).is_some_and(|at| at.is_loopback())
}

/// Resolves names, and rejects those that lead into private networks. It fails in
/// one way for all names without a public address: owners read why a delivery
/// failed, and must not learn which names exist in our network.
#[derive(Debug)]
pub struct Lookup {
    public: PublicOnly,
    plain: DefaultResolver,
    loopback: bool,
}

impl Lookup {
    /// A resolver with the configured exceptions.
    pub fn new(extra_hosts: &[String]) -> Self {
        let named: Vec<String> =
            extra_hosts.iter().filter(|host| *host != LOOPBACK).cloned().collect();
        Self {
            public: PublicOnly::new(&named),
            plain: DefaultResolver::default(),
            loopback: named.len() < extra_hosts.len(),
        }
    }
}

impl Resolver for Lookup {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        if self.loopback && is_loopback(uri) {
            return self.plain.resolve(uri, config, timeout);
        }
        self.public.resolve(uri, config, timeout).map_err(|_| ureq::Error::HostNotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, extra: &[&str]) -> Result<(), AddressFault> {
        let extra: Vec<String> = extra.iter().map(|&host| host.to_owned()).collect();
        check(text, &extra).map(|_| ())
    }

    #[test]
    fn public_addresses_by_https_are_taken() {
        for text in [
            "https://exemplo.com.br/webhooks",
            "https://exemplo.com.br:8443/a?b=c",
            "https://EXEMPLO.com",
            "https://8.8.8.8/x",
            "https://[2606:4700::1111]/x",
        ] {
            assert_eq!(judged(text, &[]), Ok(()), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "exemplo.com",
            "/a",
            "ftp://exemplo.com/",
            "https://",
            "https://ana@exemplo.com/",
            "https://a:b@exemplo.com/",
            "https://exemplo.com:/",
            "https://exemplo.com:0/",
            "https://exemplo.com/#a",
            "https://exemplo.com/a b",
            "https://exêmplo.com/",
            "javascript:alert(1)",
        ] {
            assert!(judged(text, &[LOOPBACK]).is_err(), "{text}");
        }
        for text in [
            "http://exemplo.com/",
            "https://localhost/",
            "https://a.localhost/",
            "https://intranet/",
            "https://127.0.0.1/",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://exemplo.com:25/",
        ] {
            assert!(judged(text, &[]).is_err(), "{text}");
        }
    }

    #[test]
    fn named_hosts_may_be_anywhere_and_only_with_their_port() {
        let extra = ["10.0.0.5:8443", "gancho.interno:9000"];
        for text in ["http://10.0.0.5:8443/x", "https://gancho.interno:9000/"] {
            assert_eq!(judged(text, &extra), Ok(()), "{text}");
        }
        for text in ["http://10.0.0.5/x", "http://10.0.0.5:8444/x", "http://127.0.0.1:8443/x"] {
            assert!(judged(text, &extra).is_err(), "{text}");
        }
        for text in ["http://127.0.0.1:3000/x", "http://localhost/x", "http://[::1]:99/x"] {
            assert_eq!(judged(text, &[LOOPBACK]), Ok(()), "{text}");
        }
        assert!(judged("http://10.0.0.5:8443/x", &[LOOPBACK]).is_err());
        assert!(judged("http://localhost.exemplo.com/x", &[LOOPBACK]).is_err());
    }

    /// No connection is made to a name that resolves to a private address.
    #[test]
    fn names_that_lead_inside_are_refused_when_they_are_looked_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let ask = |extra: &[&str]| {
            let extra: Vec<String> = extra.iter().map(|&host| host.to_owned()).collect();
            let timeout = Some(std::time::Duration::from_millis(200));
            let agent = ureq::Agent::with_parts(
                ureq::Agent::config_builder().proxy(None).timeout_global(timeout).build(),
                ureq::unversioned::transport::DefaultConnector::default(),
                Lookup::new(&extra),
            );
            agent.get(format!("http://localhost:{port}/")).call().unwrap_err()
        };
        assert!(matches!(ask(&[]), ureq::Error::HostNotFound));
        assert!(matches!(ask(&["localhost:1"]), ureq::Error::HostNotFound));
        assert!(!matches!(ask(&[LOOPBACK]), ureq::Error::HostNotFound));
    }
}
