//! Redirect addresses: their form, and which of a program's registered
//! addresses a request may name.
//!
//! A request must name a registered address, character by character. One
//! exception: a program on the person's own machine may use another port each
//! time (RFC 8252 §7.3), because it cannot know in advance which port is free.
//! Decision oauth-8.

use std::net::IpAddr;

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::config::Agents;
use crate::http::addresses::Addresses;

/// Longest address.
const LONGEST: usize = 500;
/// Hosts of the person's own machine.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];
/// Characters of a query value that need no escaping.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// A web site, by HTTPS.
    Web,
    /// A program that listens on the person's own machine.
    Loopback,
    /// An installed app, by a scheme of its own.
    App,
}

/// What decides which addresses people may be redirected to at all.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Schemes of installed apps.
    pub schemes: Vec<String>,
    /// Our own addresses. A program there would be us, and what an answer
    /// carries would end up in a page of ours.
    pub own: Vec<String>,
}

impl Targets {
    /// The targets by the configuration.
    pub fn of(agents: &Agents, addresses: &Addresses) -> Self {
        Self { schemes: agents.redirect_schemes.clone(), own: addresses.origins.clone() }
    }

    /// Whether a web address is one of ours: the same host, and on the person's
    /// own machine also the same port, because other programs are there too.
    fn are_own(&self, scheme: &str, host: &str, authority: &str) -> bool {
        let port = port_of(scheme, authority);
        self.own.iter().any(|own| {
            let Ok(own) = own.parse::<Uri>() else { return false };
            let (Some(at), scheme) = (own.authority(), own.scheme_str().unwrap_or_default()) else {
                return false;
            };
            if is_loopback(at.host()) {
                return is_loopback(host) && port == port_of(scheme, at.as_str());
            }
            is_same_host(at.host(), host)
        })
    }
}

/// A redirect address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirect<'t> {
    text: &'t str,
    pub kind: RedirectKind,
    /// Host and port as written; the scheme for an app.
    pub host_or_scheme: &'t str,
    /// The host alone.
    host: &'t str,
    /// What follows host and port.
    rest: &'t str,
}

impl<'t> Redirect<'t> {
    /// Reads an address; the error in words when people may not be redirected
    /// there.
    pub fn read(text: &'t str, targets: &Targets) -> Result<Self, &'static str> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte);
        if text.is_empty() || text.len() > LONGEST || !text.bytes().all(is_plain) {
            return Err("must be an address of at most 500 plain characters, without a fragment");
        }
        let (kind, after) = if let Some(after) = text.strip_prefix("https://") {
            (RedirectKind::Web, after)
        } else if let Some(after) = text.strip_prefix("http://") {
            (RedirectKind::Loopback, after)
        } else {
            return Self::of_app(text, &targets.schemes);
        };
        let end = after.find(['/', '?']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let host = host_of(authority).ok_or("must name a host, with or without a port")?;
        if kind == RedirectKind::Loopback && !LOOPBACK.contains(&host) {
            return Err("must begin with https://, unless it is on the person's own machine");
        }
        let scheme = if kind == RedirectKind::Web { "https" } else { "http" };
        if targets.are_own(scheme, host, authority) {
            return Err("must not be an address of this service");
        }
        Ok(Self { text, kind, host_or_scheme: authority, host, rest })
    }

    fn of_app(text: &'t str, schemes: &[String]) -> Result<Self, &'static str> {
        let (scheme, rest) = text.split_once(':').ok_or("must be an absolute address")?;
        if rest.is_empty() || !schemes.iter().any(|known| known == scheme) {
            return Err(
                "must begin with https://, or with the scheme of an app that is known here",
            );
        }
        Ok(Self { text, kind: RedirectKind::App, host_or_scheme: scheme, host: "", rest })
    }

    /// Whether a request that names `asked` means this registered address.
    pub fn matches(&self, asked: &Redirect<'_>) -> bool {
        let is_same_machine = self.kind == RedirectKind::Loopback
            && asked.kind == RedirectKind::Loopback
            && self.host == asked.host
            && self.rest == asked.rest;
        self.text == asked.text || is_same_machine
    }

    /// The source expression for a page's content security policy, which lets
    /// the page's form lead to this address.
    pub fn source(&self) -> String {
        match self.kind {
            // A policy cannot name IPv6 hosts.
            RedirectKind::Web if self.host.starts_with('[') => "https:".to_owned(),
            RedirectKind::Loopback if self.host.starts_with('[') => "http:".to_owned(),
            RedirectKind::Web => format!("https://{}", self.host_or_scheme),
            RedirectKind::Loopback => format!("http://{}", self.host_or_scheme),
            RedirectKind::App => format!("{}:", self.host_or_scheme),
        }
    }
}

/// The host of `host` or `host:port`; `None` when the text is neither.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.rfind(']') {
        Some(end) => authority.split_at(end + 1),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_name = !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let is_v6 = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| {
            port.len() <= 5
                && port.bytes().all(|byte| byte.is_ascii_digit())
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
    ((is_name || is_v6) && is_port).then_some(host)
}

/// The port of an authority, or that of its scheme.
fn port_of(scheme: &str, authority: &str) -> u16 {
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    let named = after_host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    named.unwrap_or(if scheme == "https" { 443 } else { 80 })
}

/// A host as an IP address, when it is one and not a name.
fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn is_loopback(host: &str) -> bool {
    host.trim_end_matches('.').eq_ignore_ascii_case("localhost")
        || literal(host).is_some_and(|address| address.is_loopback())
}

fn is_same_host(one: &str, other: &str) -> bool {
    match (literal(one), literal(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.trim_end_matches('.').eq_ignore_ascii_case(other.trim_end_matches('.')),
    }
}

/// An address with more query parameters. The bytes of a value stay the same.
pub fn with_query(address: &str, pairs: &[(&str, &[u8])]) -> String {
    let mut whole = address.to_owned();
    for (name, value) in pairs {
        whole.push(if whole.contains('?') { '&' } else { '?' });
        whole.push_str(name);
        whole.push('=');
        whole.extend(percent_encode(value, PLAIN));
    }
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Redirect<'_>, &'static str> {
        let schemes = vec!["cursor".to_owned()];
        Redirect::read(text, &Targets { schemes, ..Targets::default() })
    }

    #[track_caller]
    fn matches(registered: &str, asked: &str) -> bool {
        read(registered).unwrap().matches(&read(asked).unwrap())
    }

    #[test]
    fn addresses_have_a_form() {
        for (good, kind) in [
            ("https://claude.ai/api/mcp/auth_callback", RedirectKind::Web),
            ("https://a.example:8443/x?y=1", RedirectKind::Web),
            ("https://a.example", RedirectKind::Web),
            ("http://127.0.0.1/callback", RedirectKind::Loopback),
            ("http://127.0.0.1:3000/callback", RedirectKind::Loopback),
            ("http://[::1]:1/", RedirectKind::Loopback),
            ("http://localhost:65535", RedirectKind::Loopback),
            ("cursor://anysphere.cursor-mcp/oauth/callback", RedirectKind::App),
            ("cursor:/callback", RedirectKind::App),
        ] {
            assert_eq!(read(good).map(|it| it.kind), Ok(kind), "{good}");
        }
        for bad in [
            "",
            "/callback",
            "callback",
            "https://",
            "https:///callback",
            "https://a.example/#",
            "https://a.example/x#y",
            "https://user@a.example/",
            "https://user:password@a.example/",
            "https://a.example\\@b.example/",
            "https://a.example:0/",
            "https://a.example:65536/",
            "https://a.example:80a/",
            "https://a.example:/",
            "https://[::1/",
            "https://a b/",
            "https://é.example/",
            "https://a.example/\r\nX: y",
            "https://a.example/<script>",
            "HTTPS://a.example/",
            "http://a.example/",
            "http://127.0.0.1.a.example/",
            "http://localhost.a.example/",
            "http://127.0.0.2/",
            "http://2130706433/",
            "http://[::ffff:127.0.0.1]/",
            "javascript:alert(1)",
            "data:text/html,x",
            "cursor:",
            "Cursor://x",
            "cursors://x",
            "ftp://a.example/",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&format!("https://a.example/{}", "a".repeat(500))).is_err());
    }

    #[test]
    fn a_request_names_an_address_letter_by_letter() {
        let own = "https://a.example/cb";
        assert!(matches(own, own));
        for other in [
            "https://a.example/cb/",
            "https://a.example/cb?x=1",
            "https://a.example/CB",
            "https://a.example/cb/../cb",
            "https://a.example/%63b",
            "https://a.example:443/cb",
            "https://A.example/cb",
            "https://b.a.example/cb",
            "https://a.example.b/cb",
            "https://a.example",
        ] {
            assert!(!matches(own, other), "{other}");
        }
    }

    #[test]
    fn only_the_port_is_free_and_only_on_the_own_machine() {
        assert!(matches("http://127.0.0.1:1/cb", "http://127.0.0.1:60000/cb"));
        assert!(matches("http://127.0.0.1/cb", "http://127.0.0.1:60000/cb"));
        assert!(matches("http://localhost/cb", "http://localhost:9/cb"));
        assert!(matches("http://[::1]:5/cb", "http://[::1]/cb"));
        for (own, other) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb2"),
            ("http://127.0.0.1/cb", "http://localhost:9/cb"),
            ("http://127.0.0.1/cb", "http://[::1]:9/cb"),
            ("http://127.0.0.1/cb", "https://127.0.0.1:9/cb"),
            ("http://127.0.0.1/cb?x=1", "http://127.0.0.1/cb?x=2"),
            ("https://a.example/cb", "https://a.example:9/cb"),
            ("https://localhost/cb", "https://localhost:9/cb"),
        ] {
            assert!(!matches(own, other), "{own} {other}");
        }
    }

    #[test]
    fn policies_name_where_a_form_leads() {
        for (text, source) in [
            ("https://a.example:8443/x?y", "https://a.example:8443"),
            ("http://localhost:3118/callback", "http://localhost:3118"),
            ("http://[::1]:3118/callback", "http:"),
            ("cursor://x/y", "cursor:"),
        ] {
            assert_eq!(read(text).unwrap().source(), source);
        }
    }

    #[test]
    fn nobody_is_sent_to_ourselves() {
        let is_own = |own: &str, text: &str| {
            let targets = Targets { own: vec![own.to_owned()], ..Targets::default() };
            Redirect::read(text, &targets) == Err("must not be an address of this service")
        };
        for (own, text) in [
            ("https://painel.example", "https://painel.example/x"),
            ("https://painel.example", "https://PAINEL.example./x"),
            ("https://painel.example", "https://painel.example:8443/"),
            ("https://painel.example:8443", "https://painel.example"),
            ("http://painel.example", "https://painel.example/x"),
            ("https://192.0.2.1", "https://192.0.2.1/"),
            ("https://[2001:db8::1]", "https://[2001:db8:0::1]:9/"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/x"),
            ("http://127.0.0.1:8080", "http://localhost:8080/x"),
            ("http://localhost:8080", "http://[::1]:8080"),
            ("http://127.0.0.1", "http://127.0.0.1/x"),
        ] {
            assert!(is_own(own, text), "{own} {text}");
        }
        for (own, text) in [
            ("https://painel.example", "https://outro.example/x"),
            ("https://painel.example", "https://painel.example.br/"),
            ("https://painel.example", "https://a.painel.example/"),
            ("https://painel.example", "http://127.0.0.1:8080/x"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8081/x"),
            ("http://127.0.0.1:8080", "http://127.0.0.1/x"),
            ("http://127.0.0.1:8080", "https://painel.example:8080/"),
        ] {
            assert!(!is_own(own, text), "{own} {text}");
        }
    }

    #[test]
    fn what_is_added_is_found_again() {
        assert_eq!(
            with_query("https://a.example/cb", &[("code", b"x"), ("state", b"a b+&=\xff/")]),
            "https://a.example/cb?code=x&state=a%20b%2B%26%3D%FF%2F"
        );
        assert_eq!(with_query("https://a/?q=1", &[("a", b"")]), "https://a/?q=1&a=");
    }

    proptest! {
        /// Whatever address a request names, a match is the registered address;
        /// only the port of a loopback host may differ.
        #[test]
        fn a_match_is_the_same_address(
            own in "https?://(a\\.example|127\\.0\\.0\\.1|localhost)(:[1-9][0-9]{0,3})?(/[a-z.%/]{0,6})?(\\?[a-z=&]{0,4})?",
            asked in "https?://(a\\.example|127\\.0\\.0\\.1|localhost)(:[1-9][0-9]{0,3})?(/[a-z.%/]{0,6})?(\\?[a-z=&]{0,4})?",
        ) {
            let without_port = |text: &str| {
                let (scheme, rest) = text.split_once("://").unwrap();
                let end = rest.find(['/', '?']).unwrap_or(rest.len());
                let host = rest[..end].split(':').next().unwrap();
                format!("{scheme}://{host}{}", &rest[end..])
            };
            if let (Ok(one), Ok(other)) = (read(&own), read(&asked)) {
                prop_assert!(one.matches(&one));
                prop_assert_eq!(one.matches(&other), other.matches(&one));
                let is_loopback = own.starts_with("http://");
                let expected = own == asked
                    || is_loopback && without_port(&own) == without_port(&asked);
                prop_assert_eq!(one.matches(&other), expected);
            }
        }

        /// The reader never panics, and an address that it accepts is one line
        /// of plain characters.
        #[test]
        fn any_text_is_read(text in "\\PC{0,60}") {
            if read(&text).is_ok() {
                prop_assert!(http::HeaderValue::from_str(&text).is_ok());
            }
        }

        /// A state is returned byte for byte.
        #[test]
        fn states_come_back(state in prop::collection::vec(any::<u8>(), 0..40)) {
            let whole = with_query("https://a.example/cb?x=1", &[("state", &state)]);
            let (_, sent) = whole.split_once("&state=").unwrap();
            let back: Vec<u8> = percent_encoding::percent_decode_str(sent).collect();
            prop_assert_eq!(back, state);
        }
    }

    #[test]
    fn bytes_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("redirect", |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            if let Ok(redirect) = read(text) {
                assert!(redirect.matches(&redirect));
                let _ = redirect.source();
            }
        });
    }
}
