//! The sections of the configuration as types: each key is declared once, with
//! its type and the rule that reads it. Those of the services outside are in
//! `outside.rs`.
//!
//! A key of the shipped file that is not read here, or the reverse, fails a
//! test. If a text may be empty, its comment says what that means.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use jiff::civil::Time;
use tracing::Level;

use super::outside::{Chat, Checkout, Email, Marketplace, Push, Telegram, Webhooks};
use super::replica_url::ReplicaUrl;
use super::rules;
use super::settings::{Result, Settings};
use crate::base::{Secret, Zone};

/// Seconds of a day, as a bound.
const DAY: i64 = 86_400;
/// The bound of counts and sizes that have no natural bound.
const MOST: i64 = 1_000_000_000;
/// Messages a second.
const PACE: RangeInclusive<f64> = 0.0..=1_000_000.0;

/// Declares sections: `"cron" => Cron { enabled: bool = switch(), … }` reads the
/// field `enabled` from the key `cron.enabled` by [`Settings`]' function `switch`
/// with these arguments. `plans: Plans = Plans::read` reads a field with a
/// function that is not one of [`Settings`].
macro_rules! sections {
    ($(
        $(#[$doc:meta])*
        $section:literal => $name:ident {
            $($(#[$about:meta])* $field:ident: $kind:ty = $read:ident $(::$own:ident)? $(($($with:expr),*))?),* $(,)?
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[$about])* pub $field: $kind,)*
        }

        impl $name {
            pub(super) fn read(settings: &Settings) -> Result<Self> {
                Ok(Self {
                    $($field: sections!(
                        @read settings concat!($section, ".", stringify!($field)),
                        $read $(::$own)? $(($($with),*))?
                    )?,)*
                })
            }
        }
    )*};
    (@read $settings:ident $key:expr, $read:ident($($with:expr),*)) => {
        $settings.$read($key $(, $with)*)
    };
    (@read $settings:ident $key:expr, $read:ident::$own:ident) => { $read::$own($settings) };
}
pub(super) use sections;

sections! {
    /// The whole configuration, checked.
    "" => Config {
        server: Server = Server::read,
        database: Database = Database::read,
        replica: Replica = Replica::read,
        security: Security = Security::read,
        cron: Cron = Cron::read,
        marketplace: Marketplace = Marketplace::read,
        checkout: Checkout = Checkout::read,
        chat: Chat = Chat::read,
        telegram: Telegram = Telegram::read,
        email: Email = Email::read,
        push: Push = Push::read,
        webhooks: Webhooks = Webhooks::read,
        limits: Limits = Limits::read,
        partner: Partner = Partner::read,
        content: Content = Content::read,
        program: Program = Program::read,
        messages: Messages = Messages::read,
        drop: DropShipping = DropShipping::read,
        agents: Agents = Agents::read,
        tax: Tax = Tax::read,
        log: Log = Log::read,
    }

    /// `[server]`
    "server" => Server {
        /// Port 0 picks a free one.
        listen: SocketAddr = parsed(rules::parse_listen),
        /// Origin without a trailing slash; empty: the address that is bound.
        base_url: String = parsed(rules::or_empty(rules::origin)),
        /// Origin without a trailing slash; empty: `base_url`.
        dev_base_url: String = parsed(rules::or_empty(rules::origin)),
        /// Whose forwarding headers are believed; a bare address is a network of one.
        trusted_proxies: Vec<IpNet> = list(rules::network),
        /// Zone of civil time.
        timezone: Zone = parsed(rules::zone),
        /// Shown on pages and in messages.
        name: String = parsed(rules::line),
        /// Names to obtain certificates for.
        acme_domains: Vec<String> = list(rules::host_name),
        /// Contact for the certificate authority; may be empty.
        acme_email: String = parsed(rules::or_empty(rules::mail_address)),
        /// Directory of the certificate authority; empty: Let's Encrypt.
        acme_directory: String = parsed(rules::directory),
        /// Authority that vouches for the directory; `None`: those of browsers.
        acme_root: Option<PathBuf> = parsed(rules::path_or_none),
        /// Certificate and chain of HTTPS, PEM.
        tls_cert: Option<PathBuf> = parsed(rules::path_or_none),
        /// Its key, PEM; `None`: it stands with the certificate.
        tls_key: Option<PathBuf> = parsed(rules::path_or_none),
        /// Where HTTPS is served.
        https_listen: SocketAddr = parsed(rules::parse_listen),
        /// Body limit of rows that name none.
        max_body_bytes: usize = whole(1024..=MOST),
        /// Until the headers of an ordinary answer.
        request_timeout_s: u64 = whole(1..=3600),
        /// Open connections altogether.
        max_connections: usize = whole(1..=1_000_000),
        /// Open connections of one address that is no trusted proxy.
        max_connections_per_address: usize = whole(1..=1_000_000),
    }

    /// `[database]`
    "database" => Database {
        /// The database file.
        path: PathBuf = parsed(rules::path),
        /// Folder of the copies that the service makes; `None`: none are made.
        backup_dir: Option<PathBuf> = parsed(rules::path_or_none),
        /// Hours from one copy to the next that is due; 0: none is.
        backup_every_h: u32 = whole(0..=8784),
        /// How many of these copies stay.
        backup_keep: u32 = whole(1..=10_000),
    }

    /// `[replica]`: the copy elsewhere that follows the database.
    "replica" => Replica {
        /// Where it is; `None`: there is none.
        url: Option<ReplicaUrl> = parsed(rules::replica_url),
        /// The Litestream executable: a path, or a name that is looked for in PATH.
        litestream: String = parsed(rules::line),
        /// Address of an S3 service that is not Amazon's; may be empty.
        endpoint: String = parsed(rules::or_empty(rules::web_address)),
        /// Region of the bucket; may be empty.
        region: String = parsed(rules::or_empty(rules::line)),
        /// S3: id of the access key; empty: the environment has one.
        access_key: Secret = secret(rules::any),
        /// S3: the access key; SFTP: the password.
        secret_key: Secret = secret(rules::any),
        /// SFTP: file of the private key; may be empty.
        ssh_key: Option<PathBuf> = parsed(rules::path_or_none),
        /// SFTP: the server's public key; empty: any is accepted.
        ssh_host_key: String = parsed(rules::or_empty(rules::line)),
        /// Hours back to which the database can be restored.
        retention_h: u32 = whole(1..=87_600),
        /// Hours between two whole copies there.
        snapshot_every_h: u32 = whole(1..=8784),
    }

    /// `[security]`
    "security" => Security {
        /// Encrypts at rest; empty: a key file beside the database does.
        secret_key: Secret = secret(rules::secret_key),
    }

    /// `[cron]`
    "cron" => Cron {
        /// Whether the tasks run by themselves.
        enabled: bool = switch(),
        /// Seconds between runs.
        interval_s: u64 = whole(1..=DAY),
        /// Opens the cron endpoint; empty: one is generated.
        secret: Secret = secret(rules::any),
    }

    /// `[limits]`
    "limits" => Limits {
        /// Length of a window in seconds.
        window_s: i64 = whole(1..=DAY),
        /// Calls a window of ordinary routes.
        requests: u32 = whole(1..=MOST),
        /// Partner reads a window where a plan names no rate.
        #[expect(dead_code, reason = "each plan names one; files that set it stay good")]
        partner_get: u32 = whole(1..=MOST),
        /// Partner changes a window.
        partner_post: u32 = whole(1..=MOST),
        /// Changes a window that a person makes in the panel.
        session_post: u32 = whole(1..=MOST),
        /// Seconds between two reminders to all.
        remind_all_window_s: i64 = whole(1..=DAY),
        /// Failed logins a login window.
        login_failures: u32 = whole(1..=MOST),
        /// Length of a login window in seconds.
        login_window_s: i64 = whole(1..=DAY),
    }

    /// `[partner]`
    "partner" => Partner {
        plans: Plans = Plans::read,
    }

    /// `[partner.plans]`: the API plans that are sold.
    "partner.plans" => Plans {
        starter: PlanLimits = limits(),
        pro: PlanLimits = limits(),
        scale: PlanLimits = limits(),
    }

    /// `[content]`
    "content" => Content {
        /// Hosts whose players lessons may embed.
        video_hosts: Vec<String> = list(rules::host_name),
    }

    /// `[program]`
    "program" => Program {
        /// Check-ins of a lap.
        lap_days: u32 = whole(1..=366),
        /// Civil hour of the evening reminder, 0 to 23.
        reminder_hour: u32 = whole(0..=23),
        /// Full days without activity before an alert.
        inactive_days: u32 = whole(1..=366),
    }

    /// `[messages]`; a pace is in messages a second, and 0 is no pacing.
    "messages" => Messages {
        /// Civil time from which inactivity alerts wait.
        quiet_from: Time = parsed(rules::time_of_day),
        /// Civil time at which they go out again.
        quiet_until: Time = parsed(rules::time_of_day),
        pace_cloud_per_s: f64 = number(PACE),
        pace_evolution_per_s: f64 = number(PACE),
        pace_telegram_per_s: f64 = number(PACE),
        pace_email_per_s: f64 = number(PACE),
        pace_push_per_s: f64 = number(PACE),
    }

    /// `[drop]`
    "drop" => DropShipping {
        /// Days from an order until its supplier is to be paid.
        payment_days: u32 = whole(0..=365),
    }

    /// `[agents]`
    "agents" => Agents {
        /// Further browser origins that may call the agent endpoint.
        allowed_origins: Vec<String> = list(rules::origin),
        /// Schemes of installed apps that people may be sent back to, such as `cursor`.
        redirect_schemes: Vec<String> = list(rules::private_scheme),
        /// Hosts with their port whose client documents may be anywhere, and come
        /// by plain HTTP.
        document_hosts: Vec<String> = list(rules::host_and_port),
    }

    /// `[tax]`
    "tax" => Tax {
        /// Percent.
        rate: f64 = number(0.0..=100.0),
    }

    /// `[log]`
    "log" => Log {
        /// The lowest severity that is logged.
        level: Level = one_of(level, &LEVELS),
        format: LogFormat = one_of(LogFormat::from_name, &LogFormat::NAMES),
    }
}

/// What an API plan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanLimits {
    /// Calls a month.
    pub quota: u64,
    /// Calls a minute.
    pub per_minute: u32,
}

impl Settings {
    /// The two limits of an API plan.
    fn limits(&self, plan: &str) -> Result<PlanLimits> {
        Ok(PlanLimits {
            quota: self.whole(&format!("{plan}.quota"), 1..=MOST)?,
            per_minute: self.whole(&format!("{plan}.per_minute"), 1..=MOST)?,
        })
    }
}

const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

fn level(name: &str) -> Option<Level> {
    LEVELS.contains(&name).then(|| name.parse().ok()).flatten()
}

crate::named! {
    /// The form of a log line.
    pub enum LogFormat: text {
        /// For people.
        Text = "text";
        /// One JSON object in each line.
        Json = "json";
    }
}

impl Database {
    /// A relative folder of copies lies beside the database.
    pub(super) fn settle(&mut self) {
        if let (Some(folder), Some(beside)) = (&self.backup_dir, self.path.parent()) {
            self.backup_dir = Some(beside.join(folder));
        }
    }

    /// Whether the copies would lie beside the database, among files that are none.
    pub(super) fn is_mixed(&self) -> bool {
        let real = |folder: &Path| {
            let named = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            std::fs::canonicalize(named).or_else(|_| std::path::absolute(named)).ok()
        };
        let folders = (self.backup_dir.as_deref(), self.path.parent());
        matches!(folders, (Some(copies), Some(own)) if real(copies) == real(own))
    }
}
