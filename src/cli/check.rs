//! `check`: what would go wrong, as a table.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::{Context, say, secret};
use crate::config::{Gateway, SignatureMode, Updates};
use crate::db::{Db, Lane, migrate};
use crate::messages::push::store as devices;
use crate::messages::telegram::bot::{Bot, Fault};
use crate::operations::store;
use crate::secrets::{self, Sealer};

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
    if !path.exists() {
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return vec![if folder.is_dir() {
            finding(
                "database",
                Verdict::Note,
                format!("{} is not there yet; `serve` makes it", path.display()),
            )
        } else {
            finding(
                "database",
                Verdict::Bad,
                format!("the folder {} does not exist", folder.display()),
            )
        }];
    }
    let mut findings = vec![mode(path)];
    match migrate::status(path) {
        Ok(lines) => findings.push(finding("schema", Verdict::Good, lines.join("; "))),
        Err(error) => findings.push(finding("schema", Verdict::Bad, error.to_string())),
    }
    match context.existing_database().map(|db| integrity(&db)) {
        Ok(found) => findings.push(found),
        Err(error) => findings.push(finding("integrity", Verdict::Bad, format!("{error:#}"))),
    }
    findings
}

fn mode(path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Err(error) => finding("file mode", Verdict::Bad, error.to_string()),
        Ok(metadata) => {
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

fn integrity(db: &Db) -> Finding {
    match db.quick_check() {
        Ok(faults) if faults.is_empty() => finding("integrity", Verdict::Good, "no damage found"),
        Ok(faults) => finding(
            "integrity",
            Verdict::Bad,
            format!("{}; restore a backup with `restore FILE`", faults[0]),
        ),
        Err(error) => finding("integrity", Verdict::Bad, error.to_string()),
    }
}

fn key(context: &Context) -> Finding {
    if !context.config().security.secret_key.is_empty() {
        return match context.sealer() {
            Ok(sealer) => opens(context, &sealer, "security.secret_key"),
            Err(error) => finding("key", Verdict::Bad, format!("{error:#}")),
        };
    }
    let path = secrets::key_file_of(&context.config().database.path);
    if !path.exists() {
        return finding(
            "key",
            Verdict::Note,
            format!("{} is not there yet; `serve` makes it", path.display()),
        );
    }
    match secrets::key_from_file(&path) {
        Ok(key) => opens(
            context,
            &Sealer::new(key),
            &format!("{}; keep a copy of it elsewhere", path.display()),
        ),
        Err(error) => finding("key", Verdict::Bad, format!("{}: {error}", path.display())),
    }
}

/// Whether what is sealed in the database opens with a key.
fn opens(context: &Context, sealer: &Sealer, name: &str) -> Finding {
    let Ok(db) = context.existing_database() else {
        return finding("key", Verdict::Good, name);
    };
    let sealed = db.read(Lane::Slow, |tx| {
        let kept: i64 = tx.one(
            "SELECT count(*) FROM setting WHERE name IN ('cron_secret', 'checkout_token', 'push_key')",
            [],
            |row| row.get(0),
        )?;
        let opened = store::secret(tx, sealer, "cron_secret")?.is_some()
            || store::secret(tx, sealer, "checkout_token")?.is_some()
            || store::secret(tx, sealer, secret::PUSH_KEY)?.is_some();
        Ok::<_, crate::db::DbError>(kept > 0 && !opened)
    });
    match sealed {
        Ok(true) => {
            let text = "does not open this database: put the right key back, or link the marketplace accounts again";
            finding("key", Verdict::Note, text)
        }
        _ => finding("key", Verdict::Good, name),
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
    let begins = "a key is made at the first start";
    let Ok(db) = context.existing_database() else {
        return finding("push", Verdict::Good, begins);
    };
    let read = db.read(Lane::Slow, |tx| {
        let kept = store::has_secret(tx, secret::PUSH_KEY)?;
        Ok::<_, crate::db::DbError>((kept, devices::count(tx)?))
    });
    let (kept, reached) = match read {
        Ok(found) => found,
        Err(error) => return finding("push", Verdict::Bad, error.to_string()),
    };
    if !kept {
        return finding("push", Verdict::Good, begins);
    }
    let opens = context.has_key()
        && context.sealer().is_ok_and(|sealer| {
            let kept = db.read(Lane::Slow, |tx| store::secret(tx, &sealer, secret::PUSH_KEY));
            kept.is_ok_and(|kept| kept.is_some())
        });
    if opens {
        return finding("push", Verdict::Good, format!("reaches {reached} browsers"));
    }
    let text = format!(
        "its key does not open: the next start makes another and forgets {reached} browsers, which have to be switched on again"
    );
    finding("push", Verdict::Note, text)
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
