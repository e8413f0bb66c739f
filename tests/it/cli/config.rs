//! Starting with a wrong configuration: one clear line on stderr that names the
//! cause, exit status 1, and no file touched.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::support::process::{EXECUTABLE, Outcome, run};
use crate::support::site::Site;

/// A folder with a configuration, in which the executable runs.
struct Folder(TempDir);

impl Folder {
    fn with(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("seller-platform.toml"), configuration).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// The executable in this folder, where it finds the configuration.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(EXECUTABLE);
        command.env_clear().current_dir(self.0.path()).args(arguments);
        command
    }

    fn serve(&self) -> Command {
        self.command(&["serve", "--listen", "127.0.0.1:0"])
    }

    /// A database of this version, as `migrate up` makes it.
    #[track_caller]
    fn make_database(&self) {
        let made = run(&mut self.command(&["migrate", "up"]), "");
        assert_eq!(made.code, Some(0), "{}", made.stderr);
    }

    fn database(&self) -> std::path::PathBuf {
        self.path("seller-platform.db")
    }
}

/// Requires exit 1, nothing on stdout, and one line on stderr with all of
/// `words` in it.
#[track_caller]
fn refuses(command: &mut Command, words: &[&str]) {
    let Outcome { code, stdout, stderr } = run(command, "");
    assert_eq!(code, Some(1), "{words:?}: exit status\n{stderr}");
    assert_eq!(stdout, "", "{words:?}: nothing belongs on stdout");
    let lines = stderr.lines().filter(|line| !line.trim().is_empty());
    assert_eq!(lines.count(), 1, "{words:?}: one line\n{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word:?} is not named\n{stderr}");
    }
}

#[test]
fn a_bad_configuration_is_named_by_key_value_and_place() {
    let file = "seller-platform.toml";
    for (text, words) in [
        ("[server]\nlistne = \"x\"", &["server.listne", file][..]),
        ("[servre]\nlisten = \"127.0.0.1:0\"", &["servre", file]),
        ("[limits]\nrequests = \"many\"", &["limits.requests", "many", file]),
        ("[limits]\nrequests = 0", &["limits.requests", "0", file]),
        ("[server]\ntimezone = \"Mars/Olympus\"", &["server.timezone", "Mars/Olympus", file]),
        ("[server]\nbase_url = \"ftp://x\"", &["server.base_url", "ftp://x", file]),
        (
            "[server]\ntrusted_proxies = [\"10.0.0.0/99\"]",
            &["server.trusted_proxies", "10.0.0.0/99", file],
        ),
        ("[marketplace]\nsignature = \"maybe\"", &["marketplace.signature", "maybe", file]),
        ("[log]\nlevel = \"loud\"", &["log.level", "loud", file]),
        ("[server\nlisten = 1", &[file]),
    ] {
        let folder = Folder::with(text);
        refuses(&mut folder.serve(), words);
        assert!(!folder.database().exists(), "{text}: a database was made");
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let file = "seller-platform.toml";
    let folder = Folder::with("[limits]\nrequests = 0\n[log]\nlevle = \"x\"\n[tax]\nrate = 200\n");
    let mut serve = folder.serve();
    serve.env("SELLER_PLATFORM__CRON__INTERVAL_S", "soon");
    serve.env("SELLER_PLATFORM__SERVER_LISTEN", ":1");
    let Outcome { code, stdout, stderr } = run(&mut serve, "");
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
    assert_eq!(stderr.lines().count(), 6, "{stderr}");
    for words in [
        ["limits.requests", "0", "seller-platform.toml:2"],
        ["log.levle", "x", "seller-platform.toml:4"],
        ["tax.rate", "200", "seller-platform.toml:6"],
        ["cron.interval_s", "soon", "SELLER_PLATFORM__CRON__INTERVAL_S"],
        ["server_listen", "***", "SELLER_PLATFORM__SERVER__LISTEN"],
    ] {
        let told = |line: &str| words.iter().all(|word| line.contains(word));
        assert!(stderr.lines().any(told), "{words:?}\n{stderr}");
    }
    assert!(!folder.database().exists(), "{file}: a database was made");
}

#[test]
fn a_variable_that_is_almost_ours_is_warned_of() {
    let folder = Folder::with("");
    let show = |name: &str| {
        let outcome = run(folder.command(&["config", "show"]).env(name, ":1"), "");
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stderr
    };
    let said = show("SELLER_PLATFORM_SERVER_LISTEN");
    for name in ["SELLER_PLATFORM_SERVER_LISTEN", "SELLER_PLATFORM__SERVER__LISTEN"] {
        assert!(said.contains(name), "{said}");
    }
    assert!(show("SELLER_PLATFORM_NONSENSE").contains("SELLER_PLATFORM_NONSENSE"));
    assert_eq!(show("SELLER_PLATFORM__SERVER__LISTEN"), "");
    assert_eq!(show("SELLER_PLATFORMS"), "");
}

#[test]
fn a_bad_environment_is_named_by_its_variable() {
    for (name, value) in [
        ("SELLER_PLATFORM__LIMITS__REQUESTS", "many"),
        ("SELLER_PLATFORM__PARTNER__PLANS__STARTER__QUOTA", "-1"),
    ] {
        let folder = Folder::with("");
        refuses(folder.serve().env(name, value), &[name, value]);
    }
    // The value of an unknown key may be a secret, so it is masked.
    let folder = Folder::with("");
    let name = "SELLER_PLATFORM__SECURITY__SECRETKEY";
    let outcome = run(folder.serve().env(name, "muito-secreto"), "");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(name), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("muito"), "{}", outcome.stderr);
}

#[test]
fn the_environment_wins_over_the_file_and_a_flag_over_both() {
    let name = "SELLER_PLATFORM__SERVER__NAME";
    let site = Site::builder()
        .config("server.name", "do arquivo")
        .config("server.listen", "127.0.0.1:1")
        .environment(name, "do ambiente")
        .start();
    let shown = site.command(&["config", "show"]).ok();
    assert!(shown.contains("\"do ambiente\""), "{shown}");
    assert!(shown.contains(name), "the origin is not named\n{shown}");
    assert!(!shown.contains("do arquivo"), "{shown}");
    for secret in site.secrets() {
        assert!(!shown.contains(&secret.text), "{} is shown", secret.what);
    }
    // Port 1 of the file could not be bound without privileges.
    assert_ne!(site.address().port(), 1);
    let mode = std::fs::metadata(site.database()).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600, "the database is its owner's");
}

#[test]
fn a_bad_secret_is_not_shown() {
    let folder = Folder::with("[security]\nsecret_key = \"tooshort\"");
    let outcome = run(&mut folder.serve(), "");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("security.secret_key"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("tooshort"), "{}", outcome.stderr);
}

#[test]
fn a_configuration_that_was_named_must_be_there() {
    let folder = Folder::with("");
    refuses(&mut folder.command(&["--config", "nenhum.toml", "serve"]), &["nenhum.toml"]);
    std::fs::create_dir(folder.path("pasta.toml")).unwrap();
    refuses(&mut folder.command(&["--config", "pasta.toml", "serve"]), &["pasta.toml"]);
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    let folder = Folder::with("");
    for arguments in [&["sevre"][..], &["serve", "--lisen", "x"], &["user", "create"]] {
        let outcome = run(&mut folder.command(arguments), "");
        assert_eq!(outcome.code, Some(2), "{arguments:?}\n{}", outcome.stderr);
    }
}

#[test]
fn a_newer_database_is_left_alone() {
    let folder = Folder::with("");
    folder.make_database();
    set_version(&folder.database(), 9_999);
    let before = std::fs::read(folder.database()).unwrap();
    refuses(&mut folder.serve(), &["9999", "seller-platform.db"]);
    refuses(&mut folder.command(&["migrate", "up"]), &["9999"]);
    assert_eq!(before, std::fs::read(folder.database()).unwrap());
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let folder = Folder::with("");
    let text = "isto não é um banco de dados\n".repeat(500);
    std::fs::write(folder.database(), &text).unwrap();
    refuses(&mut folder.serve(), &["seller-platform.db"]);
    assert_eq!(std::fs::read_to_string(folder.database()).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = Folder::with("");
    let foreign = open(&folder.database(), OpenFlags::SQLITE_OPEN_CREATE);
    foreign.execute_batch("CREATE TABLE note (text TEXT); PRAGMA application_id = 7").unwrap();
    drop(foreign);
    let before = std::fs::read(folder.database()).unwrap();
    refuses(&mut folder.serve(), &["seller-platform.db"]);
    assert_eq!(before, std::fs::read(folder.database()).unwrap());
}

#[test]
fn a_read_only_database_is_refused() {
    let folder = Folder::with("");
    folder.make_database();
    let before = std::fs::read(folder.database()).unwrap();
    let mode = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(name), permissions).unwrap();
    };
    for entry in std::fs::read_dir(folder.0.path()).unwrap() {
        mode(&entry.unwrap().file_name().to_string_lossy(), 0o444);
    }
    // File modes do not bind the superuser. When the test runs as superuser,
    // the server is started as `nobody`, from a copy that `nobody` can reach.
    let mut command = if rustix::process::geteuid().is_root() {
        std::fs::copy(EXECUTABLE, folder.path("server")).unwrap();
        mode("server", 0o755);
        let mut command = Command::new(folder.path("server"));
        command.uid(65_534).gid(65_534);
        command.env_clear().current_dir(folder.0.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command
    } else {
        folder.serve()
    };
    mode("", 0o555);
    refuses(&mut command, &["seller-platform.db"]);
    mode("", 0o755);
    assert_eq!(before, std::fs::read(folder.database()).unwrap());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = Folder::with("[database]\npath = \"nenhuma/pasta/x.db\"");
    refuses(&mut folder.serve(), &["nenhuma/pasta"]);
}

#[test]
fn a_taken_port_is_named() {
    let folder = Folder::with("");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refuses(&mut folder.command(&["serve", "--listen", &address]), &[&address]);
    let left_open = ["seller-platform.db-wal", "seller-platform.db.lock"];
    for name in left_open {
        assert!(!folder.path(name).exists(), "{name} was left behind");
    }
}

#[test]
fn one_database_has_one_server() {
    let site = Site::start();
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["restore", "copia.db"]] {
        if arguments[0] == "restore" {
            site.command(&["backup", "copia.db"]).ok();
        }
        let second = site.command(arguments).exits(1);
        assert_eq!(second.stderr.trim().lines().count(), 1, "{}", second.stderr);
        assert!(second.stderr.contains("seller-platform.db"), "{}", second.stderr);
    }
    site.anonymous().get("/readyz").expect(200);
}

fn set_version(path: &Path, version: i64) {
    open(path, OpenFlags::empty()).pragma_update(None, "user_version", version).unwrap();
}

/// Opens a database that no server has open.
fn open(path: &Path, more: OpenFlags) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | more).unwrap()
}
