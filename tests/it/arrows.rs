//! Who may name whom in `src/`: no circle of files but through `App`, the ground knows
//! no domain, and only the tables above the domains name another room's handlers.
//!
//! Files and their items are found by reading `use` declarations and paths. Names in
//! tests count as little as comments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rooms that know nobody above them, the lowest first. A room may name those before it.
const GROUND: [&str; 4] = ["base", "config", "db", "http"];

/// Rooms that are lists of what domains have, or begin the service; nobody below names them.
const ABOVE: [&str; 9] =
    ["main", "cli", "routes", "behind", "diagnostics", "cron", "effects", "sandbox", "fixture"];

/// Rooms beside the domains, which domains use and which know domains; of them only their
/// files may form no circle.
const BESIDE: [&str; 12] = [
    "app",
    "audit",
    "changes",
    "edge",
    "identity",
    "journal",
    "noun",
    "outbox",
    "panel",
    "services",
    "settings",
    "invalidation",
];

/// The only file through which a circle may go.
const HUB: &str = "app.rs";
/// Files that may stand in one circle through it.
const MOST_IN_CIRCLE: usize = 30;

/// The source files, and by whom each is named.
struct Tree {
    /// Code without comments and tests, by path below `src/`.
    code: BTreeMap<String, String>,
    /// Arrows from file to file.
    arrows: BTreeMap<String, BTreeSet<String>>,
}

/// A path of names, from the crate's root.
type Names = Vec<String>;

#[test]
fn no_circle_of_rooms_but_through_the_app() {
    let tree = Tree::read();
    let mut arrows = tree.arrows.clone();
    arrows.remove(HUB);
    let wrong: Vec<_> = circles(&arrows)
        .into_iter()
        .filter(|circle| circle.iter().map(|file| room(file)).collect::<BTreeSet<_>>().len() > 1)
        .collect();
    assert!(wrong.is_empty(), "files of several rooms know each other: {wrong:#?}");
}

#[test]
fn domains_form_no_circle() {
    let domain = |file: &str| {
        let room = room(file);
        let others = [&GROUND[..], &ABOVE, &BESIDE].concat();
        (!others.contains(&room)).then(|| room.to_owned())
    };
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, named) in &Tree::read().arrows {
        let Some(from) = domain(file) else { continue };
        let to = named.iter().filter_map(|to| domain(to)).filter(|to| *to != from);
        arrows.entry(from.clone()).or_default().extend(to);
    }
    let wrong = circles(&arrows);
    assert!(wrong.is_empty(), "domains know each other: {wrong:#?}");
}

#[test]
fn the_circle_through_the_app_is_small() {
    let tree = Tree::read();
    for circle in circles(&tree.arrows) {
        assert!(circle.len() <= MOST_IN_CIRCLE, "{} files: {circle:#?}", circle.len());
    }
}

#[test]
fn the_ground_knows_no_domain_and_nobody_knows_what_stands_above() {
    let tree = Tree::read();
    let mut wrong = Vec::new();
    for (file, named) in &tree.arrows {
        let from = room(file);
        for to in named.iter().filter(|to| room(to) != from) {
            let lower = GROUND.iter().position(|ground| *ground == from);
            let reaches = GROUND.iter().position(|ground| *ground == room(to));
            let is_low_enough = lower.is_none_or(|own| reaches.is_some_and(|other| other < own));
            let is_above = ABOVE.contains(&room(to)) && !ABOVE.contains(&from);
            if !is_low_enough || is_above {
                wrong.push(format!("{file} names {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A handler is known by its signature: the app, who is calling, and the request.
#[test]
fn only_the_tables_above_name_handlers_of_another_room() {
    let tree = Tree::read();
    let handlers: BTreeMap<&str, Vec<&str>> =
        tree.code.iter().map(|(file, code)| (&**file, handlers(code))).collect();
    let found: usize = handlers.values().map(Vec::len).sum();
    assert!(found > 200, "only {found} handlers were found");
    let mut wrong = Vec::new();
    for (file, names) in tree.code.iter().map(|(file, code)| (file, paths(code))) {
        if ABOVE.contains(&room(file)) {
            continue;
        }
        for name in names {
            let Some((target, Some(item))) = tree.find(file, &name) else { continue };
            let is_handler = handlers.get(&*target).is_some_and(|all| all.contains(&&*item));
            if room(&target) != room(file) && is_handler {
                wrong.push(format!("{file} names the handler {target} {item}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands where is the same in all rooms: handlers in `pages` or `api`, as a file or
/// as a folder; what templates print in a file of views; and SQL in a store or in a file
/// of its subject, away from nouns and rules (`mod.rs`) and from what answers requests,
/// runs on time or shapes an answer.
#[test]
fn handlers_sql_and_templates_stand_where_they_belong() {
    let tree = Tree::read();
    let mut wrong = Vec::new();
    for (file, code) in &tree.code {
        let mut parts = file.split(['/', '.']).skip(1);
        if !handlers(code).is_empty() && !parts.any(|part| matches!(part, "pages" | "api")) {
            wrong.push(format!("{file} holds handlers and is neither of pages nor of an api"));
        }
        if let Some(what) = without_sql(file, code)
            && holds_sql(code)
        {
            wrong.push(format!("{file} holds {what} and SQL"));
        }
        if file.ends_with("mod.rs") && holds_statement(code) {
            wrong.push(format!("{file} holds nouns and rules, and SQL"));
        }
        let is_of_views = file.ends_with("views.rs") || file.starts_with("panel/view/");
        if code.contains("#[template(path") && !is_of_views && room(file) != "sandbox" {
            wrong.push(format!("{file} holds what a template prints"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_and_a_handler_are_seen() {
    let arrows = [("a/x.rs", "b/y.rs"), ("b/y.rs", "c.rs"), ("c.rs", "a/x.rs"), ("d.rs", "c.rs")];
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in arrows {
        all.entry(from.to_owned()).or_default().insert(to.to_owned());
    }
    assert_eq!(circles(&all), [["a/x.rs", "b/y.rs", "c.rs"]]);
    let code = "pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {}\n\
                fn (app: &App) {}\npub fn open(_: &App, (): &(), _: &Request) -> Result<Job, Problem> {}\n\
                pub fn layout(app: &App, person: &Person, request: &Request) -> Layout {}\n\
                pub fn other(app: &App, id: i64) -> Result<Reply, Problem> {}";
    assert_eq!(handlers(code), ["list", "open"]);
    assert!(holds_sql("f(\"a\", \"\\\n  SELECT 1\")") && !holds_sql("f(\"a\", \"UPDATED\")"));
    assert!(holds_sql("f(\"FROM sale\")") && holds_sql("f(\"sku = :sku\")"));
    assert!(!holds_sql("f(\"FROM\", \"a:b = c?\")"));
    let what = |file, code| without_sql(file, code).unwrap_or("nothing");
    assert_eq!(what("a/x.rs", "impl Operation for List {"), "operations");
    assert_eq!(what("a/x.rs", "fn pack(app: &App, _: &mut Report) -> TaskResult"), "tasks");
    assert_eq!(what("a/views/x.rs", ""), "what is shown");
    assert_eq!(what("a/x.rs", "fn list(tx: &ReadTx)"), "nothing");
    let names = paths("use crate::a::{self, b::{C, d as e}};\nlet x = super::f::g(1);");
    let names: Vec<String> = names.iter().map(|name| name.join("::")).collect();
    assert_eq!(names, ["crate::a::self", "crate::a::b::C", "crate::a::b::d", "super::f::g"]);
}

impl Tree {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut code = BTreeMap::new();
        collect(&root, &root, &mut code);
        assert!(code.len() > 500, "the tree was not found");
        let mut tree = Self { code, arrows: BTreeMap::new() };
        let arrows = tree.code.iter().map(|(file, code)| {
            let named = paths(code).into_iter().filter_map(|name| tree.find(file, &name));
            let others = named.map(|(target, _)| target);
            let others = others.filter(|target| target != file && target != "main.rs");
            (file.clone(), others.collect())
        });
        tree.arrows = arrows.collect();
        tree
    }

    /// The file that a path leads to from another, with the item named in it.
    fn find(&self, from: &str, name: &[String]) -> Option<(String, Option<String>)> {
        self.follow(&self.absolute(from, name)?, 6)
    }

    fn follow(&self, name: &[String], left: usize) -> Option<(String, Option<String>)> {
        let (file, rest) = (0..=name.len()).rev().find_map(|length| {
            let file = self.file(&name[..length])?;
            Some((file, &name[length..]))
        })?;
        let Some(item) = rest.first() else { return Some((file, None)) };
        // An item that the module only passes on stands elsewhere.
        let passed_on = reexported(&self.code[&file]).into_iter().find(|(known, _)| known == item);
        if let Some((_, path)) = passed_on
            && left > 0
            && let Some(path) = self.absolute(&file, &path)
            && path != name
        {
            return self.follow(&path, left - 1);
        }
        Some((file, Some(item.clone())))
    }

    /// The file of a module.
    fn file(&self, module: &[String]) -> Option<String> {
        if module.is_empty() {
            return Some("main.rs".to_owned());
        }
        let path = module.join("/");
        [format!("{path}.rs"), format!("{path}/mod.rs")]
            .into_iter()
            .find(|file| self.code.contains_key(file))
    }

    /// A path as written in a file, from the crate's root; `None` for those of other crates.
    fn absolute(&self, from: &str, name: &[String]) -> Option<Names> {
        let mut base = module(from);
        let mut rest = name;
        match rest.first()?.as_str() {
            "crate" => return Some(rest[1..].to_vec()),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                self.file(&base)?;
                rest = &rest[1..];
            }
        }
        base.extend_from_slice(rest);
        base.retain(|part| part != "self");
        Some(base)
    }
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let is_test = name.ends_with("tests.rs") || name.contains("/tests/");
        let is_sample = name.ends_with("samples.rs") || name == "fixture.rs" || name == "build.rs";
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !is_test && !is_sample {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            found.insert(name, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The folder or file directly under `src/` that a file belongs to.
fn room(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The module of a file.
fn module(file: &str) -> Names {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "main" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The declarations `use …;` of some code, each with the word before it.
fn uses(code: &str) -> Vec<(bool, &str)> {
    let starts = code
        .match_indices("use ")
        .filter(|(at, _)| *at == 0 || code[..*at].ends_with(|before: char| before.is_whitespace()));
    let found = starts.filter_map(|(at, _)| {
        let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let is_passed_on = code[line..at].trim_start().starts_with("pub");
        Some((is_passed_on, code[at + 4..].split_once(';')?.0))
    });
    found.collect()
}

/// Every path that some code names.
fn paths(code: &str) -> Vec<Names> {
    let mut found = Vec::new();
    for (_, tree) in uses(code) {
        expand("", tree, &mut found);
    }
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        let start = start.map_or(0, |before| before + 1);
        let begins = &code[start..at];
        let end = code[at..].find(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
        let whole = &code[start..end.map_or(code.len(), |end| at + end)];
        let is_first = matches!(begins, "crate" | "self" | "super");
        let line = code[..start].rfind('\n').map_or(0, |end| end + 1);
        if is_first && !code[line..start].contains("use ") {
            found.push(names(whole));
        }
    }
    found
}

/// What a module passes on with `pub use`, by name.
fn reexported(code: &str) -> Vec<(String, Names)> {
    let mut all = Vec::new();
    for (_, tree) in uses(code).into_iter().filter(|(is_passed_on, _)| *is_passed_on) {
        expand("", tree, &mut all);
    }
    all.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
}

/// The paths of one tree of a `use`.
fn expand(before: &str, tree: &str, found: &mut Vec<Names>) {
    let Some((head, inner)) = tree.split_once('{') else {
        let path = format!("{before}{}", tree.trim());
        let path = path.split(" as ").next().unwrap_or_default().trim();
        if !path.is_empty() {
            found.push(names(path));
        }
        return;
    };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let before = format!("{before}{}", head.trim());
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&before, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    expand(&before, &inner[start..], found);
}

fn names(path: &str) -> Names {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The public functions of some code that take the app, who is calling, and the request,
/// and answer it.
fn handlers(code: &str) -> Vec<&str> {
    const ANSWERS: [&str; 3] =
        ["Result<Reply, Problem>", "Result<Job, Problem>", "Result<Todo<Reply>, Problem>"];
    let functions = code.split("pub fn ").skip(1).filter_map(|rest| rest.split_once('('));
    let handlers = functions.filter(|(_, rest)| {
        let Some((parameters, answer)) = rest.split_once(") -> ") else { return false };
        let mut types = parameters.split(": &").skip(1);
        types.next().is_some_and(|first| first.starts_with("App,"))
            && types.next().is_some()
            && types.next().is_some_and(|last| last.trim_end_matches([',', '\n', ' ']) == "Request")
            && types.next().is_none()
            && ANSWERS.iter().any(|one| answer.starts_with(one))
    });
    handlers.map(|(name, _)| name).filter(|name| !name.contains('<')).collect()
}

/// What a file holds that must not stand beside SQL.
fn without_sql(file: &str, code: &str) -> Option<&'static str> {
    let mut parts = file.split(['/', '.']);
    let holds = [
        (!handlers(code).is_empty(), "handlers"),
        (code.contains("Operation for "), "operations"),
        (code.contains("&mut Report) -> TaskResult"), "tasks"),
        (parts.any(|part| matches!(part, "views" | "wire")), "what is shown"),
    ];
    holds.into_iter().find_map(|(is_held, what)| is_held.then_some(what))
}

/// The texts of some code.
fn texts(code: &str) -> impl Iterator<Item = &str> {
    let texts = code.split('"').skip(1).step_by(2);
    texts.map(|text| text.trim_start_matches(['\\', '\n', ' ']))
}

/// Whether a text of some code begins as a statement does, or as the rest of one.
fn holds_statement(code: &str) -> bool {
    const BEGINS: [&str; 7] =
        ["SELECT ", "INSERT INTO ", "INSERT OR ", "UPDATE ", "DELETE FROM ", "WITH ", "FROM "];
    texts(code).any(|text| BEGINS.iter().any(|begin| text.starts_with(begin)))
}

/// Whether some code holds a statement, or a condition with a value of one.
fn holds_sql(code: &str) -> bool {
    let is_value = |text: &str| {
        let name = text.strip_prefix([':', '?']);
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    holds_statement(code) || texts(code).any(|text| text.split(" = ").skip(1).any(is_value))
}

/// Groups of more than one that all reach each other, each in order.
fn circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(one) = next.pop() {
            for to in arrows.get(one).into_iter().flatten() {
                if seen.insert(&**to) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (&**from, reached(from))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (from, to) in &all {
        let back = to.iter().filter(|other| all.get(*other).is_some_and(|its| its.contains(from)));
        let circle: Vec<String> = back.map(|one| (*one).to_owned()).collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}
