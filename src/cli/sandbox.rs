//! `sandbox`: the stand-in marketplace by itself.

use std::net::SocketAddr;

use anyhow::Context as _;

use super::serve::StopSignals;
use super::{Context, say};
use crate::sandbox::{self, CLIENT_ID, CLIENT_SECRET, Options};
use crate::secrets::Secret;

pub fn run(context: &Context, listen: SocketAddr) -> anyhow::Result<()> {
    super::log::start(&context.config().log);
    let running =
        start(context, listen, None).with_context(|| format!("cannot listen on {listen}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut signals = StopSignals::new()?;
        say(format_args!("listening on {}", running.url()))?;
        signals.received().await;
        anyhow::Ok(())
    })?;
    running.stop();
    Ok(())
}

/// Starts the sandbox with its fixed credentials.
pub fn start(
    context: &Context,
    listen: SocketAddr,
    notify_url: Option<String>,
) -> std::io::Result<sandbox::Running> {
    sandbox::start(Options {
        listen,
        clock: context.clock.clone(),
        client_id: CLIENT_ID.to_owned(),
        client_secret: Secret::new(CLIENT_SECRET),
        redirect_uris: Vec::new(),
        notify_url,
    })
}
