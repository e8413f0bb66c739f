//! API keys of integrations: what each may do, from where, how often and
//! until when.
//!
//! A key belongs to the installation, not to a person. It is shown once, when
//! it is made; only its digest and its first characters are stored. A key that
//! is exchanged for a new one still works until the overlap ends, so that
//! nothing stops while the new one is being installed.

mod entry;
pub mod pages;
pub mod store;
pub mod views;
mod words;

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use serde::{Serialize, Serializer};

use crate::base::text::is_hex;
use crate::base::{Day, Instant, Zone, secrets};
use crate::config::Limits;
use crate::named;
use crate::row;

pub use words::Words;

/// Characters of a key that are stored to recognise it.
const PREFIX: usize = 12;
/// Most addresses and networks that a key lists.
pub const MOST_NETWORKS: usize = 100;
/// Highest limit that a key may have, in calls per window.
pub const MOST_CALLS: u32 = 100_000;
/// Most keys in force at a time.
pub const MOST_KEYS: i64 = 1_000;
/// Longest overlap of an exchange, in hours.
pub const LONGEST_OVERLAP_H: i64 = 7 * 24;

named! {
    /// What a key may do; the narrowest first.
    pub enum Scope: text {
        /// Registers, suspends and reactivates students.
        Write = "write", "Alunos";
        /// Asks for plans, meets and context.
        WebhookReceive = "webhook_receive", "Consultas";
        /// Everything the other scopes may, and downloading the backup and
        /// reading the metrics.
        Admin = "admin", "Administração";
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastUse {
    pub at: Instant,
    pub address: String,
    /// Method and path.
    pub route: String,
}

row! {
    /// An API key as stored in the database.
    #[derive(Clone, Debug)]
    pub struct ApiKey {
        pub id: i64 = "key_id",
        pub entry: KeyEntry as row,
        /// Its first characters.
        pub prefix: String,
        pub created_at: Instant,
        pub revoked_at: Option<Instant>,
        /// The key that replaced it.
        pub replaced_by: Option<i64>,
        /// End of the overlap, once it was exchanged.
        pub ends_at: Option<Instant>,
        pub last_use: Option<LastUse> as row,
    }
}

row! {
    /// What an operator enters about a key. The audit log uses the field names of
    /// the form.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct KeyEntry: stored {
        #[serde(rename = "nome")]
        pub name: String,
        #[serde(rename = "escopos")]
        pub scopes: Words<Scope>,
        /// Addresses from which it may be used; empty means any.
        #[serde(rename = "ips")]
        pub networks: Words<IpNet>,
        /// Calls per window, when the key has its own limit.
        #[serde(rename = "limite")]
        pub rate_limit: Option<u32>,
        /// First instant at which the key no longer works.
        #[serde(rename = "expira_em", serialize_with = "as_text")]
        pub expires_at: Option<Instant>,
    }
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn as_text<S: Serializer>(at: &Option<Instant>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Instant::rfc3339).serialize(serializer)
}

named! {
    pub enum KeyState: text {
        Active = "ativa";
        /// Exchanged for another key, and still working.
        Leaving = "em_troca";
        Expired = "vencida";
        Revoked = "revogada";
    }
}

impl ApiKey {
    /// Calls a window that a key without a limit of its own may make.
    pub const fn usual_limit(limits: &Limits) -> u32 {
        limits.requests
    }

    /// Calls a window that the key may make.
    pub fn limit(&self, limits: &Limits) -> u32 {
        self.entry.rate_limit.unwrap_or(Self::usual_limit(limits))
    }

    /// First instant at which the key no longer works.
    pub fn end(&self) -> Option<Instant> {
        [self.entry.expires_at, self.ends_at].into_iter().flatten().min()
    }

    /// The state of the key at an instant.
    pub fn state(&self, now: Instant) -> KeyState {
        if self.revoked_at.is_some() {
            KeyState::Revoked
        } else if self.end().is_some_and(|end| end <= now) {
            KeyState::Expired
        } else if self.ends_at.is_some() {
            KeyState::Leaving
        } else {
            KeyState::Active
        }
    }

    /// Whether the key works at an instant.
    pub fn works(&self, now: Instant) -> bool {
        matches!(self.state(now), KeyState::Active | KeyState::Leaving)
    }

    /// Whether the key may be used from an address.
    pub fn admits(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        self.entry.networks.0.is_empty()
            || self.entry.networks.0.iter().any(|net| net.contains(&client))
    }

    /// Whether the key may do what a scope allows. `admin` implies the others.
    pub fn allows(&self, scope: Scope) -> bool {
        let scopes = &self.entry.scopes.0;
        scopes.contains(&scope) || scopes.contains(&Scope::Admin)
    }
}

impl KeyEntry {
    /// The key's last civil day, if it has an end.
    pub fn last_day(&self, zone: Zone) -> Option<Day> {
        self.expires_at.map(|end| zone.day(end.minus(1)))
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
    text.strip_prefix("spk_").is_some_and(|rest| is_hex(rest, 48))
}

/// An address or a network, in the form that is compared: an IPv4 address
/// inside IPv6 becomes the IPv4 address, and a network begins at its first
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

/// A network as people write it: a single address without its prefix length.
pub fn network_text(net: &IpNet) -> String {
    if net.prefix_len() == net.max_prefix_len() { net.addr().to_string() } else { net.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn key(networks: &[&str]) -> ApiKey {
        ApiKey {
            id: 1,
            entry: KeyEntry {
                name: "CRM".to_owned(),
                scopes: Words(vec![Scope::Write]),
                networks: Words(networks.iter().map(|net| network(net).unwrap()).collect()),
                rate_limit: None,
                expires_at: None,
            },
            prefix: String::new(),
            created_at: Instant(0),
            revoked_at: None,
            replaced_by: None,
            ends_at: None,
            last_use: None,
        }
    }

    #[test]
    fn keys_have_one_form() {
        fixture::has_one_form(&new_key(), is_key, ["spk_", "ptk_"]);
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
        assert_eq!(key.state(Instant(10)), KeyState::Active);
        key.entry.expires_at = Some(Instant(20));
        key.ends_at = Some(Instant(15));
        assert_eq!(key.state(Instant(14)), KeyState::Leaving);
        assert_eq!(key.state(Instant(15)), KeyState::Expired);
        key.revoked_at = Some(Instant(1));
        assert_eq!(key.state(Instant(14)), KeyState::Revoked);
    }

    #[test]
    fn admin_implies_the_others() {
        let mut key = key(&[]);
        assert!(key.allows(Scope::Write) && !key.allows(Scope::Admin));
        assert!(!key.allows(Scope::WebhookReceive));
        key.entry.scopes.0 = vec![Scope::Admin];
        assert!(Scope::ALL.into_iter().all(|scope| key.allows(scope)));
    }
}
