//! `check` asks each service outside, and says what has no effect.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::site::{Builder, Site};
use crate::support::smtp::Greeter;
use crate::support::telegram::TOKEN;
use crate::support::world::World;

const NOWHERE: &str = "127.0.0.1:9";

/// Every service configured: at the world, and at a mail server.
fn all(world: &World, mail: &str) -> Builder {
    let address = format!("http://{}", world.address());
    Site::builder()
        .world(world)
        .config("telegram.bot_token", TOKEN)
        .config("telegram.api_base", address.clone())
        .config("chat.gateway", "evolution")
        .config("chat.base_url", address)
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("push.subject", "mailto:escola@example.com")
        .config("push.extra_hosts", vec![world.address().to_string()])
        .config("email.smtp_url", format!("smtp://escola:senha-do-correio@{mail}"))
        .config("email.from", "Escola <escola@example.com>")
}

struct Checked {
    code: Option<i32>,
    report: Value,
}

impl Checked {
    /// Runs `check` in both output forms, which must agree.
    #[track_caller]
    fn of(site: &Site) -> Self {
        let outcome = site.command(&["check", "--json"]).run();
        let report: Value = serde_json::from_str(&outcome.stdout).expect(&outcome.stdout);
        let table = site.command(&["check"]).run();
        assert_eq!(table.code, outcome.code);
        for finding in report["findings"].as_array().unwrap() {
            let text = finding["text"].as_str().unwrap();
            // What grows or shrinks between the two runs.
            let what = finding["what"].as_str().unwrap();
            let text = if ["log", "disk"].contains(&what) { what } else { text };
            assert!(table.stdout.contains(text), "{text}\n{}", table.stdout);
        }
        assert_eq!(report["ok"], outcome.code == Some(0));
        assert!(!outcome.stdout.contains("senha-do-correio"), "{}", outcome.stdout);
        Self { code: outcome.code, report }
    }

    /// State and text of the first finding about something.
    #[track_caller]
    fn first(&self, what: &str) -> (Value, String) {
        let findings = self.report["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["what"] == what);
        let found = found.unwrap_or_else(|| panic!("{what}: {:#}", self.report));
        (found["state"].clone(), found["text"].as_str().unwrap().to_owned())
    }
}

#[test]
fn every_service_is_reached_and_nothing_is_sent() {
    let world = World::start();
    let mail = Greeter::start("235 welcome");
    let site = all(&world, &mail.address.to_string()).start();
    let checked = Checked::of(&site);
    assert_eq!(checked.code, Some(0), "{:#}", checked.report);
    for what in ["marketplace", "e-mail", "chat", "telegram", "push host"] {
        let (state, text) = checked.first(what);
        assert_eq!(state, "reached", "{what}: {text}");
        assert!(text.starts_with("reached: "), "{text}");
    }
    let said = mail.commands();
    assert!(said.contains(&"AUTH".to_owned()), "{said:?}");
    assert!(said.iter().all(|word| ["EHLO", "AUTH", "QUIT"].contains(&&**word)), "{said:?}");
    assert_eq!(world.messages(), [json!(null); 0]);
    world.no_violations();
    // The same with the other chat gateway.
    let cloud = all(&world, &mail.address.to_string())
        .config("chat.gateway", "cloud")
        .config("chat.instance", "109876543210")
        .config("chat.template", "aviso")
        .start();
    assert_eq!(Checked::of(&cloud).first("chat").0, "reached");
}

#[test]
fn what_refuses_us_is_told_with_the_setting_to_look_at() {
    let world = World::start();
    let mail = Greeter::start("535 5.7.8 wrong");
    let site = all(&world, &mail.address.to_string())
        .config("marketplace.client_secret", "errado")
        .config("chat.api_key", "recusada")
        .config("telegram.bot_token", "4242:recusada")
        .start();
    let checked = Checked::of(&site);
    assert_eq!(checked.code, Some(1));
    for (what, setting) in [
        ("marketplace", "marketplace.client_secret"),
        ("e-mail", "email.smtp_url"),
        ("chat", "chat.api_key"),
        ("telegram", "telegram.bot_token"),
    ] {
        let (state, text) = checked.first(what);
        assert_eq!(state, "refused", "{what}: {text}");
        assert!(text.starts_with("refused: ") && text.contains(setting), "{text}");
    }
    for (instance, said) in [("desconhecida", "chat.instance"), ("desligada", "not connected")] {
        let site = all(&world, &mail.address.to_string()).config("chat.instance", instance).start();
        let (state, text) = Checked::of(&site).first("chat");
        assert!(state == "refused" && text.contains(said), "{text}");
    }
    world.no_violations();
}

#[test]
fn who_does_not_answer_is_told_with_the_reason() {
    let world = World::start();
    let nowhere = format!("http://{NOWHERE}");
    let site = all(&world, NOWHERE)
        .config("marketplace.api_base", nowhere.clone())
        .config("chat.base_url", nowhere.clone())
        .config("telegram.api_base", nowhere)
        .config("push.extra_hosts", vec![NOWHERE])
        .start();
    let checked = Checked::of(&site);
    assert_eq!(checked.code, Some(1));
    for what in ["marketplace", "e-mail", "chat", "telegram", "push host"] {
        let (state, text) = checked.first(what);
        assert_eq!(state, "not_reached", "{what}: {text}");
        assert!(text.starts_with("not reached: "), "{text}");
        assert!(text.contains("Connection refused"), "{what}: {text}");
    }
}

#[test]
fn who_takes_connections_and_says_nothing_is_told_so() {
    // The operating system accepts connections for it; nothing answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let site = Site::builder()
        .config("marketplace.client_id", "")
        .config("chat.gateway", "evolution")
        .config("chat.base_url", format!("http://{address}"))
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("email.smtp_url", format!("smtp://{address}"))
        .start();
    let table = site.command(&["check"]).exits(1).stdout;
    for what in ["e-mail", "chat"] {
        let line = table.lines().find(|line| line.contains(what)).unwrap();
        assert!(line.contains("not reached: ") && line.contains("no answer for 5 s"), "{line}");
    }
}

#[test]
fn what_is_half_configured_fails() {
    let site = |builder: Builder| Checked::of(&builder.start());
    let quiet = || Site::builder().config("marketplace.client_id", "");
    for (gateway, missing) in [
        ("evolution", &["chat.base_url", "chat.api_key", "chat.instance"][..]),
        ("cloud", &["chat.api_key", "chat.instance"]),
    ] {
        let checked = site(quiet().config("chat.gateway", gateway));
        assert_eq!(checked.code, Some(1));
        let (_, text) = checked.first("chat");
        assert!(missing.iter().all(|key| text.contains(key)), "{text}");
    }
    let checked = site(Site::builder().config("marketplace.client_secret", ""));
    assert_eq!(checked.code, Some(1));
    assert!(checked.first("marketplace").1.contains("marketplace.client_secret"));
    let checked = site(quiet());
    assert_eq!(checked.code, Some(0), "{:#}", checked.report);
    for what in ["marketplace", "e-mail", "chat", "telegram", "push"] {
        let (state, text) = checked.first(what);
        assert!(state.is_null() && text.starts_with("not configured: "), "{text}");
    }
}

#[test]
fn a_folder_that_nobody_can_write_into_is_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copias");
    std::fs::create_dir(&path).unwrap();
    let site = Site::builder()
        .config("marketplace.client_id", "")
        .config("database.backup_dir", path.display().to_string())
        .start();
    assert_eq!(Checked::of(&site).code, Some(0));
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0, "nothing is left behind");
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&path, 0o555);
    let checked = Checked::of(&site);
    assert_eq!(checked.code, Some(1));
    assert!(checked.first("backups").1.contains("read-only"), "{:#}", checked.report);
    mode(&path, 0o755);
    // A place where no files can be made at all, and one that is not a folder.
    for odd in ["/proc", "/proc/self/cmdline"] {
        let site = Site::builder()
            .config("marketplace.client_id", "")
            .config("database.backup_dir", odd)
            .start();
        assert_eq!(Checked::of(&site).code, Some(1), "{odd}");
    }
    let data = site.database().parent().unwrap().to_owned();
    mode(&data, 0o555);
    let checked = Checked::of(&site);
    mode(&data, 0o755);
    assert!(checked.code == Some(1) && checked.first("database").1.contains("read-only"));
}
