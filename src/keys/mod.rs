//! API keys of integrations: what each may do, from where, how often and
//! until when.
//!
//! A key belongs to the installation, not to a person. It is shown once, when
//! it is made; what is kept is its digest and its first characters. A key that
//! is exchanged for a new one goes on working until the overlap ends, so that
//! nothing stops while the new one is put in its place.

mod changes;
mod entry;
pub mod pages;
#[cfg(test)]
pub mod samples;
pub mod store;
pub mod views;

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use serde::Serialize;

use crate::base::clock::{Day, Instant, Zone};
use crate::base::secrets;

/// Characters of a key that are kept for recognising it.
const PREFIX: usize = 12;
/// Most addresses and blocks that a key names.
pub const MOST_NETWORKS: usize = 100;
/// Largest limit of its own, in calls a window.
pub const MOST_CALLS: u32 = 100_000;
/// Most keys in force at a time.
pub const MOST_KEYS: i64 = 1_000;
/// Longest overlap of an exchange, in hours.
pub const LONGEST_OVERLAP_H: i64 = 7 * 24;

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Registers, suspends and reactivates students.
    Write,
    /// Asks for plans, meets and context.
    WebhookReceive,
    /// Everything the others may, and the installation's copy and figures.
    Admin,
}

impl Scope {
    /// All scopes, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Write, Self::WebhookReceive, Self::Admin];

    /// The name in the database and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::WebhookReceive => "webhook_receive",
            Self::Admin => "admin",
        }
    }

    /// The scope of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Where and when a key was used last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastUse {
    pub at: Instant,
    pub address: String,
    /// Method and path.
    pub route: String,
}

/// An API key as the database knows it.
#[derive(Clone, Debug)]
pub struct ApiKey {
    pub id: i64,
    pub name: String,
    /// Its first characters.
    pub prefix: String,
    pub scopes: Vec<Scope>,
    /// Where it may be used from; empty for anywhere.
    pub networks: Vec<IpNet>,
    /// Calls a window, when it has a limit of its own.
    pub rate_limit: Option<u32>,
    pub created_at: Instant,
    /// First instant at which it no longer works, as the operator wanted it.
    pub expires_at: Option<Instant>,
    pub revoked_at: Option<Instant>,
    /// The key that took its place.
    pub replaced_by: Option<i64>,
    /// End of the overlap, once it was exchanged.
    pub ends_at: Option<Instant>,
    pub last_use: Option<LastUse>,
}

/// How a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// Exchanged for another, and still working.
    Leaving,
    Expired,
    Revoked,
}

impl State {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "ativa",
            Self::Leaving => "em_troca",
            Self::Expired => "vencida",
            Self::Revoked => "revogada",
        }
    }
}

impl ApiKey {
    /// First instant at which it no longer works.
    pub fn end(&self) -> Option<Instant> {
        [self.expires_at, self.ends_at].into_iter().flatten().min()
    }

    /// How it stands at an instant.
    pub fn state(&self, now: Instant) -> State {
        if self.revoked_at.is_some() {
            State::Revoked
        } else if self.end().is_some_and(|end| end <= now) {
            State::Expired
        } else if self.ends_at.is_some() {
            State::Leaving
        } else {
            State::Active
        }
    }

    /// Whether it opens anything at an instant.
    pub fn works(&self, now: Instant) -> bool {
        matches!(self.state(now), State::Active | State::Leaving)
    }

    /// Whether it may be used from an address.
    pub fn admits(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        self.networks.is_empty() || self.networks.iter().any(|net| net.contains(&client))
    }

    /// Whether it may do what a scope allows. `admin` implies the others.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// Its last civil day, when it was given one.
    pub fn last_day(&self, zone: Zone) -> Option<Day> {
        self.expires_at.map(|end| zone.day(end.minus(1)))
    }

    /// What an operator would have entered to get it.
    pub fn entry(&self) -> KeyEntry {
        KeyEntry {
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            networks: self.networks.clone(),
            rate_limit: self.rate_limit,
            expires_at: self.expires_at,
        }
    }
}

/// What an operator enters of a key.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    pub name: String,
    pub scopes: Vec<Scope>,
    pub networks: Vec<IpNet>,
    pub rate_limit: Option<u32>,
    pub expires_at: Option<Instant>,
}

/// A key as the audit log remembers it.
#[derive(Serialize)]
pub struct Noted {
    nome: String,
    escopos: Vec<&'static str>,
    ips: Vec<String>,
    limite: Option<u32>,
    expira_em: Option<String>,
}

impl KeyEntry {
    /// For the audit log.
    pub fn noted(&self) -> Noted {
        Noted {
            nome: self.name.clone(),
            escopos: self.scopes.iter().map(|scope| scope.name()).collect(),
            ips: self.networks.iter().map(network_text).collect(),
            limite: self.rate_limit,
            expira_em: self.expires_at.map(Instant::rfc3339),
        }
    }
}

/// First instant after a key's last civil day.
pub fn end_of(day: Day, zone: Zone) -> Instant {
    zone.start_of(day.plus(1))
}

/// A new key: `spk_` and 48 hexadecimal characters.
pub fn new_key() -> String {
    format!("spk_{}", secrets::random_hex::<24>())
}

/// Whether a text has the form of a key.
pub fn is_key(text: &str) -> bool {
    text.strip_prefix("spk_").is_some_and(|rest| {
        rest.len() == 48
            && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// An address or a block of them, in the form that is compared: an IPv4
/// address inside IPv6 is the IPv4 address, and a block begins at its first
/// address.
pub fn network(text: &str) -> Result<IpNet, &'static str> {
    let net = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "must be IPv4 or IPv6 addresses or blocks, such as 203.0.113.7 or 10.0.0.0/8")?
        .trunc();
    let net = match net {
        IpNet::V6(v6) if v6.prefix_len() >= 96 => match v6.network().to_ipv4_mapped() {
            Some(first) => mapped(first, v6.prefix_len() - 96),
            None => net,
        },
        _ => net,
    };
    Ok(net)
}

fn mapped(first: Ipv4Addr, prefix: u8) -> IpNet {
    Ipv4Net::new(first, prefix).map_or_else(|_| IpAddr::V4(first).into(), IpNet::V4)
}

/// A network as people write it: a single address without its length.
pub fn network_text(net: &IpNet) -> String {
    if net.prefix_len() == net.max_prefix_len() { net.addr().to_string() } else { net.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(networks: &[&str]) -> ApiKey {
        ApiKey {
            id: 1,
            name: "CRM".to_owned(),
            prefix: String::new(),
            scopes: vec![Scope::Write],
            networks: networks.iter().map(|net| network(net).unwrap()).collect(),
            rate_limit: None,
            created_at: Instant(0),
            expires_at: None,
            revoked_at: None,
            replaced_by: None,
            ends_at: None,
            last_use: None,
        }
    }

    #[test]
    fn keys_have_one_form() {
        let key = new_key();
        assert!(is_key(&key), "{key}");
        for other in [
            "",
            "spk_",
            &key[..51],
            &key.to_uppercase(),
            &format!("{key}0"),
            &key.replace("spk_", "ptk_"),
        ] {
            assert!(!is_key(other), "{other}");
        }
    }

    #[test]
    fn networks_are_compared_in_one_form() {
        for (text, kept) in [
            ("203.0.113.7", "203.0.113.7"),
            ("203.0.113.7/32", "203.0.113.7"),
            ("203.0.113.7/24", "203.0.113.0/24"),
            ("2001:DB8::1", "2001:db8::1"),
            ("2001:db8::1/32", "2001:db8::/32"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("::ffff:203.0.113.7/120", "203.0.113.0/24"),
            ("::1", "::1"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::ffff:0.0.0.0/96", "0.0.0.0/0"),
        ] {
            assert_eq!(network(text).map(|net| network_text(&net)).as_deref(), Ok(kept));
        }
        for bad in [
            "",
            "x",
            "0177.0.0.1",
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.4/33",
            "::/129",
            "1.2.3.4/",
            "fe80::1%eth0",
            "http://1.2.3.4",
            "1.2.3.4:80",
        ] {
            assert!(network(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_admits_its_addresses_in_any_notation() {
        let key = key(&["203.0.113.0/24", "2001:db8:1::/48", "::ffff:198.51.100.7"]);
        for (address, admitted) in [
            ("203.0.113.255", true),
            ("::ffff:203.0.113.1", true),
            ("198.51.100.7", true),
            ("2001:db8:1:2::3", true),
            ("203.0.114.0", false),
            ("198.51.100.8", false),
            ("2001:db8:2::1", false),
            ("::1", false),
        ] {
            assert_eq!(key.admits(address.parse().unwrap()), admitted, "{address}");
        }
        assert!(self::key(&[]).admits("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn the_earlier_end_counts_and_revoking_wins() {
        let mut key = key(&[]);
        assert_eq!(key.state(Instant(10)), State::Active);
        key.expires_at = Some(Instant(20));
        key.ends_at = Some(Instant(15));
        assert_eq!(key.state(Instant(14)), State::Leaving);
        assert_eq!(key.state(Instant(15)), State::Expired);
        key.revoked_at = Some(Instant(1));
        assert_eq!(key.state(Instant(14)), State::Revoked);
    }

    #[test]
    fn admin_implies_the_others() {
        let mut key = key(&[]);
        assert!(key.allows(Scope::Write) && !key.allows(Scope::Admin));
        assert!(!key.allows(Scope::WebhookReceive));
        key.scopes = vec![Scope::Admin];
        assert!(Scope::ALL.into_iter().all(|scope| key.allows(scope)));
    }
}
