//! `sandbox`: the stand-in marketplace, without the platform.

use std::net::SocketAddr;

use super::serve::{StopSignals, cannot_listen};
use super::{Context, say};
use crate::base::Secret;
use crate::sandbox::{self, CLIENT_ID, CLIENT_SECRET, Options};

pub fn run(context: &Context, listen: SocketAddr) -> anyhow::Result<()> {
    super::log::start(&context.config().log, &context.clock);
    let running =
        start(context, listen, None).map_err(|error| cannot_listen(listen, &error, "--listen"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = StopSignals::new()?;
        say(format_args!("listening on {}", running.url()))?;
        introduce(context, &running)?;
        signals.received().await;
        anyhow::Ok(())
    })?;
    running.stop();
    Ok(())
}

/// Sends notifications to the configured platform if that calls this sandbox.
/// Otherwise prints the configuration that a platform needs to call it.
fn introduce(context: &Context, running: &sandbox::Running) -> anyhow::Result<()> {
    let (config, url) = (context.config(), running.url());
    if config.marketplace.api_base == url {
        let platform = context.base_url();
        if platform.ends_with(":0") {
            return say(
                "notifications go nowhere: the platform's port is chosen at its start; start it first, or set server.listen",
            );
        }
        let receiver = format!("{platform}/ml/notificacoes");
        running.notify(&receiver);
        return say(format_args!("notifications go to {receiver}"));
    }
    say(format_args!(
        "\nfor a platform beside it, put this into its configuration, then start both again:\n\n  \
         [marketplace]\n  api_base = \"{url}\"\n  auth_base = \"{url}\"\n  image_host = \"{url}\"\n  \
         client_id = \"{CLIENT_ID}\"\n  client_secret = \"{CLIENT_SECRET}\"\n  \
         signature = \"optional\"\n"
    ))
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
