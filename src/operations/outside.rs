//! The services outside: can each configured service be reached, and does it accept
//! our credentials? For `check` and for the tests of the diagnostics page.
//!
//! Nothing outside is changed: no message is sent, and the marketplace gets a grant
//! that does not exist. It checks the grant only after the application's credentials.

use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::findings::{Finding, ServiceState, Verdict, finding};
use crate::base::text::has_accents;
use crate::base::{Clock, Secret};
use crate::config::{self, Config, Gateway, SignatureMode, Updates};
use crate::https;
use crate::marketplace::client::{Client, Failure};
use crate::messages::delivery::chat::Chat;
use crate::messages::delivery::email;
use crate::messages::delivery::mail_server::MailServer;
use crate::messages::delivery::store::RefusedMessages;
use crate::messages::receipts::HOOK_PATH;
use crate::messages::telegram::bot::{Bot, BotFault};

/// How long a service may take for each step.
const PATIENCE: Duration = Duration::from_secs(5);
/// Push services of the usual browsers.
const PUSH_SERVICES: [&str; 3] =
    ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"];

/// What came of calling a service; the text says why and what to do.
type Probe = (ServiceState, String);

fn reached(text: impl Into<String>) -> Probe {
    (ServiceState::Reached, text.into())
}

fn refused(text: impl Into<String>) -> Probe {
    (ServiceState::Refused, text.into())
}

fn not_reached(text: impl Into<String>) -> Probe {
    (ServiceState::NotReached, text.into())
}

fn found(what: &'static str, (state, text): Probe) -> Finding {
    let (verdict, word) = match state {
        ServiceState::Reached => (Verdict::Good, "reached"),
        ServiceState::Refused => (Verdict::Bad, "refused"),
        ServiceState::NotReached => (Verdict::Bad, "not reached"),
    };
    Finding { state: Some(state), ..finding(what, verdict, format!("{word}: {text}")) }
}

crate::named! {
    /// What can be tried out.
    pub enum Service: text {
        Email = "email", "E-mail";
        Chat = "chat", "Chat";
        Telegram = "telegram", "Telegram";
        Push = "push", "Navegador";
        Marketplace = "marketplace", "Marketplace";
        Checkout = "checkout", "Compras";
    }
}

/// Messages that wait because their channel is out of order, as far as that is known
/// without asking it.
#[derive(Default)]
pub struct Stuck {
    /// Mail of which no recipient is taken.
    pub mail: Option<RefusedMessages>,
    /// Chat messages whose gateway's phone has no connection.
    pub chat: Option<RefusedMessages>,
}

/// A line for each service, and more lines where there is more to report.
pub fn services(config: &Config, clock: &Clock, stuck: Stuck) -> Vec<Finding> {
    thread::scope(|scope| {
        let asked = [
            scope.spawn(|| marketplace(config, clock)),
            scope.spawn(|| e_mail(config, stuck.mail)),
            scope.spawn(|| chat(config, stuck.chat)),
            scope.spawn(|| vec![telegram(config)]),
            scope.spawn(|| push_hosts(config)),
            scope.spawn(|| directory(config)),
        ];
        // A panic of one is a panic of `check`.
        asked.into_iter().flat_map(|one| one.join().expect("a service was asked")).collect()
    })
}

/// The same for one service, of a server that is reached at `base_url`.
pub fn one(service: Service, config: &Config, clock: &Clock, base_url: &str) -> Vec<Finding> {
    match service {
        Service::Email => e_mail(config, None),
        Service::Chat => chat(config, None),
        Service::Telegram => vec![telegram(config)],
        Service::Push => push(config),
        Service::Marketplace => marketplace(config, clock),
        Service::Checkout => vec![checkout(base_url)],
    }
}

fn off(what: &'static str, text: &str) -> Vec<Finding> {
    vec![finding(what, Verdict::Note, format!("not configured: {text}"))]
}

fn incomplete(what: &'static str, missing: &[&str]) -> Vec<Finding> {
    let text = format!("not complete: set {}", missing.join(" and "));
    vec![finding(what, Verdict::Bad, text)]
}

fn marketplace(config: &Config, clock: &Clock) -> Vec<Finding> {
    const WHAT: &str = "marketplace";
    let marketplace = &config.marketplace;
    if marketplace.client_id.is_empty() {
        let text =
            "accounts cannot be linked; set marketplace.client_id and marketplace.client_secret";
        return off(WHAT, text);
    }
    if marketplace.client_secret.is_empty() {
        return incomplete(WHAT, &["marketplace.client_secret"]);
    }
    let mut findings = vec![found(WHAT, probe_marketplace(marketplace, clock))];
    findings.extend(signatures(marketplace));
    findings
}

/// Whether notifications would be refused for want of a signature.
fn signatures(marketplace: &config::Marketplace) -> Option<Finding> {
    const WHAT: &str = "signatures";
    if marketplace.refuses_all_notifications() {
        let text = "the marketplace signs no notification, so all are refused; write marketplace.signature = \"optional\"";
        return Some(finding(WHAT, Verdict::Bad, text));
    }
    let text = "required; the real marketplace signs nothing: use marketplace.signature = \"optional\" with it";
    let is_required = marketplace.signature == SignatureMode::Required;
    is_required.then(|| finding(WHAT, Verdict::Note, text))
}

fn probe_marketplace(config: &config::Marketplace, clock: &Clock) -> Probe {
    let base = &config.api_base;
    if let Err(problem) = reach(base) {
        return not_reached(format!(
            "{base}: {problem}; check the network and marketplace.api_base"
        ));
    }
    let client = Client::new(config, clock.clone());
    match client.refresh(&Secret::new("check")) {
        Err(Failure::Refused { status, code })
            if status == 401 || matches!(&*code, "invalid_client" | "unauthorized_client") =>
        {
            refused(format!(
                "{base} does not accept the application ({status} {code}); check marketplace.client_id and marketplace.client_secret"
            ))
        }
        Err(Failure::Refused { status: 403, code }) => refused(format!(
            "{base} answers 403 {code}; see whether the application or this address is blocked there"
        )),
        Ok(_) | Err(Failure::Refused { status: 400, .. }) => {
            reached(format!("{base} knows the application"))
        }
        Err(Failure::RateLimited { .. }) => {
            reached(format!("{base} asks for a pause, which ends by itself"))
        }
        Err(Failure::Refused { status, code }) => not_reached(format!(
            "{base} answers {status} {code}, which a marketplace does not; check marketplace.api_base"
        )),
        Err(failure) => not_reached(format!(
            "{base} accepts connections, but: {failure}; try again later, or check marketplace.api_base"
        )),
    }
}

fn e_mail(config: &Config, waiting: Option<RefusedMessages>) -> Vec<Finding> {
    const WHAT: &str = "e-mail";
    if config.email.smtp_url.is_empty() {
        return off(WHAT, "nothing leaves by e-mail; set email.smtp_url and email.from");
    }
    let server = match MailServer::new(&config.email.smtp_url) {
        Ok(server) => server,
        Err(problem) => {
            return vec![finding(WHAT, Verdict::Bad, format!("email.smtp_url: {problem}"))];
        }
    };
    let sender = email::sender(config);
    let mut findings = Vec::new();
    // Whether or not the server answers now.
    if let Some(RefusedMessages { count, reason }) = waiting {
        let text = format!("out of order, messages that wait: {count}; {reason}");
        findings.push(found(WHAT, refused(text)));
    }
    findings.push(found(WHAT, probe_mail_server(&server, has_accents(&sender))));
    if config.email.from.is_empty() {
        let text = format!("sent as {sender}, because email.from is empty");
        findings.push(finding(WHAT, Verdict::Note, text));
    }
    findings
}

fn probe_mail_server(server: &MailServer, sender_has_accents: bool) -> Probe {
    let place = server.place();
    let error = match server.greet(true, PATIENCE) {
        Ok(true) => return reached(format!("{place} takes mail")),
        Ok(false) if sender_has_accents => {
            return refused(format!(
                "{place} takes no letters beyond ASCII before the @ (SMTPUTF8); change email.from"
            ));
        }
        Ok(false) => {
            return reached(format!(
                "{place} takes mail, but none for addresses with accents before the @ (no SMTPUTF8)"
            ));
        }
        Err(error) => error,
    };
    // `smtp_url` contains a password; errors of the SMTP session do not.
    match error.status().map(|code| code.to_string()) {
        Some(code) if code.starts_with("53") => refused(format!(
            "{place} answers {code}; check the name and the password in email.smtp_url"
        )),
        Some(code) if code == "421" => not_reached(format!("{place} answers 421; try again later")),
        Some(code) => refused(format!("{place} answers {code}: {error}")),
        None if error.is_tls() || error.is_client() => refused(format!(
            "{place}: {error}; smtps:// encrypts from the start, smtp://…?tls=required after STARTTLS"
        )),
        None if is_silence(&error) => not_reached(format!(
            "{place}: no answer for {} s; check the network and email.smtp_url (smtps:// and smtp:// have ports of their own)",
            PATIENCE.as_secs()
        )),
        None => not_reached(format!("{place}: {error}; check the network and email.smtp_url")),
    }
}

/// Whether the error is a timeout, which the system may report as a resource that
/// is temporarily unavailable.
fn is_silence(error: &dyn std::error::Error) -> bool {
    std::iter::successors(error.source(), |cause| cause.source())
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn chat(config: &Config, waiting: Option<RefusedMessages>) -> Vec<Finding> {
    const WHAT: &str = "chat";
    let chat = &config.chat;
    let mut missing = Vec::new();
    let mut need = |is_empty: bool, key| missing.extend(is_empty.then_some(key));
    match chat.gateway {
        Gateway::None => return off(WHAT, "messages by chat wait; set chat.gateway"),
        Gateway::Evolution => need(chat.base_url.is_empty(), "chat.base_url"),
        Gateway::Cloud => {}
    }
    need(chat.api_key.is_empty(), "chat.api_key");
    need(chat.instance.is_empty(), "chat.instance");
    if !missing.is_empty() {
        return incomplete(WHAT, &missing);
    }
    let met = match Chat::new(config).ask(PATIENCE) {
        Err(problem) => not_reached(format!("{problem}; check the network and chat.base_url")),
        Ok((status, answer)) if chat.gateway == Gateway::Cloud => cloud_says(status, &answer),
        Ok((status, answer)) => evolution_says(status, &answer),
    };
    let mut findings = Vec::new();
    // Also while the gateway says that all is well.
    if let Some(RefusedMessages { count, reason }) = waiting {
        let text = format!("out of order, messages that wait: {count}; {reason}");
        findings.push(found(WHAT, refused(text)));
    }
    findings.push(found(WHAT, met));
    if chat.gateway == Gateway::Cloud && !chat.hears_receipts() {
        let text = format!(
            "acceptance only: what the official API refuses later is not heard; set chat.app_secret and chat.verify_token, and enter the address {HOOK_PATH} of this service there"
        );
        findings.push(finding("chat webhook", Verdict::Note, text));
    }
    if chat.gateway == Gateway::Cloud && chat.template.is_empty() {
        let text = "the official API takes templates alone: set chat.template";
        findings.push(finding(WHAT, Verdict::Bad, text));
    }
    findings
}

/// Reads a self-hosted gateway's answer about the instance.
fn evolution_says(status: u16, answer: &Value) -> Probe {
    match (status, answer["instance"]["state"].as_str()) {
        (200..=299, Some("open") | None) => reached("the gateway knows the instance"),
        (200..=299, Some(state)) => refused(format!(
            "the gateway is there, but its phone is not connected (state {state}); connect it in the gateway"
        )),
        (401 | 403, _) => refused(format!("the gateway answers {status}; check chat.api_key")),
        (404, _) => refused("the gateway does not know the instance; check chat.instance"),
        _ => not_reached(format!("the gateway answers {status}; see its log")),
    }
}

/// Reads the official API's answer about the number.
fn cloud_says(status: u16, answer: &Value) -> Probe {
    let code = &answer["error"]["code"];
    match (status, code.as_i64()) {
        (200..=299, _) => reached("the official API knows the number"),
        (_, Some(190)) | (401 | 403, _) => {
            refused(format!("the official API answers {status} {code}; check chat.api_key"))
        }
        (400..=499, _) if status != 429 => {
            refused(format!("the official API answers {status} {code}; check chat.instance"))
        }
        _ => not_reached(format!("the official API answers {status} {code}; try again later")),
    }
}

/// Whether the bot's token is accepted.
fn telegram(config: &Config) -> Finding {
    const WHAT: &str = "telegram";
    let Some(bot) = Bot::new(&config.telegram) else {
        let text = "not configured: nobody can connect Telegram; set telegram.bot_token";
        return finding(WHAT, Verdict::Note, text);
    };
    let is_hooked = config.telegram.updates == Updates::Webhook;
    let own = https::origin(config);
    if is_hooked && own.is_none() && !config.server.base_url.starts_with("https://") {
        let text = "telegram.updates = \"webhook\" needs an https:// server.base_url; use \"polling\" without one";
        return finding(WHAT, Verdict::Bad, text);
    }
    let base = &config.telegram.api_base;
    if let Err(problem) = reach(base) {
        let text = format!("{base}: {problem}; check the network and telegram.api_base");
        return found(WHAT, not_reached(text));
    }
    let met = match bot.identity() {
        Ok(name) => reached(format!("{base} knows the bot @{name}")),
        Err(BotFault::Refused(refusal)) if matches!(refusal.code, 401 | 404) => refused(
            "Telegram does not accept telegram.bot_token; ask @BotFather for the bot's token",
        ),
        Err(BotFault::Refused(refusal)) => refused(format!("{base} answers {}", refusal.code)),
        Err(BotFault::Away(_) | BotFault::Silent(_)) => not_reached(format!(
            "{base} accepts connections, but does not answer as it should; try again later, or check telegram.api_base"
        )),
    };
    found(WHAT, met)
}

/// Hosts of push services that are configured by name. Those of the known
/// browsers are called only when there is something to send.
fn push_hosts(config: &Config) -> Vec<Finding> {
    if config.push.subject.is_empty() {
        return Vec::new();
    }
    let named = config.push.extra_hosts.iter().filter(|host| !host.contains('*'));
    named
        .map(|host| {
            let met = match reach(&format!("https://{host}")) {
                Ok(()) => reached(format!("{host} accepts connections")),
                Err(problem) => not_reached(format!(
                    "{host}: {problem}; check the network and push.extra_hosts"
                )),
            };
            found("push host", met)
        })
        .collect()
}

/// The directory of certificates, when HTTPS of our own has one.
fn directory(config: &Config) -> Vec<Finding> {
    let asked = https::directory::asked(config).into_iter();
    asked
        .map(|(address, asked)| {
            let met = match asked {
                Ok(()) => reached(format!("{address} gives certificates")),
                Err(problem) => not_reached(format!(
                    "{address}: {problem}; check the network, server.acme_directory and server.acme_root"
                )),
            };
            found("acme", met)
        })
        .collect()
}

/// Push as a whole: hosts that are named, else those of the usual browsers.
fn push(config: &Config) -> Vec<Finding> {
    const WHAT: &str = "push";
    if config.push.subject.is_empty() {
        return off(WHAT, "nothing reaches browsers; set push.subject");
    }
    let named = push_hosts(config);
    if !named.is_empty() {
        return named;
    }
    let away = PUSH_SERVICES.iter().find_map(|host| {
        let problem = reach(&format!("https://{host}")).err()?;
        Some(not_reached(format!("{host}: {problem}; check the network")))
    });
    let met = away.unwrap_or_else(|| reached("the services of the usual browsers"));
    vec![found(WHAT, met)]
}

/// Purchases come to us: whether our own public address leads to the place where they
/// arrive. It is asked without a token, and must refuse that.
fn checkout(base_url: &str) -> Finding {
    const WHAT: &str = "checkout";
    let address = format!("{base_url}/api/v1/webhook/checkout");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE))
        .build()
        .into();
    let sent = agent.post(&address).header("content-type", "application/json").send("{}");
    let met = match sent.map(|answer| answer.status().as_u16()) {
        Ok(401) => reached(format!("{address} takes purchases, and refuses who has no token")),
        Ok(429) => reached(format!("{address} asks for a pause, which ends by itself")),
        Ok(status) => not_reached(format!(
            "{address} answers {status}, which this service does not; check server.base_url and the proxy"
        )),
        Err(error) => not_reached(format!(
            "{address}: {error}; check server.base_url, the name's address and the proxy"
        )),
    };
    found(WHAT, met)
}

/// Whether a connection to an address opens.
fn reach(url: &str) -> Result<(), String> {
    let uri: http::Uri = url.parse().map_err(|_| "is not an address".to_owned())?;
    let host = uri.host().ok_or("has no host")?.trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let addresses = (host, port).to_socket_addrs().map_err(|error| error.to_string())?;
    let mut problem = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn signatures_that_nobody_makes_are_a_failure() {
        let verdict = |settings: &[(&str, &str)]| {
            let config = fixture::config(settings);
            signatures(&config.marketplace).map(|found| (found.verdict, found.text))
        };
        let (failure, text) = verdict(&[]).unwrap();
        assert_eq!(failure, Verdict::Bad, "the shipped address");
        assert!(text.contains("marketplace.signature = \"optional\""), "{text}");
        assert_eq!(verdict(&[("MARKETPLACE__SIGNATURE", "optional")]), None);
        let elsewhere = ("MARKETPLACE__API_BASE", "http://127.0.0.1:9");
        assert_eq!(verdict(&[elsewhere]).unwrap().0, Verdict::Note);
    }
}
