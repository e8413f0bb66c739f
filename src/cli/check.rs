//! `check`: what would go wrong, as a table.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::seal::{self, Standing};
use super::{Context, say, secret};
use crate::config::{Gateway, SignatureMode, Updates};
use crate::db::{access, look, migrate};
use crate::messages::push::store as devices;
use crate::messages::telegram::bot::{Bot, Fault};
use crate::operations::store;

/// How long an outside service may take to accept a connection.
const REACH: Duration = Duration::from_secs(5);

enum Verdict {
    Good,
    /// Works, but should be known.
    Note,
    Bad,
}

struct Finding {
    what: &'static str,
    verdict: Verdict,
    text: String,
}

pub fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let mut findings = vec![configuration(context), clock(context)];
    findings.extend(database(context));
    findings.push(key(context));
    findings.extend(marketplace(context));
    findings.extend(channels(context));
    findings.push(push(context));
    findings.push(telegram(context));
    findings.push(backups(context));
    let width = findings.iter().map(|finding| finding.what.len()).max().unwrap_or(0);
    for finding in &findings {
        let word = match finding.verdict {
            Verdict::Good => "ok  ",
            Verdict::Note => "note",
            Verdict::Bad => "FAIL",
        };
        say(format_args!("{word}  {:width$}  {}", finding.what, finding.text))?;
    }
    let failed = findings.iter().any(|finding| matches!(finding.verdict, Verdict::Bad));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn finding(what: &'static str, verdict: Verdict, text: impl Into<String>) -> Finding {
    Finding { what, verdict, text: text.into() }
}

fn configuration(context: &Context) -> Finding {
    let server = &context.config().server;
    let public = !server.listen.ip().is_loopback();
    if public && server.base_url.is_empty() {
        let text = "server.listen is reachable from outside but server.base_url is empty: set the public address";
        return finding("configuration", Verdict::Note, text);
    }
    finding("configuration", Verdict::Good, format!("listens on {}", server.listen))
}

fn clock(context: &Context) -> Finding {
    let now = context.clock.now();
    let zone = context.config().server.timezone;
    let text = format!("{} in {}", zone.spaced(now), zone.0.name());
    // Before the first release of this program no clock can be right.
    let verdict = if now.0 < 1_767_225_600 { Verdict::Bad } else { Verdict::Good };
    finding("clock", verdict, text)
}

fn database(context: &Context) -> Vec<Finding> {
    let path = &context.config().database.path;
    if let Err(error) = migrate::require_present(path) {
        return vec![finding("database", Verdict::Bad, error.to_string())];
    }
    let mut findings = vec![mode(path)];
    match migrate::status(path) {
        Ok(lines) => findings.push(finding("schema", Verdict::Good, lines.join("; "))),
        Err(error) => findings.push(finding("schema", Verdict::Bad, error.to_string())),
    }
    findings.push(integrity(context));
    findings
}

fn mode(path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Err(error) => finding("file mode", Verdict::Bad, error.to_string()),
        Ok(metadata) => {
            if let Some(obstacle) = access::obstacle(path) {
                return finding("file mode", Verdict::Bad, obstacle);
            }
            let mode = metadata.permissions().mode() & 0o777;
            if mode.trailing_zeros() >= 6 {
                return finding(
                    "file mode",
                    Verdict::Good,
                    format!("{mode:04o} {}", path.display()),
                );
            }
            let text =
                format!("{mode:04o}: others can read {}; run `chmod 600` on it", path.display());
            finding("file mode", Verdict::Bad, text)
        }
    }
}

fn integrity(context: &Context) -> Finding {
    let found = look(&context.config().database.path, context.clock.now(), |tx| {
        tx.all("PRAGMA quick_check", [], |row| row.get::<_, String>(0))
    });
    match found {
        Ok(lines) => match lines.iter().find(|line| *line != "ok") {
            None => finding("integrity", Verdict::Good, "no damage found"),
            Some(fault) => {
                let text = format!("{fault}; restore a backup with `restore FILE`");
                finding("integrity", Verdict::Bad, text)
            }
        },
        Err(error) => finding("integrity", Verdict::Bad, error.to_string()),
    }
}

/// Whether the key at hand is the one that the database was sealed with.
fn key(context: &Context) -> Finding {
    match seal::standing(context) {
        Ok(Standing::Right) => {
            let keep = if context.config().security.secret_key.is_empty() {
                "; keep a copy of it elsewhere"
            } else {
                ""
            };
            finding("key", Verdict::Good, format!("{}{keep}", seal::source(context)))
        }
        Ok(Standing::Fresh) => {
            let text = format!("{}; nothing is sealed with it yet", seal::source(context));
            finding("key", Verdict::Note, text)
        }
        Ok(Standing::Wrong(why)) => finding("key", Verdict::Bad, seal::refusal(&why).to_string()),
        Err(error) => finding("key", Verdict::Bad, format!("{error:#}")),
    }
}

fn marketplace(context: &Context) -> Vec<Finding> {
    let marketplace = &context.config().marketplace;
    if marketplace.client_id.is_empty() {
        let text = "not configured: accounts cannot be linked; set marketplace.client_id and client_secret";
        return vec![finding("marketplace", Verdict::Note, text)];
    }
    let mut findings = vec![match reach(&marketplace.api_base) {
        Ok(()) => finding(
            "marketplace",
            Verdict::Good,
            format!("{} accepts connections", marketplace.api_base),
        ),
        Err(problem) => {
            finding("marketplace", Verdict::Bad, format!("{}: {problem}", marketplace.api_base))
        }
    }];
    if marketplace.signature == SignatureMode::Required {
        let text = "required; the real marketplace signs nothing: use marketplace.signature = \"optional\" with it";
        findings.push(finding("signatures", Verdict::Note, text));
    }
    findings
}

/// Channels that are off: what they would carry waits in the queue.
fn channels(context: &Context) -> Vec<Finding> {
    let config = context.config();
    let mut findings = Vec::new();
    if config.email.smtp_url.is_empty() {
        let text = "not configured: nothing leaves by e-mail; set email.smtp_url and email.from";
        findings.push(finding("e-mail", Verdict::Note, text));
    }
    if config.chat.gateway == Gateway::None {
        let text = "not configured: messages by chat wait; set chat.gateway";
        findings.push(finding("chat", Verdict::Note, text));
    } else if config.chat.gateway == Gateway::Cloud && config.chat.template.is_empty() {
        let text = "the official API takes templates alone: set chat.template";
        findings.push(finding("chat", Verdict::Bad, text));
    }
    findings
}

/// Push, its key and who is reached by it.
fn push(context: &Context) -> Finding {
    if context.config().push.subject.is_empty() {
        let text = "not configured: nothing reaches browsers; set push.subject";
        return finding("push", Verdict::Note, text);
    }
    let path = &context.config().database.path;
    let read = look(path, context.clock.now(), |tx| {
        Ok((store::has_secret(tx, secret::PUSH_KEY)?, devices::count(tx)?))
    });
    match read {
        Ok((true, reached)) => {
            finding("push", Verdict::Good, format!("reaches {reached} browsers"))
        }
        Err(error) if path.exists() => finding("push", Verdict::Bad, error.to_string()),
        Ok((false, _)) | Err(_) => {
            finding("push", Verdict::Good, "a key is made at the first start")
        }
    }
}

/// Whether the bot's token is accepted.
fn telegram(context: &Context) -> Finding {
    let config = &context.config().telegram;
    let Some(bot) = Bot::new(config) else {
        let text = "not configured: nobody can connect Telegram; set telegram.bot_token";
        return finding("telegram", Verdict::Note, text);
    };
    let is_hooked = config.updates == Updates::Webhook;
    if is_hooked && !context.config().server.base_url.starts_with("https://") {
        let text = "telegram.updates = \"webhook\" needs an https:// server.base_url; use \"polling\" without one";
        return finding("telegram", Verdict::Bad, text);
    }
    match bot.identity() {
        Ok(bot) => finding(
            "telegram",
            Verdict::Good,
            format!("{} knows the bot @{}", config.api_base, bot.username),
        ),
        Err(Fault::Refused(refusal)) if matches!(refusal.code, 401 | 404) => {
            let text =
                "Telegram does not accept telegram.bot_token; ask @BotFather for the bot's token";
            finding("telegram", Verdict::Bad, text)
        }
        Err(Fault::Refused(refusal)) => finding(
            "telegram",
            Verdict::Bad,
            format!("{} answers {}", config.api_base, refusal.code),
        ),
        Err(Fault::Away(_) | Fault::Silent(_)) => finding(
            "telegram",
            Verdict::Bad,
            format!("{} does not answer as it should", config.api_base),
        ),
    }
}

/// Whether a connection to an address opens.
fn reach(url: &str) -> Result<(), String> {
    let uri: http::Uri = url.parse().map_err(|_| "is not an address".to_owned())?;
    let host = uri.host().ok_or("has no host")?.trim_matches(['[', ']']);
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let addresses = (host, port).to_socket_addrs().map_err(|error| error.to_string())?;
    let mut problem = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, REACH) {
            Ok(_) => return Ok(()),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(problem)
}

fn backups(context: &Context) -> Finding {
    match &context.config().database.backup_dir {
        None => finding(
            "backups",
            Verdict::Note,
            "none are scheduled: set database.backup_dir, or run `backup FILE`",
        ),
        Some(folder) if folder.is_dir() => finding(
            "backups",
            Verdict::Note,
            format!(
                "copies into {} are not scheduled by this version yet: run `backup FILE` daily",
                folder.display()
            ),
        ),
        Some(folder) => finding(
            "backups",
            Verdict::Bad,
            format!("the folder {} does not exist", folder.display()),
        ),
    }
}
