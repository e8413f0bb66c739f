//! The last figures: written into `docs/proof.md` by the tests that measured them.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::setting;
use crate::support::process::run;

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/proof.md")
}

/// Tells what was measured for a row of the plan, such as `F02`. With `PROOF_WRITE`,
/// which says when and how it was measured, it goes into that row's last column.
pub fn figure(row: &str, measured: &str) {
    eprintln!("{row}: {measured}");
    change(|text, when| {
        let begin = format!("| {row} |");
        let lines = text.lines().map(|line| match line.strip_suffix(" |") {
            Some(cells) if line.starts_with(&begin) => {
                let kept = cells.rsplit_once(" | ").expect("a row has columns").0;
                format!("{kept} | {measured} ({when}) |\n")
            }
            _ => format!("{line}\n"),
        });
        lines.collect()
    });
}

/// Puts a table in the place of the one between two marks; told in the output, too.
pub fn table(name: &str, lines: &[String]) {
    eprintln!("{name}:\n{}", lines.join("\n"));
    change(|text, when| {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = text.split_once(&begin).expect("the table's beginning");
        let (_, after) = rest.split_once(&end).expect("the table's end");
        format!("{before}{begin}\n{when}.\n\n{}\n\n{end}{after}", lines.join("\n"))
    });
}

fn change(edit: impl FnOnce(String, &str) -> String) {
    let Some(when) = setting("PROOF_WRITE") else { return };
    // Tests run at the same time, each as a process.
    let lock = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("proof.lock")).unwrap();
    lock.lock().unwrap();
    let text = std::fs::read_to_string(document()).unwrap();
    std::fs::write(document(), edit(text, &when)).unwrap();
}

/// The tests that the document names, between backticks as `module::test`.
fn named(text: &str) -> BTreeSet<String> {
    let pieces = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_test = |piece: &&str| {
        piece.contains("::") && piece.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c))
    };
    pieces.filter(is_test).map(str::to_owned).collect()
}

#[test]
fn every_test_that_the_document_names_exists() {
    let text = std::fs::read_to_string(document()).unwrap();
    let mut list = Command::new(std::env::current_exe().unwrap());
    let here = run(list.args(["--list", "--format", "terse"]), "").stdout;
    // Those beside the code are known by their text: another executable has them.
    let mut beside = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                beside += &std::fs::read_to_string(&path).unwrap();
            }
        }
    }
    let is_there = |name: &String| match name.strip_prefix("src::") {
        Some(path) => beside.contains(&format!("fn {}(", path.rsplit("::").next().unwrap())),
        None => here.lines().any(|line| line == format!("{name}: test")),
    };
    let named = named(&text);
    assert!(named.len() > 20, "the document names {} tests", named.len());
    let missing: Vec<_> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "docs/proof.md names tests that do not exist: {missing:#?}");
    for promise in 1..=8 {
        let row = text.lines().find(|line| line.starts_with(&format!("| P{promise} |")));
        let row = row.unwrap_or_else(|| panic!("no row for P{promise}"));
        assert!(row.matches("::").count() > 0, "no test proves P{promise}");
    }
}
