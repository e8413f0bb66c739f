//! Rules about the source tree itself, so that they need no reviewer. Who may name
//! whom is in `arrows.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::process::{EXECUTABLE, run};

/// Files longer than this are listed in [`LONG_FILES`] with a reason.
const LONG: usize = 600;

/// Long files that should not be split, and why.
const LONG_FILES: [(&str, &str); 6] = [
    ("Cargo.lock", "generated"),
    ("docs/grafana.json", "a dashboard, as Grafana writes it"),
    ("docs/operations.md", "one document to search in at night"),
    ("install.sh", "fetched and run as one file"),
    ("schema.sql", "the whole database in one place"),
    ("src/routes.rs", "every address in one table"),
];

/// A text file of the tree, by its path from the root.
struct Source {
    path: String,
    text: String,
}

#[test]
fn everything_that_is_audited_has_a_word() {
    let tree = rust_sources();
    let words = tree.iter().find(|file| file.path == "src/audit/objects.rs");
    let words = &words.expect("the words of the audit log").text;
    let mut wrong = Vec::new();
    for file in tree.iter().filter(|file| file.path.starts_with("src/")) {
        for rest in file.text.split("object: \"").skip(1) {
            let object = rest.split('"').next().unwrap_or_default();
            if !words.contains(&format!(" = \"{object}\", \"")) {
                wrong.push(format!("{} audits {object:?}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn private_fields_are_not_searched() {
    let schema = std::fs::read_to_string(root().join("schema.sql")).unwrap();
    let keys = schema.lines().filter(|line| line.trim_start().starts_with("search "));
    let keys: Vec<&str> = keys.collect();
    let mut seen = 0;
    for file in rust_sources() {
        let fields = file.text.lines().filter_map(|line| line.trim().strip_suffix(": Private,"));
        for name in fields.map(|field| field.trim_start_matches("pub ")) {
            seen += 1;
            let lists =
                file.text.split("searched: &[").skip(1).filter_map(|it| it.split(']').next());
            let searched = lists.chain(keys.iter().copied()).find(|text| text.contains(name));
            assert_eq!(searched, None, "{} searches {name}", file.path);
        }
    }
    assert!(seen > 0, "no field is private, not even that of the test");
}

/// The table "Words that the panels do not use" of the glossary is held in templates and
/// in what the code says in sentences.
#[test]
fn panels_use_the_words_of_the_glossary() {
    let glossary = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let (_, table) = glossary.split_once("### Words that the panels do not use").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let words: Vec<_> = rows.filter_map(|row| row.split_once(" | ")).collect();
    assert!(words.len() > 10, "the table was not found");
    let mut wrong = Vec::new();
    for file in sources() {
        let said = if file.path.starts_with("assets/templates/") {
            seen(&file.text)
        } else if is_panel_code(&file.path) {
            sentences(&file.text)
        } else {
            continue;
        };
        let said = said.to_lowercase();
        for (word, instead) in &words {
            let begins = |at: &usize| {
                let before = said[..*at].chars().next_back();
                !before.is_some_and(|one| one.is_alphanumeric() || "_-./=`".contains(one))
            };
            if said.match_indices(word).any(|(at, _)| begins(&at)) {
                wrong.push(format!("{}: {word:?}, not {instead}", file.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Code whose sentences are in Portuguese.
fn is_panel_code(path: &str) -> bool {
    let english = ["src/routes.rs", "src/developers/", "src/partner/", "src/cli/", "src/sandbox/"];
    path.starts_with("src/")
        && !path.contains("/tests")
        && !english.iter().any(|place| path.starts_with(place))
}

/// What people see of a template: neither its tags nor its code.
fn seen(template: &str) -> String {
    let mut text = template.to_owned();
    for (open, close) in
        [("{#", "#}"), ("{%", "%}"), ("{{", "}}"), ("<code", "</code>"), ("<", ">")]
    {
        let mut rest = &*text;
        let mut kept = String::new();
        while let Some((before, inside)) = rest.split_once(open) {
            kept.push_str(before);
            rest = inside.split_once(close).map_or("", |(_, after)| after);
        }
        kept.push_str(rest);
        text = kept;
    }
    text
}

/// The texts of Rust code that are a sentence in Portuguese: they begin with a capital
/// letter and have a blank.
fn sentences(code: &str) -> String {
    let mut found = String::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for text in line.split('"').skip(1).step_by(2) {
            if text.contains(' ') && text.starts_with(char::is_uppercase) {
                found.push_str(text);
                found.push('\n');
            }
        }
    }
    found
}

/// A conflict with words for programs alone is made where programs alone call, so that no
/// panel says one without words for people.
#[test]
fn panels_have_words_for_people() {
    let mut wrong = Vec::new();
    for file in rust_sources().into_iter().filter(|file| file.path.starts_with("src/")) {
        let is_of_programs = ["src/partner/", "src/integration/"]
            .iter()
            .any(|room| file.path.starts_with(room) && !file.path.contains("/pages"));
        if is_of_programs || file.path == "src/http/problem.rs" {
            continue;
        }
        for made in ["program_conflict(", "Problem::new(Code::Conflict"] {
            if file.text.contains(made) {
                wrong.push(format!("{} makes {made}", file.path));
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
fn decisions_that_comments_name_exist() {
    let tree = sources();
    let mut there = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in tree.iter().filter(|file| file.path.starts_with("docs/decisions/")) {
        let room = Path::new(&file.path).file_stem().unwrap().to_string_lossy().into_owned();
        for entry in file.text.split("\n### ").skip(1) {
            let (name, told) = entry.split_once("\n\n").unwrap_or((entry, ""));
            let number = name.strip_prefix(&format!("{room}-"));
            let is_numbered = number.is_some_and(|number| number.parse::<u32>().is_ok());
            if !is_numbered || !told.starts_with("- **Decided** (20") || !there.insert(name) {
                wrong.push(format!("{} has {name:?} without a date, or twice", file.path));
            }
        }
    }
    assert!(there.len() > 100, "the decisions were not found");
    for file in tree.iter().filter(|file| file.path.starts_with("src/")) {
        for rest in file.text.split("Decision").skip(1) {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            let names = rest.strip_prefix(' ').unwrap_or_default().split('.').next();
            for name in names.unwrap_or_default().split(", ") {
                let is_name = name.split_once('-').is_some_and(|(room, number)| {
                    room.chars().all(|c| c.is_ascii_lowercase())
                        && number.chars().all(|c| c.is_ascii_digit())
                });
                if is_name && !there.contains(name) {
                    wrong.push(format!("{} names {name}", file.path));
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
