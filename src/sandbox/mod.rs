//! A stand-in for the outside world, inside the process.
//!
//! `sandbox`, `serve --demo` and the tests talk to this instead of the real
//! marketplace: same paths, same shapes, same traps, plus a control interface
//! under `/_sandbox/` and a page at `/`. The platform reaches it over real
//! HTTP only, so nothing in the marketplace client knows that it is not the
//! real thing. Everything lives in memory, bounded, and ends with the process.
//!
//! The push service of `push.rs` and the gateways of `chat.rs` are neighbours.
//!
//! `things.rs` has the nouns, `state.rs` holds them, `config.rs` has the
//! switches, `routes.rs` the way of a call and `strict.rs` its rules.
//! `oauth.rs`, `resources.rs`, `listings.rs`, `orders.rs`, `shipments.rs`,
//! `fiscal.rs` and `fees.rs` answer it, `aside.rs` what the platform does not
//! use; `shops.rs` and `sales.rs` make things
//! happen, `questions.rs` and `claims.rs` do both, `deliver.rs` tells the
//! platform. Chat gateways are in `chat.rs`, Telegram is in `telegram/`.

mod aside;
mod buttons;
mod chat;
mod claims;
mod config;
mod control;
mod deliver;
mod demo;
mod events;
mod faults;
mod fees;
mod fiscal;
mod history;
mod http;
mod inbox;
mod listings;
mod oauth;
mod orders;
mod overview;
mod pages;
mod pdf;
mod push;
mod questions;
mod resources;
mod routes;
mod sales;
mod shipments;
mod shops;
mod spoil;
mod state;
mod strict;
mod switches;
mod telegram;
mod things;
mod truth;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

pub use state::Sandbox;

use crate::base::clock::Clock;
use crate::base::secrets::Secret;

/// The application id that `sandbox` and `serve --demo` use.
pub const CLIENT_ID: &str = "5503910054140001";
/// The application secret that goes with [`CLIENT_ID`].
pub const CLIENT_SECRET: &str = "sandbox-client-secret";

/// The token of the Telegram bot that `serve --demo` uses.
pub const BOT_TOKEN: &str = "7000000001:demonstracao";

/// How a sandbox is set up.
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whose time counts for tokens, codes and dates.
    pub clock: Clock,
    /// The one application that this marketplace knows; digits.
    pub client_id: String,
    /// Its secret, which also signs notifications.
    pub client_secret: Secret,
    /// Registered return addresses; empty accepts any loopback address.
    pub redirect_uris: Vec<String>,
    /// Where notifications go; without it they wait in the queue.
    pub notify_url: Option<String>,
}

/// A running sandbox. It stops when it is dropped.
pub struct Running {
    /// The address actually bound.
    pub address: SocketAddr,
    sandbox: Arc<Sandbox>,
    stop_server: Option<tokio::sync::oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

/// Starts the sandbox on threads of its own.
///
/// It accepts connections once this returns. Fails when the address is taken,
/// or when the application id is not a number (notifications carry it as one).
pub fn start(options: Options) -> std::io::Result<Running> {
    if options.client_id.parse::<i64>().is_err() {
        let problem = format!("the application id must be digits: {}", options.client_id);
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, problem));
    }
    let listener = std::net::TcpListener::bind(options.listen)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let sandbox = Arc::new(Sandbox::new(options));
    let (stop_server, stopped) = tokio::sync::oneshot::channel();
    let mut running = Running {
        address,
        sandbox: Arc::clone(&sandbox),
        stop_server: Some(stop_server),
        threads: Vec::with_capacity(3),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Arc::clone(&sandbox);
    running.threads.push(
        std::thread::Builder::new()
            .name("sandbox-http".to_owned())
            .spawn(move || runtime.block_on(http::serve(listener, server, stopped)))?,
    );
    let telling = Arc::clone(&sandbox);
    running.threads.push(
        std::thread::Builder::new()
            .name("sandbox-telegram".to_owned())
            .spawn(move || telegram::hook::run(&telling))?,
    );
    running.threads.push(
        std::thread::Builder::new()
            .name("sandbox-deliver".to_owned())
            .spawn(move || deliver::run(&sandbox))?,
    );
    Ok(running)
}

impl Running {
    /// `http://` and the address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends notifications to a receiver from now on.
    pub fn notify(&self, url: &str) {
        self.sandbox.world().config.notify_url = Some(url.to_owned());
    }

    /// Stops serving and delivering, and waits for the threads.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.sandbox.stop_delivering();
        if let Some(stop) = self.stop_server.take() {
            // The server may have ended by itself; then nobody listens.
            let _ = stop.send(());
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a sandbox thread panicked");
            }
        }
    }
}

/// Fills the sandbox with the demo's three shops and sixty days of sales of
/// each, and gives their marketplace ids.
pub fn seed_demo(running: &Running) -> Vec<i64> {
    let now = running.sandbox.clock.now();
    let mut world = running.sandbox.world();
    demo::DEMO_SHOPS
        .iter()
        .filter_map(|shop| demo::open_shop(&mut world, shop, 60, now).ok())
        .collect()
}

#[cfg(test)]
mod tests;
