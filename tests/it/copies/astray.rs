//! Copies that are not what one would think: from a wrong clock, of another key or a
//! newer program, or made by a command.

use std::path::Path;

use serde_json::{Value, json};

use crate::copies::making::{
    DAY_S, PAGE, PATIENCE, SUCCESS, VERIFIED, checked, copies, figure, folder, html, manifest,
    names, quiet, seen, sha256, wait_for_copies,
};
use crate::support::replica::{MINUTE, Machine, litestream};
use crate::support::wait::until;

fn change_manifest(copy: &Path, key: &str, value: Value) {
    let mut said = manifest(copy);
    said[key] = value;
    std::fs::write(format!("{}.json", copy.display()), said.to_string()).unwrap();
}

#[test]
fn a_copy_from_the_future_spoils_neither_copies_nor_restore() {
    let site = quiet().config("database.backup_keep", 1).start();
    // While the clock is wrong, a copy is due.
    site.clock().set("2030-03-01T12:00:00Z");
    let ahead = wait_for_copies(&site, 1)[0].clone();
    site.clock().set("2026-11-21T12:00:00Z");
    let name = "seller-platform-20261121-120000.db";
    let made = wait_for_copies(&site, 2)[0].clone();
    assert!(made.ends_with(name), "{made:?}");
    let latest = folder(&site).join("latest.db");
    assert_eq!(sha256(&latest), sha256(&made));
    site.clock().set("2026-11-22T11:00:00Z");
    let keeper = site.key(&["admin"]);
    let at = figure(&keeper, SUCCESS);
    assert_eq!(at, 1_795_262_400, "not that of the future");
    // Its night has come, although the other one was looked at in 2030.
    until("the newest is opened again", PATIENCE, || {
        (figure(&keeper, VERIFIED) == site.clock().now().as_second()).then_some(())
    });
    let page = seen(&site);
    let first = &page["dados"][0];
    assert_eq!((&first["arquivo"], &first["do_futuro"]), (&json!(name), &json!(false)));
    assert_eq!(page["dados"][1]["do_futuro"], true);
    assert_eq!(page["proxima_em"], "2026-11-22 09:00:00");
    assert!(html(&site, PAGE).contains("Do futuro"));
    let (_, lines) = checked(&site);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].0 == "ok" && lines[0].1.contains(name), "{lines:?}");
    assert!(lines[1].0 == "note" && lines[1].1.contains("from the future"), "{lines:?}");

    // Only what has its time is too many.
    site.clock().set("2026-11-22T12:00:00Z");
    let newest = until("the next one took its place", PATIENCE, || {
        let copies = copies(&site);
        (copies.len() == 2 && !made.exists()).then(|| copies[0].clone())
    });
    assert!(ahead.exists());
    site.stop();
    let said = site.command(&["restore", &folder(&site).display().to_string()]).ok();
    assert!(said.contains(&format!("{} is the newest good copy", newest.display())), "{said}");
    assert!(said.contains("Passed over") && said.contains("from the future"), "{said}");
    remove_aside(&site);
    site.start_again();
}

#[test]
fn a_check_that_could_not_be_made_says_nothing_of_the_copy() {
    let site = quiet().start();
    site.clock().advance_s(DAY_S);
    let made = wait_for_copies(&site, 1)[0].clone();
    // As after going back to an older version of the program.
    let schema = manifest(&made)["schema"].clone();
    change_manifest(&made, "schema", json!(99));
    site.clock().advance_s(19 * 3600);
    let failed = until("the failure is told", PATIENCE, || {
        let page = seen(&site);
        (!page["falha"].is_null()).then_some(page)
    });
    let title = failed["falha"]["titulo"].as_str().unwrap();
    assert_eq!(title, "A conferência de uma cópia falhou");
    assert!(failed["falha"]["detalhe"].as_str().unwrap().contains("99"), "{failed}");
    assert!(failed["dados"][0]["defeito"].is_null(), "{failed}");
    assert!(manifest(&made)["fault"].is_null());
    change_manifest(&made, "schema", schema);
    // With the next copy.
    site.clock().advance_s(5 * 3600);
    until("it is looked at again", PATIENCE, || {
        (manifest(&made)["checked_at"].as_str() == Some("2026-11-22T12:00:00Z")).then_some(())
    });
}

#[test]
fn a_backup_into_the_folder_of_copies_is_the_latest() {
    let site = quiet().start();
    site.clock().advance_s(DAY_S);
    wait_for_copies(&site, 1);
    site.clock().advance_s(3600);
    let latest = folder(&site).join("latest.db");
    let elsewhere = tempfile::tempdir().unwrap();
    site.command(&["backup", &elsewhere.path().display().to_string()]).ok();
    assert_eq!(sha256(&latest), sha256(&copies(&site)[0]));
    let other_name = site.folder().join("data/../data/backups");
    site.command(&["backup", &other_name.display().to_string()]).ok();
    let made = copies(&site);
    assert_eq!(made.len(), 2, "{:?}", names(&site));
    assert_eq!(sha256(&latest), sha256(&made[1]));
    assert_ne!(sha256(&made[0]), sha256(&made[1]));
}

#[test]
fn copies_of_the_key_at_hand_come_first() {
    let site = quiet().start();
    let folder = folder(&site).display().to_string();
    let copied = || {
        site.command(&["backup", &folder]).ok();
        copies(&site).last().unwrap().clone()
    };
    assert!(Path::new(&folder).is_dir(), "made when the service starts");
    site.command(&["secret", "show", "cron"]).ok();
    let fitting = copied();
    site.stop();
    let key = format!("{}.key", site.database().display());
    let first = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    site.start_with(&["--new-key", "--yes"]);
    let (_, lines) = checked(&site);
    assert!(lines[0].0 == "note" && lines[0].1.contains("another key"), "{lines:?}");
    site.clock().advance_s(3600);
    let other = copied();
    assert!(other > fitting);
    assert_eq!(checked(&site).1[0].0, "ok");
    site.stop();
    // The first key is put back, so the newest copy is no use.
    std::fs::write(&key, first).unwrap();
    let said = site.command(&["restore", &folder]).ok();
    assert!(said.contains(&format!("{} is the newest good copy", fitting.display())), "{said}");
    assert!(said.contains(&format!("Passed over: {}", other.display())), "{said}");
    remove_aside(&site);
    site.start_again();
}

fn remove_aside(site: &crate::support::site::Site) {
    for entry in std::fs::read_dir(site.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        if name.contains("before-restore") || name.contains(".replaced-") {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
#[ignore = "needs Litestream; tests/run installs it"]
fn a_copy_from_before_the_replica_goes_on_in_the_epoch_of_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}/replica", folder.path().display());
    let machine = Machine::with(&url, &litestream());
    machine.ok(&["migrate"]);
    machine.ok(&["backup", "before.db"]);
    let mut server = machine.serve();
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    // Nothing of the database can be read any more, neither of its epoch.
    std::fs::write(machine.path("seller.db"), vec![0xaa; 64 << 10]).unwrap();
    machine.ok(&["restore", "before.db"]);
    let mut server = machine.serve();
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
}
