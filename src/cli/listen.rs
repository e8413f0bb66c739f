//! `listen`: brings the events of a token to a program at one's own machine.
//!
//! It pulls them as any program can, and posts each as a webhook of the platform is posted,
//! so that a receiver can be written before it has a public address. Decision trial-6.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use ureq::http::header::CONTENT_TYPE;

use super::api_client::{Access, Answer, ApiClient, parse_url};
use super::serve::StopSignals;
use super::{Context, hint, say};
use crate::base::text::from_hex;
use crate::base::worker::Stop;
use crate::events::EventType;
use crate::partner::webhooks::MessageId;
use crate::partner::webhooks::sign::{SigningSecret, signatures};

/// Between two calls that ask for events. Without news such a call is answered 304, which
/// uses no quota.
const PAUSE: Duration = Duration::from_secs(2);
/// Between two tries to reach the program.
const RETRY: Duration = Duration::from_secs(1);
/// What a receiver may take, as with the platform's own deliveries.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
pub struct Listen {
    /// Address where each event is posted, such as that of a program at port 3000 of localhost.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    forward_to: String,
    /// Types of events, with commas between [default: all].
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = parse_type)]
    types: Vec<EventType>,
    /// Lets them go to another machine than this one.
    #[arg(long)]
    allow_remote: bool,
    #[command(flatten)]
    access: Access,
}

fn parse_type(text: &str) -> Result<EventType, &'static str> {
    EventType::from_name(text).ok_or("is no type of event")
}

pub fn run(context: Context, wanted: Listen) -> anyhow::Result<()> {
    if !wanted.allow_remote && !is_here(&wanted.forward_to) {
        bail!(
            "{} is not this machine; --allow-remote sends events there all the same",
            wanted.forward_to
        );
    }
    // From the token, so that the program can keep it.
    let digest =
        Sha256::new_with_prefix(b"seller-platform listen ").chain_update(wanted.access.token());
    let secret = SigningSecret::from_bytes(&digest.finalize()).context("a digest has 32 bytes")?;
    say(format_args!("secret {}", secret.text()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        StopSignals::new()?
    };
    let stop = Stop::default();
    let stopped = stop.clone();
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let done = Listener::new(&context, wanted, secret, stopped).and_then(|mut one| one.work());
        let _ = ended.send(done);
    });
    runtime.block_on(async {
        tokio::select! {
            done = end => done.unwrap_or(Ok(())),
            () = signals.received() => {
                // What is under way may be posted again by the next one.
                stop.stop();
                Ok(())
            }
        }
    })
}

/// Whether an address is of this machine.
fn is_here(url: &str) -> bool {
    let uri: http::Uri = url.parse().unwrap_or_default();
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// A page of events.
#[derive(Deserialize)]
struct Page {
    data: Vec<Box<RawValue>>,
    pagination: Next,
}

#[derive(Deserialize)]
struct Next {
    next_after: Option<String>,
    has_more: bool,
}

/// What is read of an event.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

struct Listener<'c> {
    context: &'c Context,
    api: ApiClient,
    secret: SigningSecret,
    forward_to: String,
    types: String,
    /// The list of events: of sellers, or of suppliers.
    list: &'static str,
    stop: Stop,
}

impl<'c> Listener<'c> {
    fn new(
        context: &'c Context,
        wanted: Listen,
        secret: SigningSecret,
        stop: Stop,
    ) -> anyhow::Result<Self> {
        let types: Vec<_> = wanted.types.into_iter().map(EventType::name).collect();
        let api = ApiClient::new(context, wanted.access)?;
        let (forward_to, list) = (wanted.forward_to, "/events");
        let types = types.join(",");
        Ok(Self { context, api, secret, forward_to, types, list, stop })
    }

    fn work(&mut self) -> anyhow::Result<()> {
        let mut after = self.begin()?;
        say(format_args!("events go to {}; Ctrl-C ends it", self.forward_to))?;
        let (mut etag, mut pause) = (None::<String>, Duration::ZERO);
        while !self.stop.wait(pause) {
            pause = PAUSE;
            let answer = match self.ask(after.as_deref(), etag.as_deref()) {
                Ok(answer) => answer,
                Err(error) => {
                    hint(format_args!("{}; trying again", self.api.unreachable(&error)));
                    continue;
                }
            };
            match answer.status {
                304 => {}
                200 => {
                    let page: Page = serde_json::from_str(&answer.body)?;
                    for event in &page.data {
                        if !self.forward(event)? {
                            return Ok(());
                        }
                    }
                    if page.pagination.has_more {
                        pause = Duration::ZERO;
                    }
                    let next = page.pagination.next_after.or_else(|| after.clone());
                    // Another address has another tag.
                    etag = answer.etag.filter(|_| next == after);
                    after = next;
                }
                410 => {
                    hint("the list of events begins anew; some may be missing");
                    (after, etag) = (self.begin()?, None);
                }
                429 | 500.. => {
                    pause = Duration::from_secs(answer.retry_after_s.unwrap_or(5).clamp(1, 300));
                    hint(format_args!(
                        "{}; trying again in {} s",
                        answer.refusal(),
                        pause.as_secs()
                    ));
                }
                _ => return Err(answer.refusal()),
            }
        }
        Ok(())
    }

    /// Learns which list is the token's, and the event after which to begin.
    fn begin(&mut self) -> anyhow::Result<Option<String>> {
        for list in ["/events", "/drop/events"] {
            self.list = list;
            let answer = self.ask(Some("latest"), None);
            let answer = answer.map_err(|error| self.api.unreachable(&error))?;
            match answer.status {
                200 => {
                    let page: Page = serde_json::from_str(&answer.body)?;
                    return Ok(page.pagination.next_after);
                }
                403 if list == "/events" && answer.code() == "forbidden" => {}
                _ => return Err(answer.refusal()),
            }
        }
        bail!("this token has no list of events")
    }

    /// Asks for the events after one; after none from the first.
    fn ask(&self, after: Option<&str>, etag: Option<&str>) -> Result<Answer, ureq::Error> {
        let after = after.map_or_else(String::new, |id| format!("&after={id}"));
        let types = match &*self.types {
            "" => String::new(),
            types => format!("&type={types}"),
        };
        self.api.get(&format!("{}?limit=50{after}{types}", self.list), etag)
    }

    /// Posts an event until somebody answers; false when that is no longer wanted.
    fn forward(&self, event: &RawValue) -> anyhow::Result<bool> {
        let Head { kind, id } = serde_json::from_str(event.get())?;
        let bytes = from_hex(id.trim_start_matches("msg_")).and_then(|bytes| bytes.try_into().ok());
        let message = MessageId(bytes.context("an event has another id than ours have")?);
        let mut is_told = false;
        loop {
            match self.post(message, event.get()) {
                Ok(status) => {
                    let at = self.context.clock.now();
                    let zone = self.context.config().server.timezone;
                    let time = zone.civil(at).strftime("%H:%M:%S").to_string();
                    say(format_args!("{time} {kind} {id} {status}"))?;
                    return Ok(true);
                }
                Err(error) if !is_told => {
                    hint(format_args!(
                        "{} does not take {kind} {id}: {error}; trying again",
                        self.forward_to
                    ));
                    is_told = true;
                }
                Err(_) => {}
            }
            if self.stop.wait(RETRY) {
                return Ok(false);
            }
        }
    }

    fn post(&self, message: MessageId, body: &str) -> Result<u16, ureq::Error> {
        let at = self.context.clock.now();
        let signature = signatures(std::slice::from_ref(&self.secret), message, at, body);
        let answer = self
            .api
            .agent
            .post(&self.forward_to)
            .config()
            .timeout_global(Some(ANSWER_WITHIN))
            .build()
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", message.to_string())
            .header("webhook-timestamp", at.0.to_string())
            .header("webhook-signature", signature)
            .send(body.as_bytes())?;
        Ok(answer.status().as_u16())
    }
}
