//! The log: structured lines on standard error.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing::Level;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::writer::MakeWriterExt as _;

use crate::config::{Log, LogFormat, LogLevel};

/// Whether all lines except warnings and errors are suppressed.
static HUSHED: AtomicBool = AtomicBool::new(false);

/// While it lives, only warnings and errors are logged.
pub struct Hush(());

impl Hush {
    /// Begins. A log configured to debug or trace shows everything all the same.
    pub fn begin(log: &Log) -> Self {
        let wanted = matches!(log.level, LogLevel::Debug | LogLevel::Trace);
        HUSHED.store(!wanted, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Hush {
    fn drop(&mut self) {
        HUSHED.store(false, Ordering::Relaxed);
    }
}

/// Starts logging as configured.
pub fn start(log: &Log) {
    let level = match log.level {
        LogLevel::Error => Level::ERROR,
        LogLevel::Warn => Level::WARN,
        LogLevel::Info => Level::INFO,
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Trace => Level::TRACE,
    };
    let lines =
        fmt()
            .with_max_level(level)
            .with_writer(std::io::stderr.with_filter(|line| {
                !HUSHED.load(Ordering::Relaxed) || *line.level() <= Level::WARN
            }))
            .with_ansi(false)
            .with_target(false);
    match log.format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}
