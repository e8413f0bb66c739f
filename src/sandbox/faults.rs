//! Scripted faults: the next calls to a path fail in a chosen way.
//!
//! Faults never apply to the control interface and the pages, so that they can
//! always be switched off.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::http::{Reply, SendMode};

/// Most faults that wait at the same time.
pub const FAULTS_MAX: usize = 100;

/// A fault that waits for its calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// Beginning of the path; `/` matches every call.
    pub path_prefix: String,
    /// The fault applies only to this method.
    #[serde(default)]
    pub method: Option<String>,
    /// Calls that pass before the first fault.
    #[serde(default)]
    pub skip: u32,
    /// Number of calls that fail; 0 means all until the fault is removed.
    #[serde(default = "once")]
    pub times: u32,
    /// How the calls fail.
    #[serde(flatten)]
    pub kind: FaultKind,
}

impl Fault {
    /// A fault that applies to one call.
    pub fn once(path_prefix: &str, kind: FaultKind) -> Self {
        Self { path_prefix: path_prefix.to_owned(), method: None, skip: 0, times: 1, kind }
    }

    /// Description of the fault for the overview.
    pub fn words(&self) -> String {
        let times = match self.times {
            0 => "até ser retirada".to_owned(),
            1 => "1 vez".to_owned(),
            times => format!("{times} vezes"),
        };
        format!("{} em {} · {times}", self.kind.words(), self.path_prefix)
    }

    fn is_for(&self, method: &str, path: &str) -> bool {
        let only = self.method.as_deref();
        path.starts_with(&self.path_prefix)
            && only.is_none_or(|only| only.eq_ignore_ascii_case(method))
    }
}

fn once() -> u32 {
    1
}

/// How a call fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// Answers with this status and nothing is done.
    Status {
        /// HTTP status, 200–599.
        code: u16,
        /// A text is sent as it is, any other value as JSON; absent means the
        /// usual error body.
        #[serde(default)]
        body: Option<Value>,
    },
    /// Sends nothing for a while, then closes the connection.
    #[serde(alias = "timeout")]
    Hang {
        /// Milliseconds.
        ms: u64,
    },
    /// Announces the whole length, sends half of the body, closes the connection.
    Truncated,
    /// 200 with something that is not JSON.
    Garbage,
    /// The correct answer, sent slowly in pieces.
    Slow {
        /// Milliseconds for the whole answer.
        ms: u64,
    },
    /// 429: with `Retry-After` if it is given, otherwise with an empty body.
    RateLimited {
        /// Seconds.
        #[serde(default)]
        retry_after: Option<u32>,
    },
    /// Does the work, then closes the connection without an answer.
    LostResponse,
    /// Redirects the caller.
    Redirect {
        /// Target address.
        location: String,
    },
    /// 200 with a body of the given size that begins like a PDF.
    Huge {
        /// Bytes, at most 64 MiB.
        bytes: usize,
    },
}

/// The largest body of [`FaultKind::Huge`].
const HUGE_MAX: usize = 64 << 20;

impl FaultKind {
    /// The kind's name, as in the control interface.
    pub fn name(&self) -> String {
        serde_json::json!(self)["kind"].as_str().unwrap_or_default().to_owned()
    }

    /// The answer that replaces the work; `None` when the work is done.
    pub fn instead(&self) -> Option<Reply> {
        match self {
            Self::Status { code, body } => Some(match body {
                None => Reply::error(*code, "sandbox_fault", "scripted fault"),
                Some(Value::String(text)) => Reply::text(*code, text),
                Some(json) => Reply::json(*code, json),
            }),
            Self::Hang { ms } => Some(Reply::empty(200).sent(SendMode::Hang(*ms))),
            Self::Garbage => Some(Reply::html(200, "<html><body>Ops")),
            Self::RateLimited { retry_after: None } => Some(Reply::empty(429)),
            Self::RateLimited { retry_after: Some(seconds) } => Some(
                Reply::error(429, "local_rate_limited", "too many requests")
                    .header("retry-after", &seconds.to_string()),
            ),
            Self::Redirect { location } => Some(Reply::empty(302).header("location", location)),
            Self::Huge { bytes } => {
                let mut body = b"%PDF-1.4\n".to_vec();
                body.resize(*bytes, b' ');
                Some(Reply::pdf(body))
            }
            Self::Truncated | Self::Slow { .. } | Self::LostResponse => None,
        }
    }

    /// How the answer is sent when the work is done.
    pub fn send_mode(&self) -> SendMode {
        match self {
            Self::Truncated => SendMode::Truncated,
            Self::Slow { ms } => SendMode::Slow(*ms),
            Self::LostResponse => SendMode::Lost,
            _ => SendMode::Whole,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Status { code, .. } => format!("resposta {code}"),
            Self::Hang { ms } => format!("silêncio por {} s", ms / 1_000),
            Self::Truncated => "resposta cortada".to_owned(),
            Self::Garbage => "resposta que não é JSON".to_owned(),
            Self::Slow { ms } => format!("resposta lenta, {} s", ms / 1_000),
            Self::RateLimited { retry_after: Some(seconds) } => {
                format!("resposta 429, voltar em {seconds} s")
            }
            Self::RateLimited { retry_after: None } => "resposta 429".to_owned(),
            Self::LostResponse => "resposta perdida".to_owned(),
            Self::Redirect { .. } => "desvio para outro endereço".to_owned(),
            Self::Huge { bytes } => format!("resposta de {} MB", bytes >> 20),
        }
    }

    /// What is wrong with the definition of the fault.
    pub fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Status { code, .. } if !(200..=599).contains(code) => {
                Some("code must be from 200 to 599")
            }
            Self::Hang { ms } | Self::Slow { ms } if *ms > 600_000 => {
                Some("ms must be at most 600000")
            }
            Self::Huge { bytes } if *bytes > HUGE_MAX => Some("bytes must be at most 64 MiB"),
            _ => None,
        }
    }
}

/// Whether a fault matches a call.
pub fn is_meant(faults: &[Fault], method: &str, path: &str) -> bool {
    faults.iter().any(|fault| fault.is_for(method, path))
}

/// The first fault that matches a call; counts down its `skip` or `times`.
pub fn take(faults: &mut Vec<Fault>, method: &str, path: &str) -> Option<FaultKind> {
    let index = faults.iter().position(|fault| fault.is_for(method, path))?;
    let fault = &mut faults[index];
    if fault.skip > 0 {
        fault.skip -= 1;
        return None;
    }
    let kind = fault.kind.clone();
    match fault.times {
        0 => {}
        1 => {
            faults.remove(index);
        }
        _ => fault.times -= 1,
    }
    Some(kind)
}
