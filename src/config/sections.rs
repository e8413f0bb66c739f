//! The sections of the configuration as types, one line a key. Those of the
//! services outside are in `outside.rs`.
//!
//! A key of the shipped file that is not read here, or the reverse, fails a
//! test. A text that may be left empty says what that means.

#![allow(
    dead_code,
    reason = "every key is read and checked from the start; some features that use one come later"
)]

use std::net::SocketAddr;
use std::path::PathBuf;

use chrono::NaiveTime;
use ipnet::IpNet;

use super::outside::{Chat, Checkout, Email, Marketplace, Push, Telegram};
use super::rules;
use super::settings::{Result, Settings};
use crate::base::clock::Zone;
use crate::base::secrets::{Sealer, Secret};

/// Seconds of a day, as a bound.
const DAY: i64 = 86_400;
/// The bound of counts and sizes that have no natural one.
const MOST: i64 = 1_000_000_000;

/// The whole configuration, checked.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Server,
    pub database: Database,
    pub security: Security,
    pub cron: Cron,
    pub marketplace: Marketplace,
    pub checkout: Checkout,
    pub chat: Chat,
    pub telegram: Telegram,
    pub email: Email,
    pub push: Push,
    pub limits: Limits,
    pub partner: Partner,
    pub content: Content,
    pub program: Program,
    pub messages: Messages,
    pub drop: DropShipping,
    pub agents: Agents,
    pub tax: Tax,
    pub log: Log,
}

impl Config {
    pub(super) fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            server: Server::read(settings)?,
            database: Database::read(settings)?,
            security: Security::read(settings)?,
            cron: Cron::read(settings)?,
            marketplace: Marketplace::read(settings)?,
            checkout: Checkout::read(settings)?,
            chat: Chat::read(settings)?,
            telegram: Telegram::read(settings)?,
            email: Email::read(settings)?,
            push: Push::read(settings)?,
            limits: Limits::read(settings)?,
            partner: Partner::read(settings)?,
            content: Content::read(settings)?,
            program: Program::read(settings)?,
            messages: Messages::read(settings)?,
            drop: DropShipping::read(settings)?,
            agents: Agents::read(settings)?,
            tax: Tax::read(settings)?,
            log: Log::read(settings)?,
        })
    }
}

/// `[server]`
#[derive(Clone, Debug)]
pub struct Server {
    /// Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Origin without a trailing slash; empty: the address that is bound.
    pub base_url: String,
    /// Origin without a trailing slash; empty: `base_url`.
    pub dev_base_url: String,
    /// Whose forwarding headers are believed; a bare address is a network of one.
    pub trusted_proxies: Vec<IpNet>,
    /// Zone of civil time.
    pub timezone: Zone,
    /// Shown on pages and in messages.
    pub name: String,
    /// Names to obtain certificates for; none: plain HTTP.
    pub acme_domains: Vec<String>,
    /// Contact for the certificate authority; may be empty.
    pub acme_email: String,
    /// Body limit of rows that name none.
    pub max_body_bytes: usize,
    /// Until the headers of an ordinary answer.
    pub request_timeout_s: u64,
    /// Open connections altogether.
    pub max_connections: usize,
    /// Open connections of one address that is no trusted proxy.
    pub max_connections_per_address: usize,
}

impl Server {
    fn read(settings: &Settings) -> Result<Self> {
        let optional_origin = rules::or_empty(rules::origin);
        Ok(Self {
            listen: settings.parsed("server.listen", rules::parse_listen)?,
            base_url: settings.parsed("server.base_url", &optional_origin)?,
            dev_base_url: settings.parsed("server.dev_base_url", &optional_origin)?,
            trusted_proxies: settings.list("server.trusted_proxies", rules::network)?,
            timezone: settings.parsed("server.timezone", rules::zone)?,
            name: settings.parsed("server.name", rules::line)?,
            acme_domains: settings.list("server.acme_domains", rules::host_name)?,
            acme_email: settings
                .parsed("server.acme_email", rules::or_empty(rules::mail_address))?,
            max_body_bytes: settings.whole("server.max_body_bytes", 1024..=MOST)?,
            request_timeout_s: settings.whole("server.request_timeout_s", 1..=3600)?,
            max_connections: settings.whole("server.max_connections", 1..=1_000_000)?,
            max_connections_per_address: settings
                .whole("server.max_connections_per_address", 1..=1_000_000)?,
        })
    }
}

/// `[database]`
#[derive(Clone, Debug)]
pub struct Database {
    /// The database file.
    pub path: PathBuf,
    /// Folder of scheduled backups; `None`: none are made.
    pub backup_dir: Option<PathBuf>,
    /// Hours between scheduled backups.
    pub backup_every_h: u32,
    /// How many scheduled backups stay.
    pub backup_keep: u32,
}

impl Database {
    fn read(settings: &Settings) -> Result<Self> {
        let backup_dir = settings.text("database.backup_dir")?;
        Ok(Self {
            path: settings.parsed("database.path", rules::line)?.into(),
            backup_dir: (!backup_dir.is_empty()).then(|| backup_dir.into()),
            backup_every_h: settings.whole("database.backup_every_h", 1..=8784)?,
            backup_keep: settings.whole("database.backup_keep", 1..=10_000)?,
        })
    }
}

/// `[security]`
#[derive(Clone, Debug)]
pub struct Security {
    /// Encrypts at rest; empty: a key file beside the database does.
    pub secret_key: Secret,
}

impl Security {
    fn read(settings: &Settings) -> Result<Self> {
        settings.parsed("security.secret_key", |text| {
            if !text.is_empty() && Sealer::from_configured(&Secret::new(text)).is_err() {
                return Err("must be 64 hexadecimal digits or at least 16 characters");
            }
            Ok(())
        })?;
        Ok(Self { secret_key: settings.secret("security.secret_key")? })
    }
}

/// `[cron]`
#[derive(Clone, Debug)]
pub struct Cron {
    /// Whether the tasks run by themselves.
    pub enabled: bool,
    /// Seconds between runs.
    pub interval_s: u64,
    /// Opens the cron endpoint; empty: one is generated.
    pub secret: Secret,
}

impl Cron {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            enabled: settings.switch("cron.enabled")?,
            interval_s: settings.whole("cron.interval_s", 1..=DAY)?,
            secret: settings.secret("cron.secret")?,
        })
    }
}

/// `[limits]`
#[derive(Clone, Debug)]
pub struct Limits {
    /// Length of a window in seconds.
    pub window_s: i64,
    /// Calls a window of ordinary routes.
    pub requests: u32,
    /// Partner reads a window where a plan names no rate.
    pub partner_get: u32,
    /// Partner changes a window.
    pub partner_post: u32,
    /// Seconds between two reminders to all.
    pub remind_all_window_s: i64,
    /// Failed logins a login window.
    pub login_failures: u32,
    /// Length of a login window in seconds.
    pub login_window_s: i64,
}

impl Limits {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            window_s: settings.whole("limits.window_s", 1..=DAY)?,
            requests: settings.whole("limits.requests", 1..=MOST)?,
            partner_get: settings.whole("limits.partner_get", 1..=MOST)?,
            partner_post: settings.whole("limits.partner_post", 1..=MOST)?,
            remind_all_window_s: settings.whole("limits.remind_all_window_s", 1..=DAY)?,
            login_failures: settings.whole("limits.login_failures", 1..=MOST)?,
            login_window_s: settings.whole("limits.login_window_s", 1..=DAY)?,
        })
    }
}

/// `[partner]`
#[derive(Clone, Debug)]
pub struct Partner {
    pub plans: Plans,
}

/// `[partner.plans]`: the API plans that are sold.
#[derive(Clone, Debug)]
pub struct Plans {
    pub starter: PlanLimits,
    pub pro: PlanLimits,
    pub scale: PlanLimits,
}

/// What an API plan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// Calls a month.
    pub quota: u64,
    /// Calls a minute.
    pub per_minute: u32,
}

impl Partner {
    fn read(settings: &Settings) -> Result<Self> {
        let plan = |name: &str| -> Result<PlanLimits> {
            Ok(PlanLimits {
                quota: settings.whole(&format!("partner.plans.{name}.quota"), 1..=MOST)?,
                per_minute: settings
                    .whole(&format!("partner.plans.{name}.per_minute"), 1..=MOST)?,
            })
        };
        Ok(Self {
            plans: Plans { starter: plan("starter")?, pro: plan("pro")?, scale: plan("scale")? },
        })
    }
}

/// `[content]`
#[derive(Clone, Debug)]
pub struct Content {
    /// Hosts whose players lessons may embed.
    pub video_hosts: Vec<String>,
}

impl Content {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self { video_hosts: settings.list("content.video_hosts", rules::host_name)? })
    }
}

/// `[program]`
#[derive(Clone, Debug)]
pub struct Program {
    /// Check-ins of a lap.
    pub lap_days: u32,
    /// Civil hour of the evening reminder, 0 to 23.
    pub reminder_hour: u32,
    /// Full days without activity before an alert.
    pub inactive_days: u32,
}

impl Program {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self {
            lap_days: settings.whole("program.lap_days", 1..=366)?,
            reminder_hour: settings.whole("program.reminder_hour", 0..=23)?,
            inactive_days: settings.whole("program.inactive_days", 1..=366)?,
        })
    }
}

/// `[messages]`
#[derive(Clone, Debug)]
pub struct Messages {
    /// Civil time from which inactivity alerts wait.
    pub quiet_from: NaiveTime,
    /// Civil time at which they go out again.
    pub quiet_until: NaiveTime,
    /// Messages a second; 0: no pacing.
    pub pace_cloud_per_s: f64,
    /// Messages a second; 0: no pacing.
    pub pace_evolution_per_s: f64,
    /// Messages a second; 0: no pacing.
    pub pace_telegram_per_s: f64,
    /// Messages a second; 0: no pacing.
    pub pace_email_per_s: f64,
    /// Messages a second; 0: no pacing.
    pub pace_push_per_s: f64,
}

impl Messages {
    fn read(settings: &Settings) -> Result<Self> {
        let pace = |channel: &str| {
            settings.number(&format!("messages.pace_{channel}_per_s"), 0.0..=1_000_000.0)
        };
        Ok(Self {
            quiet_from: settings.parsed("messages.quiet_from", rules::time_of_day)?,
            quiet_until: settings.parsed("messages.quiet_until", rules::time_of_day)?,
            pace_cloud_per_s: pace("cloud")?,
            pace_evolution_per_s: pace("evolution")?,
            pace_telegram_per_s: pace("telegram")?,
            pace_email_per_s: pace("email")?,
            pace_push_per_s: pace("push")?,
        })
    }
}

/// `[drop]`
#[derive(Clone, Debug)]
pub struct DropShipping {
    /// Days from an order until its supplier is to be paid.
    pub payment_days: u32,
}

impl DropShipping {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self { payment_days: settings.whole("drop.payment_days", 0..=365)? })
    }
}

/// `[agents]`
#[derive(Clone, Debug)]
pub struct Agents {
    /// Further browser origins that may call the agent endpoint.
    pub allowed_origins: Vec<String>,
}

impl Agents {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self { allowed_origins: settings.list("agents.allowed_origins", rules::origin)? })
    }
}

/// `[tax]`
#[derive(Clone, Debug)]
pub struct Tax {
    /// Percent.
    pub rate: f64,
}

impl Tax {
    fn read(settings: &Settings) -> Result<Self> {
        Ok(Self { rate: settings.number("tax.rate", 0.0..=100.0)? })
    }
}

/// `[log]`
#[derive(Clone, Debug)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
}

/// The least urgent lines that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Log {
    fn read(settings: &Settings) -> Result<Self> {
        let levels = [
            ("error", LogLevel::Error),
            ("warn", LogLevel::Warn),
            ("info", LogLevel::Info),
            ("debug", LogLevel::Debug),
            ("trace", LogLevel::Trace),
        ];
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        Ok(Self {
            level: settings.one_of("log.level", &levels)?,
            format: settings.one_of("log.format", &formats)?,
        })
    }
}
