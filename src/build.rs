//! Tells the program which commit it is built from, for `--version`.
//!
//! The commit and its day come from Git, or from `commit.txt`, which `git archive`
//! fills in. A source tree that knows neither builds a program that names none.
//! Nothing of the machine or of the moment goes into it.
//!
//! It also lists the steps of the schema, so that a new one is only a file.

#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/build.rs");
    println!("cargo:rerun-if-changed=src/commit.txt");
    let commit = from_git().or_else(from_archive);
    let commit = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo:rustc-env=SELLER_PLATFORM_COMMIT={commit}");
    write_steps();
}

/// Writes the steps of the schema as a list that `db/migrate.rs` includes. The first
/// file is the first release, from which they lead on.
fn write_steps() {
    let folder = Path::new("src/db/migrations").canonicalize().expect("the folder of the steps");
    println!("cargo:rerun-if-changed=src/db/migrations");
    let files = std::fs::read_dir(&folder).expect("a readable folder");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a file").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    let step = |name: &String| {
        let path = folder.join(name);
        let (path, name) = (path.display().to_string(), name.trim_end_matches(".sql"));
        format!("    Step {{ name: {name:?}, sql: include_str!({path:?}) }},\n")
    };
    let steps: String = names.iter().skip(1).map(step).collect();
    #[expect(clippy::disallowed_methods, reason = "this is how cargo says where to write")]
    let folder = std::env::var("OUT_DIR").expect("a folder for the list");
    let list = Path::new(&folder).join("steps.rs");
    std::fs::write(list, format!("[\n{steps}]\n")).expect("a writable folder");
}

/// Commit and day of the working tree, when this folder is the top of one: sources
/// may also lie in the tree of something else.
fn from_git() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(".").canonicalize().ok()? {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        // A path that is missing would make cargo build anew each time.
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

/// What `git archive` has written in the place of the format.
fn from_archive() -> Option<String> {
    let text = std::fs::read_to_string("src/commit.txt").ok()?;
    let commit = text.trim();
    (!commit.is_empty() && !commit.contains('$')).then(|| commit.to_owned())
}

/// The first line that Git prints. The one who builds need not own the folder.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(["-c", "safe.directory=*"]).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
