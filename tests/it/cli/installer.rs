//! `install.sh`: what an update keeps, when it goes back, and what it says.
//!
//! The script runs below a prefix, as it does for packages, with a stand-in for
//! systemd that starts the installed executable and waits until it listens.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::support::process::{EXECUTABLE, Outcome, run};

/// Takes the place of systemd: `restart` starts the service, and fails when it ends
/// before it listens.
const SUPERVISOR: &str = r#"
systemd=yes
patience=3
systemctl() {
    case $1 in
        stop | restart)
            [ ! -f "$prefix/pid" ] || kill "$(cat "$prefix/pid")" 2>/dev/null || :
            while [ -f "$prefix/data/seller-platform.db.lock" ] && kill -0 "$(cat "$prefix/pid")" 2>/dev/null; do
                sleep 0.1
            done
            rm -f "$prefix/pid" "$prefix/said"
            [ "$1" = restart ] || return 0
            "$prefix$exe" --config "$prefix$config" serve >"$prefix/said" 2>>"$prefix/log" </dev/null &
            echo $! >"$prefix/pid"
            until grep -q '^listening' "$prefix/said"; do
                kill -0 "$(cat "$prefix/pid")" 2>/dev/null || return 1
                sleep 0.1
            done
            ;;
        is-active) grep -q '^listening' "$prefix/said" ;;
    esac
}
"#;

/// An installation below a folder, with its service.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let etc = machine.path("etc/seller-platform");
        std::fs::create_dir_all(&etc).unwrap();
        std::fs::create_dir(machine.path("data")).unwrap();
        let config = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n[database]\npath = \"{}\"\n[cron]\nenabled = false\n",
            machine.database().display()
        );
        std::fs::write(etc.join("seller-platform.toml"), config).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn database(&self) -> PathBuf {
        self.path("data/seller-platform.db")
    }

    fn exe(&self) -> PathBuf {
        self.path("usr/local/bin/seller-platform")
    }

    fn previous(&self) -> String {
        marker(&self.exe().with_extension("previous"))
    }

    /// A version of the program: the real one, but for what `instead` does.
    fn version(&self, number: u32, instead: &str) -> PathBuf {
        let path = self.path(&format!("version-{number}"));
        let script = format!(
            "#!/bin/sh\n# version {number}\n[ \"$1\" != --version ] || {{ echo 'seller-platform {number}'; exit; }}\n\
             case \"$*\" in {instead} esac\nexec {EXECUTABLE} \"$@\"\n"
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// Installs a version as on a machine with systemd.
    fn install(&self, version: &Path) -> Outcome {
        self.install_with(version, &[])
    }

    fn install_with(&self, version: &Path, more: &[&str]) -> Outcome {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let script = std::fs::read_to_string(source.join("install.sh")).unwrap();
        let (functions, end) = script.split_at(script.rfind("\ncase $action in").unwrap());
        let functions = functions.replace(
            "source_dir=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd)",
            &format!("source_dir='{}'", source.display()),
        );
        let own = self.path("install.sh");
        std::fs::write(&own, format!("{functions}\n{SUPERVISOR}\n{end}")).unwrap();
        let mut install = Command::new("sh");
        install.arg(own).arg("--prefix").arg(self.0.path()).arg("--binary").arg(version).args(more);
        run(&mut install, "")
    }

    /// Whether the service is ready.
    fn is_ready(&self) -> bool {
        let mut ask = Command::new(EXECUTABLE);
        ask.env_clear().arg("--config").arg(self.path("etc/seller-platform/seller-platform.toml"));
        run(ask.arg("healthcheck"), "").code == Some(0)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(self.path("pid")) {
            run(Command::new("kill").arg(pid.trim()), "");
        }
    }
}

/// The line of a version that says which it is.
fn marker(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().nth(1).unwrap_or_default().to_owned()
}

const NOTHING: &str = "";
/// It ends when it should serve.
const BROKEN: &str = "*' serve'*) echo broken >&2; exit 1 ;;";

#[test]
fn the_version_before_is_the_last_that_was_ready() {
    let machine = Machine::new();
    let first = machine.install(&machine.version(1, NOTHING));
    assert_eq!(first.code, Some(0), "{}{}", first.stdout, first.stderr);
    assert!(machine.is_ready() && machine.previous().is_empty());
    let updated = machine.install(&machine.version(2, NOTHING));
    assert_eq!(updated.code, Some(0), "{}{}", updated.stdout, updated.stderr);
    assert_eq!(
        (marker(&machine.exe()), machine.previous()),
        ("# version 2".into(), "# version 1".into())
    );
    // One that does not start: the one before is put back, and stays known.
    let failed = machine.install(&machine.version(3, BROKEN));
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert!(
        failed.stdout.contains("not ready") && failed.stderr.contains("is back and ready"),
        "{}",
        failed.stderr
    );
    assert!(machine.is_ready());
    assert_eq!(
        (marker(&machine.exe()), machine.previous()),
        ("# version 2".into(), "# version 2".into())
    );
    // One that listens and never is ready, over one that never was.
    std::fs::copy(machine.version(4, BROKEN), machine.exe()).unwrap();
    let pid = std::fs::read_to_string(machine.path("pid")).unwrap();
    run(Command::new("kill").arg(pid.trim()), "");
    crate::support::wait::until("it stops", std::time::Duration::from_secs(30), || {
        (!machine.is_ready()).then_some(())
    });
    let failed = machine.install(&machine.version(5, BROKEN));
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert_eq!(
        (marker(&machine.exe()), machine.previous()),
        ("# version 2".into(), "# version 2".into())
    );
    assert!(machine.is_ready());
}

#[test]
fn a_database_that_was_migrated_goes_back_with_the_version_that_never_listened() {
    let machine = Machine::new();
    let open = || {
        Connection::open_with_flags(machine.database(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
    };
    assert_eq!(machine.install(&machine.version(1, NOTHING)).code, Some(0));
    let version =
        || open().pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap();
    let before = version();
    // Migrates, keeps the copy that a migration makes, and ends.
    let database = machine.database().display().to_string();
    let copy = machine.path("data/seller-platform.before-v99.db").display().to_string();
    let migrating = format!(
        "*' serve'*) [ -e {copy} ] || {EXECUTABLE} --db {database} backup {copy}; \
         printf '\\000\\000\\000\\143' | dd of={database} bs=1 seek=60 conv=notrunc 2>/dev/null; exit 1 ;;"
    );
    let failed = machine.install(&machine.version(2, &migrating));
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert!(failed.stderr.contains("is back and ready"), "{}{}", failed.stdout, failed.stderr);
    assert!(machine.is_ready());
    assert_eq!(version(), before);
    let kept = std::fs::read_dir(machine.path("data")).unwrap().flatten();
    let kept =
        kept.filter(|entry| entry.file_name().to_string_lossy().contains(".before-restore-"));
    assert_eq!(kept.count(), 1, "the migrated database is kept");
}

#[test]
fn an_update_tells_no_first_steps() {
    let machine = Machine::new();
    let first = machine.install(&machine.version(1, NOTHING)).stdout;
    // A configuration in the folder of the project would come before the installed one.
    let named = "seller-platform --config /etc/seller-platform/seller-platform.toml";
    assert!(first.contains(&format!("{named} setup-link")), "{first}");
    assert!(first.contains(&format!("{named} check")), "{first}");
    let update = machine.install(&machine.version(2, NOTHING)).stdout;
    assert!(!update.contains("setup-link") && !update.contains("base_url"), "{update}");
    assert!(update.contains("from seller-platform 1 to seller-platform 2"), "{update}");
}

#[test]
fn the_unit_tries_without_an_end_and_watches() {
    let machine = Machine::new();
    machine.install(&machine.version(1, NOTHING));
    let unit = std::fs::read_to_string(machine.path("etc/systemd/system/seller-platform.service"))
        .unwrap();
    for line in [
        "StartLimitIntervalSec=0",
        "Restart=always",
        "RestartSteps=8",
        "RestartMaxDelaySec=300",
        "WatchdogSec=120",
        // Litestream sends the last writes after the server was asked to stop.
        "KillMode=mixed",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
    }
    assert!(!unit.contains("StartLimitBurst"));
}

#[test]
fn a_second_machine_has_a_unit_for_its_standby_which_a_takeover_ends() {
    let machine = Machine::new();
    let first = machine.install(&machine.version(1, NOTHING));
    assert_eq!(first.code, Some(0), "{}{}", first.stdout, first.stderr);
    let units = machine.path("etc/systemd/system");
    let unit = std::fs::read_to_string(units.join("seller-platform-standby.service")).unwrap();
    for line in ["Restart=on-failure", "WatchdogSec=120", "KillMode=mixed", "Type=notify"] {
        assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
    }
    assert!(unit.contains("seller-platform.toml standby\n"), "{unit}");
    assert!(unit.contains("systemctl edit seller-platform-standby\n"), "{unit}");
    // An update there restarts the standby, and no service that would not become ready.
    let stop = "*healthcheck*) exit 1 ;;";
    std::fs::create_dir_all(units.join("multi-user.target.wants")).unwrap();
    std::os::unix::fs::symlink(
        units.join("seller-platform-standby.service"),
        units.join("multi-user.target.wants/seller-platform-standby.service"),
    )
    .unwrap();
    let updated = machine.install(&machine.version(2, stop));
    assert_eq!(updated.code, Some(0), "{}{}", updated.stdout, updated.stderr);
    assert!(updated.stdout.contains("The standby runs seller-platform 2"), "{}", updated.stdout);
    assert_eq!(marker(&machine.exe()), "# version 2");
}

#[test]
fn commands_find_the_configuration_of_the_installed_service() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("usr/local/bin")).unwrap();
    std::fs::copy(EXECUTABLE, machine.exe()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let show = |more: &[&str]| {
        let mut show = Command::new(machine.exe());
        show.env_clear().current_dir(elsewhere.path()).args(more).args(["config", "show"]);
        let shown = run(&mut show, "");
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        shown
    };
    let installed = machine.path("etc/seller-platform/seller-platform.toml").display().to_string();
    let shown = show(&[]);
    assert!(shown.stdout.contains(&machine.database().display().to_string()), "{}", shown.stdout);
    assert_eq!(shown.stderr.lines().count(), 1, "{}", shown.stderr);
    assert!(shown.stderr.contains(&installed), "{}", shown.stderr);
    // What is named, or lies in the folder, comes first.
    let own = elsewhere.path().join("seller-platform.toml");
    std::fs::write(&own, "[tax]\nrate = 7.5\n").unwrap();
    for more in [&[][..], &["--config", "seller-platform.toml"]] {
        let shown = show(more);
        assert!(shown.stdout.contains("7.5") && shown.stderr.is_empty(), "{}", shown.stderr);
    }
}

#[test]
fn an_executable_is_the_one_that_the_digest_beside_it_means() {
    let machine = Machine::new();
    let version = machine.version(1, NOTHING);
    let beside = machine.path("version-1.sha256");
    let digest = run(Command::new("sha256sum").arg(&version), "").stdout;
    let is_refused = |text: Option<&str>, more: &[&str], why: &str| {
        let _ = std::fs::remove_file(&beside);
        if let Some(text) = text {
            std::fs::write(&beside, text).unwrap();
        }
        let outcome = machine.install_with(&version, more);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("nothing was changed"), "{}", outcome.stderr);
        assert!(!machine.exe().exists());
    };
    let other = digest.replace(|c: char| c.is_ascii_digit(), "a");
    is_refused(Some(&other), &[], "is not the file");
    is_refused(Some(&digest[..63]), &[], "holds no SHA-256");
    is_refused(Some(""), &[], "holds no SHA-256");
    is_refused(None, &["--require-sha256"], "version-1.sha256 is missing");
    for good in [&*digest, &digest[..64], &digest[..64].to_uppercase()] {
        std::fs::write(&beside, good).unwrap();
        let outcome = machine.install_with(&version, &["--require-sha256"]);
        assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("is the file that"), "{}", outcome.stdout);
    }
    std::fs::remove_file(&beside).unwrap();
    let outcome = machine.install(&version);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("taken as it is"), "{}", outcome.stdout);
}

/// The package has the units that the script writes, for its own place.
#[test]
fn the_package_has_the_units_of_the_script() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (option, unit) in [
        ("--print-unit", "seller-platform.service"),
        ("--print-standby-unit", "seller-platform-standby.service"),
    ] {
        let mut print = Command::new("sh");
        print.arg(source.join("install.sh")).args([option, "/usr/bin/seller-platform"]);
        let printed = run(&mut print, "").stdout;
        let packaged = source.join("assets/packaging").join(unit);
        assert_eq!(std::fs::read_to_string(packaged).unwrap(), printed);
    }
}
