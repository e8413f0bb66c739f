//! What holds for every page: one title, names for everything, references that
//! exist, nothing that the content policy would stop, addresses that answer.
//!
//! What the markup must be holds for each page that any test receives, in whatever
//! state it is ([`markup`]); what depends on the site's data holds on the pages of
//! `pages.rs` ([`hold`]).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use super::html::{Element, Page};

/// Rows for browsers that do not answer with a page.
pub const NO_PAGES: &[&str] = &[
    "/",
    "/admin/copias/baixar",
    "/assets/{*rest}",
    "/painel/ao-vivo",
    "/fornecedor/ao-vivo",
    "/admin/ao-vivo",
    "/favicon.ico",
    "/fotos/{digest}",
    "/admin/comunicados/{id}/leitores",
    "/painel/ml/conectar",
    "/painel/ml/etiqueta",
    "/painel/ml/retorno",
    "/painel/meets/{id}/entrar",
    "/manifest.webmanifest",
    "/painel/meets/{id}.ics",
    "/painel/perguntas/{id}/comprador",
    "/painel/vendas/{id}/nota",
    "/sw.js",
    "/admin/agencia/central-perguntas/json",
    "/admin/agencia/central-perguntas/atendendo",
    "/admin/agencia/central-perguntas/{id}/comprador",
    "/admin/gamificacao/desafios-json",
    "/admin/gamificacao/status",
    "/painel/competicao/ranking-json",
];

/// Hosts of links to other sites, as `furnish.rs` makes them.
const AWAY: [&str; 6] = [
    "exemplo.com",
    "exemplo.com.br",
    "t.me",
    "wa.me",
    "youtu.be",
    // Listings of the sandbox.
    "produto.sandbox.invalid",
];

/// A row of the route table, with what the rules need of it.
pub struct Row {
    pub method: String,
    pub path: String,
    /// A row that answers browsers.
    pub is_page: bool,
    pub changes_state: bool,
}

/// What pages may use of our assets.
struct Looks {
    /// Classes that the style sheets know.
    classes: BTreeSet<String>,
    /// `img/icons.svg`.
    sprite: String,
}

impl Looks {
    fn get() -> &'static Self {
        static LOOKS: OnceLock<Looks> = OnceLock::new();
        LOOKS.get_or_init(|| {
            let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
            let read = |name: &str| std::fs::read_to_string(assets.join(name)).unwrap();
            let sheets = ["reset", "tokens", "components", "pages", "program", "agency"];
            let styles = sheets.map(|name| read(&format!("css/{name}.css"))).concat();
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let class = |rest: &str| rest.split(|c| !is_part(c)).next().map(str::to_owned);
            let classes = styles.split('.').skip(1).filter_map(class).collect();
            Self { classes, sprite: read("img/icons.svg") }
        })
    }
}

/// The data for the rules of pages.
pub struct Rules {
    rows: Vec<Row>,
    /// How much of each row's path stands before its first variable.
    literal: Vec<usize>,
}

impl Rules {
    pub fn new(rows: Vec<Row>) -> Self {
        let literal = |row: &Row| row.path.find('{').unwrap_or(row.path.len());
        Self { literal: rows.iter().map(literal).collect(), rows }
    }

    /// Rows that answer a browser with a page.
    pub fn pages(&self) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(|row| row.method == "GET" && row.is_page && !NO_PAGES.contains(&&*row.path))
    }

    /// The row that answers an address: the one with the fewest variables.
    pub fn row(&self, method: &str, address: &str) -> Option<&Row> {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let rows = self.rows.iter().zip(&self.literal);
        let fitting =
            rows.filter(|(row, literal)| row.method == method && fits(&row.path, **literal, path));
        fitting.map(|(row, _)| row).min_by_key(|row| row.path.matches('{').count())
    }
}

/// Whether a path belongs to a route, of which so many bytes are no variable. Pages
/// have many links, so most rows must be left out cheaply.
fn fits(route: &str, literal: usize, path: &str) -> bool {
    if literal == route.len() {
        return route == path;
    }
    if !path.starts_with(&route[..literal]) {
        return false;
    }
    if let Some((before, _)) = route.split_once("{*") {
        return path.starts_with(before);
    }
    let (route, path) = (route.split('/'), path.split('/'));
    route.clone().count() == path.clone().count()
        && route.zip(path).all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
}

/// Notes which rules a page breaks.
pub fn hold(html: &str, address: &str, rules: &Rules, wrong: &mut Vec<String>) {
    let before = wrong.len();
    if let Some(page) = markup(html, wrong) {
        titles(&page, wrong);
        told_outside(&page, wrong);
        addresses(&page, rules, wrong);
        words(&page, wrong);
    }
    for line in &mut wrong[before..] {
        *line = format!("{address}: {line}");
    }
}

/// Notes which rules the markup of a page breaks, whatever it shows.
pub fn markup(html: &str, wrong: &mut Vec<String>) -> Option<Page> {
    let page = match Page::read(html) {
        Ok(page) => page,
        Err(fault) => {
            wrong.push(fault);
            return None;
        }
    };
    structure(&page, wrong);
    references(&page, wrong);
    forms(&page, wrong);
    controls(&page, wrong);
    policy(&page, wrong);
    drawings(&page, wrong);
    Some(page)
}

fn titles(page: &Page, wrong: &mut Vec<String>) {
    for title in page.all(&["title"]) {
        let (own, site) = title.text.rsplit_once(" · ").unwrap_or_default();
        if own.trim().is_empty() || site != "Seller Platform" {
            wrong.push(format!("its title is {:?}", title.text));
        }
    }
}

fn structure(page: &Page, wrong: &mut Vec<String>) {
    let html = page.all(&["html"]).next();
    if !html.and_then(|html| html.get("lang")).is_some_and(|it| ["pt-BR", "en"].contains(&it)) {
        wrong.push("the language is not named".to_owned());
    }
    for tag in ["h1", "main", "title"] {
        let count = page.all(&[tag]).count();
        if count != 1 {
            wrong.push(format!("{count} times <{tag}>"));
        }
    }
    let skip = page.all(&["a"]).find(|link| link.get("class") == Some("skip"));
    let is_inside = page.all(&["nav"]).next().is_some();
    if is_inside && skip.is_none() {
        wrong.push("no way past the navigation".to_owned());
    }
    for table in page.all(&["table"]) {
        let inside = |cell: &&Element| page.path(cell).any(|one| std::ptr::eq(one, table));
        if page.all(&["th"]).filter(inside).any(|head| !head.has("scope")) {
            wrong.push("a table's header without scope".to_owned());
        }
    }
    let marked = page.0.iter().filter(|one| one.get("aria-current") == Some("page"));
    let in_menu = marked.filter(|one| one.words("class").any(|class| class == "place"));
    if in_menu.count() > 1 {
        wrong.push("two present places in the menu".to_owned());
    }
    let focused = page.0.iter().filter(|one| one.has("autofocus"));
    let outside = focused.filter(|one| !page.path(one).any(|around| around.is(&["dialog"])));
    if outside.count() > 1 {
        wrong.push("two elements take the cursor".to_owned());
    }
}

fn references(page: &Page, wrong: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    for id in page.0.iter().filter_map(|one| one.get("id")) {
        if id.is_empty() || id.contains(char::is_whitespace) || !ids.insert(id) {
            wrong.push(format!("the id {id:?} is empty or stands twice"));
        }
    }
    for one in &page.0 {
        for name in [
            "for",
            "form",
            "list",
            "popovertarget",
            "aria-labelledby",
            "aria-describedby",
            "aria-controls",
            "aria-owns",
            "aria-activedescendant",
            "data-copy",
            "data-reveal",
        ] {
            for id in one.words(name).filter(|id| !ids.contains(id)) {
                wrong.push(format!("<{} {name}> names {id:?}, which is not there", one.tag));
            }
        }
        let fragment = one.get("href").and_then(|href| href.strip_prefix('#'));
        if let Some(id) = fragment.filter(|id| !ids.contains(id)) {
            wrong.push(format!("a link to #{id}, which is not there"));
        }
    }
}

/// The description for search engines and link previews, and the colour of the
/// browser's own bars.
fn told_outside(page: &Page, wrong: &mut Vec<String>) {
    let named = |name: &'static str| {
        let found = page.all(&["meta"]).filter(move |one| one.get("name") == Some(name));
        found.filter_map(|one| one.get("content"))
    };
    let about: Vec<&str> = named("description").collect();
    if about.len() != 1 || !(20..=200).contains(&about[0].trim().chars().count()) {
        wrong.push(format!("it is described as {about:?}"));
    }
    if named("theme-color").count() != 2 {
        wrong.push("no colours for both themes".to_owned());
    }
}

/// Forms leave the checks to the server, and do their work once.
fn forms(page: &Page, wrong: &mut Vec<String>) {
    let mut values = BTreeSet::new();
    for form in page.all(&["form"]) {
        let action = form.get("action").unwrap_or_default();
        if !form.has("novalidate") {
            wrong.push(format!("the browser checks the form to {action}"));
        }
        let inside = |one: &&Element| page.path(one).any(|around| std::ptr::eq(around, form));
        let fields = page.all(&["input"]).filter(inside);
        let own: Vec<&str> = fields
            .filter(|one| one.get("name") == Some("envio") && one.get("type") == Some("hidden"))
            .filter_map(|one| one.get("value"))
            .collect();
        let expected = usize::from(form.get("method") == Some("post"));
        if own.len() != expected || own.iter().any(|one| one.len() != 32 || !values.insert(*one)) {
            wrong.push(format!("the form to {action} has {own:?} of its own"));
        }
    }
}

/// Fields, buttons and links have names; files are sent in a form that can.
fn controls(page: &Page, wrong: &mut Vec<String>) {
    let labels: BTreeSet<&str> = page.all(&["label"]).filter_map(|one| one.get("for")).collect();
    for field in page.all(&["input", "select", "textarea"]) {
        let kind = field.get("type").unwrap_or("text");
        if kind == "hidden" {
            continue;
        }
        let labelled = field.get("id").is_some_and(|id| labels.contains(id));
        if !labelled && !field.has("aria-label") && !field.has("aria-labelledby") {
            wrong.push(format!("the field {:?} has no label", field.get("name")));
        }
        if !field.has("name") && !field.has("disabled") && !field.has("readonly") {
            wrong.push(format!("the field {:?} has no name", field.get("id")));
        }
        let form = page.path(field).find(|around| around.is(&["form"]));
        let sends_files = form.and_then(|form| form.get("enctype")) == Some("multipart/form-data");
        if kind == "file" && !sends_files {
            wrong.push(format!("the file {:?} is not sent", field.get("name")));
        }
    }
    for label in page.all(&["label"]) {
        let target = label.get("for").and_then(|id| page.by_id(id));
        let fine = target.is_some_and(|one| one.is(&["input", "select", "textarea", "progress"]));
        if !fine || label.text.trim().is_empty() {
            wrong.push(format!("the label {:?} belongs to no field", label.text.trim()));
        }
    }
    for one in page.all(&["a", "button", "summary"]) {
        if one.text.trim().is_empty() && one.get("aria-label").is_none_or(str::is_empty) {
            wrong.push(format!("a <{}> without words: {:?}", one.tag, one.attributes));
        }
    }
    for image in page.all(&["img"]) {
        if !image.has("alt") || !image.has("width") || !image.has("height") {
            wrong.push("an <img> without alt or size".to_owned());
        }
    }
}

/// Nothing that the content policy would block, and nothing harmful that it
/// could not block.
pub fn policy(page: &Page, wrong: &mut Vec<String>) {
    let scripts: Vec<_> = page.all(&["script"]).collect();
    let own = |one: &&&Element| one.get("src").is_some_and(|src| src.starts_with("/assets/"));
    if scripts.len() != 1 || scripts.iter().filter(own).count() != 1 {
        wrong.push(format!("{} scripts", scripts.len()));
    }
    for one in page.all(&["style", "base", "object", "embed", "frame"]) {
        wrong.push(format!("a <{}>", one.tag));
    }
    for one in &page.0 {
        for (name, value) in &one.attributes {
            let handler = name.starts_with("on") || name == "style" || name == "srcdoc";
            let leads = ["href", "src", "action", "formaction", "xlink:href", "data"];
            let scheme = value.trim_start().to_ascii_lowercase();
            let runs = leads.contains(&&**name) && scheme.starts_with("javascript:");
            if handler || runs || name == "http-equiv" {
                wrong.push(format!("<{} {name}={value:?}>", one.tag));
            }
            if name == "src" && !value.starts_with('/') {
                wrong.push(format!("<{} src={value:?}> leaves our origin", one.tag));
            }
        }
    }
}

fn drawings(page: &Page, wrong: &mut Vec<String>) {
    let looks = Looks::get();
    for class in page.0.iter().flat_map(|one| one.words("class")) {
        if !looks.classes.contains(class) {
            wrong.push(format!("no rule for .{class}"));
        }
    }
    for drawing in page.all(&["use"]) {
        let icon = drawing.get("href").and_then(|href| href.split_once('#'));
        let known = |name| looks.sprite.contains(&format!("id=\"{name}\""));
        if !icon.is_some_and(|(file, name)| file.starts_with("/assets/") && known(name)) {
            wrong.push(format!("no drawing {:?}", drawing.get("href")));
        }
    }
}

/// Links and forms lead to rows of the table, or to known other sites.
fn addresses(page: &Page, rules: &Rules, wrong: &mut Vec<String>) {
    for link in page.all(&["a", "area"]) {
        let href = link.get("href").unwrap_or_default();
        if href.starts_with('#') {
            continue;
        }
        if href.starts_with('/') && !href.starts_with("//") {
            if rules.row("GET", href).is_none() {
                wrong.push(format!("a link to {href}, which is no row"));
            }
            continue;
        }
        let host = href.strip_prefix("https://").and_then(|rest| rest.split(['/', '?']).next());
        let expected = |host: &str| {
            AWAY.iter().any(|known| host == *known || host.ends_with(&format!(".{known}")))
        };
        // Sales at the stand-in marketplace, which has no name of its own.
        let is_sale = href.starts_with("http://127.0.0.1:") && href.contains("/vendas/");
        let secret = link.words("rel").any(|word| word == "noreferrer");
        if !(is_sale || host.is_some_and(expected)) || !secret {
            wrong.push(format!("a link away to {href:?}, rel {:?}", link.get("rel")));
        }
    }
    for form in page.all(&["form"]) {
        let method = form.get("method").unwrap_or("get").to_uppercase();
        let action = form.get("action").unwrap_or_default();
        if rules.row(&method, action).is_none() {
            wrong.push(format!("a form sends {method} {action}, which is no row"));
        }
    }
    for button in page.0.iter().filter(|one| one.has("formaction")) {
        let action = button.get("formaction").unwrap_or_default();
        let method = button.get("formmethod").unwrap_or("post").to_uppercase();
        if rules.row(&method, action).is_none() {
            wrong.push(format!("a button sends {method} {action}, which is no row"));
        }
    }
}

/// Text that no reader should see: code instead of words.
fn words(page: &Page, wrong: &mut Vec<String>) {
    let Some(body) = page.all(&["body"]).next() else {
        wrong.push("no <body>".to_owned());
        return;
    };
    for leak in ["{{", "}}", "{%", "Some(", "None)", "undefined", "NaN", "\u{fffd}"] {
        if body.text.contains(leak) {
            wrong.push(format!("it says {leak:?}"));
        }
    }
    // English words, as in messages that are meant for programs.
    let foreign = ["the", "must", "is", "not", "and", "with", "should", "given"];
    let said = page.0.iter().filter(|one| one.words("class").any(|class| class == "fault"));
    for text in said.chain(page.all(&["h1", "h2", "button", "label", "th", "p"])) {
        let code = page.path(text).any(|around| around.is(&["code", "pre"]));
        let named = page.path(text).find_map(|around| around.get("lang"));
        if named == Some("en") {
            continue;
        }
        // Names of codes, such as not_found, do not count as words.
        let mut spoken = text.text.split(|c: char| !c.is_alphabetic() && c != '_');
        if !code && spoken.any(|word| foreign.contains(&word)) {
            wrong.push(format!("it speaks another language: {:?}", text.text.trim()));
        }
    }
}
