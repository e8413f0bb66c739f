//! The log: structured lines on standard error. Warnings and errors also go to the
//! journal, where the panel finds them.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::writer::MakeWriterExt as _;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::base::{Clock, told, trace};
use crate::config::{Log, LogFormat};
use crate::journal::{self, LoggedError};

/// Whether all lines except warnings and errors are suppressed.
static HUSHED: AtomicBool = AtomicBool::new(false);

/// While it lives, only warnings and errors are logged.
pub struct Hush(());

impl Hush {
    /// Begins. A log configured to debug or trace shows everything all the same.
    pub fn begin(log: &Log) -> Self {
        HUSHED.store(log.level <= Level::INFO, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Hush {
    fn drop(&mut self) {
        HUSHED.store(false, Ordering::Relaxed);
    }
}

/// Lines of the log on standard error. That one cannot be written stops nobody, and stands
/// in the log once it can.
struct Lines;

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let lost = told::err(line);
        if lost > 0 {
            tracing::warn!(lines = lost, "the log could not be written for a while");
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts logging as configured. The journal is written by a clock.
pub fn start(log: &Log, clock: &Clock) {
    let journal = Journal(clock.clone());
    // That of the library waits for whoever reads standard error.
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let backtrace = Backtrace::capture();
        let trace = match backtrace.status() {
            BacktraceStatus::Captured => format!("{backtrace}\n"),
            _ => String::new(),
        };
        let name = thread.name().unwrap_or("<unnamed>");
        told::err(format!("thread '{name}' {panic}\n{trace}").as_bytes());
    }));
    let lines =
        fmt()
            .with_max_level(log.level)
            .log_internal_errors(false)
            .with_writer((|| Lines).with_filter(|line| {
                !HUSHED.load(Ordering::Relaxed) || *line.level() <= Level::WARN
            }))
            .with_ansi(false)
            .with_target(false);
    match log.format {
        LogFormat::Text => lines.finish().with(journal).init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().with(journal).init(),
    }
}

struct Journal(Clock);

impl<S: Subscriber> Layer<S> for Journal {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        if level > Level::WARN {
            return;
        }
        let mut error = LoggedError {
            at: self.0.now(),
            is_error: level == Level::ERROR,
            message: String::new(),
            cause: String::new(),
            request_id: trace::current().map_or_else(String::new, |id| id.to_string()),
        };
        event.record(&mut Fields(&mut error));
        journal::note_error(&error);
    }
}

/// The fields of a line: the message, the request, and the rest as the cause.
struct Fields<'e>(&'e mut LoggedError);

impl Fields<'_> {
    fn put(&mut self, name: &str, value: &str) {
        let error = &mut *self.0;
        match name {
            // A field of that name may follow the words of the line.
            "message" if error.message.is_empty() => value.clone_into(&mut error.message),
            "request_id" => value.clone_into(&mut error.request_id),
            "cause" | "error" | "fault" if error.cause.is_empty() => {
                value.clone_into(&mut error.cause);
            }
            _ => {
                let between = if error.cause.is_empty() { "" } else { "; " };
                error.cause = format!("{}{between}{name}: {value}", error.cause);
            }
        }
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.put(field.name(), &format!("{value:?}"));
    }
}
