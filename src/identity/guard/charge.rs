//! What a call costs its caller: one call in each rate window, and one of the
//! monthly quota.
//!
//! The guard decides the cost. It is counted when the size of the body is
//! known, so a call whose body is too large costs nothing.

use std::net::IpAddr;

use bytes::Bytes;
use http::Method;

use super::rate_limited;
use crate::app::App;
use crate::base::{Instant, TokenHash, UserId};
use crate::http::limit::{self, Class, Limit, Subject, Verdict};
use crate::http::{Code, Problem};
use crate::identity::last_uses::LastUse;
use crate::identity::token::TokenKind;
use crate::partner::usage::HeldCall;

/// What a call costs. The default is nothing.
#[derive(Default)]
pub struct Charge {
    /// In the order in which they are checked.
    pub(super) windows: [Option<Window>; 3],
    pub(super) quota: Option<Quota>,
    /// The API key whose use is noted.
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

/// The quota for a call of a partner operation.
pub(super) struct Quota {
    pub(super) user: UserId,
    pub(super) monthly: u64,
    pub(super) operation: &'static str,
    /// Whether the caller has a copy. If it is still good, the call uses no quota.
    pub(super) has_copy: bool,
}

/// One use of an API key.
pub(super) struct KeyUse {
    pub(super) hash: TokenHash,
    pub(super) client: IpAddr,
    pub(super) method: Method,
    pub(super) path: &'static str,
}

/// Whether a call is counted, or only checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Count,
    Peek,
}

/// The result of counting or checking a call.
pub struct Charged {
    /// Shown in the headers of the answer.
    pub verdict: Option<Verdict>,
    pub outcome: Result<(), Problem>,
    /// What a 304 gives back.
    pub held: Option<QuotaHold>,
}

/// A place in the quota that is given back when the caller's copy is still good.
pub struct QuotaHold {
    call: HeldCall,
    /// Shown when the place was given back.
    without: Verdict,
}

impl QuotaHold {
    /// Gives the place back; returns what the headers then show.
    pub fn give_back(self) -> Verdict {
        self.call.give_back();
        self.without
    }
}

impl Charged {
    const fn new(verdict: Option<Verdict>, outcome: Result<(), Problem>) -> Self {
        Self { verdict, outcome, held: None }
    }
}

impl From<Window> for Charge {
    fn from(window: Window) -> Self {
        Self { windows: [Some(window), None, None], ..Self::default() }
    }
}

impl Charge {
    /// What a call costs that counts for its address.
    pub(super) fn of_address(class: Class, address: IpAddr, limit: Limit) -> Self {
        let windows = limit::windows(address, limit);
        let windows =
            windows.map(|window| window.map(|(subject, limit)| Window { class, subject, limit }));
        Self { windows, ..Self::default() }
    }

    /// Counts the call. A rejected call costs nothing.
    pub fn count(&self, app: &App, now: Instant) -> Charged {
        let charged = self.ask(app, now, Ask::Count);
        if let (Some(key), Ok(())) = (&self.key, &charged.outcome) {
            let route = format!("{} {}", key.method, key.path);
            let last = LastUse::Key { at: now, address: key.client, route };
            app.callers.last_uses.note(TokenKind::Key, key.hash, last);
        }
        charged
    }

    /// Returns what [`Charge::count`] would return now, and counts nothing.
    pub fn peek(&self, app: &App, now: Instant) -> Charged {
        self.ask(app, now, Ask::Peek)
    }

    /// Counts a call whose body was read, unless that was too large.
    pub fn count_body(&self, app: &App, read: &Result<Bytes, Problem>) -> Charged {
        // Not the instant when the call arrived: its window may have ended in
        // the meantime, and an instant before the start of a window would
        // restart it.
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
                return Charged::new(verdict, Ok(()));
            }
            return Charged::new(windows, Err(rate_limited()));
        }
        let Some(quota) = &self.quota else {
            return Charged::new(windows, Ok(()));
        };
        let Quota { user, monthly, operation, has_copy } = *quota;
        let asked = match ask {
            Ask::Count if has_copy => app.callers.usage.hold(app, user, monthly, operation, now),
            Ask::Count => {
                let counted = app.callers.usage.count(app, user, monthly, operation, now);
                counted.map(|verdict| (verdict, None))
            }
            Ask::Peek => {
                app.callers.usage.peek(app, user, monthly, now).map(|verdict| (verdict, None))
            }
        };
        let shown = |quota: Verdict| windows.map_or(quota, |windows| windows.stricter(quota));
        match asked {
            Err(error) => Charged::new(windows, Err(error.into())),
            Ok((verdict, _)) if !verdict.allowed => {
                if ask == Ask::Count {
                    self.uncount(app, self.windows.len(), now);
                }
                let problem =
                    Problem::new(Code::QuotaExceeded, "the plan's monthly quota is used up");
                Charged::new(Some(verdict), Err(problem))
            }
            Ok((verdict, call)) => {
                let before = Verdict { remaining: verdict.remaining.saturating_add(1), ..verdict };
                let held = call.map(|call| QuotaHold { call, without: shown(before) });
                Charged { held, ..Charged::new(Some(shown(verdict)), Ok(())) }
            }
        }
    }

    /// The verdict of the first window that rejects the call; if none does,
    /// that of the window with the fewest calls left.
    fn ask_windows(&self, app: &App, now: Instant, ask: Ask) -> Option<Verdict> {
        let mut strictest: Option<Verdict> = None;
        for (place, window) in self.windows.iter().enumerate() {
            let Some(Window { class, subject, limit }) = *window else { continue };
            let verdict = match ask {
                Ask::Count => app.callers.limiter.count(class, subject, limit, now),
                Ask::Peek => app.callers.limiter.peek(class, subject, limit, now),
            };
            if !verdict.allowed {
                if ask == Ask::Count {
                    self.uncount(app, place, now);
                }
                return Some(verdict);
            }
            strictest = Some(strictest.map_or(verdict, |other| verdict.stricter(other)));
        }
        strictest
    }

    /// Undoes the count in the first `first` windows.
    fn uncount(&self, app: &App, first: usize, now: Instant) {
        for window in self.windows[..first].iter().flatten() {
            app.callers.limiter.uncount(window.class, window.subject, now);
        }
    }
}
