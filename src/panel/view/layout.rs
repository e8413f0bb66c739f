//! The frame around a page: its reader, the navigation, and the present place.

use std::sync::Arc;

use super::{Flash, Notice};
use crate::base::clock::Instant;
use crate::http::Request;
use crate::panel::live::Counts;

/// One entry of the navigation.
pub struct NavItem {
    pub label: &'static str,
    pub href: &'static str,
    /// Its drawing in `img/icons.svg`.
    pub icon: &'static str,
    /// Whether it stands on a phone's bottom bar too.
    pub handy: bool,
    /// Another address whose pages belong to it; empty without one.
    pub also: &'static str,
}

impl NavItem {
    pub const fn new(label: &'static str, href: &'static str, icon: &'static str) -> Self {
        Self { label, href, icon, handy: false, also: "" }
    }

    /// The same entry, on a phone's bottom bar too, which has room for four.
    pub const fn handy(mut self) -> Self {
        self.handy = true;
        self
    }

    /// The same entry, with the pages below another address.
    pub const fn with(mut self, also: &'static str) -> Self {
        self.also = also;
        self
    }
}

/// A navigation with more entries folds its groups.
const MOST_UNFOLDED: usize = 24;

/// Entries that belong to one task; the title is empty for the first group.
pub struct NavGroup {
    /// What the entries have in common.
    pub title: &'static str,
    /// At most seven of them.
    pub items: &'static [NavItem],
}

/// The signed-in reader of a page.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// Name as typed by its owner.
    pub name: &'a str,
    pub email: &'a str,
    /// Address of the photo, empty without one.
    pub photo: &'a str,
    /// What this role may visit; the first entry is the role's home.
    pub menu: &'static [NavGroup],
}

/// The student as whom an administrator views the pages.
#[derive(Clone, Debug)]
pub struct Viewed {
    pub name: String,
    /// Civil time of the end, such as `14:32`.
    pub until: String,
}

/// The frame around the content of a page.
pub struct Layout {
    pub site: String,
    /// The server's present time in Unix seconds; relative times count from it.
    pub now: i64,
    /// Name of the reader; empty when nobody is signed in.
    pub person: String,
    /// E-mail address of the reader; empty when nobody is signed in.
    pub email: String,
    /// Address of the reader's photo, empty without one.
    pub photo: String,
    pub menu: &'static [NavGroup],
    pub home: &'static str,
    /// The notice about the last action, shown once.
    pub flash: Option<Notice>,
    /// The student as whom the reader views the pages.
    pub viewed: Option<Viewed>,
    /// What waits behind the entries of the menu.
    pub counts: Arc<Counts>,
    here: String,
}

impl Layout {
    /// The frame of pages for anyone: no navigation.
    pub fn outside(site: &str, now: Instant) -> Self {
        Self {
            site: site.to_owned(),
            now: now.0,
            person: String::new(),
            email: String::new(),
            photo: String::new(),
            menu: &[],
            home: "/",
            flash: None,
            viewed: None,
            counts: Arc::default(),
            here: String::new(),
        }
    }

    /// The frame of a signed-in reader's page at the path `here`.
    pub fn inside(site: &str, now: Instant, reader: Reader<'_>, here: &str) -> Self {
        let home = reader.menu.first().and_then(|group| group.items.first());
        Self {
            person: reader.name.to_owned(),
            email: reader.email.to_owned(),
            photo: reader.photo.to_owned(),
            menu: reader.menu,
            home: home.map_or("/", |item| item.href),
            here: here.to_owned(),
            ..Self::outside(site, now)
        }
    }

    /// The same frame with the notice about the last action, if `outcomes` has its word.
    #[must_use]
    pub fn telling(self, outcomes: &[Flash], request: &Request) -> Self {
        let word = request.notice.as_deref();
        self.with_flash(word.and_then(|word| Flash::notice(outcomes, word)))
    }

    /// The same frame with a notice about the last action.
    #[must_use]
    pub fn with_flash(mut self, flash: Option<Notice>) -> Self {
        self.flash = flash;
        self
    }

    /// The same frame for a reader who views the pages as a student.
    #[must_use]
    pub fn looking_as(mut self, viewed: Option<Viewed>) -> Self {
        self.viewed = viewed;
        self
    }

    /// The same frame with what waits behind the entries of the menu.
    #[must_use]
    pub fn counting(mut self, counts: Arc<Counts>) -> Self {
        self.counts = counts;
        self
    }

    /// What waits behind an entry, as it is shown; empty for nothing.
    pub fn count(&self, item: &NavItem) -> String {
        shown(self.counts.of(item.href))
    }

    /// Whether anything is ever counted behind an entry.
    pub fn is_counted(&self, item: &NavItem) -> bool {
        self.counts.menu.contains_key(item.href)
    }

    /// Whether a group of the navigation folds: those of a long one do.
    pub fn folds(&self, group: &NavGroup) -> bool {
        let entries: usize = self.menu.iter().map(|group| group.items.len()).sum();
        entries > MOST_UNFOLDED && !group.title.is_empty()
    }

    /// Whether the page belongs to an entry of a group.
    pub fn is_within(&self, group: &NavGroup) -> bool {
        group.items.iter().any(|item| self.is_here(item))
    }

    /// Whether anything is ever counted behind an entry of a group.
    pub fn is_counted_within(&self, group: &NavGroup) -> bool {
        group.items.iter().any(|item| self.is_counted(item))
    }

    /// What waits behind all entries of a group, as it is shown.
    pub fn count_within(&self, group: &NavGroup) -> String {
        shown(group.items.iter().map(|item| self.counts.of(item.href)).sum())
    }

    /// Whether the page belongs to an entry: the longest address that begins
    /// the page's own wins, so that a form below a list marks the list.
    pub fn is_here(&self, item: &NavItem) -> bool {
        let present = self
            .menu
            .iter()
            .flat_map(|group| group.items)
            .filter(|item| is_below(&self.here, item.href) || is_below(&self.here, item.also))
            .max_by_key(|item| item.href.len());
        present.is_some_and(|present| present.href == item.href)
    }

    /// Whether the page is the reader's own profile, which has its own link in the frame.
    pub fn is_profile(&self) -> bool {
        is_below(&self.here, "/perfil")
    }

    /// The entries of a phone's bottom bar, before the one that opens the menu.
    pub fn shortcuts(&self) -> impl Iterator<Item = &'static NavItem> {
        let items = self.menu.iter().flat_map(|group| group.items);
        items.filter(|item| item.handy)
    }
}

/// A number beside an entry; nothing for none.
fn shown(count: i64) -> String {
    match count {
        ..=0 => String::new(),
        count @ ..=999 => count.to_string(),
        _ => "999+".to_owned(),
    }
}

fn is_below(path: &str, parent: &str) -> bool {
    !parent.is_empty()
        && path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// First letters of the first and the last word of a name.
pub fn initials(name: &str) -> String {
    let mut words = name.split_whitespace();
    let letter = |word: Option<&str>| word.and_then(|word| word.chars().next());
    let first = letter(words.next());
    let last = letter(words.next_back());
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}
