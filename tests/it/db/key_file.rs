//! The key of the encrypted values in the database: lost, wrong, put back,
//! given up. No encrypted value is ever replaced because it cannot be
//! decrypted.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};

use crate::support::client::Request;
use crate::support::site::{Builder, PROPAGATION, Site};
use crate::support::sync::{accounts, joined, shop, wait_until_read};
use crate::support::wait::until;
use crate::support::world::LOJA;

/// A key that differs from every generated one.
const OTHER: &str = "0123456789abcdef0123456789abcdef";

fn key_file(site: &Site) -> PathBuf {
    site.database().with_extension("db.key")
}

/// A site whose secrets are generated, not configured.
fn generating(site: Builder) -> Builder {
    site.config("cron.secret", "").config("checkout.tokens", Vec::<String>::new())
}

/// All encrypted values, as they are in the stopped database.
fn sealed(site: &Site) -> Vec<String> {
    let database = Connection::open_with_flags(site.database(), OpenFlags::default()).unwrap();
    let sql = "SELECT name || ' ' || hex(value) FROM setting
               WHERE name IN ('cron_secret', 'checkout_token', 'push_key', 'key_check')
               UNION ALL
               SELECT ml_user_id || ' ' || token_ok || ' ' || hex(access_token) || ' ' || hex(refresh_token)
               FROM ml_account ORDER BY 1";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Requires one line on stderr that names the key and the three ways to continue.
#[track_caller]
fn refuses(site: &Site, arguments: &[&str]) {
    let outcome = site.command(arguments).exits(1);
    let said = outcome.stderr;
    assert_eq!(outcome.stdout, "", "{arguments:?}");
    assert_eq!(said.trim().lines().count(), 1, "{arguments:?}\n{said}");
    for word in ["key", "back", "restore", "--new-key"] {
        assert!(said.contains(word), "{arguments:?}: {word:?} is not named\n{said}");
    }
}

const WRITERS: [&[&str]; 11] = [
    &["serve", "--listen", "127.0.0.1:0"],
    &["migrate"],
    &["setup-link"],
    &["user", "create", "--email", "rui@example.com", "--nome", "Rui Prado", "--role", "pro"],
    &["user", "password", "--email", "ana@example.com"],
    &["user", "password-link", "--email", "ana@example.com"],
    &["key", "create", "--name", "CRM", "--scope", "write"],
    &["key", "revoke", "1"],
    &["partner", "plan", "--email", "ana@example.com", "--plan", "pro"],
    &["partner", "token", "--email", "ana@example.com"],
    &["secret", "show", "cron"],
];

const READERS: [&[&str]; 5] =
    [&["key", "list"], &["config", "show"], &["openapi"], &["routes"], &["migrate", "status"]];

/// Checks that nothing writes, that reading works, and that nothing changed.
#[track_caller]
fn stands_still(site: &Site) {
    let before = std::fs::read(site.database()).unwrap();
    for arguments in WRITERS {
        refuses(site, arguments);
    }
    for arguments in READERS {
        site.command(arguments).ok();
    }
    let copy = site.folder().join("copia.db").display().to_string();
    site.command(&["backup", "--force", &copy]).ok();
    let check = site.command(&["check"]).exits(1).stdout;
    let line = check.lines().find(|line| line.contains(" key ")).unwrap();
    assert!(line.starts_with("FAIL") && line.contains("--new-key"), "{line}");
    assert!(std::fs::read(site.database()).unwrap() == before, "the database was changed");
}

#[test]
fn a_lost_key_destroys_nothing_and_the_right_one_opens_everything_again() {
    let world = shop();
    let site = generating(joined(&world)).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let cron = site.command(&["secret", "show", "cron"]).ok();
    site.stop();
    let before = sealed(&site);
    assert_eq!(before.len(), 4, "{before:?}");
    let aside = site.folder().join("key");
    std::fs::rename(key_file(&site), &aside).unwrap();
    stands_still(&site);
    assert!(!key_file(&site).exists(), "a key was made");
    // The same holds for a file that is no key, and for the key of another
    // database.
    for wrong in ["nenhuma chave", &"ab".repeat(32)] {
        std::fs::write(key_file(&site), wrong).unwrap();
        private(&key_file(&site));
        stands_still(&site);
        assert_eq!(std::fs::read_to_string(key_file(&site)).unwrap(), wrong);
    }
    std::fs::rename(&aside, key_file(&site)).unwrap();
    assert_eq!(sealed(&site), before);
    assert!(!site.command(&["check"]).run().stdout.contains("--new-key"));
    site.start_again();
    assert_eq!(site.command(&["secret", "show", "cron"]).ok(), cron);
    let tasks = Request::new("GET", "/api/v1/cron")
        .header("Authorization", &format!("Bearer {}", cron.trim()));
    site.anonymous().send(tasks).expect(200);
    assert_eq!(accounts(&ana)[0]["token_ok"], true);
    let fees =
        format!("/painel/ml/calculadora/taxas-json?conta={LOJA}&preco=50&categoria=MLB31447");
    ana.get(&fees).expect(200);
    world.no_violations();
}

fn private(path: &std::path::Path) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, mode).unwrap();
}

#[test]
fn another_configured_key_is_refused_too_and_says_that_the_file_is_right() {
    let site = generating(Site::builder()).start();
    site.stop();
    let before = sealed(&site);
    let config = site.folder().join("seller-platform.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("security.secret_key = \"{OTHER}\"\n{text}")).unwrap();
    stands_still(&site);
    let said = site.command(&["serve", "--listen", "127.0.0.1:0"]).exits(1).stderr;
    assert!(said.contains("security.secret_key"), "{said}");
    assert!(said.contains(".db.key opens them"), "{said}");
    assert!(!said.contains(OTHER), "{said}");
    assert_eq!(sealed(&site), before);
    std::fs::write(&config, text).unwrap();
    site.start_again();
}

#[test]
fn a_new_key_says_what_is_lost_and_wants_a_yes() {
    let world = shop();
    let site = generating(joined(&world)).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    let cron = site.command(&["secret", "show", "cron"]).ok();
    site.stop();
    let before = sealed(&site);
    std::fs::write(key_file(&site), "ab".repeat(32)).unwrap();
    let said = site.command(&["serve", "--new-key", "--listen", "127.0.0.1:0"]).exits(1).stderr;
    for word in ["linked accounts: 1", "LOJA DA ANA", "cron secret", "checkout token", "--yes"] {
        assert!(said.contains(word), "{word:?}\n{said}");
    }
    assert_eq!(sealed(&site), before);
    site.command(&["serve", "--yes"]).exits(2);
    site.start_with(&["--new-key", "--yes"]);
    let now = site.command(&["secret", "show", "cron"]).ok();
    assert_ne!(now, cron);
    let account = &accounts(&ana)[0];
    assert_eq!(account["token_ok"], false, "{account}");
    assert!(account["erro"].as_str().unwrap().contains("Vincule a conta de novo"), "{account}");
    let told = "SELECT title FROM notification WHERE title = 'Vínculo perdido'";
    assert_eq!(site.stored(told).len(), 1);
    // The replaced key file is kept: it may belong to another database.
    let data = std::fs::read_dir(site.folder().join("data")).unwrap();
    let kept = data
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains(".db.key.replaced-"));
    assert_eq!(std::fs::read_to_string(kept.unwrap()).unwrap(), "ab".repeat(32));
    // With the same options again, as a service unit might do, nothing more is
    // given up.
    site.stop();
    site.start_with(&["--new-key", "--yes"]);
    assert_eq!(site.command(&["secret", "show", "cron"]).ok(), now);
    world.link(&ana, LOJA);
    until("the account is well again", PROPAGATION, || {
        (accounts(&ana)[0]["token_ok"] == true).then_some(())
    });
}

#[test]
fn a_database_from_before_the_mark_is_taken_by_the_key_that_opens_it() {
    let site = generating(Site::builder()).start();
    site.stop();
    let forget = || {
        let database = Connection::open_with_flags(site.database(), OpenFlags::default()).unwrap();
        database.execute("DELETE FROM setting WHERE name = 'key_check'", []).unwrap();
    };
    forget();
    let before = sealed(&site);
    assert_eq!(before.len(), 2, "{before:?}");
    let right = std::fs::read_to_string(key_file(&site)).unwrap();
    std::fs::write(key_file(&site), "ab".repeat(32)).unwrap();
    stands_still(&site);
    assert_eq!(sealed(&site), before);
    std::fs::write(key_file(&site), right).unwrap();
    site.start_again();
    site.stop();
    assert_eq!(sealed(&site).len(), 3, "the mark is missing");
    site.start_again();
}

#[test]
fn a_key_file_goes_without_harm_while_nothing_is_sealed() {
    let site = Site::start();
    site.stop();
    let database = Connection::open_with_flags(site.database(), OpenFlags::default()).unwrap();
    database.execute("DELETE FROM setting WHERE name = 'key_check'", []).unwrap();
    drop(database);
    std::fs::remove_file(key_file(&site)).unwrap();
    assert!(site.command(&["check"]).run().stdout.contains("nothing is sealed"));
    site.command(&["migrate"]).ok();
    assert!(!key_file(&site).exists(), "only what seals makes a key");
    site.start_again();
    assert!(key_file(&site).exists());
}

#[test]
fn a_copy_of_another_key_is_named_before_it_is_restored() {
    let site = generating(Site::builder()).start();
    let copy = site.folder().join("copia.db").display().to_string();
    site.command(&["backup", &copy]).ok();
    site.stop();
    let aside = site.folder().join("key");
    std::fs::rename(key_file(&site), &aside).unwrap();
    std::fs::remove_file(site.database()).unwrap();
    for key in [None, Some("ab".repeat(32))] {
        if let Some(key) = key {
            std::fs::write(key_file(&site), key).unwrap();
            private(&key_file(&site));
        }
        let warned = site.command(&["restore", &copy]).exits(0).stderr;
        assert!(warned.contains("warning") && warned.contains("copia.db"), "{warned}");
        assert!(warned.contains(".db.key"), "{warned}");
        refuses(&site, &["serve", "--listen", "127.0.0.1:0"]);
    }
    std::fs::rename(&aside, key_file(&site)).unwrap();
    let fitting = site.command(&["restore", &copy]).exits(0).stderr;
    assert_eq!(fitting, "");
    for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("before-restore") {
            std::fs::remove_file(path).unwrap();
        }
    }
    site.start_again();
}

#[test]
fn a_running_server_is_no_help_to_a_command_without_the_key() {
    let site = generating(Site::builder()).start();
    let aside = site.folder().join("key");
    std::fs::rename(key_file(&site), &aside).unwrap();
    site.expect_in_log("the key file (.key) is not beside the database");
    refuses(&site, &["user", "password", "--email", "ana@example.com"]);
    let probe = || site.anonymous().get("/readyz").status;
    until("the missing key is told", PROPAGATION, || (probe() == 503).then_some(()));
    std::fs::rename(&aside, key_file(&site)).unwrap();
    until("all is well again", PROPAGATION, || (probe() == 200).then_some(()));
}
