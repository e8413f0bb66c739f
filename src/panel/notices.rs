//! Words about the last action, kept until a page shows their notice.
//!
//! They belong to the session and not to the URL, so that reloading a page or
//! going back to it shows no notice twice. They are kept in memory only: a
//! restart loses the notice, never the change it is about. Decision panel-4.

use parking_lot::Mutex;
use std::collections::HashMap;

use http::{HeaderMap, Method};

use crate::base::{Instant, TokenHash};
use crate::http::request::wants_json;

/// Most sessions with words, most words of a session, and the seconds after
/// which a word expires.
const MOST_SESSIONS: usize = 4_096;
const MOST_EACH: usize = 4;
const LIFE_S: i64 = 600;

struct Waiting {
    page: String,
    word: String,
    since: Instant,
}

/// The waiting words, by session.
#[derive(Default)]
pub struct Notices(Mutex<HashMap<TokenHash, Vec<Waiting>>>);

impl Notices {
    /// Keeps a word for the next view of `page` in a session. Only the path of
    /// `page` counts, not its query. A newer word replaces an older one.
    pub fn put(&self, session: TokenHash, page: &str, word: &str, now: Instant) {
        let mut all = self.0.lock();
        if all.len() >= MOST_SESSIONS && !all.contains_key(&session) {
            all.retain(|_, words| words.iter().any(|one| lives(one, now)));
            // If all words are fresh, one other session loses its words.
            if all.len() >= MOST_SESSIONS
                && let Some(other) = all.keys().next().copied()
            {
                all.remove(&other);
            }
        }
        let page = path_of(page);
        let words = all.entry(session).or_default();
        words.retain(|one| one.page != page && lives(one, now));
        if words.len() == MOST_EACH {
            words.remove(0);
        }
        words.push(Waiting { page: page.to_owned(), word: word.to_owned(), since: now });
    }

    /// Takes the word that waits for a page.
    pub fn take(&self, session: TokenHash, page: &str, now: Instant) -> Option<String> {
        let mut all = self.0.lock();
        let words = all.get_mut(&session)?;
        let place = words.iter().position(|one| one.page == page)?;
        let found = words.remove(place);
        if words.is_empty() {
            all.remove(&session);
        }
        lives(&found, now).then_some(found.word)
    }
}

fn lives(one: &Waiting, now: Instant) -> bool {
    now < one.since.plus(LIFE_S)
}

fn path_of(page: &str) -> &str {
    page.split_once(['?', '#']).map_or(page, |(path, _)| path)
}

/// Whether a person will see the response. A script that reads a page, or a
/// browser that prefetches it, shows the notice to nobody.
pub fn is_view(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &str, word: &str| {
        headers.get(name).is_some_and(|value| value.as_bytes().starts_with(word.as_bytes()))
    };
    *method == Method::GET
        && !wants_json(headers)
        && (!headers.contains_key("sec-fetch-dest") || says("sec-fetch-dest", "document"))
        && !says("sec-purpose", "prefetch")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_000_000);

    fn session(name: &str) -> TokenHash {
        TokenHash::of(name)
    }

    #[test]
    fn a_word_is_shown_once_on_its_page_in_its_session() {
        let notices = Notices::default();
        notices.put(session("ana"), "/perfil?pagina=2", "dados", NOW);
        assert_eq!(notices.take(session("rui"), "/perfil", NOW), None);
        assert_eq!(notices.take(session("ana"), "/painel", NOW), None);
        assert_eq!(notices.take(session("ana"), "/perfil", NOW).as_deref(), Some("dados"));
        assert_eq!(notices.take(session("ana"), "/perfil", NOW), None);
    }

    #[test]
    fn words_grow_old_and_are_few() {
        let notices = Notices::default();
        notices.put(session("ana"), "/perfil", "dados", NOW);
        assert_eq!(notices.take(session("ana"), "/perfil", NOW.plus(LIFE_S)), None);
        for page in 0..100 {
            notices.put(session("ana"), &format!("/{page}"), "x", NOW);
        }
        assert_eq!(notices.take(session("ana"), "/95", NOW), None);
        assert!(notices.take(session("ana"), "/99", NOW).is_some());
        for person in 0..2 * MOST_SESSIONS {
            notices.put(session(&person.to_string()), "/", "x", NOW);
        }
        assert!(notices.0.lock().len() <= MOST_SESSIONS);
    }
}
