//! The hosts and origins this service answers for. Decision http-9.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use http::header::HOST;
use http::request::Parts;

use super::problem::{Code, Problem, Told};
use super::request::header;
use super::tls::{OverTls, Tls};

/// Which `Host`s are ours, and our own origins.
pub struct Addresses {
    /// Public address of the service, without a trailing slash.
    pub base_url: String,
    /// The same for development; equal to `base_url` unless it is configured.
    pub dev_base_url: String,
    /// The origins of both addresses.
    pub origins: Vec<String>,
    /// Origins whose pages may call the agent endpoint.
    agents: Vec<String>,
    hosts: Vec<String>,
    loopback: bool,
    /// Whether we are reached over loopback alone. Behind a proxy we are not,
    /// although we listen there.
    is_local: bool,
    /// TLS of our own.
    tls: Option<Arc<Tls>>,
    /// An origin that came with the first certificate, when none was there at the
    /// start to tell it.
    learned: OnceLock<String>,
}

/// Origins of assistants that people use in their browser.
const ASSISTANTS: [&str; 2] = ["https://claude.ai", "https://chatgpt.com"];

impl Addresses {
    /// Addresses for a configuration and the address actually bound; `agents` are
    /// further origins that may call the agent endpoint, `is_proxied` says that
    /// proxies are configured.
    pub fn new(
        base_url: &str,
        dev_base_url: &str,
        agents: &[String],
        bound: SocketAddr,
        is_proxied: bool,
    ) -> Self {
        let url_or = |configured: &str, otherwise: &str| {
            if configured.is_empty() {
                otherwise.to_owned()
            } else {
                configured.trim_end_matches('/').to_owned()
            }
        };
        let base_url = url_or(base_url, &format!("http://{bound}"));
        let dev_base_url = url_or(dev_base_url, &base_url);
        let host = |url: &str| {
            let host = url.split_once("://").map_or(url, |(_, host)| host).to_ascii_lowercase();
            let default = if url.starts_with("https://") { ":443" } else { ":80" };
            host.strip_suffix(default).map(str::to_owned).unwrap_or(host)
        };
        let hosts = vec![host(&base_url), host(&dev_base_url)];
        let origins = vec![base_url.clone(), dev_base_url.clone()];
        let assistants = ASSISTANTS.map(str::to_owned).into_iter();
        let agents = origins.iter().chain(agents).cloned().chain(assistants).collect();
        let loopback = bound.ip().is_loopback();
        let is_local = loopback && !is_proxied && hosts.iter().all(|host| is_loopback(host));
        let (tls, learned) = (None, OnceLock::new());
        Self { base_url, dev_base_url, origins, agents, hosts, loopback, is_local, tls, learned }
    }

    /// The same with TLS of our own.
    pub fn with_tls(self, tls: Option<Arc<Tls>>) -> Self {
        Self { tls, ..self }
    }

    /// Answers for an origin as well, such as `https://vendas.example.com`; the first
    /// one counts.
    pub fn learn(&self, origin: String) {
        if !self.is_own(&origin) {
            let _ = self.learned.set(origin);
        }
    }

    /// Whether an origin is ours.
    pub fn is_own(&self, origin: &str) -> bool {
        let mut known = self.origins.iter().chain(self.learned.get());
        known.any(|own| own == origin)
    }

    /// Whether pages of an origin may call the agent endpoint: our own, known
    /// assistants, configured ones, and loopback while we are reached over
    /// loopback alone. Otherwise any page that a person's own machine serves
    /// could call a service of the Internet.
    pub fn is_agent_origin(&self, origin: &str) -> bool {
        let host = origin.split_once("://").map_or("", |(_, host)| host);
        self.agents.iter().any(|known| known == origin) || self.is_local && is_loopback(host)
    }

    /// Whether the service is reached over TLS. With TLS of our own it is not before
    /// there is a certificate: people could not log in by plain HTTP until then.
    pub fn is_https(&self) -> bool {
        match &self.tls {
            Some(tls) => tls.is_served(),
            None => self.base_url.starts_with("https://"),
        }
    }

    /// Whether there is TLS of our own.
    pub const fn is_own_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Where a request that came by plain HTTP belongs, once HTTPS is served: the same
    /// address under https. `None` when it is to be answered.
    pub fn moved(&self, head: &Parts) -> Option<String> {
        let tls = self.tls.as_ref().filter(|tls| tls.is_served())?;
        let named = header(&head.headers, &HOST).unwrap_or_default();
        if head.extensions.get::<OverTls>().is_some() || self.check_host(head).is_err() {
            return None;
        }
        let name = without_port(named);
        let mut own = self.origins.iter().chain(self.learned.get());
        let own = own.find(|origin| {
            origin
                .strip_prefix("https://")
                .is_some_and(|host| without_port(host).eq_ignore_ascii_case(name))
        });
        let origin = match own {
            Some(origin) => origin.clone(),
            None => https_origin(name, tls.bound()?.port()),
        };
        let path = head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        Some(format!("{origin}{path}"))
    }

    /// Refuses a request for a host that is not ours, in its `Host` or its target.
    pub fn check_host(&self, head: &Parts) -> Result<(), Problem> {
        let named = header(&head.headers, &HOST).unwrap_or_default();
        let is_tls = head.extensions.get::<OverTls>().is_some();
        let knows = |host: &str| self.is_named(host) || self.is_loopback_of(host, is_tls);
        let target = head.uri.authority().is_none_or(|authority| knows(authority.as_str()));
        if knows(named) && target {
            return Ok(());
        }
        let shown = crate::base::text::shortened(named, 100);
        let asked = match shown {
            "" => "O pedido não diz para qual endereço é".to_owned(),
            _ => format!("O pedido veio para “{shown}”"),
        };
        let mut served = vec![&*self.base_url];
        served.extend(self.origins.iter().map(|one| &**one).filter(|one| *one != self.base_url));
        let text = format!(
            "{asked}, e esta plataforma atende por {}. Nada foi alterado. Para atender por outro endereço, quem administra a plataforma muda server.base_url no arquivo de configuração e a inicia de novo.",
            served.join(" e ")
        );
        Err(Problem {
            // Helps an operator whose base_url is wrong. The log escapes the host.
            cause: Some(
                format!("Host {shown:?} is not that of server.base_url {}", self.base_url).into(),
            ),
            ..Problem::new(Code::BadRequest, "this server does not answer for that host")
        }
        .telling(Told {
            title: "A plataforma não atende por este endereço",
            text,
            href: format!("{}/", self.base_url),
            button: None,
        }))
    }

    /// Whether an origin is the loopback address to which a request was sent.
    pub fn is_own_loopback(&self, head: &Parts, origin: &str) -> bool {
        let host = header(&head.headers, &HOST).unwrap_or_default();
        let is_tls = head.extensions.get::<OverTls>().is_some();
        let scheme = if is_tls { "https://" } else { "http://" };
        self.is_loopback_of(host, is_tls) && origin.strip_prefix(scheme) == Some(host)
    }

    fn is_named(&self, host: &str) -> bool {
        let is_own = |own: &String| {
            let (name, port) = host.split_at_checked(own.len()).unwrap_or((host, ""));
            name.eq_ignore_ascii_case(own) && matches!(port, "" | ":80" | ":443")
        };
        self.hosts.iter().any(is_own) || self.is_secured(host)
    }

    /// With TLS of our own, people also come to our names at the port of plain HTTP,
    /// to be sent on.
    fn is_secured(&self, host: &str) -> bool {
        self.tls.is_some() && {
            let learned = self.learned.get().and_then(|origin| origin.strip_prefix("https://"));
            let mut names = self.hosts.iter().map(String::as_str).chain(learned);
            names.any(|own| without_port(own).eq_ignore_ascii_case(without_port(host)))
        }
    }

    /// Whether a host is a loopback name under which this process may be reached.
    /// TLS of our own may listen elsewhere than plain HTTP.
    fn is_loopback_of(&self, host: &str, is_tls: bool) -> bool {
        let bound = self.tls.as_ref().filter(|_| is_tls).and_then(|tls| tls.bound());
        bound.map_or(self.loopback, |bound| bound.ip().is_loopback()) && is_loopback(host)
    }
}

/// The origin of a host by HTTPS.
pub fn https_origin(name: &str, port: u16) -> String {
    match port {
        443 => format!("https://{name}"),
        port => format!("https://{name}:{port}"),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether a host is a loopback name or address, with any port.
pub fn is_loopback(host: &str) -> bool {
    let name = without_port(host);
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
