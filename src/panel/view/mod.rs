//! Values that pages share: notices, badges, form fields, lists. The frame
//! around a page is in `layout.rs`, the words for states are in `badge.rs`; what is
//! compiled once for all pages is in `parts.rs`.
//!
//! Templates only print values; they decide nothing. The values are ready to be
//! read, in Brazilian Portuguese. Charts are in `chart.rs`; the pages of a
//! domain are in its `views.rs`.

mod badge;
mod components;
mod layout;
pub mod parts;

use std::borrow::Cow;

use askama::Template;

use crate::base::{DAY_S, Day, Instant, Zone, counted};
use crate::http::{Family, Problem};

pub use badge::Badge;
pub use components::{Happened, Progress, Step, Tab, Tick};
pub use layout::{Layout, NavGroup, NavItem, Reader, Viewed, initials};

/// What a state means to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    Info,
    /// As it should be.
    Good,
    /// Needs attention soon.
    Warn,
    /// Wrong now.
    Bad,
}

impl Tone {
    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    /// Its drawing in `img/icons.svg`.
    pub fn icon(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Good => "good",
            Self::Warn => "warning",
            Self::Bad => "bad",
        }
    }

    /// How assistive technology announces a notice of this tone.
    pub fn aria_role(self) -> &'static str {
        match self {
            Self::Info | Self::Good => "status",
            Self::Warn | Self::Bad => "alert",
        }
    }
}

/// A sentence or two about something that happened or must be known.
#[derive(Clone, Debug)]
pub struct Notice {
    pub tone: Tone,
    pub title: String,
    /// What is safe and what to do; may be empty.
    pub text: String,
    /// How what happened is undone, for ten seconds.
    pub undo: Option<Undo>,
}

/// A form that takes back what was just done.
#[derive(Clone, Debug)]
pub struct Undo {
    pub action: String,
    pub fields: Vec<(&'static str, String)>,
}

impl Notice {
    pub fn new(tone: Tone, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tone, title: title.into(), text: text.into(), undo: None }
    }

    /// The same notice with a button that takes back what it tells of.
    #[must_use]
    pub fn undone_by(
        mut self,
        action: impl Into<String>,
        fields: Vec<(&'static str, String)>,
    ) -> Self {
        self.undo = Some(Undo { action: action.into(), fields });
        self
    }

    /// Above a form with fields at fault: `None` without any.
    pub fn faults(count: usize) -> Option<Self> {
        let title = match count {
            0 => return None,
            1 => "Falta corrigir um campo".to_owned(),
            _ => format!("Falta corrigir {count} campos"),
        };
        let text = "Nada foi salvo ainda. O que você digitou continua aqui.";
        Some(Self::new(Tone::Bad, title, text))
    }
}

/// A notice about the last action. A page finds it by the word that the action
/// left (`notices.rs`).
pub struct Flash {
    pub word: &'static str,
    pub tone: Tone,
    pub title: &'static str,
    pub text: &'static str,
}

/// Declares what a page can tell about the last action, a row for each: the word that the action
/// left, how it went, the title and, where there is more to say, the text. One that other pages
/// have too stands in parentheses.
macro_rules! flashes {
    (@one ($shared:expr)) => { $shared };
    (@one $word:tt $tone:ident $title:literal $($text:literal)?) => {
        $crate::panel::Flash::$tone($word, $title, concat!("" $(, $text)?))
    };
    ($($word:tt $(: $tone:ident $title:literal $(, $text:literal)?)?;)*) => {
        &[$($crate::panel::flashes!(@one $word $($tone $title $($text)?)?)),*]
    };
}
pub(crate) use flashes;

impl Flash {
    pub const fn good(word: &'static str, title: &'static str, text: &'static str) -> Self {
        Self { word, tone: Tone::Good, title, text }
    }

    /// It was not done, or not all of it.
    pub const fn warn(word: &'static str, title: &'static str, text: &'static str) -> Self {
        Self { word, tone: Tone::Warn, title, text }
    }

    /// It was done by somebody else, or needed nothing.
    pub const fn info(word: &'static str, title: &'static str, text: &'static str) -> Self {
        Self { word, tone: Tone::Info, title, text }
    }

    pub const fn bad(word: &'static str, title: &'static str, text: &'static str) -> Self {
        Self { word, tone: Tone::Bad, title, text }
    }

    pub fn notice(all: &[Self], word: &str) -> Option<Notice> {
        let found = all.iter().find(|outcome| outcome.word == word)?;
        Some(Notice::new(found.tone, found.title, found.text))
    }
}

/// An instant as pages show it: relative while fresh, exact in its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// `há 5 min`, `ontem, 14:05`, `12/10, 14:05`, `31/12/2025`.
    pub text: String,
    /// `31/12/2026 14:05`.
    pub exact: String,
    pub iso: String,
    pub at: i64,
    /// Whether the text becomes outdated while the page stays open.
    pub moves: bool,
}

impl When {
    /// How `at` is shown on a page that is read at `now`.
    pub fn new(zone: Zone, at: Instant, now: Instant) -> Self {
        let ago = now.since(at);
        let (civil, today) = (zone.civil(at), zone.day(now));
        let moves = (0..DAY_S).contains(&ago);
        let text = if moves {
            ago_words(ago)
        } else if zone.day(at) == today.plus(-1) {
            civil.strftime("ontem, %H:%M").to_string()
        } else if zone.day(at) == today.plus(1) {
            civil.strftime("amanhã, %H:%M").to_string()
        } else if civil.year() == today.date().year() {
            civil.strftime("%d/%m, %H:%M").to_string()
        } else {
            civil.strftime("%d/%m/%Y").to_string()
        };
        Self { text, exact: zone.page(at), iso: at.rfc3339(), at: at.0, moves }
    }
}

fn ago_words(seconds: i64) -> String {
    match seconds {
        ..60 => "agora".to_owned(),
        60..3600 => format!("há {} min", seconds / 60),
        _ => format!("há {} h", seconds / 3600),
    }
}

/// `Bom dia, Ana`: a greeting by the civil hour, with the first name.
pub fn greeting(zone: Zone, now: Instant, name: &str) -> String {
    let hello = match zone.civil(now).hour() {
        5..12 => "Bom dia",
        12..18 => "Boa tarde",
        _ => "Boa noite",
    };
    match name.split_whitespace().next() {
        Some(first) => format!("{hello}, {first}"),
        None => hello.to_owned(),
    }
}

/// `sexta-feira, 20 de novembro`: the civil day in words.
pub fn day_in_words(zone: Zone, now: Instant) -> String {
    const WEEKDAYS: [&str; 7] = [
        "segunda-feira",
        "terça-feira",
        "quarta-feira",
        "quinta-feira",
        "sexta-feira",
        "sábado",
        "domingo",
    ];
    let day = zone.day(now);
    let date = day.date();
    let weekday = WEEKDAYS[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())];
    format!("{weekday}, {} de {}", date.day(), month_in_words(day))
}

/// `novembro`: the month of a day.
pub fn month_in_words(day: Day) -> &'static str {
    const MONTHS: [&str; 12] = [
        "janeiro",
        "fevereiro",
        "março",
        "abril",
        "maio",
        "junho",
        "julho",
        "agosto",
        "setembro",
        "outubro",
        "novembro",
        "dezembro",
    ];
    MONTHS[usize::from(day.date().month().unsigned_abs()) - 1]
}

/// `hoje 19:00`, `amanhã 9:00`, `qui 19:00`, `12/12 19:00`, `12/12/2027`: an instant near
/// the present, as deadlines name it.
pub fn near_day(zone: Zone, at: Instant, now: Instant) -> String {
    const WEEKDAYS: [&str; 7] = ["seg", "ter", "qua", "qui", "sex", "sáb", "dom"];
    let (civil, day, today) = (zone.civil(at), zone.day(at), zone.day(now));
    let hour = civil.strftime("%-H:%M");
    match day.0 - today.0 {
        -1 => format!("ontem {hour}"),
        0 => format!("hoje {hour}"),
        1 => format!("amanhã {hour}"),
        2..=6 => {
            let weekday = civil.date().weekday().to_monday_zero_offset().unsigned_abs();
            format!("{} {hour}", WEEKDAYS[usize::from(weekday)])
        }
        _ if civil.year() == today.date().year() => format!("{} {hour}", civil.strftime("%d/%m")),
        _ => civil.strftime("%d/%m/%Y").to_string(),
    }
}

/// `1,4 GB`: a size in bytes with decimal units, as people read it.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut unit, mut scale) = (0, 1000);
    while bytes.saturating_add(scale / 20) / scale >= 1000 && unit + 1 < UNITS.len() {
        unit += 1;
        scale *= 1000;
    }
    let tenths = bytes.saturating_add(scale / 20) / (scale / 10);
    format!("{},{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// `3 dias e 4 h`: a span in its two largest units.
pub fn span(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / DAY_S, seconds % DAY_S / 3600, seconds % 3600 / 60);
    match (days, hours, minutes) {
        (1, ..) => format!("1 dia e {hours} h"),
        (2.., ..) => format!("{days} dias e {hours} h"),
        (_, 1.., _) => format!("{hours} h e {minutes} min"),
        (.., 1..) => format!("{minutes} min"),
        _ => "menos de um minuto".to_owned(),
    }
}

/// One input of a form: what was typed and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Its content. Passwords are never sent back.
    pub value: String,
    pub error: Option<String>,
    /// Whether the page opens with the cursor here.
    pub focus: bool,
}

impl Field {
    /// A field that holds `value` and has no fault.
    pub fn of(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    /// The same field with a fault, if there is one.
    #[must_use]
    pub fn fault(mut self, error: Option<&str>) -> Self {
        self.error = error.map(str::to_owned);
        self
    }
}

/// Puts the cursor into the first field at fault (else into the first that
/// is empty) and counts the faults. Fields come in the order of the page.
/// Not for the form of an existing entry, which people read first.
pub fn focus_first<'a>(fields: impl IntoIterator<Item = &'a mut Field>) -> usize {
    let mut fields: Vec<_> = fields.into_iter().collect();
    let faults = fields.iter().filter(|field| field.error.is_some()).count();
    let first = fields
        .iter()
        .position(|field| field.error.is_some())
        .or_else(|| fields.iter().position(|field| field.value.is_empty()));
    for (index, field) in fields.iter_mut().enumerate() {
        field.focus = first == Some(index);
    }
    faults
}

/// One entry of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub value: &'static str,
    pub label: &'static str,
}

/// The direction a list is sorted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Ascending,
    Descending,
}

impl Sort {
    pub fn aria(self) -> &'static str {
        match self {
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }

    /// Its drawing in `img/icons.svg`.
    pub fn icon(self) -> &'static str {
        match self {
            Self::Ascending => "up",
            Self::Descending => "down",
        }
    }
}

/// A header of a table.
#[derive(Clone, Debug)]
pub struct Column {
    pub label: &'static str,
    /// Whether it holds numbers, which stand on the right.
    pub numeric: bool,
    /// URL that sorts by it, or reverses the direction; empty when it does not sort.
    pub href: String,
    /// The direction, when the list is sorted by this column.
    pub sorted: Option<Sort>,
}

/// The position of a page in its list, such as `1–20 de 43`, and links to the
/// pages before and after.
#[derive(Clone, Debug)]
pub struct Paging {
    pub span: String,
    pub previous: Option<String>,
    pub next: Option<String>,
    /// Address of the last page, when this one is past the end.
    pub past_end: Option<String>,
}

impl Paging {
    /// The page `page` (from 1) of `total` rows. `params` are the other
    /// parameters of the list's address, which both neighbours keep.
    pub fn new(path: &str, params: &[(&str, &str)], page: u64, per_page: u64, total: u64) -> Self {
        let last = total.div_ceil(per_page.max(1)).max(1);
        let is_past_end = total > 0 && page > last;
        let page = page.clamp(1, last);
        let first_row = (page - 1) * per_page + 1;
        let last_row = (page * per_page).min(total);
        let grouped = crate::base::text::grouped;
        let span = match total {
            0 => "Nenhum resultado".to_owned(),
            _ if last == 1 => counted(total, "resultado", "resultados"),
            _ => format!("{}–{} de {}", grouped(first_row), grouped(last_row), grouped(total)),
        };
        let at = |page: u64| {
            let page = page.to_string();
            let mut all = params.to_vec();
            all.push(("pagina", if page == "1" { "" } else { &page }));
            address(path, &all)
        };
        Self {
            span,
            previous: (page > 1).then(|| at(page - 1)),
            next: (page < last).then(|| at(page + 1)),
            past_end: is_past_end.then(|| at(last)),
        }
    }
}

/// A path with its parameters; empty ones are left out, so that the same
/// list has one address.
pub fn address(path: &str, params: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params.iter().filter(|(_, value)| !value.is_empty()));
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The answer to a browser when something went wrong.
#[derive(Template)]
#[template(path = "error.html", config = "assets/askama.toml")]
pub struct ErrorPage {
    pub layout: Layout,
    pub status: u16,
    pub title: &'static str,
    pub text: Cow<'static, str>,
    /// What to quote when asking for help.
    pub request_id: String,
    pub href: String,
    pub button: Cow<'static, str>,
}

impl ErrorPage {
    /// The page of a status. `retry` is the requested URL, given when a retry
    /// can help; the button then leads there instead of to the start page.
    pub fn new(layout: Layout, status: u16, request_id: &str, retry: Option<&str>) -> Self {
        let (title, text) = error_words(status);
        Self {
            layout,
            status,
            title,
            text: text.into(),
            request_id: request_id.to_owned(),
            href: retry.unwrap_or("/").to_owned(),
            button: match retry {
                Some(_) => "Tentar de novo".into(),
                None => "Ir para o início".into(),
            },
        }
    }
}

/// A refusal as a notice on the page that it is about.
pub fn refusal_notice(problem: &Problem) -> Notice {
    if let Some(told) = &problem.told {
        Notice::new(Tone::Warn, told.title, told.text.clone())
    } else {
        let (title, text) = error_words(problem.code.status(Family::Page).as_u16());
        Notice::new(Tone::Warn, title, text)
    }
}

/// What happened, what is safe and what to do, as plain text.
pub fn error_text(status: u16, request_id: &str) -> String {
    let (title, text) = error_words(status);
    if status < 500 {
        format!("{title}. {text}")
    } else {
        format!("{title}. {text}\n\nCódigo: {request_id}")
    }
}

fn error_words(status: u16) -> (&'static str, &'static str) {
    match status {
        413 => (
            "O que você enviou é grande demais",
            "Nada foi alterado. Volte à página anterior e envie um texto ou um arquivo menor.",
        ),
        401 => (
            "Seu acesso não vale mais",
            "Entre de novo para continuar. Se a conta foi suspensa, a página de entrada diz o que fazer.",
        ),
        402 => (
            "Seu plano não inclui isso",
            "Nada foi alterado. Se você precisa disso, fale com quem administra a plataforma.",
        ),
        409 => (
            "Isso não é possível agora",
            "Algo mudou desde que você abriu a página. Nada foi alterado. Abra a página de novo e confira.",
        ),
        502 => (
            "O marketplace não respondeu",
            "Seus dados continuam onde estavam. Tente de novo em alguns minutos.",
        ),
        400 | 405..=428 | 430..=499 => (
            "Não entendemos o que chegou",
            "O endereço ou o formulário chegou incompleto. Nada foi alterado. Volte à página anterior e tente de novo.",
        ),
        403 => (
            "Sua conta não abre esta página",
            "Ela é de outro tipo de acesso, ou o formulário veio de outro site. Nada foi alterado. Se você precisa dela, fale com quem administra a plataforma.",
        ),
        404 => (
            "Esta página não existe",
            "O endereço pode ter mudado ou o item foi excluído. Seus dados continuam onde estavam.",
        ),
        429 => (
            "Muitas tentativas em pouco tempo",
            "Espere um minuto e tente de novo. O que você já tinha enviado está salvo.",
        ),
        503 => (
            "Estamos ocupados por um instante",
            "O serviço está reiniciando ou com muitos acessos. Seus dados estão seguros. Tente de novo em alguns segundos.",
        ),
        _ => (
            "Algo falhou do nosso lado",
            "O que estava salvo continua salvo; o que você acabou de fazer pode não ter sido salvo. Confira antes de repetir. Se acontecer de novo, informe o código abaixo a quem administra a plataforma.",
        ),
    }
}

#[cfg(test)]
mod tests;
