//! Which addresses of push services may be called.
//!
//! A browser sends the address of its push service, and an attacker may send
//! any address. So an address must belong to a known service, use HTTPS and the
//! default port, and resolve to public IP addresses only. We connect to the IP
//! addresses that were checked, and follow no redirects. The setting
//! `push.extra_hosts` adds hosts. Only a host that is configured with its port
//! may have a private IP address and use plain HTTP. Decision messages-21.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Push services of the known browsers.
const SERVICES: [&str; 5] = [
    "fcm.googleapis.com",
    // The same service, as Chromium builds other than Google's call it.
    "jmt17.google.com",
    "*.push.services.mozilla.com",
    "*.push.apple.com",
    "*.notify.windows.com",
];
/// Longest address that is kept.
const LONGEST: usize = 2048;

/// An address at a push service that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub uri: Uri,
    /// Its origin, which the signed token names.
    pub audience: String,
}

/// Parses an address that a browser sent. The error says why it may not be
/// called.
pub fn endpoint(text: &str, extra_hosts: &[String]) -> Result<Endpoint, &'static str> {
    const NO_ADDRESS: &str = "não é o endereço de um serviço de avisos";
    if text.len() > LONGEST || !text.is_ascii() || text.contains('#') {
        return Err(NO_ADDRESS);
    }
    let uri: Uri = text.parse().map_err(|_| NO_ADDRESS)?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(NO_ADDRESS);
    };
    let named_with_port = is_named_with_port(authority.as_str(), extra_hosts);
    if scheme != "https" && !(scheme == "http" && named_with_port) {
        return Err("precisa começar com https://");
    }
    // An authority with a user name or a port is not its host alone.
    let is_bare = authority.as_str() == authority.host();
    let is_service = is_bare && is_known(authority.host(), extra_hosts);
    if !(named_with_port || is_service) {
        return Err("não é de um serviço de avisos que esta plataforma conhece");
    }
    Ok(Endpoint { audience: format!("{scheme}://{}", authority.as_str().to_lowercase()), uri })
}

/// Whether a host is configured together with this port, so that it may have
/// any IP address.
pub fn is_named_with_port(authority: &str, extra_hosts: &[String]) -> bool {
    let has_port = |host: &str| {
        let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
        after.contains(':')
    };
    let mut named = extra_hosts.iter().filter(|host| has_port(host));
    named.any(|host| host.eq_ignore_ascii_case(authority))
}

fn is_known(host: &str, extra_hosts: &[String]) -> bool {
    let host = host.to_ascii_lowercase();
    let fits = |known: &str| match known.strip_prefix('*') {
        Some(end) => host.len() > end.len() && host.ends_with(end),
        None => host == known,
    };
    SERVICES.into_iter().any(fits) || extra_hosts.iter().any(|known| fits(known))
}

/// Resolves names, and rejects those with private addresses.
#[derive(Debug)]
pub struct PublicOnly {
    lookup: DefaultResolver,
    extra_hosts: Vec<String>,
}

impl PublicOnly {
    /// A resolver with the configured hosts.
    pub fn new(extra_hosts: &[String]) -> Self {
        Self { lookup: DefaultResolver::default(), extra_hosts: extra_hosts.to_vec() }
    }
}

/// A name resolved to an address that is not public.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no public address")]
pub struct NotPublic(IpAddr);

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.lookup.resolve(uri, config, timeout)?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if is_named_with_port(authority, &self.extra_hosts) {
            return Ok(found);
        }
        // One private address is enough to reject the name: an honest name
        // never has both kinds.
        match found.iter().find(|address| !is_public(address.ip())) {
            Some(address) => Err(ureq::Error::Other(Box::new(NotPublic(address.ip())))),
            None => Ok(found),
        }
    }
}

/// Whether an address is of the public Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// IPv4 networks that are not public, with their prefix lengths: this network,
/// private, loopback, carrier-grade NAT, link-local, protocols, documentation,
/// relays, benchmarks, multicast, and reserved.
#[rustfmt::skip] // A table.
const SPECIAL: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8), ([10, 0, 0, 0], 8), ([100, 64, 0, 0], 10), ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16), ([172, 16, 0, 0], 12), ([192, 0, 0, 0], 24), ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24), ([192, 88, 99, 0], 24), ([192, 168, 0, 0], 16), ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24), ([203, 0, 113, 0], 24), ([224, 0, 0, 0], 4), ([240, 0, 0, 0], 4),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    let holds = |&(network, shared): &([u8; 4], u32)| {
        (bits ^ u32::from_be_bytes(network)) >> (32 - shared) == 0
    };
    !SPECIAL.iter().any(holds)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // An IPv4 address behind NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
        }
        // Protocols, tunnels and documentation.
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8,
        [0x2002, ..] => false,
        [0x3fff, second, ..] => second >= 0x1000,
        // All public addresses are in 2000::/3; loopback, link-local, unique
        // local, multicast and mapped addresses are not.
        [first, ..] => first >> 13 == 0b001,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, extra: &[&str]) {
        let extra: Vec<String> = extra.iter().map(|&host| host.to_owned()).collect();
        assert!(endpoint(text, &extra).is_err(), "{text}");
    }

    #[track_caller]
    fn taken(text: &str, extra: &[&str], audience: &str) {
        let extra: Vec<String> = extra.iter().map(|&host| host.to_owned()).collect();
        let found = endpoint(text, &extra).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(found.audience, audience, "{text}");
    }

    #[test]
    fn services_of_browsers_are_taken() {
        for (text, audience) in [
            ("https://fcm.googleapis.com/fcm/send/abc:APA91b_-", "https://fcm.googleapis.com"),
            ("https://FCM.googleapis.com/fcm/send/a", "https://fcm.googleapis.com"),
            (
                "https://updates.push.services.mozilla.com/wpush/v2/gAAA",
                "https://updates.push.services.mozilla.com",
            ),
            ("https://web.push.apple.com/QGuQ", "https://web.push.apple.com"),
            (
                "https://db5p.notify.windows.com/w/?token=BQYAAA%3d%3d",
                "https://db5p.notify.windows.com",
            ),
        ] {
            taken(text, &[], audience);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "abc",
            "/fcm/send",
            "fcm.googleapis.com/x",
            "http://fcm.googleapis.com/x",
            "ftp://fcm.googleapis.com/x",
            "file:///etc/passwd",
            "https://example.com/x",
            "https://127.0.0.1/x",
            "https://2130706433/x",
            "https://0x7f000001/x",
            "https://0177.0.0.1/x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://[fd00::1]/x",
            "https://169.254.169.254/latest/meta-data",
            "https://localhost/x",
            "https://fcm.googleapis.com:8443/x",
            "https://fcm.googleapis.com:443/x",
            "https://fcm.googleapis.com:/x",
            "https://fcm.googleapis.com./x",
            "https://fcm.googleapis.com@127.0.0.1/x",
            "https://a:b@fcm.googleapis.com/x",
            "https://@fcm.googleapis.com/x",
            "https://127.0.0.1\\@fcm.googleapis.com/x",
            "https://127.0.0.1#@fcm.googleapis.com/x",
            "https://fcm.googleapis.com#@127.0.0.1/",
            "https://fcm.googleapis.com%2f@127.0.0.1/",
            "https://fcm.googleapis.com.evil.example/x",
            "https://evilfcm.googleapis.com/x",
            "https://notify.windows.com/x",
            "https://.notify.windows.com/x",
            "https://evilpush.apple.com/x",
            "https://fcm.googleapis.com\t/x",
            "https://fcm.googleapis.com /x",
            "https://ｆcm.googleapis.com/x",
            "https://fcm.googleapis.com/\r\nHost: a",
        ] {
            refused(text, &[]);
        }
        refused(&format!("https://fcm.googleapis.com/{}", "a".repeat(2048)), &[]);
    }

    #[test]
    fn configured_hosts_are_added_and_only_those_with_a_port_may_be_anywhere() {
        let extra = ["push.example.com", "*.push.example.net", "127.0.0.1:9001", "[::1]:9002"];
        taken("https://push.example.com/x", &extra, "https://push.example.com");
        taken("https://a.push.example.net/x", &extra, "https://a.push.example.net");
        taken("http://127.0.0.1:9001/x", &extra, "http://127.0.0.1:9001");
        taken("https://127.0.0.1:9001/x", &extra, "https://127.0.0.1:9001");
        taken("http://[::1]:9002/x", &extra, "http://[::1]:9002");
        for text in [
            "http://push.example.com/x",
            "https://push.example.com:8443/x",
            "https://push.example.net/x",
            "http://127.0.0.1:9003/x",
            "http://127.0.0.1/x",
            "https://[::1]/x",
            "http://a@127.0.0.1:9001/x",
            "http://127.0.0.1:9001@evil.example/x",
        ] {
            refused(text, &extra);
        }
    }

    #[test]
    fn private_and_special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "142.250.79.74",
            "17.188.1.1",
            "2001:4860:4860::8888",
            "2800:3f0:4001::200a",
            "2606:4700::1111",
            "64:ff9b::142.250.79.74",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    /// A name with a private address is never connected to.
    #[test]
    fn names_that_lead_inside_are_refused_when_they_are_looked_up() {
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let ask = |host: &str, extra: &[String]| {
            let agent = ureq::Agent::with_parts(
                ureq::Agent::config_builder().proxy(None).build(),
                ureq::unversioned::transport::DefaultConnector::default(),
                PublicOnly::new(extra),
            );
            agent.get(format!("http://{host}:{port}/")).call().unwrap_err()
        };
        for host in ["localhost", "127.0.0.1", "[::1]", "2130706433"] {
            let error = ask(host, &["localhost".to_owned()]);
            assert!(matches!(error, ureq::Error::Other(_)), "{host}: {error}");
        }
        // A host that is configured with its port is tried, but nothing
        // listens.
        let error = ask("localhost", &[format!("localhost:{port}")]);
        assert!(!matches!(error, ureq::Error::Other(_)), "{error}");
    }
}
