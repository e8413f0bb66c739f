//! The sandbox's files use each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Code of the sandbox's files outside tests, by path below its folder.
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sandbox");
    let mut found = BTreeMap::new();
    for folder in ["", "telegram/"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                assert!(matches!(name, "telegram" | "tests"), "{name} is not looked at");
            } else if let Some(name) = name.strip_suffix(".rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
                found.insert(format!("{folder}{name}"), code);
            }
        }
    }
    found
}

/// The first two parts of each path that the code names after `prefix`, alone or in
/// a braced list.
fn named<'c>(code: &'c str, prefix: &str) -> Vec<(&'c str, &'c str)> {
    let mut found = Vec::new();
    for rest in code.split(prefix).skip(1) {
        let entries: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split("};").next().unwrap().split(',').collect(),
            None => vec![rest],
        };
        for entry in entries {
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            let mut parts = entry.trim().split("::");
            let mut part = || parts.next().unwrap_or_default().split(word).next().unwrap();
            found.push((part(), part()));
        }
    }
    found.retain(|(module, _)| !module.is_empty());
    found
}

#[test]
fn files_form_no_circle() {
    let files = files();
    assert!(files.len() > 30);
    let mut arrows: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (file, code) in &files {
        // The sandbox's `mod.rs` starts everything and may use everything.
        if file == "mod" {
            continue;
        }
        let is_beside = !file.contains('/') || file.ends_with("/mod");
        let mut uses = named(code, if is_beside { "super::" } else { "crate::sandbox::" });
        uses.extend(named(code, "telegram::").iter().map(|(item, _)| ("telegram", *item)));
        let needs = arrows.entry(file).or_default();
        for (module, item) in uses {
            let deeper = format!("{module}/{item}");
            let target = [deeper, format!("{module}/mod"), module.to_owned()];
            let target = target.into_iter().find(|target| files.contains_key(target));
            needs.insert(target.unwrap_or_else(|| panic!("{file} uses {module} of mod.rs")));
        }
        if !is_beside {
            for (item, _) in named(code, "super::") {
                let sibling = format!("telegram/{item}");
                let is_file = files.contains_key(&sibling);
                needs.insert(if is_file { sibling } else { "telegram/mod".to_owned() });
            }
        }
        needs.remove(file);
    }
    // Repeatedly remove a file that needs none of the files left.
    while let Some(free) = arrows
        .iter()
        .find(|(_, needs)| !needs.iter().any(|need| arrows.contains_key(need.as_str())))
        .map(|(file, _)| *file)
    {
        arrows.remove(free);
    }
    assert!(arrows.is_empty(), "a circle among {arrows:#?}");
}
