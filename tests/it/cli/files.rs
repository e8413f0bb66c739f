//! Which files commands make, replace, reject and leave alone, and what they
//! say about files that prevent their work.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::support::process::{EXECUTABLE, Outcome, Process, run};
use crate::support::site::Site;

/// An account that owns nothing here.
const NOBODY: u32 = 65_534;
/// Another one.
const STRANGER: u32 = 12_345;

/// A folder where commands run.
struct Place(TempDir);

impl Place {
    /// An empty folder.
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with a database of this version, and a copy of the database.
    #[track_caller]
    fn with_database() -> Self {
        let place = Self::empty();
        place.ok(&["migrate"]);
        place.ok(&["backup", "copia.db"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(EXECUTABLE);
        command.env_clear().current_dir(self.0.path()).args(arguments);
        command
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let Outcome { code, stdout, stderr } = run(&mut self.command(arguments), "");
        assert_eq!(code, Some(0), "{arguments:?}\n{stderr}");
        stdout
    }

    /// Requires exit 1, one line on stderr with all of `words`, and that no
    /// file was made or left.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], words: &[&str]) {
        let before = self.names();
        refused(&mut self.command(arguments), words);
        assert_eq!(self.names(), before, "{arguments:?} left something");
    }

    /// All files, also those in subfolders.
    fn names(&self) -> Vec<String> {
        names_in(self.0.path())
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(names_in(&path));
        }
        names.push(path.display().to_string());
    }
    names.sort();
    names
}

#[track_caller]
fn refused(command: &mut Command, words: &[&str]) {
    let Outcome { code, stdout, stderr } = run(command, "");
    assert_eq!(code, Some(1), "{command:?}\n{stdout}\n{stderr}");
    assert_eq!(stderr.trim().lines().count(), 1, "{command:?}: one line\n{stderr}");
    for word in words {
        assert!(stderr.contains(word), "{word:?} is not named\n{stderr}");
    }
    // The same cause must not be named twice.
    for cause in ["os error", "malformed", "No such file"] {
        assert!(stderr.matches(cause).count() < 2, "{cause:?} twice\n{stderr}");
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn in_the_wrong_folder_commands_make_nothing_and_say_where_they_looked() {
    let place = Place::empty();
    let looked = place.path("seller-platform.db").canonicalize();
    assert!(looked.is_err());
    let file = place.0.path().canonicalize().unwrap().join("seller-platform.db");
    let file = file.display().to_string();
    let mail = ["--email", "ana@example.com"];
    for command in [
        &["setup-link"][..],
        &["user", "create", mail[0], mail[1], "--nome", "Ana Souza", "--role", "pro"],
        &["user", "password", mail[0], mail[1]],
        &["user", "password", mail[0], mail[1], "--password-stdin"],
        &["user", "password-link", mail[0], mail[1]],
        &["key", "create", "--name", "CRM", "--scope", "write"],
        &["key", "list"],
        &["key", "revoke", "1"],
        &["partner", "plan", mail[0], mail[1], "--plan", "pro"],
        &["partner", "token", mail[0], mail[1]],
        &["catalog", "import", mail[0], mail[1], "produtos.csv"],
        &["secret", "show", "cron"],
        &["secret", "show", "checkout"],
        &["backup", "copia.db"],
        &["migrate", "status"],
    ] {
        place.refuses(command, &[&file, "--db", "--config", "database.path"]);
    }
    let check = run(&mut place.command(&["check"]), "");
    assert_eq!(check.code, Some(1), "{}", check.stdout);
    let line = check.stdout.lines().find(|line| line.starts_with("FAIL")).unwrap();
    assert!(line.contains(&file) && line.contains("--db"), "{line}");
    assert_eq!(place.names(), Vec::<String>::new());
    place.refuses(&["--db", "pasta/x.db", "user", "password", mail[0], mail[1]], &["pasta/x.db"]);
    // These commands need no database.
    for command in [&["openapi"][..], &["routes"], &["config", "show"]] {
        place.ok(command);
    }
    assert_eq!(place.names(), Vec::<String>::new());
    place.ok(&["migrate"]);
    assert_eq!(place.names(), [file]);
}

#[test]
fn a_backup_goes_into_a_folder_by_date_and_replaces_only_by_force() {
    let place = Place::with_database();
    std::fs::create_dir(place.path("copias")).unwrap();
    for count in 1..=2 {
        let said = place.ok(&["backup", "copias"]);
        let name = said.split(": ").next().unwrap().to_owned();
        assert!(name.starts_with("copias/seller-platform-20"), "{said}");
        assert!(place.path(&name).is_file(), "{said}");
        assert_eq!(names_in(&place.path("copias")).len(), 2 * count, "copies with manifests");
    }
    let before = std::fs::read(place.path("copia.db")).unwrap();
    std::fs::write(place.path("copia.db"), "something else").unwrap();
    place.refuses(&["backup", "copia.db"], &["copia.db", "exists", "--force"]);
    assert_eq!(std::fs::read(place.path("copia.db")).unwrap(), b"something else");
    place.ok(&["backup", "copia.db", "--force"]);
    assert_eq!(std::fs::read(place.path("copia.db")).unwrap().len(), before.len());
    std::fs::write(place.path("seller-platform.db.key"), "ab".repeat(32)).unwrap();
    for wrong in ["seller-platform.db", "seller-platform.db.key"] {
        place.refuses(&["backup", wrong, "--force"], &[wrong]);
    }
    assert_eq!(std::fs::read(place.path("seller-platform.db.key")).unwrap().len(), 64);
    place.refuses(&["backup", "nenhuma/copia.db"], &["nenhuma/copia.db", "create it"]);
    place.refuses(&["backup", "nenhuma/nada/"], &["nenhuma/nada/", "cannot make"]);
    place.refuses(&["backup", "/dev/null", "--force"], &["/dev/null"]);
    std::fs::create_dir(place.path("x.db.json")).unwrap();
    place.refuses(&["backup", "x.db"], &["x.db.json"]);
}

#[test]
fn what_cannot_be_restored_is_named_as_it_was_given() {
    let place = Place::with_database();
    let whole = std::fs::read(place.path("copia.db")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path(name), bytes).unwrap();
    write("lista.csv", b"sku,ean,title\n1,2,3\n");
    write("vazio.db", b"");
    write("cortado.db", &whole[..whole.len() / 2]);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..][..40_960].fill(0xaa);
    write("estragado.db", &damaged);
    write("novo.db", &whole);
    let newer = Connection::open_with_flags(place.path("novo.db"), OpenFlags::default()).unwrap();
    newer.pragma_update(None, "user_version", 9_999).unwrap();
    drop(newer);
    let foreign =
        Connection::open_with_flags(place.path("outro.db"), OpenFlags::default()).unwrap();
    foreign.execute_batch("CREATE TABLE note (text TEXT)").unwrap();
    drop(foreign);
    std::fs::create_dir(place.path("pasta")).unwrap();
    let present = std::fs::read(place.path("seller-platform.db")).unwrap();
    let made = "that `seller-platform backup` made";
    for (file, words) in [
        ("nenhum.db", ["does not exist", made]),
        ("nenhuma/pasta/x.db", ["does not exist", made]),
        ("lista.csv", ["not a SQLite database", made]),
        ("copia.db.json", ["not a SQLite database", made]),
        ("outro.db", ["another program", made]),
        ("vazio.db", ["holds no data", made]),
        ("pasta", ["there is no copy", made]),
        ("cortado.db", ["damaged", "earlier copy"]),
        ("estragado.db", ["damaged", "earlier copy"]),
        ("novo.db", ["9999", "newer program"]),
    ] {
        let outcome = run(&mut place.command(&["restore", file]), "");
        for wrong in ["start the server", "database.path", ".partial", "restore FILE", "--db"] {
            assert!(!outcome.stderr.contains(wrong), "{file}: {}", outcome.stderr);
        }
        place.refuses(&["restore", file], &[&[file][..], &words].concat());
    }
    assert!(std::fs::read(place.path("seller-platform.db")).unwrap() == present);
    place.ok(&["restore", "copia.db"]);
}

#[test]
fn a_damaged_database_is_named_once_with_the_way_on() {
    let place = Place::with_database();
    let whole = std::fs::read(place.path("seller-platform.db")).unwrap();
    let mut damaged = whole.clone();
    damaged[8_192..whole.len() - 4_096].fill(0xaa);
    let words = ["seller-platform.db is damaged", "seller-platform restore", "copia.db"];
    for bytes in [&damaged[..], &whole[..whole.len() / 2]] {
        std::fs::write(place.path("seller-platform.db"), bytes).unwrap();
        refused(&mut place.command(&["serve", "--listen", "127.0.0.1:0"]), &words);
        refused(&mut place.command(&["key", "list"]), &words);
        refused(&mut place.command(&["backup", "nova.db"]), &words[..2]);
        let check = run(&mut place.command(&["check"]), "");
        assert_eq!(check.code, Some(1));
        assert!(check.stdout.contains("is damaged"), "{}", check.stdout);
    }
    assert!(!place.path("nova.db").exists() && !place.path("nova.db.partial").exists());
}

/// A folder of the account `NOBODY` with a database in it, and the executable
/// where that account finds it. `None` where accounts cannot be changed.
fn of_nobody() -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let place = Place::empty();
    mode(place.0.path(), 0o755);
    std::fs::copy(EXECUTABLE, place.path("server")).unwrap();
    mode(&place.path("server"), 0o755);
    let data = place.path("data");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
    let made = run(&mut place.as_account(NOBODY, &["migrate"]), "");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    Some(place)
}

impl Place {
    /// A command that runs as an account, on the database in `data`.
    fn as_account(&self, account: u32, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("server"));
        command.uid(account).gid(account).env_clear().current_dir(self.0.path());
        command.args(["--db", "data/x.db"]).args(arguments);
        command
    }

    fn serve_as(&self, account: u32) -> Command {
        self.as_account(account, &["serve", "--listen", "127.0.0.1:0"])
    }
}

#[test]
fn looking_leaves_nothing_behind_whoever_looks() {
    let Some(place) = of_nobody() else { return };
    let file = place.path("data/x.db");
    let before = (place.names(), std::fs::read(&file).unwrap());
    for (bits, account) in [(0o644, STRANGER), (0o600, 0), (0o400, NOBODY), (0o444, STRANGER)] {
        mode(&file, bits);
        for looking in [&["check"][..], &["migrate", "status"]] {
            let outcome = run(&mut place.as_account(account, looking), "");
            let said = outcome.stdout + &outcome.stderr;
            assert!(said.contains("schema version"), "{account} {bits:o}\n{said}");
            assert!(!said.contains("damaged"), "{said}");
            assert_eq!(place.names(), before.0, "{looking:?} by {account} at {bits:o}");
        }
    }
    let copy = run(&mut place.as_account(NOBODY, &["backup", "data/copia.db"]), "");
    assert_eq!(copy.code, Some(0), "a file that is only read can be copied\n{}", copy.stderr);
    assert!(std::fs::read(&file).unwrap() == before.1);
    let names = place.names();
    for to in [".", "copia.db"] {
        let mut command = place.as_account(NOBODY, &["backup", to]);
        refused(&mut command, &["cannot make a file in .", "choose another folder"]);
    }
    assert_eq!(place.names(), names);
}

/// As README, HTTPS sets it up: ports that the unit gives to the service, and no command has.
#[test]
fn ports_of_the_service_are_no_fault_and_no_obstacle() {
    let Some(place) = of_nobody() else { return };
    let settings = "[server]\nlisten = \"127.0.0.1:80\"\nhttps_listen = \"127.0.0.1:443\"\n\
                    tls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\n";
    std::fs::write(place.path("seller-platform.toml"), settings).unwrap();
    mode(&place.path("seller-platform.toml"), 0o644);
    let told = || run(&mut place.as_account(NOBODY, &["check"]), "").stdout;
    for listen in ["127.0.0.1:80", "127.0.0.1:443"] {
        assert!(told().contains(&format!("cannot listen on {listen}")), "{}", told());
    }
    // A key that is lost is given up by hand, as that account.
    refused(&mut place.as_account(NOBODY, &["serve"]), &["cannot listen on 127.0.0.1:80"]);
    drop(Process::start(&mut place.serve_as(NOBODY)));
    let key = place.path("data/x.db.key");
    std::fs::write(&key, "ab".repeat(32)).unwrap();
    let mut serve = place.as_account(NOBODY, &["serve", "--new-key", "--yes"]);
    let mut server = Process::start(&mut serve);
    assert_ne!(std::fs::read_to_string(&key).unwrap(), "ab".repeat(32));
    // A server that runs listens, whatever this account may.
    assert!(!told().contains("cannot listen"), "{}", told());
    assert!(server.stop(Duration::from_secs(60)).success(), "{}", server.log());
    // The executable and the unit as an installation has them.
    let units = place.path("etc/systemd/system");
    for folder in [&place.path("usr/local/bin"), &units] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let folders = ["usr", "usr/local", "usr/local/bin", "etc", "etc/systemd", "etc/systemd/system"];
    for folder in folders {
        mode(&place.path(folder), 0o755);
    }
    let installed = place.path("usr/local/bin/seller-platform");
    std::fs::rename(place.path("server"), &installed).unwrap();
    std::os::unix::fs::symlink(&installed, place.path("server")).unwrap();
    assert!(told().contains("cannot listen"), "{}", told());
    let unit = Path::new("assets/packaging/seller-platform.service");
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join(unit);
    std::fs::copy(unit, units.join("seller-platform.service")).unwrap();
    mode(&units.join("seller-platform.service"), 0o644);
    assert!(!told().contains("cannot listen"), "{}", told());
}

#[test]
fn a_missing_folder_is_made_and_latest_leads_to_what_is_put_there() {
    let place = Place::with_database();
    let led = || std::fs::read_link(place.path("backups/latest.db")).unwrap();
    for to in ["backups", "outra/"] {
        place.ok(&["backup", to]);
        assert!(place.path(to).is_dir(), "{to}");
    }
    assert!(led().to_string_lossy().starts_with("seller-platform-"), "{}", led().display());
    place.ok(&["backup", "backups/hoje.db"]);
    assert_eq!(led(), Path::new("hoje.db"));
    place.ok(&["backup", "outra/amanha.db"]);
    assert_eq!(led(), Path::new("hoje.db"));
    place.ok(&["backup", "--force", "backups/latest.db"]);
    assert!(place.path("backups/latest.db").symlink_metadata().unwrap().is_file());
    std::fs::remove_dir_all(place.path("backups")).unwrap();
    std::fs::write(place.path("backups"), "").unwrap();
    place.refuses(&["backup", "backups"], &["backups is a file", "move the file away"]);
}

#[test]
fn looking_beside_a_server_and_after_a_kill_sees_what_the_log_holds() {
    let site = Site::start();
    site.make_person("ana", "pro");
    let data = site.folder().join("data");
    let look = || {
        let before = names_in(&data);
        let said = site.command(&["check"]).run().stdout;
        for found in ["schema version", "no damage found"] {
            assert!(said.contains(found), "{said}");
        }
        assert_eq!(names_in(&data), before);
    };
    look();
    site.kill();
    look();
    std::fs::remove_file(data.join("seller-platform.db-shm")).unwrap();
    look();
    site.start_again();
    site.person("ana").get("/painel").expect(200);
}

#[test]
fn the_file_in_the_way_of_a_server_is_named_with_its_owner_and_mode() {
    let Some(place) = of_nobody() else { return };
    let index = place.path("data/x.db-shm");
    std::fs::write(&index, "").unwrap();
    mode(&index, 0o400);
    let chown = |path: &Path, account| {
        std::os::unix::fs::chown(path, Some(account), Some(account)).unwrap();
    };
    for (owner, words) in [
        (0, &["data/x.db-shm", "user 0", "0400", "chown 65534"][..]),
        (NOBODY, &["data/x.db-shm", "user 65534", "0400", "chmod u+rw"]),
    ] {
        chown(&index, owner);
        refused(&mut place.serve_as(NOBODY), words);
        let check = run(&mut place.as_account(NOBODY, &["check"]), "");
        assert_eq!(check.code, Some(1), "{}", check.stdout);
        let line = check.stdout.lines().find(|line| line.starts_with("FAIL")).unwrap();
        assert!(line.contains("x.db-shm") && line.contains("0400"), "{line}");
    }
    std::fs::remove_file(&index).unwrap();
    mode(&place.path("data/x.db"), 0o400);
    refused(&mut place.serve_as(NOBODY), &["data/x.db ", "0400", "chmod u+rw"]);
    mode(&place.path("data/x.db"), 0o600);
    chown(&place.path("data"), 0);
    refused(&mut place.serve_as(NOBODY), &["folder data", "user 0", "chown 65534"]);
    mode(&place.path("data/x.db"), 0o644);
    refused(&mut place.serve_as(STRANGER), &["data/x.db", "run it as user 65534"]);
}
