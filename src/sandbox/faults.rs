//! Scripted faults: the next calls to a path go wrong in a chosen way.
//!
//! The control interface and the pages have none: a fault must be possible to
//! switch off.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::http::{Manner, Reply};

/// Faults that wait at one time.
pub const FAULTS_MAX: usize = 100;

/// A fault that waits for its calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// Calls whose path begins so; `/` is every call.
    pub path_prefix: String,
    /// Only this method.
    #[serde(default)]
    pub method: Option<String>,
    /// Calls that pass before the first fault.
    #[serde(default)]
    pub skip: u32,
    /// Calls that go wrong; 0 until it is taken away.
    #[serde(default = "once")]
    pub times: u32,
    /// What happens.
    #[serde(flatten)]
    pub kind: FaultKind,
}

impl Fault {
    /// A fault of one call.
    pub fn once(path_prefix: &str, kind: FaultKind) -> Self {
        Self { path_prefix: path_prefix.to_owned(), method: None, skip: 0, times: 1, kind }
    }

    /// The fault in words of the overview.
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

/// What goes wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// Answers with this status and nothing is done.
    Status {
        /// HTTP status, 400–599.
        code: u16,
        /// Text as it is, anything else as JSON; none is the usual error body.
        #[serde(default)]
        body: Option<Value>,
    },
    /// Says nothing for a while, then hangs up.
    #[serde(alias = "timeout")]
    Hang {
        /// Milliseconds.
        ms: u64,
    },
    /// Promises the whole body, sends half, hangs up.
    Truncated,
    /// 200 with something that is not JSON.
    Garbage,
    /// The right answer, in pieces over a while.
    Slow {
        /// Milliseconds altogether.
        ms: u64,
    },
    /// 429, with `Retry-After` when given, with an empty body when not.
    RateLimited {
        /// Seconds.
        #[serde(default)]
        retry_after: Option<u32>,
    },
    /// Does the work, then hangs up without an answer.
    LostResponse,
    /// Sends the caller elsewhere.
    Redirect {
        /// Where to.
        location: String,
    },
    /// 200 with a body of that size that begins like a PDF.
    Huge {
        /// Bytes, at most 64 MiB.
        bytes: usize,
    },
}

/// The largest body that is played.
const HUGE_MAX: usize = 64 << 20;

impl FaultKind {
    /// The kind's name, as in the control interface.
    pub fn name(&self) -> String {
        serde_json::json!(self)["kind"].as_str().unwrap_or_default().to_owned()
    }

    /// The answer of a fault that keeps the work from being done.
    pub fn instead(&self) -> Option<Reply> {
        match self {
            Self::Status { code, body } => Some(match body {
                None => Reply::error(*code, "sandbox_fault", "scripted fault"),
                Some(Value::String(text)) => Reply::text(*code, text),
                Some(json) => Reply::json(*code, json),
            }),
            Self::Hang { ms } => Some(Reply::empty(200).sent(Manner::Hang(*ms))),
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

    /// How an answer travels once the work is done.
    pub fn manner(&self) -> Manner {
        match self {
            Self::Truncated => Manner::Truncated,
            Self::Slow { ms } => Manner::Slow(*ms),
            Self::LostResponse => Manner::Lost,
            _ => Manner::Whole,
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

    /// What is wrong with the fault itself.
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

/// Whether a fault waits for such a call.
pub fn is_meant(faults: &[Fault], method: &str, path: &str) -> bool {
    faults.iter().any(|fault| fault.is_for(method, path))
}

/// Takes the first fault that is meant for a call.
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
