//! The developer pages for programs: as Markdown, as a list of them for assistants
//! (`/llms.txt`), and the changelog with failures as an Atom feed.

use std::fmt::Write as _;

use bytes::Bytes;
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use crate::app::App;
use crate::developers::changelog::CHANGES;
use crate::developers::how_to::HowTo;
use crate::developers::language::Language;
use crate::developers::status::days::PartDay;
use crate::developers::status::{DAYS, days};
use crate::developers::words::Words;
use crate::developers::{CHANGELOG, PYTHON, STATUS, TYPESCRIPT, how_to, markdown, pages};
use crate::http::reply::media;
use crate::http::{Body, Problem, Reply, Request};

/// Addresses of the pages as Markdown.
pub const GUIDE_MD: &str = "/desenvolvedores.md";
pub const REFERENCE_MD: &str = "/desenvolvedores/referencia.md";
pub const AGENTS_MD: &str = "/desenvolvedores/agentes.md";
pub const WEBHOOKS_MD: &str = "/desenvolvedores/webhooks.md";
pub const SANDBOX_MD: &str = "/desenvolvedores/sandbox.md";
pub const CHANGELOG_MD: &str = "/desenvolvedores/changelog.md";
pub const LLMS: &str = "/llms.txt";
pub const FEED: &str = "/desenvolvedores/changelog.atom";

const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const MARKDOWN: HeaderValue = HeaderValue::from_static("text/markdown; charset=utf-8");
const ATOM: HeaderValue = HeaderValue::from_static("application/atom+xml; charset=utf-8");

/// A page as Markdown, made once.
fn plain(
    app: &App,
    request: &Request,
    path: &'static str,
    page: fn(&App, &(), &Request) -> Result<Reply, Problem>,
) -> Result<Reply, Problem> {
    let key = (path, pages::language(request)?.name());
    let known = app.caches.documents.pages.lock().get(&key).cloned();
    let text = if let Some(text) = known {
        text
    } else {
        let text = converted(app, page(app, &(), request)?)?;
        app.caches.documents.pages.lock().insert(key, text.clone());
        text
    };
    Ok(Reply::of(MARKDOWN, text).with(CACHE_CONTROL, A_MINUTE))
}

/// A page as Markdown.
pub(super) fn of(app: &App, page: Reply) -> Result<Reply, Problem> {
    Ok(Reply::of(MARKDOWN, converted(app, page)?).with(CACHE_CONTROL, A_MINUTE))
}

fn converted(app: &App, page: Reply) -> Result<Bytes, Problem> {
    let Body::Bytes(html) = page.body else {
        return Err(Problem::internal("a page is sent in pieces"));
    };
    let html = std::str::from_utf8(&html).map_err(Problem::internal)?;
    Ok(Bytes::from(markdown::of(html, &app.server.addresses.base_url)))
}

/// `GET /desenvolvedores.md`
pub fn guide(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, GUIDE_MD, pages::show_guide)
}

/// `GET /desenvolvedores/referencia.md`
pub fn reference(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, REFERENCE_MD, pages::whole_reference)
}

/// `GET /desenvolvedores/agentes.md`
pub fn agents(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, AGENTS_MD, pages::show_agents)
}

/// `GET /desenvolvedores/webhooks.md`
pub fn webhooks(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, WEBHOOKS_MD, pages::show_webhooks)
}

/// `GET /desenvolvedores/espelho.md` and the other guides for a purpose.
pub fn how_to(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let how_to = HowTo::at(request.path()).ok_or_else(Problem::not_found)?;
    plain(app, request, how_to.markdown, pages::show_how_to)
}

/// `GET /desenvolvedores/sandbox.md`
pub fn sandbox(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, SANDBOX_MD, pages::show_sandbox)
}

/// `GET /desenvolvedores/changelog.md`
pub fn changelog(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    plain(app, request, CHANGELOG_MD, pages::show_changelog)
}

/// `GET /llms.txt`: what an assistant should read, by <https://llmstxt.org>.
pub fn llms(app: &App, (): &(), _: &Request) -> Result<Reply, Problem> {
    let addresses = &app.server.addresses;
    let (base, dev, name) = (&addresses.base_url, &addresses.dev_base_url, &app.config.server.name);
    let mut guides = String::new();
    for one in &how_to::ALL {
        let (title, about) = (&one.texts().title.en, &one.texts().about.en);
        let _ = writeln!(guides, "- [{title}]({base}{}?lang=en): {about}", one.markdown);
    }
    let text = format!(
        "# {name}: Partner API\n\n\
         > Sales, products, stock, listings and figures of marketplace sellers in Brazil, and of their suppliers. \
         REST with one token, webhooks, and an MCP endpoint for assistants at {dev}{mcp}.\n\n\
         Pages are in Portuguese without `?lang=en`.\n\n\
         ## Docs\n\n\
         - [Guide]({base}{GUIDE_MD}?lang=en): first call, limits, errors, lists, polling\n\
         - [Reference]({base}{REFERENCE_MD}?lang=en): every operation with an example\n\
         - [Assistants]({base}{AGENTS_MD}?lang=en): MCP, OAuth 2.1, the tools\n\
         - [Webhooks]({base}{WEBHOOKS_MD}?lang=en): types, signatures, retries\n\
         {guides}\
         - [Test shops]({base}{SANDBOX_MD}?lang=en): sample data for test tokens, events on one's own machine\n\
         - [OpenAPI 3.1]({base}/openapi.json): the same operations as a document\n\
         - [Python client]({base}{PYTHON}) and [TypeScript client]({base}{TYPESCRIPT}): one file each\n\n\
         ## Optional\n\n\
         - [Changelog]({base}{CHANGELOG_MD}?lang=en)\n\
         - [Atom feed]({base}{FEED}?lang=en): changes and failures\n\
         - [Status]({base}{STATUS}): as JSON with `Accept: application/json`\n",
        mcp = crate::partner::agent::PATH,
    );
    Ok(Reply::of(media::TEXT, text).with(CACHE_CONTROL, A_MINUTE))
}

/// `GET /desenvolvedores/changelog.atom`: what changed in the API, and the days on which
/// a part of the service failed, the newest first.
pub fn feed(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let language = pages::language(request)?;
    let first = app.day(request.now).plus(1 - DAYS);
    let parts = app.db.read(request.lane, |tx| days::history(tx, first))?;
    let base = &app.server.addresses.base_url;
    let mut entries: Vec<FeedEntry> = CHANGES
        .iter()
        .map(|change| FeedEntry {
            day: change.day.clone(),
            id: format!("{base}{CHANGELOG}#m-{}", change.day),
            title: language.say(&change.title).to_owned(),
            text: change
                .points
                .iter()
                .fold(String::new(), |text, point| text + "• " + language.say(point) + "\n"),
        })
        .collect();
    let failed = parts.iter().filter(|part| part.impaired_s > 0);
    entries.extend(failed.map(|part| FeedEntry::of_failure(part, base, language)));
    entries.sort_by(|a, b| b.day.cmp(&a.day));
    let title = format!("{}: {}", app.config.server.name, Words::of(language).changelog);
    Ok(Reply::of(ATOM, atom(base, &title, language, &entries)).with(CACHE_CONTROL, A_MINUTE))
}

struct FeedEntry {
    /// Civil day, as `YYYY-MM-DD`.
    day: String,
    id: String,
    title: String,
    text: String,
}

impl FeedEntry {
    fn of_failure(part: &PartDay, base: &str, language: Language) -> Self {
        let (words, day) = (Words::of(language), part.day.iso());
        let minutes = part.impaired_s.div_euclid(60).max(1);
        let title = language.say(part.component.title());
        Self {
            id: format!("{base}{STATUS}#{}-{day}", part.component.name()),
            title: format!("{}: {title}", words.status),
            text: format!("{title}: {} {}", words.with_failures, pages::span(minutes)),
            day,
        }
    }
}

fn atom(base: &str, title: &str, language: Language, entries: &[FeedEntry]) -> String {
    let query = match language {
        Language::Portuguese => "",
        Language::English => "?lang=en",
    };
    let updated = entries.first().map_or("2026-11-20", |entry| &entry.day);
    let mut feed = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n\
         <id>{base}{FEED}{query}</id>\n<title>{title}</title>\n<updated>{updated}T00:00:00Z</updated>\n\
         <author><name>{title}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{base}{FEED}{query}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{base}{CHANGELOG}{query}\"/>\n",
        language.name(),
        base = escaped(base),
        title = escaped(title),
    );
    for entry in entries {
        let _ = writeln!(
            feed,
            "<entry><id>{id}</id><title>{}</title><updated>{}T00:00:00Z</updated>\
             <link rel=\"alternate\" href=\"{id}\"/><content type=\"text\">{}</content></entry>",
            escaped(&entry.title),
            entry.day,
            escaped(entry.text.trim_end()),
            id = escaped(&entry.id),
        );
    }
    feed.push_str("</feed>\n");
    feed
}

/// A text as XML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
