//! Copies that the service makes by itself: when, checked, how many stay, what is
//! told when one fails, and what an administrator may do with them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;

pub const PAGE: &str = "/admin/copias";
pub const DAY_S: i64 = 86_400;
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A site of which `check` finds nothing bad.
pub fn quiet() -> Builder {
    Site::builder().unlimited().config("marketplace.client_id", "")
}

pub fn folder(site: &Site) -> PathBuf {
    site.folder().join("data/backups")
}

/// Names in the folder of copies, in order.
pub fn names(site: &Site) -> Vec<String> {
    let entries = std::fs::read_dir(folder(site)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The copies, the oldest first.
pub fn copies(site: &Site) -> Vec<PathBuf> {
    let ours = |name: &String| {
        name.starts_with("seller-platform-")
            && Path::new(name).extension().is_some_and(|end| end == "db")
    };
    names(site).into_iter().filter(ours).map(|name| folder(site).join(name)).collect()
}

/// Waits until there are so many copies, and nothing is going on.
#[track_caller]
pub fn wait_for_copies(site: &Site, count: usize) -> Vec<PathBuf> {
    until("the copy is there", PATIENCE, || {
        let is_there = copies(site).len() == count && seen(site)["em_andamento"].is_null();
        is_there.then(|| copies(site))
    })
}

/// The page as JSON. Sessions end while the clock moves by days, so each look
/// is with one of its own.
#[track_caller]
pub fn seen(site: &Site) -> Value {
    seen_by(&site.administrator())
}

/// The same without signing in each time, which writes.
fn seen_by(admin: &Actor<'_>) -> Value {
    admin.send(Request::new("GET", PAGE).header("Accept", "application/json")).ok()
}

pub fn manifest(copy: &Path) -> Value {
    let text = std::fs::read(format!("{}.json", copy.display())).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub fn sha256(file: &Path) -> String {
    crate::support::photos::digest(&std::fs::read(file).unwrap())
}

/// What a figure of `/metrics` is.
pub fn figure(keeper: &Actor<'_>, name: &str) -> i64 {
    let text = keeper.get("/metrics").expect(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{name} in\n{text}")).parse().unwrap()
}

pub const SUCCESS: &str = "seller_platform_backup_last_success_timestamp_seconds";
pub const VERIFIED: &str = "seller_platform_backup_last_verified_timestamp_seconds";

#[track_caller]
pub fn html(site: &Site, path: &str) -> String {
    site.administrator()
        .send(Request::new("GET", path).header("Accept", "text/html"))
        .expect(200)
        .text()
}

/// Exit code of `check`, and its lines about the copies as verdict and text.
pub fn checked(site: &Site) -> (Option<i32>, Vec<(String, String)>) {
    let outcome = site.command(&["check", "--json"]).run();
    let report: Value = serde_json::from_str(&outcome.stdout).expect(&outcome.stderr);
    let findings = report["findings"].as_array().unwrap();
    let about = findings.iter().filter(|finding| finding["what"] == "backups");
    let part = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    (outcome.code, about.map(|one| (part(one, "verdict"), part(one, "text"))).collect())
}

/// Changes a byte in the middle of a file.
fn spoil(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_copy_is_made_a_day_after_the_first_start_and_then_every_day() {
    let site = quiet().config("database.backup_keep", 2).start();
    let keeper = site.key(&["admin"]);
    assert_eq!((figure(&keeper, SUCCESS), figure(&keeper, VERIFIED)), (0, 0));
    site.clock().advance_s(DAY_S - 60);
    let page = seen(&site);
    assert_eq!((&page["total"], &page["proxima_em"]), (&json!(0), &json!("2026-11-21 09:00:00")));
    assert_eq!(names(&site), Vec::<String>::new(), "nothing is due yet");
    site.clock().advance_s(60);
    let made = wait_for_copies(&site, 1);
    let name = "seller-platform-20261121-120000.db";
    assert_eq!(names(&site), ["latest.db", name, &format!("{name}.json")]);
    let latest = folder(&site).join("latest.db");
    assert_eq!(sha256(&latest), sha256(&made[0]));

    let said = manifest(&made[0]);
    assert_eq!(said["file"], name);
    assert_eq!(said["sha256"], sha256(&made[0]));
    assert_eq!(said["bytes"], std::fs::metadata(&made[0]).unwrap().len());
    assert_eq!(said["created_at"], "2026-11-21T12:00:00Z");
    let head = said["audit_head"].as_str().unwrap().split_once(':').unwrap();
    assert!(head.0.parse::<u32>().is_ok() && head.1.len() == 64, "{head:?}");
    assert_eq!(said["key_id"].as_str().map(str::len), Some(8), "{said}");
    let file = Connection::open_with_flags(&made[0], OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let number = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(said["schema"], number("PRAGMA user_version"));
    assert_eq!(said["rows"]["user"], number("SELECT count(*) FROM user"));
    assert!(said["rows"]["user"].as_i64() > Some(0));
    drop(file);

    let at = site.clock().now().as_second();
    assert_eq!((figure(&keeper, SUCCESS), figure(&keeper, VERIFIED)), (at, at));
    let (code, lines) = checked(&site);
    assert!(code == Some(0) && lines.len() == 1 && lines[0].0 == "ok", "{lines:?}");
    let home = html(&site, "/admin");
    assert!(home.contains("A próxima: 22/11/2026 09:00"), "{home}");

    // The newest remain, and the name leads to the newest of all.
    for days in 1..=2 {
        site.clock().advance_s(DAY_S);
        until("the next copy is there", PATIENCE, || {
            copies(&site)
                .iter()
                .any(|copy| copy.to_string_lossy().contains(&format!("2026112{}", days + 1)))
                .then_some(())
        });
    }
    let kept = wait_for_copies(&site, 2);
    assert!(!kept.contains(&made[0]), "{kept:?}");
    assert_eq!(names(&site).len(), 5, "{:?}", names(&site));
    assert_eq!(sha256(&latest), sha256(&kept[1]));
}

#[test]
fn nothing_is_made_without_a_folder_or_an_interval() {
    for (key, value, word) in [
        ("database.backup_dir", toml::Value::from(""), "backup_dir"),
        ("database.backup_every_h", toml::Value::from(0), "backup_every_h"),
    ] {
        let site = quiet().config(key, value).start();
        site.clock().advance_s(10 * DAY_S);
        let page = seen(&site);
        assert!(page["proxima_em"].is_null(), "{page}");
        let (code, lines) = checked(&site);
        assert!(code == Some(0) && lines[0].0 == "note" && lines[0].1.contains(word), "{lines:?}");
        assert!(html(&site, "/admin").contains(word));
        assert!(html(&site, PAGE).contains(word));
        assert_eq!(names(&site), Vec::<String>::new());
    }
}

#[test]
fn a_copy_that_goes_bad_is_told_after_the_night_and_replaces_none() {
    let site = quiet().config("database.backup_keep", 2).start();
    let keeper = site.key(&["admin"]);
    site.clock().advance_s(DAY_S);
    wait_for_copies(&site, 1);
    let verified = figure(&keeper, VERIFIED);
    // Nine in the evening, and four in the morning.
    site.clock().advance_s(12 * 3600);
    seen(&site);
    assert_eq!(figure(&keeper, VERIFIED), verified, "not at night");
    site.clock().advance_s(7 * 3600);
    until("the newest was opened again", PATIENCE, || {
        (figure(&keeper, VERIFIED) == site.clock().now().as_second()).then_some(())
    });
    site.clock().advance_s(5 * 3600);
    let made = wait_for_copies(&site, 2);
    let verified = figure(&keeper, VERIFIED);
    spoil(&made[1]);
    site.clock().advance_s(19 * 3600);
    let told = until("the bad copy is told", PATIENCE, || {
        let page = seen(&site);
        let is_told = !page["dados"][0]["defeito"].is_null() && !page["falha"].is_null();
        is_told.then_some(page)
    });
    assert!(told["falha"]["titulo"].as_str().unwrap().contains("não confere"), "{told}");
    assert!(figure(&keeper, VERIFIED) <= verified);
    let notices = html(&site, "/admin/avisos");
    assert!(notices.contains("não confere") && notices.contains(PAGE), "{notices}");
    let (code, lines) = checked(&site);
    assert!(code == Some(1) && lines.iter().any(|(verdict, _)| verdict == "fail"), "{lines:?}");
    assert!(html(&site, "/admin").contains("não confere"));
    assert_eq!(sha256(&folder(&site).join("latest.db")), sha256(&made[0]), "the newest good one");

    // With the next one there are two good ones; the bad one counts for none.
    site.clock().advance_s(5 * 3600);
    let kept = wait_for_copies(&site, 3);
    assert!(kept.contains(&made[0]) && kept.contains(&made[1]), "{kept:?}");
    assert_eq!(checked(&site).0, Some(1), "the bad one still lies there");
    site.clock().advance_s(DAY_S);
    until("the bad one is older than two good ones", PATIENCE, || {
        (!made[1].exists() && !made[0].exists()).then_some(())
    });
    assert_eq!(checked(&site).0, Some(0));
}

#[test]
fn a_copy_that_cannot_be_made_is_told_once_and_tried_again() {
    let site = quiet().start();
    let keeper = site.key(&["admin"]);
    site.clock().advance_s(DAY_S);
    wait_for_copies(&site, 1);
    let success = figure(&keeper, SUCCESS);
    // A file lies in the place of the folder.
    let aside = folder(&site).with_extension("aside");
    std::fs::rename(folder(&site), &aside).unwrap();
    std::fs::write(folder(&site), "no folder").unwrap();
    site.clock().advance_s(DAY_S);
    let failed = until("the failure is told", PATIENCE, || {
        let page = seen(&site);
        (!page["falha"].is_null()).then_some(page)
    });
    assert!(failed["falha"]["detalhe"].as_str().unwrap().contains("backups"), "{failed}");
    let alerts = || {
        let sql = "SELECT count(*) || '' FROM notification_key WHERE cause LIKE 'copias:%'";
        site.stored(sql)[0].clone()
    };
    assert_eq!(alerts(), "1");
    site.clock().advance_s(3600);
    until("it was tried again", PATIENCE, || {
        let page = seen(&site);
        (page["falha"]["em"] != failed["falha"]["em"]).then_some(())
    });
    assert_eq!(alerts(), "1", "once a day");
    assert!(html(&site, "/admin").contains("A cópia de segurança falhou"));
    let (code, lines) = checked(&site);
    assert!(code == Some(1) && lines.iter().any(|(verdict, _)| verdict == "fail"), "{lines:?}");
    // Known after a restart, too.
    site.stop();
    let (code, lines) = checked(&site);
    assert!(code == Some(1) && lines.iter().any(|(_, text)| text.contains("failed")), "{lines:?}");
    std::fs::remove_file(folder(&site)).unwrap();
    std::fs::rename(&aside, folder(&site)).unwrap();
    site.start_again();
    wait_for_copies(&site, 2);
    until("all is well again", PATIENCE, || {
        (figure(&keeper, SUCCESS) > success && seen(&site)["falha"].is_null()).then_some(())
    });
    assert_eq!(checked(&site).0, Some(0));
}

#[test]
fn without_room_for_a_copy_only_the_copy_is_left_out() {
    let site = quiet().start();
    let bytes = std::fs::metadata(site.database()).unwrap().len();
    // For a process it is the same as a full disk when no file may grow so far.
    site.limit_file_size(Some(bytes / 2));
    site.clock().advance_s(DAY_S);
    let admin = site.administrator();
    let failed = until("the failure is told", PATIENCE, || {
        let page = seen_by(&admin);
        (!page["falha"].is_null()).then_some(page)
    });
    assert!(failed["falha"]["titulo"].as_str().unwrap().contains("espaço"), "{failed}");
    assert_eq!(names(&site), Vec::<String>::new(), "nothing of it is left");
    site.limit_file_size(None);
    site.clock().advance_s(3600);
    wait_for_copies(&site, 1);
}

#[test]
fn an_administrator_has_a_copy_made_and_a_restore_tried() {
    let site = quiet().start();
    let admin = site.administrator();
    let ana = site.person("ana");
    ana.get(PAGE).expect(403);
    site.anonymous().get(PAGE).expect(303);
    let page = html(&site, PAGE);
    assert!(page.contains("Copiar agora") && page.contains("Nenhuma cópia ainda"), "{page}");
    assert!(page.contains(&format!("href=\"{PAGE}\"")), "it stands in the navigation");
    let asked = admin.send(Request::new("POST", "/admin/copias/copiar").form(&[])).expect(303);
    assert_eq!(asked.header("location"), Some(PAGE));
    let made = wait_for_copies(&site, 1);
    let name = made[0].file_name().unwrap().to_str().unwrap().to_owned();
    let page = html(&site, PAGE);
    assert!(page.contains(&name) && page.contains("Ensaiar restauração"), "{page}");

    let drill = |file: &str| {
        let form = [("arquivo", file)];
        admin.send(Request::new("POST", "/admin/copias/ensaiar").form(&form)).expect(303)
    };
    let ensaio = || {
        until("the drill is over", PATIENCE, || {
            let page = seen(&site);
            (page["em_andamento"].is_null() && !page["ensaio"].is_null())
                .then(|| page["ensaio"].clone())
        })
    };
    site.make_person("rui", "pro");
    drill(&name);
    let done = ensaio();
    assert_eq!((&done["restaurada"], &done["arquivo"]), (&json!(true), &json!(name)), "{done}");
    let changed = done["mudaram"].as_array().unwrap();
    let users = changed.iter().find(|one| one["tabela"] == "user").unwrap();
    assert_eq!(users["agora"].as_i64().unwrap() - users["na_copia"].as_i64().unwrap(), 1);
    assert!(html(&site, PAGE).contains("O ensaio deu certo"));
    assert_eq!(names(&site).len(), 3, "nothing of the drill is left: {:?}", names(&site));
    spoil(&made[0]);
    drill(&name);
    until("the bad copy is told", PATIENCE, || {
        (ensaio()["restaurada"] == json!(false)).then_some(())
    });
    assert!(html(&site, PAGE).contains("O ensaio falhou"));
    drill("../seller-platform.db");
    assert_eq!(names(&site).len(), 3);
    let audit = "SELECT action || ' ' || object_name FROM audit WHERE object_kind = 'backup' ORDER BY audit_id";
    assert_eq!(
        site.stored(audit),
        [
            "backup.copiar ".to_owned(),
            format!("backup.ensaiar {name}"),
            format!("backup.ensaiar {name}")
        ]
    );
}

#[test]
fn a_download_asks_for_the_password_once_in_ten_minutes() {
    let site = quiet().start();
    let admin = site.administrator();
    admin.post("/admin/copias/copiar", &json!({})).ok();
    let made = wait_for_copies(&site, 1);
    let name = made[0].file_name().unwrap().to_str().unwrap();
    let here = format!("/admin/copias/baixar?arquivo={name}");
    let get = |path: &str| admin.send(Request::new("GET", path).header("Accept", "text/html"));
    let as_json =
        |path: &str| admin.send(Request::new("GET", path).header("Accept", "application/json"));
    assert_eq!(as_json(&here).expect(403).code(), "forbidden");
    let asked = get(&here).expect(303);
    let ask = asked.header("location").unwrap().to_owned();
    assert!(ask.starts_with("/confirmar?volta="), "{ask}");
    let form = get(&ask).expect(200).text();
    assert!(form.contains("type=\"password\""), "{form}");
    let send = |password: &str| {
        let fields = [("senha", password), ("volta", &here)];
        admin.send(Request::new("POST", "/confirmar").form(&fields))
    };
    let wrong = send("uma-senha-errada").expect(422).text();
    assert!(wrong.contains("não confere") && wrong.contains(name), "{wrong}");
    get(&here).expect(303);
    let right = send(&admin.person().password).expect(303);
    assert_eq!(right.header("location"), Some(&*here));
    let sent = get(&here).expect(200);
    assert_eq!(sent.header("content-type"), Some("application/vnd.sqlite3"));
    assert!(sent.body == std::fs::read(&made[0]).unwrap(), "other bytes came");
    let attached = format!("attachment; filename=\"{name}\"");
    assert_eq!(sent.header("content-disposition"), Some(&*attached));
    let audit = "SELECT object_name FROM audit WHERE action = 'backup.baixar'";
    assert_eq!(site.stored(audit), [name]);
    // Only what is in the list, whatever the name.
    for other in ["..%2Fseller-platform.db", "%2Fetc%2Fpasswd", "latest.db", ""] {
        as_json(&format!("/admin/copias/baixar?arquivo={other}")).expect(404);
    }
    site.clock().advance_s(601);
    get(&here).expect(303);
    // Nowhere else do we lead.
    let fields = [("senha", &*admin.person().password), ("volta", "//example.com/")];
    let led = admin.send(Request::new("POST", "/confirmar").form(&fields)).expect(303);
    assert_eq!(led.header("location"), Some("/admin"));
}

#[test]
fn a_folder_is_restored_from_its_newest_good_copy() {
    let site = quiet().start();
    let admin = site.administrator();
    let mut counts = Vec::new();
    for (number, name) in ["ana", "rui", "eva"].into_iter().enumerate() {
        site.make_person(name, "pro");
        counts.push(site.stored("SELECT count(*) || '' FROM user")[0].clone());
        admin.post("/admin/copias/copiar", &json!({})).ok();
        wait_for_copies(&site, number + 1);
        site.clock().advance_s(60);
    }
    let made = copies(&site);
    spoil(&made[2]);
    let folder = folder(&site).display().to_string();
    site.stop();
    let said = site.command(&["restore", &folder]).ok();
    let (good, bad) = (made[1].display().to_string(), made[2].display().to_string());
    assert!(said.contains(&format!("{good} is the newest good copy")), "{said}");
    assert!(said.contains("Passed over") && said.contains(&bad), "{said}");
    let remove_aside = || {
        for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().contains("before-restore") {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    remove_aside();
    site.start_again();
    assert_eq!(site.stored("SELECT count(*) || '' FROM user"), [&*counts[1]]);
    site.stop();
    // The name of the newest leads to a copy with its manifest.
    spoil(&made[1]);
    let refused = site.command(&["restore", &made[1].display().to_string()]).exits(1);
    assert!(refused.stderr.contains("SHA-256"), "{}", refused.stderr);
    let latest = format!("{folder}/latest.db");
    let refused = site.command(&["restore", &latest]).exits(1);
    assert!(refused.stderr.contains("SHA-256"), "{}", refused.stderr);
    spoil(&made[0]);
    let refused = site.command(&["restore", &folder]).exits(1);
    assert!(refused.stderr.contains("no copy in"), "{}", refused.stderr);
    let empty = tempfile::tempdir().unwrap();
    site.command(&["restore", &empty.path().display().to_string()]).exits(1);
    site.start_again();
}

#[test]
fn what_a_kill_left_of_a_copy_is_removed() {
    let site = quiet().start();
    std::fs::create_dir_all(folder(&site)).unwrap();
    site.kill();
    let left = [
        "seller-platform-20261120-110000.db.partial",
        "seller-platform-20261120-110000.db.json.partial",
    ];
    for name in left {
        std::fs::write(folder(&site).join(name), "half").unwrap();
    }
    std::fs::create_dir(folder(&site).join("drill.partial")).unwrap();
    std::fs::write(folder(&site).join("drill.partial/seller-platform.db"), "half").unwrap();
    site.start_again();
    until("the leftovers are gone", PATIENCE, || names(&site).is_empty().then_some(()));
}
