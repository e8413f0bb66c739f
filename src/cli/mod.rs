//! The command line: one file for each command.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage. Every error is one line that
//! says what was being done, what went wrong and what to do.

mod api_client;
mod catalog;
mod check;
mod check_audit;
mod check_copies;
mod check_https;
mod check_replica;
mod check_upkeep;
mod database;
mod demo;
mod demo_agency;
mod demo_catalog;
mod demo_content;
mod demo_data;
mod demo_drop;
mod demo_folder;
mod demo_messages;
mod demo_program;
mod documents;
mod healthcheck;
mod installed;
mod key;
mod listen;
mod log;
mod partner;
mod person;
mod replica;
mod sandbox;
mod seal;
mod secret;
mod serve;
mod setup_link;
mod standby;
mod support_bundle;
mod trial;
mod trigger;
mod user;
mod user_list;
mod values;
mod watchdog;

use std::io::Write as _;
use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{Arg, CommandFactory as _, Parser, Subcommand};

use crate::base::{Clock, Day};
use crate::config::{self, Config, Loaded, Overrides};
use crate::db::{
    Db, DbError, OpenError, Options, ReadTx, access, migrate, newest_good_copy, read_without_traces,
};
use key::KeyCommand;
use partner::PartnerCommand;
use user::UserCommand;
use values::{parse_email, parse_listen};

/// The version, and the commit with its day when the build knew them.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("SELLER_PLATFORM_COMMIT"));

/// Heading of the options that most commands have.
const GLOBAL: &str = "Global options";
/// Read connections of a command, which does one thing at a time.
const COMMAND_READERS: usize = 2;

#[derive(Parser)]
#[command(
    name = "seller-platform",
    version = VERSION,
    about = "A platform for marketplace sellers, in one file."
)]
struct Arguments {
    /// Configuration file [default: seller-platform.toml, else that of the installed service].
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Database file, instead of database.path.
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    db: Option<PathBuf>,
    /// Reads the present instant from a file.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    clock_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Migrates the database, then serves until it is told to stop.
    Serve {
        /// Address to listen on, such as 127.0.0.1:8080 or :8080 (this machine alone); port 0 picks a free one.
        #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
        listen: Option<String>,
        /// Starts on throw-away data, with the sandbox inside.
        #[arg(long, conflicts_with = "db")]
        demo: bool,
        /// Gives up what is sealed with a key that is lost, and makes a new key. Lists what
        /// that is, and asks.
        #[arg(long, conflicts_with = "demo")]
        new_key: bool,
        /// Agrees to it without being asked.
        #[arg(long, requires = "new_key")]
        yes: bool,
    },
    /// Brings the database to this version, or says what that would do.
    Migrate {
        /// Bring the database to this version, or say what that would do.
        #[arg(value_enum, default_value_t = MigrateAction::Up)]
        action: MigrateAction,
    },
    /// Makes and lists people, and sets passwords.
    #[command(subcommand)]
    User(UserCommand),
    /// API keys of integrations.
    #[command(subcommand)]
    Key(KeyCommand),
    /// API plans and partner tokens.
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Products of sellers and suppliers.
    #[command(subcommand)]
    Catalog(CatalogCommand),
    /// Everything kept about a person; its erasure.
    #[command(subcommand)]
    Person(person::PersonCommand),
    /// A one-time link to make the first administrator, valid for 30 minutes.
    SetupLink,
    /// Shows generated or configured secrets.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Copies the live database to a file and verifies the copy.
    Backup {
        /// Where to; into a folder under a name with the date.
        #[arg(value_name = "FILE|FOLDER")]
        file: PathBuf,
        /// Replaces a file of that name.
        #[arg(long)]
        force: bool,
    },
    /// Verifies a backup, or what the replica holds, and puts it in the database's place.
    Restore(database::Restore),
    /// Keeps a copy that follows the replica, on a second machine.
    Standby(standby::Standby),
    /// Makes this machine the one that serves, with what the replica holds.
    Takeover,
    /// Asks the running server whether it is ready; ends with 1 when it is not.
    Healthcheck,
    /// Looks for what would go wrong: configuration, files, database, outside services.
    Check {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Writes what a helper needs to see into a ZIP file, without secrets and addresses of people.
    SupportBundle(support_bundle::Target),
    /// The configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Prints an OpenAPI document: of the Partner API, or of the other APIs.
    #[command(arg(without("db")))]
    Openapi {
        /// Which of the two.
        #[arg(value_enum, default_value = "partner")]
        document: OpenapiDocument,
    },
    /// Prints every address of the service, by path.
    #[command(arg(without("config")), arg(without("db")))]
    Routes {
        /// As JSON, with the whole of each description.
        #[arg(long)]
        json: bool,
    },
    /// A stand-in marketplace, for trying everything without outside accounts.
    #[command(arg(without("db")))]
    Sandbox {
        /// Address to listen on, such as 127.0.0.1:8081 or :8081 (this machine alone); port 0 picks a free one.
        #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8081", value_parser = config::parse_listen)]
        listen: SocketAddr,
    },
    /// Brings the events of a partner token to a program at this machine, signed as webhooks are.
    #[command(arg(without("db")))]
    Listen(listen::Listen),
    /// Makes something happen in the test shop of a token, such as order.paid.
    #[command(arg(without("db")))]
    Trigger(trigger::Trigger),
    /// Prints what a shell needs to complete commands and options.
    #[command(arg(without("config")), arg(without("db")))]
    Completions {
        /// The shell to print it for.
        shell: clap_complete::Shell,
    },
}

/// Refuses a global option after the name of a command that does not use it.
/// `--config` is allowed before the name, for example in a shell alias; `--db` is not:
/// who names a database expects that something is done with it.
fn without(id: &'static str) -> Arg {
    let refuse = |_: &str| Err::<PathBuf, _>("does nothing with this command; leave it out");
    Arg::new(id).long(id).hide(true).value_parser(refuse)
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum OpenapiDocument {
    Partner,
    Platform,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum MigrateAction {
    Up,
    Status,
}

#[derive(Subcommand)]
enum CatalogCommand {
    /// Brings the products of a seller or supplier to what a CSV file says, all of it or nothing.
    Import {
        /// The e-mail address of the seller or supplier.
        #[arg(long, value_parser = parse_email)]
        email: String,
        /// Prints every bad row instead of the first twenty.
        #[arg(long)]
        all_faults: bool,
        /// Header row `sku,ean,title,cost,price,stock`; semicolons work too.
        #[arg(value_name = "FILE.csv")]
        file: PathBuf,
    },
}

#[derive(Subcommand)]
enum SecretCommand {
    /// Prints the secret in force.
    Show {
        /// Whose secret: that of the cron endpoint, or the token of purchase events.
        name: secret::Name,
    },
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Prints the effective configuration with each value's origin.
    Show,
}

impl Command {
    /// Its name, if it uses no database.
    fn without_database(&self) -> Option<&'static str> {
        match self {
            Self::Routes { .. } => Some("routes"),
            Self::Openapi { .. } => Some("openapi"),
            Self::Sandbox { .. } => Some("sandbox"),
            Self::Completions { .. } => Some("completions"),
            Self::Listen(_) => Some("listen"),
            Self::Trigger(_) => Some("trigger"),
            Self::Serve { demo: true, .. } => Some("serve --demo"),
            _ => None,
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Self::Migrate { action: MigrateAction::Up } => Needs { file: false, key: true },
            Self::Migrate { action: MigrateAction::Status }
            | Self::Key(KeyCommand::List)
            | Self::User(UserCommand::List { .. })
            | Self::Secret(_)
            | Self::Backup { .. } => Needs { file: true, key: false },
            Self::User(_)
            | Self::Key(_)
            | Self::Partner(_)
            | Self::Person(_)
            | Self::Catalog(_)
            | Self::SetupLink => Needs { file: true, key: true },
            // `serve` asks for the key itself, `restore` brings another database,
            // and `check` says what is missing.
            _ => Needs::default(),
        }
    }
}

/// What must be so before a command runs.
#[derive(Clone, Copy, Default)]
struct Needs {
    /// The database is there.
    file: bool,
    /// Its key is the right one.
    key: bool,
}

/// What every command gets.
pub struct Context {
    loaded: Loaded,
    clock: Clock,
}

impl Context {
    fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The database, beside a server that may be running.
    fn database(&self) -> anyhow::Result<Db> {
        Ok(Db::open_beside(&self.options(COMMAND_READERS))?)
    }

    /// Reads the database, of whatever version, and leaves nothing beside it.
    fn look<T>(&self, read: impl Fn(&ReadTx<'_>) -> crate::db::Result<T>) -> Result<T, OpenError> {
        read_without_traces(&self.config().database.path, self.clock.now(), read)
    }

    /// The folders in which the database and its copies lie.
    fn folders(&self) -> impl Iterator<Item = &Path> {
        let database = &self.config().database;
        iter::once(access::folder_of(&database.path)).chain(database.backup_dir.as_deref())
    }

    /// All that lies in these folders, each once.
    fn files_around(&self) -> Vec<PathBuf> {
        let entries = self.folders().filter_map(|folder| std::fs::read_dir(folder).ok());
        let mut files: Vec<_> = entries.flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        files.dedup();
        files
    }

    fn options(&self, readers: usize) -> Options {
        Options {
            path: self.config().database.path.clone(),
            clock: self.clock.clone(),
            readers,
            slow_readers: COMMAND_READERS,
        }
    }

    /// The base URL of this installation: the configured one, else that of the
    /// server that runs on the database, else where a server would listen.
    fn base_url(&self) -> String {
        let config = self.config();
        if !config.server.base_url.is_empty() {
            return config.server.base_url.clone();
        }
        if let Some(origin) = crate::https::origin(config) {
            return origin;
        }
        let running = crate::db::server_address(&config.database.path);
        format!("http://{}", running.unwrap_or(config.server.listen))
    }

    fn today(&self) -> Day {
        self.config().server.timezone.day(self.clock.now())
    }

    fn require(&self, Needs { file, key }: Needs) -> anyhow::Result<()> {
        let path = &self.config().database.path;
        if file {
            migrate::require_present(path)?;
        }
        if key {
            migrate::undo_unfinished(path)?;
            seal::require_right(self)?;
        }
        Ok(())
    }
}

/// Runs the command of the process's arguments.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse().and_then(refuse_idle_database) {
        Ok(arguments) => arguments,
        Err(error) => {
            let failed = error.use_stderr();
            // An error here means that the terminal is gone: nothing can be printed.
            let _ = error.print();
            return if failed { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    // Other users must not read files with people's data.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            hint(told(&error));
            ExitCode::FAILURE
        }
    }
}

/// Refuses `--db` with a command that uses no database, wherever it stands.
fn refuse_idle_database(arguments: Arguments) -> Result<Arguments, clap::Error> {
    match arguments.command.without_database() {
        Some(name) if arguments.db.is_some() => {
            let told =
                format!("--db does nothing with `{name}`, which uses no database; leave it out");
            Err(Arguments::command().error(ErrorKind::ArgumentConflict, told))
        }
        _ => Ok(arguments),
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let Arguments { config, db, clock_file, command } = arguments;
    match command {
        Command::Routes { json } => documents::routes(json)?,
        Command::Completions { shell } => documents::completions(shell)?,
        command => return run_configured(config.as_deref(), db, clock_file, command),
    }
    Ok(ExitCode::SUCCESS)
}

fn run_configured(
    config: Option<&Path>,
    db: Option<PathBuf>,
    clock_file: Option<PathBuf>,
    command: Command,
) -> anyhow::Result<ExitCode> {
    let listen = match &command {
        Command::Serve { listen, .. } => listen.clone(),
        Command::Standby(wanted) => wanted.listen.clone(),
        _ => None,
    };
    // The demonstration is for looking around: it leaves an installed service alone.
    let is_demo = matches!(command, Command::Serve { demo: true, .. });
    let installed = (!is_demo).then(installed::configuration);
    let flags = Overrides { database: db, listen, installed };
    let loaded = config::load(config, config::environment(), &flags)?;
    if loaded.file.is_some() && loaded.file == flags.installed {
        hint(format_args!("configuration: {}", installed::shown(loaded.file.as_deref())));
    }
    for warning in &loaded.warnings {
        hint(warning);
    }
    serve::survive_limits()?;
    let clock = clock_file.map_or(Clock::System, Clock::File);
    let context = Context { loaded, clock };
    let config = context.config().clone();
    let done = context.require(command.needs()).and_then(|()| carry_out(context, command));
    done.map_err(|error| name_file(&config, error))
}

fn carry_out(context: Context, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve { demo: false, new_key, yes, .. } => {
            serve::run(context, seal::NewKey { wanted: new_key, agreed: yes })?;
        }
        Command::Serve { demo: true, .. } => demo::run(context)?,
        Command::Migrate { action } => database::migrate(&context, action)?,
        Command::User(command) => user::run(&context, command)?,
        Command::Key(command) => key::run(&context, command)?,
        Command::Partner(command) => partner::run(&context, command)?,
        Command::Person(command) => person::run(&context, command)?,
        Command::Catalog(command) => catalog::run(&context, command)?,
        Command::SetupLink => setup_link::run(&context)?,
        Command::Secret(SecretCommand::Show { name }) => secret::show(&context, name)?,
        Command::Backup { file, force } => database::backup(&context, &file, force)?,
        Command::Restore(wanted) => database::restore(&context, &wanted)?,
        Command::Standby(wanted) => standby::run(&context, &wanted)?,
        Command::Takeover => replica::takeover(&context)?,
        Command::Healthcheck => return healthcheck::run(&context),
        Command::Check { json } => return check::run(&context, json),
        Command::SupportBundle(target) => support_bundle::run(&context, &target.file)?,
        Command::Config(ConfigCommand::Show) => say(context.loaded.origins.show().trim_end())?,
        Command::Openapi { document } => documents::openapi(&context, document)?,
        Command::Sandbox { listen } => sandbox::run(&context, listen)?,
        Command::Listen(wanted) => listen::run(context, wanted)?,
        Command::Trigger(wanted) => trigger::run(&context, wanted)?,
        Command::Routes { .. } | Command::Completions { .. } => unreachable!("they read nothing"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds to an error of a statement the name of the file, and what to do.
fn name_file(config: &Config, error: anyhow::Error) -> anyhow::Error {
    let path = &config.database.path;
    let is_about_the_file = error.downcast_ref::<DbError>().is_some_and(DbError::is_about_the_file);
    let error = if is_about_the_file {
        match error.downcast::<DbError>() {
            Ok(found) => OpenError::of(path, found).into(),
            Err(error) => error,
        }
    } else {
        error
    };
    if let Some(OpenError::Damaged { .. } | OpenError::NotADatabase(_)) = error.downcast_ref() {
        let replica = config.replica.url.as_ref().map_or(
            "",
            |_| "; the replica has the last seconds too: `seller-platform restore replica`",
        );
        let copy = newest_good_copy(path, config.database.backup_dir.as_deref());
        let copy = copy.map_or_else(String::new, |copy| {
            format!("; the newest good copy is {}", copy.display())
        });
        return anyhow::anyhow!("{error}{replica}{copy}");
    }
    error
}

/// An error with its causes. SQLite's error code is left out: it only repeats
/// the message.
fn told(error: &anyhow::Error) -> String {
    let causes = error.chain().filter(|cause| !cause.is::<rusqlite::ffi::Error>());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// One line, or a block of them, on standard output. It is no failure when the
/// reader stops reading, as `head` does.
fn say(text: impl std::fmt::Display) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// The same for what goes on whether or not it can be told, such as a server.
fn tell(text: impl std::fmt::Display) {
    crate::base::told::out(&format!("{text}\n"));
}

/// Lines on standard error, whether or not anybody can read them.
fn tell_people(text: impl std::fmt::Display) {
    crate::base::told::err(format!("{text}\n").as_bytes());
}

/// One line on standard error, for people: scripts read standard output.
fn hint(text: impl std::fmt::Display) {
    tell_people(format_args!("seller-platform: {text}"));
}

/// Asks on the terminal; nothing but a yes agrees.
fn agrees(question: &str) -> anyhow::Result<bool> {
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes", "s", "sim"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Prints a hint if an address ends in port 0: the real port is not known yet.
fn hint_free_port(base_url: &str) {
    if base_url.ends_with(":0") {
        hint(
            "no server runs on this database, and its port is chosen at the start (server.listen ends in :0): put that port in the place of 0",
        );
    }
}
