//! A simulator of the outside services, inside the process.
//!
//! `sandbox`, `serve --demo` and the tests use this instead of the real
//! marketplace. It has the same paths, the same formats and the same pitfalls,
//! plus a control interface under `/_sandbox/` and a page at `/`. The platform
//! reaches it over real HTTP only, so the marketplace client has no code for it.
//! All data is in memory, limited in size, and lost when the process ends.
//!
//! The files, from the lowest layer up:
//!
//! - values: `http.rs` (requests and replies), `config.rs` (switches),
//!   `faults.rs`, `things.rs` (the records), `grants.rs` (codes and tokens),
//!   `logs.rs`; `state.rs` holds them all, `call.rs` is the argument of a handler;
//! - resources: a file for each, with its JSON, its controls and its buttons.
//!   `listings.rs`, `orders.rs` and `shipments.rs` answer requests, `shops.rs`,
//!   `sales.rs` and `parcels.rs` change records; `questions.rs` and `claims.rs` do
//!   both;
//! - services other than the marketplace: the chat network (`chat.rs`, `evolution.rs`,
//!   `cloud.rs`, `chat_network.rs`, `chat_control.rs`), `push.rs`, `telegram/`, and a
//!   receiver of our own webhooks, `webhook_receiver.rs`;
//! - `routes.rs`: every address in one table, and how a call is handled;
//! - `server.rs` reads requests and writes replies, `deliver.rs`, `cloud_hook.rs` and
//!   `telegram/hook.rs` call the platform.

mod call;
mod chat;
mod chat_control;
mod chat_network;
mod claims;
mod cloud;
mod cloud_hook;
mod config;
mod control;
mod deliver;
mod demo;
mod dispatch;
mod division;
mod evolution;
mod faults;
mod fees;
mod fiscal;
mod grants;
mod history;
mod http;
mod inbox;
mod labels;
mod listings;
mod logs;
mod notifications;
mod oauth;
mod orders;
mod overview;
mod page;
mod parcels;
mod pdf;
mod push;
mod questions;
mod receivers;
mod records;
mod retries;
mod returns;
mod routes;
mod sales;
mod server;
mod shipment_statuses;
mod shipments;
mod shops;
mod state;
mod telegram;
mod things;
mod truth;
mod users;
mod webhook_receiver;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

pub use state::Options;
use state::Sandbox;

/// The application id that `sandbox` and `serve --demo` use.
pub const CLIENT_ID: &str = "5503910054140001";
/// The application secret that goes with [`CLIENT_ID`].
pub const CLIENT_SECRET: &str = "sandbox-client-secret";

/// The token of the Telegram bot that `serve --demo` uses.
pub const BOT_TOKEN: &str = "7000000001:demonstracao";

/// A running sandbox. It stops when it is dropped.
pub struct Running {
    /// The address that the server listens on.
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
        threads: Vec::with_capacity(4),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Arc::clone(&sandbox);
    running.spawn("sandbox-http", move || {
        runtime.block_on(server::serve(listener, server, stopped));
    })?;
    let told = Arc::clone(&sandbox);
    running.spawn("sandbox-chat", move || cloud_hook::run(&told))?;
    let hooked = Arc::clone(&sandbox);
    running.spawn("sandbox-telegram", move || telegram::hook::run(&hooked))?;
    running.spawn("sandbox-deliver", move || deliver::run(&sandbox))?;
    Ok(running)
}

impl Running {
    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        self.threads.push(thread);
        Ok(())
    }

    /// `http://` and the address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends notifications to a receiver from now on.
    pub fn notify(&self, url: &str) {
        self.sandbox.state().config.notify_url = Some(url.to_owned());
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
            // The server may have ended already; then the channel has no receiver.
            let _ = stop.send(());
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a sandbox thread panicked");
            }
        }
    }
}

/// The demo's shops by their marketplace ids.
pub struct DemoShops {
    /// Shops of the student, from the largest to the smallest.
    pub own: Vec<i64>,
    /// Shops of the agency's clients who are not students.
    pub clients: Vec<i64>,
}

/// Fills the sandbox with the demo's shops and sixty days of sales of each.
pub fn seed_demo(running: &Running) -> DemoShops {
    let now = running.sandbox.clock.now();
    let mut state = running.sandbox.state();
    let mut open = |shops: &[demo::Shop]| {
        let opened =
            shops.iter().filter_map(|shop| demo::open_shop(&mut state, shop, 60, now).ok());
        opened.collect()
    };
    let shops = DemoShops { own: open(&demo::DEMO_SHOPS), clients: open(&demo::CLIENTS_SHOPS) };
    if let Some(first) = shops.own.first()
        && let Err(problem) = demo::show_rarities(&mut state, *first, now)
    {
        tracing::warn!(%problem, "the demonstration's first shop shows nothing rare");
    }
    shops
}

#[cfg(test)]
mod tests;
