//! Rules about the source tree itself, so that they need no reviewer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::process::{EXECUTABLE, run};

/// The folder of small types that all may use and that use only each other.
const SMALL: [&str; 1] = ["base"];

/// Folders that know no domain.
const GROUND: [&str; 3] = ["config", "db", "http"];

/// Folders that know the domains; no domain knows them.
const UPSTAIRS: [&str; 8] =
    ["main", "cli", "routes", "diagnostics", "cron", "sandbox", "page_samples", "fixture"];

/// Folders beside the domains: what handlers may use, who is calling, and how a
/// request is handled.
const BESIDE: [&str; 9] =
    ["app", "audit", "behind", "changes", "edge", "journal", "outbox", "panel", "stale"];

/// Files longer than this are listed in [`LONG_FILES`] with a reason.
const LONG: usize = 600;

/// Long files that should not be split, and why.
const LONG_FILES: [(&str, &str); 8] = [
    ("Cargo.lock", "generated"),
    ("docs/grafana.json", "a dashboard, as Grafana writes it"),
    ("docs/decisions.md", "a list, read by its headings"),
    ("docs/operations.md", "one document to search in at night"),
    ("install.sh", "fetched and run as one file"),
    ("schema.sql", "the whole database in one place"),
    ("src/page_samples.rs", "flat sample data for every page"),
    ("src/routes.rs", "every address in one table"),
];

/// A text file of the tree, by its path from the root.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The folder or file directly under `src/` that it belongs to.
    fn room(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        let first = below.split('/').next()?;
        Some(first.strip_suffix(".rs").unwrap_or(first))
    }

    /// Folders named in its code outside tests, with the item after the folder.
    fn uses(&self) -> BTreeSet<(&str, &str)> {
        let tests = ["tests.rs", "samples.rs"];
        let is_test =
            self.path.contains("/tests/") || tests.iter().any(|end| self.path.ends_with(end));
        let code = self.text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        let code = if is_test { "" } else { code };
        code.lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split("crate::").skip(1))
            .map(|rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
                let mut names = rest[..end.unwrap_or(rest.len())].split("::");
                let room = names.next().unwrap_or_default();
                let item = names.next().unwrap_or_default();
                // A domain with subfolders has its handlers one level deeper.
                let deeper = names.next().filter(|name| is_handler(name));
                (room, deeper.unwrap_or(item))
            })
            .collect()
    }
}

#[test]
fn arrows_between_rooms_point_one_way() {
    let tree = rust_sources();
    let rooms: BTreeSet<&str> = tree.iter().filter_map(Source::room).collect();
    let mut wrong = Vec::new();
    for file in &tree {
        let Some(from) = file.room() else { continue };
        for (to, item) in file.uses() {
            // A list of folders in braces would not be found by this check.
            let hidden = to.is_empty();
            if hidden || to != from && rooms.contains(to) && !may_use(from, to, item) {
                wrong.push(format!("{} uses crate::{to}::{item}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn may_use(from: &str, to: &str, item: &str) -> bool {
    if SMALL.contains(&to) {
        return true;
    }
    if SMALL.contains(&from) {
        return false;
    }
    if UPSTAIRS.contains(&from) {
        return true;
    }
    match from {
        "config" => false,
        "db" => to == "config",
        "http" => GROUND.contains(&to),
        _ if UPSTAIRS.contains(&to) => false,
        // Only the route table may call a handler.
        _ if is_domain(to) => !is_handler(item),
        _ => true,
    }
}

/// Whether a file contains handlers, by its name.
fn is_handler(name: &str) -> bool {
    matches!(name, "api" | "pages")
}

fn is_domain(room: &str) -> bool {
    ![&SMALL[..], &GROUND, &UPSTAIRS, &BESIDE].concat().contains(&room)
}

#[test]
fn domains_form_no_circle() {
    let tree = rust_sources();
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &tree {
        let Some(from) = file.room().filter(|room| is_domain(room)) else {
            continue;
        };
        let to = file.uses().into_iter().map(|(room, _)| room);
        let to = to.filter(|room| *room != from && is_domain(room));
        arrows.entry(from).or_default().extend(to);
    }
    // Repeatedly removes a folder that needs none of the remaining ones.
    while let Some(free) = arrows
        .iter()
        .find(|(_, needs)| needs.iter().all(|need| !arrows.contains_key(need)))
        .map(|(room, _)| *room)
    {
        arrows.remove(free);
    }
    assert!(arrows.is_empty(), "a circle among {arrows:?}");
}

#[test]
fn everything_that_is_audited_has_a_word() {
    let tree = rust_sources();
    let words = tree.iter().find(|file| file.path == "src/audit/log/mod.rs");
    let words = &words.expect("the words of the audit log").text;
    let mut wrong = Vec::new();
    for file in tree.iter().filter(|file| file.path.starts_with("src/")) {
        for rest in file.text.split("object: \"").skip(1) {
            let object = rest.split('"').next().unwrap_or_default();
            if !words.contains(&format!("(\"{object}\", \"")) {
                wrong.push(format!("{} audits {object:?}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_to_do() {
    // Spelled in two parts, so that this file does not name what it forbids.
    let notes = [["TO", "DO"], ["FIX", "ME"], ["XX", "X:"], ["todo", "!("]].map(|n| n.concat());
    refuse_words(&notes, |path| !path.contains("/vendor/"));
}

#[test]
fn the_tree_names_no_machine() {
    let places = [
        ["/ro", "ot/"],
        ["/ho", "me/"],
        ["/wo", "rk/"],
        ["/Us", "ers/"],
        ["index.crates", ".io"],
        ["static.crates", ".io"],
        ["replace-", "with"],
    ]
    .map(|part| part.concat());
    refuse_words(&places, |_| true);
}

#[test]
fn dependencies_come_from_the_public_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let public = "\"registry+https://github.com/rust-lang/crates.io-index\"";
    for line in lock.lines() {
        if let Some(source) = line.strip_prefix("source = ") {
            assert_eq!(source, public);
        }
    }
}

#[test]
fn long_files_have_a_reason() {
    for file in sources() {
        let lines = file.text.lines().count();
        let listed = LONG_FILES.iter().any(|(path, _)| *path == file.path);
        assert!(
            lines <= LONG || listed,
            "{} has {lines} lines: split it, or list it with a reason",
            file.path
        );
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for file in rust_sources() {
        assert!(file.text.starts_with("//! "), "{} begins without //!", file.path);
    }
}

#[test]
fn files_that_comments_and_documents_name_exist() {
    let tree = sources();
    let is_there = |name: &str| {
        tree.iter().any(|file| file.path == name || file.path.ends_with(&format!("/{name}")))
    };
    let mut wrong = Vec::new();
    let readable = [".rs", ".md", ".html", ".sql"];
    for file in tree.iter().filter(|file| readable.iter().any(|end| file.path.ends_with(end))) {
        // Every other piece stands between backticks.
        for (line, number) in file.text.lines().zip(1..) {
            for named in line.split('`').skip(1).step_by(2).filter(|named| {
                Path::new(named).extension().is_some_and(|end| end == "rs")
                    && named.chars().all(|c| c.is_alphanumeric() || "_/.".contains(c))
            }) {
                if !is_there(named.trim_start_matches("./")) {
                    wrong.push(format!("{}:{number} names {named}", file.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_setting_stands_in_the_shipped_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let mut show = Command::new(EXECUTABLE);
    show.env_clear().current_dir(&folder).args(["config", "show"]);
    let shown = run(&mut show, "");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let shipped = std::fs::read_to_string(root().join("seller-platform.toml")).unwrap();
    let shipped = keys(&shipped);
    let missing: Vec<String> =
        keys(&shown.stdout).into_iter().filter(|key| !shipped.contains(key)).collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
}

/// `section.key` of every line `key = value`, also a commented one.
fn keys(text: &str) -> BTreeSet<String> {
    let mut section = String::new();
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['#', ' ']);
        let name = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((name, _)) = name {
            name.clone_into(&mut section);
        } else if let Some((key, _)) = line.split_once(" =") {
            let is_key = |c: char| c.is_ascii_alphanumeric() || "_\"-".contains(c);
            if key.chars().all(is_key) {
                found.insert(format!("{section}.{key}"));
            }
        }
    }
    found
}

#[test]
fn every_command_of_the_readme_exists() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README.md");
    let mut seen = 0;
    for command in shell_lines(&readme) {
        let words: Vec<&str> = command
            .split_whitespace()
            .skip_while(|word| !word.ends_with("seller-platform"))
            .skip(1)
            .take_while(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
            .take_while(|word| !word.starts_with('-'))
            .collect();
        if words.is_empty() {
            continue;
        }
        let mut help = Command::new(EXECUTABLE);
        help.env_clear().args(&words).arg("--help");
        let outcome = run(&mut help, "");
        assert_eq!(outcome.code, Some(0), "{command}\n{}", outcome.stderr);
        seen += 1;
    }
    assert!(seen > 0, "the README shows no command");
}

/// Lines of fenced shell blocks.
fn shell_lines(readme: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside && matches!(language, "sh" | "bash" | "console");
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

#[track_caller]
fn refuse_words(words: &[String], concerns: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    for file in sources().iter().filter(|file| concerns(&file.path)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            for word in words.iter().filter(|word| line.contains(*word)) {
                wrong.push(format!("{}:{number} holds {word:?}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn rust_sources() -> Vec<Source> {
    let mut all = sources();
    all.retain(|file| Path::new(&file.path).extension().is_some_and(|end| end == "rs"));
    all
}

/// Every text file of the tree, without what is built or made by running.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    collect(root(), &mut found);
    assert!(found.len() > 10, "the tree was not found");
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "target" || name == ".git" {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let path = path.strip_prefix(root()).unwrap().display().to_string();
            found.push(Source { path, text });
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
