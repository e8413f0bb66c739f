//! `/desenvolvedores` with its reference and changelog, and `/status`.

pub mod plain;

use askama::Template as _;
use bytes::Bytes;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use serde::{Deserialize, Serialize};

use super::agents::agents;
use super::changelog::CHANGES;
use super::documents::Document;
use super::guide::guide;
use super::how_to::HowTo;
use super::language::{Language, Text};
use super::reference::Operation;
use super::sandbox_guide::Sandbox;
use super::status::days::PartDay;
use super::status::state::{Component, State};
use super::status::{self, DAYS};
use super::views::{
    AgentsPage, ChangeRow, ChangelogPage, DayBar, Frame, GuidePage, HowToPage, OperationPage,
    PartRow, ReferencePage, SandboxPage, StatusPage, WebhooksPage, WholeReference,
};
use super::webhook_guide::Webhooks;
use super::{AGENTS, CHANGELOG, GUIDE, REFERENCE, SANDBOX, STATUS, WEBHOOKS, reference};
use crate::app::App;
use crate::base::{Day, Instant, OffsetTime, Zone};
use crate::edge::route::{Route, Surface};
use crate::http::reply::media;
use crate::http::{Check, Field, Problem, Reply, Request};
use crate::operations::soundness::{self, Outage};
use crate::panel::{Layout, Notice, Tone};
use crate::services::Services;
use crate::wire;

/// The pages change only with a new version of the service.
const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    lang: Field<String>,
}

/// The requested language: `?lang=en`, otherwise Portuguese.
pub(super) fn language(request: &Request) -> Result<Language, Problem> {
    let asked: Asked = request.query()?;
    let named: Option<String> = Check::text().optional("lang", asked.lang);
    Ok(named.and_then(|name| Language::from_name(&name)).unwrap_or(Language::Portuguese))
}

fn layout(services: &Services, request: &Request) -> Layout {
    Layout::outside(&services.config.server.name, request.now)
}

fn frame(app: &App, path: &'static str, language: Language) -> Frame {
    Frame::new(app.server.addresses.base_url.clone(), path.into(), language)
}

/// A page that depends only on the program and its configuration. It is rendered
/// once and then kept.
fn cached(
    app: &App,
    request: &Request,
    path: &'static str,
    make: impl FnOnce(Layout, Frame) -> Result<String, askama::Error>,
) -> Result<Reply, Problem> {
    let language = language(request)?;
    let key = (path, language.name());
    let known = app.caches.documents.pages.lock().get(&key).cloned();
    let page = if let Some(page) = known {
        page
    } else {
        let html = make(layout(app, request), frame(app, path, language));
        let page = Bytes::from(html.map_err(Problem::internal)?);
        app.caches.documents.pages.lock().insert(key, page.clone());
        page
    };
    Ok(Reply::of(media::HTML, page).with(CACHE_CONTROL, A_MINUTE))
}

/// `GET /desenvolvedores`: the guide.
pub fn show_guide(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, GUIDE, |layout, frame| {
        let guide = guide(app, frame.language);
        GuidePage { layout, frame, guide }.render()
    })
}

/// `GET /desenvolvedores/agentes`: how assistants are connected.
pub fn show_agents(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, AGENTS, |layout, frame| {
        let agents = agents(&app.server.addresses.dev_base_url, frame.language);
        AgentsPage { layout, frame, agents }.render()
    })
}

/// `GET /desenvolvedores/espelho` and the other guides for a purpose.
pub fn show_how_to(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let how_to = HowTo::at(request.path()).ok_or_else(Problem::not_found)?;
    cached(app, request, how_to.path, |layout, frame| {
        let samples = how_to.samples(&frame.base_url);
        let texts = how_to.texts();
        let (title, about) = (frame.language.say(&texts.title), frame.language.say(&texts.about));
        HowToPage { layout, frame, how_to, title, about, samples }.render()
    })
}

/// `GET /desenvolvedores/webhooks`: how programs receive events.
pub fn show_webhooks(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, WEBHOOKS, |layout, frame| {
        let webhooks = Webhooks::of(frame.language);
        WebhooksPage { layout, frame, webhooks }.render()
    })
}

/// `GET /desenvolvedores/sandbox`: how programs are tried on sample data.
pub fn show_sandbox(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, SANDBOX, |layout, frame| {
        let sandbox = Sandbox::of(&app.server.addresses.base_url);
        SandboxPage { layout, frame, sandbox }.render()
    })
}

/// The operations as the reference shows them.
fn operations(app: &App, language: Language) -> Vec<Operation> {
    let made = super::document(app, Document::Partner);
    reference::read(&made.value, &bases(app).0, names(app), language)
}

/// The names of the operations, in the order of the table.
fn names(app: &App) -> impl Iterator<Item = &'static str> {
    let rows = app.server.routes.iter().filter(|row| row.surface == Surface::Partner);
    rows.map(Route::operation).filter(|name| !name.is_empty())
}

/// The addresses of the API for production and for development.
fn bases(app: &App) -> (String, String) {
    let at = &app.server.addresses;
    let dev = format!("{}{}", at.dev_base_url, super::openapi::PARTNER_DEV);
    (format!("{}{}", at.base_url, super::openapi::PARTNER), dev)
}

/// `GET /desenvolvedores/referencia`: where each operation is.
pub fn show_reference(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, REFERENCE, |layout, frame| {
        let (base_url, dev_base_url) = bases(app);
        let operations = operations(app, frame.language);
        ReferencePage { layout, frame, base_url, dev_base_url, operations }.render()
    })
}

/// `GET /desenvolvedores/referencia/{operacao}`: one operation; with `.md` behind its name
/// as Markdown.
pub fn show_operation(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let asked = request.variable("operacao");
    let wanted = asked.strip_suffix(".md").unwrap_or(asked);
    let name = names(app).find(|name| *name == wanted).ok_or_else(Problem::not_found)?;
    let page = cached(app, request, name, |layout, frame| {
        let operations = operations(app, frame.language);
        let at = operations.iter().position(|one| one.id == name);
        let at = at.ok_or_else(|| askama::Error::custom(format!("{name} is in no document")))?;
        let frame = Frame { path: operations[at].address.clone().into(), ..frame };
        OperationPage { layout, frame, below: super::openapi::PARTNER, operations, at }.render()
    })?;
    if name == asked { Ok(page) } else { plain::of(app, page) }
}

/// Every operation on one page, which is only read as Markdown.
pub(super) fn whole_reference(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let frame = frame(app, REFERENCE, language(request)?);
    let (base_url, dev_base_url) = bases(app);
    let (below, operations) = (super::openapi::PARTNER, operations(app, frame.language));
    let whole = WholeReference { frame, base_url, dev_base_url, below, operations }.render();
    Ok(Reply::of(media::HTML, Bytes::from(whole.map_err(Problem::internal)?)))
}

/// `GET /desenvolvedores/changelog`: what changed.
pub fn show_changelog(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    cached(app, request, CHANGELOG, |layout, frame| {
        let changes = change_rows(frame.language);
        ChangelogPage { layout, frame, changes }.render()
    })
}

/// The changelog in a language.
pub(super) fn change_rows(language: Language) -> Vec<ChangeRow> {
    let rows = CHANGES.iter().map(|change| ChangeRow {
        day: &change.day,
        shown: Day::parse(&change.day).map_or_else(String::new, |day| shown(day, language)),
        title: language.say(&change.title),
        points: change.points.iter().map(|point| Text::translated(language.say(point))).collect(),
    });
    rows.collect()
}

fn shown(day: Day, language: Language) -> String {
    match language {
        Language::Portuguese => day.date().strftime("%d/%m/%Y").to_string(),
        Language::English => day.date().strftime("%-d %b %Y").to_string(),
    }
}

/// The current state of the service and its history.
pub(super) struct Seen {
    pub today: Day,
    pub parts: Vec<(Component, State)>,
    pub days: Vec<PartDay>,
    /// Why nothing is stored.
    pub outage: Option<Outage>,
}

impl Seen {
    fn read(app: &App, request: &Request) -> Result<Self, Problem> {
        let today = app.day(request.now);
        let (parts, days) = app.db.read(request.lane, |tx| {
            let parts = status::now(app, tx, request.now)?;
            Ok::<_, Problem>((parts, status::days::history(tx, today.plus(1 - DAYS))?))
        })?;
        Ok(Self { today, parts, days, outage: soundness::outage(app) })
    }

    fn worst(&self) -> State {
        self.parts.iter().map(|(_, state)| *state).max().unwrap_or(State::Operational)
    }

    fn of(&self, component: Component) -> impl Iterator<Item = &PartDay> {
        self.days.iter().filter(move |day| day.component == component)
    }

    /// Share of the observed time in which a part was operational, in millionths.
    fn share(&self, component: Component) -> Option<i64> {
        let (observed, impaired) = self.of(component).fold((0, 0), |(observed, impaired), day| {
            (observed + day.observed_s, impaired + day.impaired_s)
        });
        (observed > 0).then(|| (observed - impaired) * 1_000_000 / observed)
    }
}

wire! {
    #[derive(Serialize)]
    struct StatusJson of(seen: &Seen, zone: Zone, now: Instant) {
        /// The worst state of all components.
        status: &'static str = seen.worst().name(),
        /// Civil time of the service.
        checked_at: String = zone.partner(now),
        /// The same instant with its offset from UTC.
        checked_at_rfc3339: OffsetTime = zone.with_offset(now),
        components: Vec<PartJson> =
            seen.parts.iter().map(|(part, state)| PartJson::of(seen, *part, *state)).collect(),
        /// Why nothing is stored, and the way on; only while that is so.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String> = seen.outage.as_ref().map(|outage| outage.said.clone()),
    }
}

wire! {
    #[derive(Serialize)]
    struct PartJson of(seen: &Seen, component: Component, state: State) after {
        #[expect(clippy::cast_precision_loss, reason = "at most a million")]
        let share = |millionths: i64| millionths as f64 / 1_000_000.0;
    } {
        name: &'static str = component.name(),
        title: &'static str = &component.title().en,
        status: &'static str = state.name(),
        /// Share of the observed time without failures, 0 to 1; null without any.
        uptime: Option<f64> = seen.share(component).map(share),
        /// Days with observations, the oldest first.
        days: Vec<DayJson> = seen.of(component).map(DayJson::of).collect(),
    }
}

wire! {
    #[derive(Serialize)]
    struct DayJson of(day: &PartDay) {
        date: String = day.day.iso(),
        observed_s: i64 = day.observed_s,
        impaired_s: i64 = day.impaired_s,
    }
}

/// `GET /status`: current state and history of the service, as page or JSON.
pub fn show_status(app: &App, (): &(), request: &Request) -> Result<Reply, Problem> {
    let language = language(request)?;
    let seen = Seen::read(app, request)?;
    if request.wants_json() {
        return Reply::json(&StatusJson::of(&seen, app.zone(), request.now));
    }
    let frame = frame(app, STATUS, language);
    let at = match language {
        Language::Portuguese => app.zone().page(request.now),
        Language::English => app.zone().spaced(request.now),
    };
    Reply::page(&status_page(layout(app, request), frame, &seen, at))
}

pub(super) fn status_page(layout: Layout, frame: Frame, seen: &Seen, at: String) -> StatusPage {
    let (words, language) = (frame.words, frame.language);
    let (tone, said) = match seen.worst() {
        State::Operational => (Tone::Good, words.all_good),
        State::Degraded => (Tone::Warn, words.some_bad),
        State::Down => (Tone::Bad, words.much_bad),
    };
    let part = |(component, state): &(Component, State)| PartRow {
        id: component.name(),
        title: language.say(component.title()),
        about: language.say(component.about()),
        state: language.say(state.word()),
        tone: state.tone(),
        share: seen.share(*component).map_or_else(String::new, |share| percent(share, language)),
        days: bars(seen, *component, &frame),
    };
    StatusPage {
        layout,
        verdict: Notice::new(tone, said, ""),
        at,
        reason: seen.outage.as_ref().map_or_else(String::new, |outage| match language {
            Language::Portuguese => outage.dito.clone(),
            Language::English => outage.said.clone(),
        }),
        parts: seen.parts.iter().map(part).collect(),
        frame,
    }
}

/// Millionths as `99,98 %`; rounded down, so that 100 % means no failure.
fn percent(millionths: i64, language: Language) -> String {
    let hundredths = millionths / 100;
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    match language {
        Language::Portuguese => format!("{whole},{rest:02} %"),
        Language::English => format!("{whole}.{rest:02} %"),
    }
}

/// From this share of impaired time on, in percent, a day is shown as bad.
const BAD_SHARE: i64 = 20;

fn bars(seen: &Seen, component: Component, frame: &Frame) -> Vec<DayBar> {
    let words = frame.words;
    let days = (1 - DAYS..=0).map(|back| seen.today.plus(back)).zip(0..);
    let bar = |(day, place): (Day, usize)| {
        let known = seen.of(component).find(|one| one.day == day).filter(|it| it.observed_s > 0);
        let (class, said) = match known {
            None => ("none", words.no_data.to_owned()),
            Some(one) if one.impaired_s == 0 => ("good", words.without_failures.to_owned()),
            Some(one) => {
                let minutes = one.impaired_s.div_euclid(60).max(1);
                let is_bad = one.impaired_s * 100 >= one.observed_s * BAD_SHARE;
                let said = format!("{} {}", words.with_failures, span(minutes));
                (if is_bad { "bad" } else { "warn" }, said)
            }
        };
        let day = shown(day, frame.language);
        DayBar { day, said, class, is_known: known.is_some(), x: place * 10 }
    };
    days.map(bar).collect()
}

/// `7 min` or `3 h 20 min`.
pub(super) fn span(minutes: i64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}
