//! What a call costs its caller: a place in windows, and one of a quota.
//!
//! The guard says what; it is counted once the size of the body is known, so
//! that a body that is too large costs nothing.

use std::net::IpAddr;

use bytes::Bytes;
use http::Method;

use super::known::TokenKind;
use super::rate_limited;
use crate::app::App;
use crate::base::clock::Instant;
use crate::base::ids::{TokenHash, UserId};
use crate::behind::LastUse;
use crate::http::limit::{Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem};

/// What a call costs. The default is nothing.
#[derive(Default)]
pub struct Charge {
    /// In the order in which they refuse.
    pub(super) windows: [Option<Window>; 3],
    pub(super) quota: Option<Quota>,
    /// The API key to note the use of.
    pub(super) key: Option<KeyUse>,
    /// Counted, but never refused.
    pub(super) is_never_refused: bool,
}

/// A window of the limiter.
pub(super) struct Window {
    pub(super) class: Class,
    pub(super) subject: Subject,
    pub(super) limit: Limit,
}

/// A call of a partner operation.
pub(super) struct Quota {
    pub(super) user: UserId,
    pub(super) monthly: u64,
    pub(super) operation: &'static str,
}

/// Where an API key is used.
pub(super) struct KeyUse {
    pub(super) hash: TokenHash,
    pub(super) client: IpAddr,
    pub(super) method: Method,
    pub(super) path: &'static str,
}

/// Whether a call is counted, or only asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Count,
    Peek,
}

/// What the windows and the quota say of a call.
pub struct Charged {
    /// What the headers of the answer show.
    pub verdict: Option<Verdict>,
    pub outcome: Result<(), Problem>,
}

impl From<Window> for Charge {
    fn from(window: Window) -> Self {
        Self { windows: [Some(window), None, None], ..Self::default() }
    }
}

impl Charge {
    /// Counts the call. One that is refused costs nothing.
    pub fn count(&self, app: &App, now: Instant) -> Charged {
        let charged = self.ask(app, now, Ask::Count);
        if let (Some(key), Ok(())) = (&self.key, &charged.outcome) {
            key.note(app, now);
        }
        charged
    }

    /// Says what [`Charge::count`] would say now, and counts nothing.
    pub fn peek(&self, app: &App, now: Instant) -> Charged {
        self.ask(app, now, Ask::Peek)
    }

    /// Counts a call whose body was read, unless that was too large.
    pub fn count_body(&self, app: &App, read: &Result<Bytes, Problem>) -> Charged {
        // Not the instant when the call came: its window may have ended
        // meanwhile, and an instant before a window would begin it anew.
        let now = app.clock.now();
        if matches!(read, Err(problem) if problem.code == Code::PayloadTooLarge) {
            return Charged { outcome: Ok(()), ..self.peek(app, now) };
        }
        self.count(app, now)
    }

    fn ask(&self, app: &App, now: Instant, ask: Ask) -> Charged {
        let windows = self.ask_windows(app, now, ask);
        if let Some(verdict) = windows
            && !verdict.allowed
        {
            if self.is_never_refused {
                let verdict = Some(Verdict { allowed: true, ..verdict });
                return Charged { verdict, outcome: Ok(()) };
            }
            return Charged { verdict: windows, outcome: Err(rate_limited()) };
        }
        let Some(quota) = &self.quota else {
            return Charged { verdict: windows, outcome: Ok(()) };
        };
        let Quota { user, monthly, operation } = *quota;
        let asked = match ask {
            Ask::Count => app.usage.count(app, (user, monthly), operation, now),
            Ask::Peek => app.usage.peek(app, (user, monthly), now),
        };
        match asked {
            Err(error) => Charged { verdict: windows, outcome: Err(error.into()) },
            Ok(verdict) if !verdict.allowed => {
                if ask == Ask::Count {
                    self.give_back(app, self.windows.len(), now);
                }
                let problem =
                    Problem::new(Code::QuotaExceeded, "the plan's monthly quota is used up");
                Charged { verdict: Some(verdict), outcome: Err(problem) }
            }
            Ok(verdict) => {
                let verdict = windows.map_or(verdict, |windows| windows.stricter(verdict));
                Charged { verdict: Some(verdict), outcome: Ok(()) }
            }
        }
    }

    /// The refusal of the first window that refuses, else the verdict of the
    /// window with the least left.
    fn ask_windows(&self, app: &App, now: Instant, ask: Ask) -> Option<Verdict> {
        let mut strictest: Option<Verdict> = None;
        for (place, window) in self.windows.iter().enumerate() {
            let Some(Window { class, subject, limit }) = *window else { continue };
            let verdict = match ask {
                Ask::Count => app.limiter.count(class, subject, limit, now),
                Ask::Peek => app.limiter.peek(class, subject, limit, now),
            };
            if !verdict.allowed {
                if ask == Ask::Count {
                    self.give_back(app, place, now);
                }
                return Some(verdict);
            }
            strictest = Some(strictest.map_or(verdict, |other| verdict.stricter(other)));
        }
        strictest
    }

    /// Takes the call out of the first windows again.
    fn give_back(&self, app: &App, first: usize, now: Instant) {
        for window in self.windows[..first].iter().flatten() {
            app.limiter.give_back(window.class, window.subject, now);
        }
    }
}

impl KeyUse {
    fn note(&self, app: &App, at: Instant) {
        let route = format!("{} {}", self.method, self.path);
        app.last_uses.note(
            TokenKind::Key,
            self.hash,
            LastUse::Key { at, address: self.client, route },
        );
    }
}
