//! The hosts and origins this service answers for.

use std::net::SocketAddr;

use http::header::HOST;
use http::request::Parts;

use super::problem::{Code, Problem, Told};
use super::request::header;

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
}

/// Origins of assistants that people use in their browser.
const ASSISTANTS: [&str; 2] = ["https://claude.ai", "https://chatgpt.com"];

impl Addresses {
    /// Addresses for a configuration and the address actually bound; `agents` are
    /// further origins that may call the agent endpoint, `is_proxied` says that
    /// proxies are configured.
    pub fn new(
        (base_url, dev_base_url): (&str, &str),
        agents: &[String],
        bound: SocketAddr,
        is_proxied: bool,
    ) -> Self {
        let own = |configured: &str, otherwise: &str| {
            if configured.is_empty() {
                otherwise.to_owned()
            } else {
                configured.trim_end_matches('/').to_owned()
            }
        };
        let base_url = own(base_url, &format!("http://{bound}"));
        let dev_base_url = own(dev_base_url, &base_url);
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
        Self { base_url, dev_base_url, origins, agents, hosts, loopback, is_local }
    }

    /// Whether pages of an origin may call the agent endpoint: our own, known
    /// assistants, configured ones, and loopback while we are reached over
    /// loopback alone. Otherwise any page that a person's own machine serves
    /// could call a service of the Internet.
    pub fn is_agent_origin(&self, origin: &str) -> bool {
        let host = origin.split_once("://").map_or("", |(_, host)| host);
        self.agents.iter().any(|known| known == origin) || self.is_local && is_loopback(host)
    }

    /// Whether the service is reached over TLS.
    pub fn is_https(&self) -> bool {
        self.base_url.starts_with("https://")
    }

    /// Refuses a request for a host that is not ours, in its `Host` or its target.
    pub fn check_host(&self, head: &Parts) -> Result<(), Problem> {
        let named = header(&head.headers, &HOST).unwrap_or_default();
        let target = head.uri.authority().is_none_or(|authority| self.knows(authority.as_str()));
        if self.knows(named) && target {
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
            told: Some(Box::new(Told {
                title: "A plataforma não atende por este endereço",
                text,
                href: format!("{}/", self.base_url),
                button: None,
            })),
            ..Problem::new(Code::BadRequest, "this server does not answer for that host")
        })
    }

    /// Whether a host is a loopback name under which this process may be reached.
    pub fn is_loopback_host(&self, host: &str) -> bool {
        self.loopback && is_loopback(host)
    }

    fn knows(&self, host: &str) -> bool {
        let is_own = |own: &String| {
            let (name, port) = host.split_at_checked(own.len()).unwrap_or((host, ""));
            name.eq_ignore_ascii_case(own) && matches!(port, "" | ":80" | ":443")
        };
        self.hosts.iter().any(is_own) || self.is_loopback_host(host)
    }
}

/// Whether a host is a loopback name or address, with any port.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
