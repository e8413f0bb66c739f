//! `healthcheck`: asks the running server whether it is ready, for containers,
//! timers and the installer.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;

use super::{Context, say};
use crate::db::server_address;

/// How long the server may take to answer from memory.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST_BYTES: u64 = 64 << 10;

/// What a server says of itself.
pub enum Readiness {
    Ready,
    /// It answers; the text says why it is not ready.
    NotReady(String),
    /// Nobody answers, or not as this server does.
    Silent(String),
}

pub fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let config = context.config();
    let running = server_address(&config.database.path);
    let address = running.unwrap_or(config.server.listen);
    if address.port() == 0 {
        say(format_args!("no server runs on {}", config.database.path.display()))?;
        return Ok(ExitCode::FAILURE);
    }
    let (code, text) = match ask(address) {
        Readiness::Ready => (ExitCode::SUCCESS, "is ready".to_owned()),
        Readiness::NotReady(why) => (ExitCode::FAILURE, format!("is not ready: {why}")),
        Readiness::Silent(why) => (ExitCode::FAILURE, format!("does not answer: {why}")),
    };
    say(format_args!("the server at http://{address} {text}"))?;
    Ok(code)
}

/// What `/readyz` says; a standby says more.
#[derive(Deserialize)]
pub struct Answer {
    pub message: Option<String>,
    pub lag_s: Option<i64>,
    pub verified_at: Option<String>,
}

/// Asks the server at an address for `/readyz`.
pub fn ask(address: SocketAddr) -> Readiness {
    match look(address) {
        Ok((200, Some(_))) => Readiness::Ready,
        Ok((503, Some(Answer { message: Some(why), .. }))) => Readiness::NotReady(why),
        Ok((status, _)) => {
            Readiness::Silent(format!("it says {status}, which this server does not"))
        }
        Err(error) => Readiness::Silent(error),
    }
}

/// The status and the answer of `/readyz` at an address.
pub fn look(address: SocketAddr) -> Result<(u16, Option<Answer>), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(PATIENCE))
        .build()
        .into();
    let reply = agent.get(format!("http://{address}/readyz")).call();
    let mut reply = reply.map_err(|error| error.to_string())?;
    let status = reply.status().as_u16();
    let body = reply.body_mut().with_config().limit(MOST_BYTES).read_to_string();
    Ok((status, body.ok().and_then(|body| serde_json::from_str(&body).ok())))
}
