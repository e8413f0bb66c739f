//! The demonstration: what it prints, what it logs, what it leaves behind, and
//! whether the README's first steps name what is on its pages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::client::{Client, Request};
use crate::support::page_rules;
use crate::support::process::{EXECUTABLE, Process};
use crate::support::wait::until;

/// How long making the sample data may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

fn start(folder: &TempDir) -> Process {
    let mut command = Command::new(EXECUTABLE);
    command
        .env_clear()
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .args(["serve", "--demo", "--listen", ":0"]);
    Process::start(&mut command)
}

fn page(demo: &Process, target: &str, cookie: &str) -> crate::support::client::Reply {
    let request =
        Request::new("GET", target).header("Accept", "text/html").header("Cookie", cookie);
    let reply = Client::default().send(demo.address, &request).unwrap();
    let mut wrong = Vec::new();
    page_rules::markup(&reply.text(), &mut wrong);
    assert!(wrong.is_empty(), "{target}: {wrong:?}");
    reply
}

/// Folders of demonstrations in a folder.
fn left(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let is_ours = |name: &str| name.starts_with("seller-platform-demo-");
    let ours = entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
    ours.map(|entry| entry.path()).collect()
}

/// A step of the README, and its text in bold or in italics.
fn step(number: usize) -> (String, Vec<String>) {
    let readme = include_str!("../../../README.md");
    let text = readme.split_once("Now make a sale").unwrap().1;
    let text = text.split_once(&format!("\n{number}. ")).unwrap().1;
    let text = text.split_once(&format!("\n{}. ", number + 1)).unwrap().0;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let marked = text.replace("**", "*");
    let words = marked.split('*').skip(1).step_by(2).map(str::to_owned).collect();
    (text, words)
}

#[test]
fn its_words_stay_in_sight_and_the_readme_names_its_buttons() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = start(&folder);
    let said = demo.log();
    assert!(said.lines().next().is_some_and(|line| line.contains("preparing")), "{said}");
    // While the sample data is made nothing is logged; later only failed requests.
    until("what failed is logged", PATIENCE, || {
        page(&demo, "/nao-existe", "").expect(404);
        demo.log().contains("/nao-existe").then_some(())
    });
    let login = page(&demo, "/entrar", "").expect(200).text();
    let (text, words) = step(1);
    assert!(text.contains("/entrar") && words.len() > 1, "{text}");
    for word in &words {
        assert!(login.contains(word.as_str()), "step 1 names {word:?}, the page does not");
    }
    let fields = [("email", "ana@exemplo.com"), ("senha", "demonstracao")];
    let entered = Request::new("POST", "/entrar").header("Accept", "text/html").form(&fields);
    let entered = Client::default().send(demo.address, &entered).unwrap().expect(303);
    let cookie = entered.session_cookie().unwrap().to_owned();
    let home = page(&demo, "/painel", &cookie).expect(200).text();
    let (text, words) = step(3);
    assert!(words.len() > 1, "{text}");
    for word in &words {
        assert!(home.contains(word.as_str()), "step 3 names {word:?}, the page does not");
    }
    assert!(demo.stop(Duration::from_secs(30)).success());
    let log = demo.log();
    let answered: Vec<&str> = log.lines().filter(|line| line.contains(" request ")).collect();
    assert!(!answered.is_empty(), "{log}");
    for line in answered {
        assert!(line.contains("status=4") || line.contains("status=5"), "{line}");
    }
    assert_eq!(left(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn what_a_killed_one_left_goes_when_the_next_begins() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = start(&folder);
    killed.kill();
    let [orphan] = &left(folder.path())[..] else { panic!("one folder") };
    // A folder that is like ours only in its name.
    let foreign = folder.path().join("seller-platform-demo-fotos");
    std::fs::create_dir(&foreign).unwrap();
    let kept = folder.path().join("seller-platform-demo-00112233aabb");
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(kept.join("tese.odt"), "x").unwrap();
    let mut first = start(&folder);
    assert!(!orphan.exists(), "it is still there");
    let living = left(folder.path());
    let mut second = start(&folder);
    for path in living.iter().chain([&foreign, &kept]) {
        assert!(path.exists(), "{} was taken away", path.display());
    }
    assert_eq!(left(folder.path()).len(), 4);
    first.kill();
    second.kill();
}
