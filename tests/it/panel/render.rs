//! Every page as a picture, for whoever looks at them: `tests/render FOLDER`.
//!
//! Three sites: the demonstration, one with nothing in it, one with much and long
//! of everything. Each page in both themes, as wide as a laptop and as a phone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::furnish::furnish;
use crate::support::page_rules::Rules;
use crate::support::process::{EXECUTABLE, Process};
use crate::support::receiver::with_push;
use crate::support::rows::rules;
use crate::support::site::Site;
use crate::support::webdriver::{Browser, Theme};
use crate::support::world::{LOJA, World};

/// Pages of one row of the route table, at most.
const EACH: usize = 2;
/// Sales and students of the large site.
const SALES: usize = 300;
const STUDENTS: usize = 1_000;

const SIZES: [(&str, u32, u32); 2] = [("laptop", 1280, 800), ("phone", 390, 844)];
const THEMES: [(&str, Theme); 2] = [("light", Theme::Light), ("dark", Theme::Dark)];

/// Whose pages, what is typed to come in, and where they begin.
struct Reader {
    name: &'static str,
    email: String,
    password: String,
    home: &'static str,
}

impl Reader {
    fn of(name: &'static str, actor: &Actor<'_>, home: &'static str) -> Self {
        let person = actor.person();
        Self { name, email: person.email.clone(), password: person.password.clone(), home }
    }
}

#[test]
#[ignore = "makes pictures; tests/render runs it"]
fn every_page_as_a_picture() {
    let folder = std::env::var_os("RENDER_TO").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages"));
    let mut album = Album { folder, pages: String::new(), count: 0 };
    demonstration(&mut album);
    empty(&mut album);
    large(&mut album);
    album.close();
}

fn demonstration(album: &mut Album) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(EXECUTABLE);
    command.env_clear().env("TMPDIR", folder.path()).current_dir(folder.path()).args([
        "serve",
        "--demo",
        "--listen",
        "127.0.0.1:0",
    ]);
    let demo = Process::start(&mut command);
    demo.wait_for_log("demonstracao", std::time::Duration::from_mins(3));
    let base = format!("http://{}", demo.address);
    let rules = rules(&Site::start());
    for (name, email, home) in [
        ("student", "ana@exemplo.com", "/painel"),
        ("supplier", "rui@exemplo.com", "/fornecedor"),
        ("operator", "bia@exemplo.com", "/admin"),
    ] {
        let password = "demonstracao".to_owned();
        album.add("demo", &base, &rules, &Reader { name, email: email.to_owned(), password, home });
    }
}

fn empty(album: &mut Album) {
    let site = Site::builder().unlimited().start();
    let readers = [
        Reader::of("student", &site.person("eva"), "/painel"),
        Reader::of("supplier", &site.person_as("rui", "drop"), "/fornecedor"),
        Reader::of("operator", &site.administrator(), "/admin"),
    ];
    album.add_all("empty", &site, &readers);
}

fn large(album: &mut Album) {
    let world = World::start();
    let site = with_push(&world).start();
    let (ana, operator) = furnish(&site, &world);
    for _ in 0..SALES {
        world.sale(LOJA);
    }
    let rows = (0..STUDENTS)
        .map(|n| format!("Aluno de Nome Comprido Número {n},aluno{n}@exemplo.com,pro\n"));
    let list = format!("nome,email,plano\n{}", rows.collect::<String>());
    let made = operator.post("/admin/alunos/importar", &json!({ "csv": list })).expect(201).json();
    let apply = format!("/admin/alunos/importar/{}/aplicar", made["id"].as_str().unwrap());
    operator.post(&apply, &json!({})).expect(202);
    let readers = [
        Reader::of("student", &ana, "/painel"),
        Reader::of("supplier", &site.person_as("rui", "drop"), "/fornecedor"),
        Reader::of("operator", &operator, "/admin"),
    ];
    album.add_all("large", &site, &readers);
}

/// The folder of pictures, and the page that shows them all.
struct Album {
    folder: PathBuf,
    pages: String,
    count: usize,
}

impl Album {
    fn add_all(&mut self, state: &str, site: &Site, readers: &[Reader]) {
        for reader in readers {
            self.add(state, &site.url(""), &rules(site), reader);
        }
    }

    /// Renders every page that a reader's links lead to.
    fn add(&mut self, state: &str, base: &str, rules: &Rules, reader: &Reader) {
        let browser = Browser::start();
        browser.go(&format!("{base}/entrar"));
        browser.fill("email", &reader.email);
        browser.fill("senha", &reader.password);
        browser.press("Entrar");
        browser.wait_for_path(reader.home);
        let folder = self.folder.join(state).join(reader.name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut waiting = VecDeque::from([reader.home.to_owned()]);
        let mut met = BTreeSet::from([reader.home.to_owned()]);
        let mut shown: BTreeMap<String, usize> = BTreeMap::new();
        while let Some(address) = waiting.pop_front() {
            let Some(row) = rules
                .pages()
                .find(|row| rules.row("GET", &address).is_some_and(|one| one.path == row.path))
            else {
                continue;
            };
            let number = shown.entry(row.path.clone()).or_default();
            if *number == EACH {
                continue;
            }
            *number += 1;
            browser.go(&format!("{base}{address}"));
            self.keep(&browser, &folder, state, reader.name, &address);
            for link in links(&browser) {
                if met.insert(link.clone()) {
                    waiting.push_back(link);
                }
            }
        }
    }

    /// The page in the window, four times.
    fn keep(&mut self, browser: &Browser, folder: &Path, state: &str, reader: &str, address: &str) {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name = address.trim_matches('/').chars().take(80).map(plain).collect::<String>();
        write!(self.pages, "<h2>{state}, {reader}: {}</h2><div>", address.replace('<', "&lt;"))
            .unwrap();
        for (size, width, height) in SIZES {
            browser.resize(width, height);
            for (word, theme) in THEMES {
                browser.prefer(theme);
                let file = format!("{name}.{size}.{word}.png");
                std::fs::write(folder.join(&file), browser.picture()).unwrap();
                let _ = write!(
                    self.pages,
                    "<a href=\"{state}/{reader}/{file}\"><img loading=lazy src=\"{state}/{reader}/{file}\" alt=\"{size}, {word}\"></a>"
                );
            }
        }
        self.pages.push_str("</div>");
        self.count += 1;
        browser.prefer(Theme::Light);
        browser.resize(1280, 800);
    }

    fn close(self) {
        let style = "body{font:15px system-ui;margin:2rem}div{display:flex;gap:1rem;align-items:start}img{max-width:20rem;max-height:24rem;border:1px solid #ccc}";
        let page = format!(
            "<!doctype html><meta charset=utf-8><title>Pages</title><style>{style}</style>{}",
            self.pages
        );
        std::fs::write(self.folder.join("index.html"), page).unwrap();
        assert!(self.count > 150, "only {} pages were found", self.count);
        eprintln!("{} pages in {}", self.count, self.folder.join("index.html").display());
    }
}

/// Addresses of our own that the page in the window leads to, without what ends the session.
fn links(browser: &Browser) -> Vec<String> {
    let found = browser.script(
        "return [...document.querySelectorAll('a[href]')]
           .filter((one) => one.origin === location.origin && !one.hasAttribute('download'))
           .map((one) => one.pathname + one.search);",
    );
    let found = found.as_array().cloned().unwrap_or_default();
    found.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
