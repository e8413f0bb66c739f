//! Rules for single texts of the configuration.
//!
//! Each returns the value, or the problem as the end of a sentence that
//! begins with the key.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use ipnet::IpNet;
use jiff::civil::Time;
use lettre::SmtpTransport;
use lettre::message::Mailbox;

pub use super::replica_url::replica_url;
use super::values::Parsed;
use crate::base::{Sealer, Secret, Zone};

/// Roles that a purchase can give.
const STUDENT_ROLES: [&str; 5] = ["free", "pro", "vip", "piloto_pro", "podio"];

/// An address to listen on, such as `127.0.0.1:8080` or `[::1]:0`. Without a
/// host, or with the name `localhost`, it is 127.0.0.1.
pub fn parse_listen(text: &str) -> Parsed<SocketAddr> {
    const PROBLEM: &str =
        "must be an IP address and a port, such as 127.0.0.1:8080, [::1]:8080 or :8080";
    let loopback = text
        .rsplit_once(':')
        .filter(|(host, _)| host.is_empty() || host.eq_ignore_ascii_case("localhost"));
    match loopback {
        // Parsed as a whole address, so that the port is checked as strictly.
        Some((_, port)) => format!("127.0.0.1:{port}").parse().map_err(|_| PROBLEM),
        None => text.parse().map_err(|_| PROBLEM),
    }
}

/// A network; a bare address is the network of that address alone.
pub fn network(text: &str) -> Parsed<IpNet> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "must be an IP address or a network, such as 10.0.0.0/8")
}

/// A time zone by its IANA name.
pub fn zone(text: &str) -> Parsed<Zone> {
    Zone::named(text).ok_or("must be the name of a time zone, such as America/Sao_Paulo")
}

/// A civil time, hours and minutes.
pub fn time_of_day(text: &str) -> Parsed<Time> {
    Time::strptime("%H:%M", text).map_err(|_| "must be a time, such as 21:00")
}

/// A line of text, trimmed, not empty.
pub fn line(text: &str) -> Parsed<String> {
    let text = text.trim();
    let is_line = !text.is_empty() && !text.chars().any(char::is_control);
    checked(text, is_line, "must be a line of text")
}

/// The text as it is, if it is sound.
fn checked(text: &str, is_sound: bool, problem: &'static str) -> Parsed<String> {
    is_sound.then(|| text.to_owned()).ok_or(problem)
}

/// A file.
pub fn path(text: &str) -> Parsed<PathBuf> {
    line(text).map(PathBuf::from)
}

/// A file or folder, or none.
pub fn path_or_none(text: &str) -> Parsed<Option<PathBuf>> {
    Ok((!text.is_empty()).then(|| text.into()))
}

/// The address of a directory of certificates, or none.
pub fn directory(text: &str) -> Parsed<String> {
    checked(
        text,
        text.is_empty() || text.starts_with("https://") && web_address(text).is_ok(),
        "must be an https:// address",
    )
}

/// Any secret, or none.
pub fn any(_: &str) -> Parsed<()> {
    Ok(())
}

/// The key that encrypts stored secrets, or none.
pub fn secret_key(text: &str) -> Parsed<()> {
    if !text.is_empty() && Sealer::from_configured(&Secret::new(text)).is_err() {
        return Err("must be 64 hexadecimal digits or at least 16 characters");
    }
    Ok(())
}

/// An origin in the form browsers send it: lower case, without a trailing
/// slash and without the scheme's own port.
pub fn origin(text: &str) -> Parsed<String> {
    const PROBLEM: &str =
        "must be http:// or https://, a host and at most a port, such as https://example.com";
    let text = web_address(text).map_err(|_| PROBLEM)?.to_lowercase();
    let (scheme, authority) = text.split_once("://").ok_or(PROBLEM)?;
    if authority.contains(['/', '?']) {
        return Err(PROBLEM);
    }
    let own_port = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(own_port).unwrap_or(authority);
    Ok(format!("{scheme}://{authority}"))
}

/// An address of a service, without a trailing slash.
pub fn web_address(text: &str) -> Parsed<String> {
    const PROBLEM: &str = "must be an http:// or https:// address";
    let uri: http::Uri = text.parse().map_err(|_| PROBLEM)?;
    let authority = uri.authority().ok_or(PROBLEM)?;
    let http = matches!(uri.scheme_str(), Some("http" | "https"));
    let port_is_sound = authority.as_str() == authority.host() || authority.port_u16().is_some();
    // Also refuses a user name, which would stand before the host.
    let host_is_first = authority.as_str().starts_with(authority.host());
    let is_sound = http
        && !authority.host().is_empty()
        && port_is_sound
        && host_is_first
        && uri.query().is_none()
        && !text.contains('#');
    checked(text.trim_end_matches('/'), is_sound, PROBLEM)
}

/// The rule for a text that may also be empty.
pub fn or_empty(rule: impl Fn(&str) -> Parsed<String>) -> impl Fn(&str) -> Parsed<String> {
    move |text| match text {
        "" => Ok(String::new()),
        text => rule(text),
    }
}

/// A DNS host name without a port, in lower case.
pub fn host_name(text: &str) -> Parsed<String> {
    let label_is_sound = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    if text.len() <= 253 && text.contains('.') && text.split('.').all(label_is_sound) {
        Ok(text.to_lowercase())
    } else {
        Err("must be a host name, such as app.example.com")
    }
}

/// A role that a purchase can give.
pub fn student_role(text: &str) -> Parsed<String> {
    checked(text, STUDENT_ROLES.contains(&text), "must be one of free, pro, vip, piloto_pro, podio")
}

pub fn header_name(text: &str) -> Parsed<http::HeaderName> {
    text.parse().map_err(|_| "must be the name of an HTTP header")
}

/// The marketplace's code of a country.
pub fn site(text: &str) -> Parsed<String> {
    checked(
        text,
        text.len() == 3 && text.chars().all(|c| c.is_ascii_uppercase()),
        "must be three capital letters, such as MLB",
    )
}

/// A number of the chat network, 10 to 15 digits.
pub fn chat_number(text: &str) -> Parsed<String> {
    checked(
        text,
        (10..=15).contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit()),
        "must be digits with country and area code, such as 5511987654321",
    )
}

/// An e-mail address, in lower case.
pub fn mail_address(text: &str) -> Parsed<String> {
    crate::base::text::email(text).ok_or("must be an e-mail address")
}

/// `address` or `Name <address>`.
pub fn mail_sender(text: &str) -> Parsed<String> {
    let address = text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once('<'))
        .map_or(text, |(_, address)| address);
    let is_sound = crate::base::text::email(address).is_some()
        && !text.chars().any(char::is_control)
        && text.parse::<Mailbox>().is_ok();
    checked(
        text,
        is_sound,
        "must be an e-mail address, such as Seller Platform <contato@example.com>",
    )
}

/// The address of a mail server with its password, or none.
pub fn mail_server(text: &str) -> Parsed<()> {
    let known = text.starts_with("smtp://") || text.starts_with("smtps://");
    if text.is_empty() || known && SmtpTransport::from_url(text).is_ok() {
        Ok(())
    } else if known {
        Err("must be the address of a mail server; percent-encode its name and password")
    } else {
        Err("must begin with smtp:// or smtps://")
    }
}

/// The token of a bot, or none: digits, a colon, and a key. It becomes part of
/// an address.
pub fn bot_token(text: &str) -> Parsed<()> {
    let of_address = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_token = |(number, key): (&str, &str)| {
        !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
            && !key.is_empty()
            && key.chars().all(of_address)
    };
    if text.is_empty() || text.split_once(':').is_some_and(is_token) {
        Ok(())
    } else {
        Err("must be the token of a bot, such as 123456:ABC-def")
    }
}

/// A contact that push services accept.
pub fn push_contact(text: &str) -> Parsed<String> {
    let mail = text.strip_prefix("mailto:").and_then(crate::base::text::email);
    checked(
        text,
        mail.is_some() || (text.starts_with("https://") && web_address(text).is_ok()),
        "must be a mailto: or https: address",
    )
}

pub fn host_and_port(text: &str) -> Parsed<String> {
    const PROBLEM: &str = "must be a host with its port, such as 127.0.0.1:9001";
    let authority: http::uri::Authority = text.parse().map_err(|_| PROBLEM)?;
    let is_sound = authority.port_u16().is_some_and(|port| port > 0)
        && !authority.host().is_empty()
        && !text.contains(['@', '*']);
    if is_sound { Ok(text.to_lowercase()) } else { Err(PROBLEM) }
}

/// The scheme of an installed app; not one that browsers handle themselves.
pub fn private_scheme(text: &str) -> Parsed<String> {
    const PROBLEM: &str = "must be the scheme of an installed app, such as cursor";
    const TAKEN: &str = "http https ws wss ftp file data javascript vbscript blob about mailto \
                         view-source";
    let is_sound = text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
        });
    checked(text, is_sound && TAKEN.split(' ').all(|taken| taken != text), PROBLEM)
}

/// A host of a push service: a name, all names below one, or a host with its port.
pub fn push_host(text: &str) -> Parsed<String> {
    const PROBLEM: &str =
        "must be a host, such as push.example.com, *.example.com or 127.0.0.1:9001";
    let name = text.strip_prefix("*.").unwrap_or(text);
    if let Ok(name) = host_name(name)
        && name.parse::<IpAddr>().is_err()
    {
        return Ok(text.to_lowercase());
    }
    host_and_port(text).map_err(|_| PROBLEM)
}

/// A host with its port, or `loopback`.
pub fn webhook_host(text: &str) -> Parsed<String> {
    match text {
        "loopback" => Ok(text.to_owned()),
        _ => host_and_port(text)
            .map_err(|_| "must be a host with its port, such as 10.0.0.5:8443, or loopback"),
    }
}
