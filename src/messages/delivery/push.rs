//! Web push: a message to every browser in which its person enabled it.
//!
//! The message counts as sent when the push service of one browser accepted it.
//! It is not retried for the other browsers, because then the first would show
//! it twice. A person is unreachable when the push services no longer know any
//! of the browsers.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::time::{Duration, Instant as Monotonic};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use ureq::Agent;
use ureq::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use ureq::unversioned::transport::DefaultConnector;

use super::letter::Letter;
use super::store::Claimed;
use super::{SendOutcome, retry_after};
use crate::app::App;
use crate::base::queue::PUSH;
use crate::base::{DAY_S, Instant};
use crate::config::Config;
use crate::db::{Lane, Result};
use crate::http::assets;
use crate::messages::push::address::{self, Endpoint, NotPublic, PublicOnly};
use crate::messages::push::vapid::Keys;
use crate::messages::push::{Device, encrypt, store};
use crate::services::Services;

/// Longest wait for one push service, and for all of a person's together. Both
/// are less than the lease of a message.
const TIMEOUT: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(40);
/// Longest time that a service keeps a message for a browser that is offline.
const LONGEST_TTL_S: i64 = 28 * DAY_S;
/// Largest text before encryption; services must take 3993 bytes.
const LARGEST: usize = 3000;
/// The same after a service answered that the text is too large.
const SMALLER: usize = 1000;
/// Most services in `Push::trusted`.
const REMEMBERED: usize = 64;

/// Client of the push services.
pub struct Push {
    agent: Agent,
    subject: String,
    extra_hosts: Vec<String>,
    /// Origins of services that accepted our signature since they last rejected
    /// one.
    trusted: Mutex<HashSet<String>>,
}

/// What is the same for all browsers of a person.
struct Parcel<'p> {
    claimed: &'p Claimed,
    letter: &'p Letter,
    keys: &'p Keys,
    now: Instant,
}

/// The result of sending a message to one browser.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PushOutcome {
    Taken,
    /// The service no longer knows the browser.
    Gone,
    /// The service will never take this message.
    Refused(String),
    Later {
        error: String,
        after_s: Option<i64>,
    },
}

impl Push {
    /// A client with the configured settings.
    pub fn new(config: &Config) -> Self {
        let agent_config = super::agent_config()
            .timeout_global(Some(TIMEOUT))
            .max_idle_connections_per_host(PUSH.workers)
            .build();
        let extra_hosts = config.push.extra_hosts.clone();
        Self {
            agent: Agent::with_parts(
                agent_config,
                DefaultConnector::default(),
                PublicOnly::new(&extra_hosts),
            ),
            subject: config.push.subject.clone(),
            extra_hosts,
            trusted: Mutex::default(),
        }
    }

    /// Sends a letter to its recipient's browsers.
    pub fn send(&self, app: &App, claimed: &Claimed, letter: &Letter) -> SendOutcome {
        let Some(keys) = app.messages.push_keys.get() else {
            return SendOutcome::Down("as chaves de avisos no navegador não foram feitas".into());
        };
        let read = app.db.read(Lane::Slow, |tx| store::of(tx, claimed.user));
        let mut devices = match read {
            Ok(devices) => devices,
            Err(error) => {
                return SendOutcome::Later(format!(
                    "os navegadores não puderam ser lidos: {error}"
                ));
            }
        };
        // The browser that was reached most recently comes first.
        devices.sort_by_key(|device| std::cmp::Reverse(device.sent_at));
        let parcel = Parcel { claimed, letter, keys, now: app.clock.now() };
        let began = Monotonic::now();
        let outcomes: Vec<(String, PushOutcome)> = devices
            .iter()
            .map(|device| {
                let outcome = if began.elapsed() + TIMEOUT > PATIENCE {
                    PushOutcome::Later {
                        error: "os serviços dos navegadores demoram a responder".to_owned(),
                        after_s: None,
                    }
                } else {
                    self.send_to(device, &parcel)
                };
                (device.subscription.endpoint.clone(), outcome)
            })
            .collect();
        if let Err(error) = note(app, outcomes.clone()) {
            tracing::warn!(%error, "what came of messages to browsers could not be noted");
        }
        together(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    fn send_to(&self, device: &Device, parcel: &Parcel<'_>) -> PushOutcome {
        // The settings may no longer allow this address.
        let Ok(endpoint) = address::endpoint(&device.subscription.endpoint, &self.extra_hosts)
        else {
            return PushOutcome::Gone;
        };
        let mut outcome = self.post(device, &endpoint, parcel, LARGEST);
        if matches!(outcome, Err(413)) {
            outcome = self.post(device, &endpoint, parcel, SMALLER);
        }
        outcome.unwrap_or_else(|status| {
            PushOutcome::Refused(format!("o serviço do navegador respondeu {status}"))
        })
    }

    /// The error is the status of a message that is too large.
    fn post(
        &self,
        device: &Device,
        endpoint: &Endpoint,
        parcel: &Parcel<'_>,
        largest: usize,
    ) -> std::result::Result<PushOutcome, u16> {
        let &Parcel { claimed, letter, keys, now } = parcel;
        let audience = &endpoint.audience;
        let topic = topic(&letter.matter);
        let text = payload(letter, &topic, largest);
        let body = encrypt::encrypt(text.as_bytes(), &device.subscription.keys);
        let signature = keys.authorization(audience, &self.subject, now);
        let request = self
            .agent
            .post(&endpoint.uri)
            .header(AUTHORIZATION, signature)
            .header(CONTENT_ENCODING, "aes128gcm")
            .header(CONTENT_TYPE, "application/octet-stream")
            .header("TTL", ttl_s(claimed.expires_at, now).to_string())
            .header("Urgency", letter.kind.row().urgency)
            .header("Topic", topic);
        let answer = match request.send(&body) {
            Ok(answer) => answer,
            Err(error) => return Ok(unanswered(&error)),
        };
        let status = answer.status().as_u16();
        match status {
            413 => Err(status),
            200..=299 => {
                self.trust(audience);
                Ok(PushOutcome::Taken)
            }
            401 | 403 if self.distrust(audience) => Ok(PushOutcome::Gone),
            _ => Ok(verdict(status, retry_after(&answer))),
        }
    }

    fn trust(&self, audience: &str) {
        let mut trusted = self.trusted.lock();
        if trusted.len() >= REMEMBERED {
            trusted.clear();
        }
        trusted.insert(audience.to_owned());
    }

    /// Whether a rejected signature concerns only this browser. If the service
    /// accepted our key just before, this browser is bound to another key. If
    /// the service rejects twice in a row, the cause may be ours (our clock,
    /// our contact), and no browser may be removed for that.
    fn distrust(&self, audience: &str) -> bool {
        let mut trusted = self.trusted.lock();
        trusted.remove(audience)
    }
}

/// What a status means, except for those that the caller handles before.
fn verdict(status: u16, after_s: Option<i64>) -> PushOutcome {
    let later = |error: String| PushOutcome::Later { error, after_s };
    match status {
        404 | 410 => PushOutcome::Gone,
        400 => {
            PushOutcome::Refused("o serviço do navegador não entendeu a mensagem (400)".to_owned())
        }
        401 | 403 => PushOutcome::Later {
            error: format!(
                "o serviço do navegador não aceita a nossa assinatura ({status}): confira push.subject e o relógio"
            ),
            after_s: None,
        },
        406 | 429 => later(format!("o serviço do navegador pede uma pausa ({status})")),
        _ => later(format!("o serviço do navegador respondeu {status}")),
    }
}

fn unanswered(error: &ureq::Error) -> PushOutcome {
    let inside = matches!(error, ureq::Error::Other(error) if error.is::<NotPublic>());
    let error = if inside {
        // The name server may have failed, so the browser is kept.
        "o endereço do serviço do navegador leva a uma rede interna".to_owned()
    } else {
        format!("o serviço do navegador não respondeu: {error}")
    };
    PushOutcome::Later { error, after_s: None }
}

/// Stores which browsers were reached, and removes those that are gone.
/// Browsers are identified by address, because their ids may be reused.
fn note(services: &Services, outcomes: Vec<(String, PushOutcome)>) -> Result<()> {
    let concerns =
        |(_, outcome): &(_, PushOutcome)| matches!(outcome, PushOutcome::Taken | PushOutcome::Gone);
    if !outcomes.iter().any(concerns) {
        return Ok(());
    }
    services.db.write(move |tx| {
        for (endpoint, outcome) in outcomes {
            match outcome {
                PushOutcome::Taken => store::note_sent(tx, &endpoint)?,
                PushOutcome::Gone => store::forget(tx, &endpoint)?,
                PushOutcome::Refused(_) | PushOutcome::Later { .. } => {}
            }
        }
        Ok(())
    })
}

/// Combines the results of all browsers.
fn together(outcomes: Vec<PushOutcome>) -> SendOutcome {
    let all = outcomes.len();
    let taken = outcomes.iter().filter(|outcome| **outcome == PushOutcome::Taken).count();
    if taken > 0 {
        return SendOutcome::Accepted(format!("aceita para {taken} de {all} navegadores"));
    }
    let mut waits: Vec<(String, Option<i64>)> = Vec::new();
    let mut refused = None;
    for outcome in outcomes {
        match outcome {
            PushOutcome::Later { error, after_s } => waits.push((error, after_s)),
            PushOutcome::Refused(error) => refused = Some(error),
            PushOutcome::Taken | PushOutcome::Gone => {}
        }
    }
    if !waits.is_empty() {
        // This does not count as a try only when all services ask for a pause.
        // The channel is never at fault: each browser names its own service.
        let asked: Option<Vec<i64>> = waits.iter().map(|(_, after_s)| *after_s).collect();
        let error = waits.swap_remove(0).0;
        return match asked.and_then(|pauses| pauses.into_iter().min()) {
            Some(after_s) => SendOutcome::Held { error, after_s, all: false },
            None => SendOutcome::Later(error),
        };
    }
    match refused {
        Some(error) => SendOutcome::Never(error),
        None => SendOutcome::Unreachable("a pessoa já não recebe avisos em nenhum navegador"),
    }
}

/// How long a service may keep a message: until it expires, else a day.
fn ttl_s(expires_at: Option<Instant>, now: Instant) -> i64 {
    expires_at.map_or(DAY_S, |at| (at.0 - now.0).clamp(0, LONGEST_TTL_S))
}

/// A key of 32 characters for the subject of a message: a newer message with
/// the same key replaces an older one at the service and on the screen.
fn topic(matter: &str) -> String {
    BASE64.encode(&Sha256::digest(matter.as_bytes())[..24])
}

/// The JSON for the browser's service worker, of at most `largest` bytes.
fn payload(letter: &Letter, tag: &str, largest: usize) -> String {
    let title = crate::base::text::shortened(&letter.subject, 120);
    let body = without_addresses(&letter.text);
    let mut letters = largest;
    loop {
        let text = json!({
            "title": title,
            "body": shortened(&body, letters),
            "url": letter.page,
            "tag": tag,
            "icon": assets::url("img/icon-192.png"),
        })
        .to_string();
        if text.len() <= largest || letters == 0 {
            return text;
        }
        letters = letters * 3 / 4;
    }
}

/// The text cut to `letters` characters, with an ellipsis when it was cut.
fn shortened(text: &str, letters: usize) -> String {
    let short = crate::base::text::shortened(text, letters);
    if short.len() == text.len() {
        return text.to_owned();
    }
    format!("{}…", short.trim_end())
}

/// The paragraphs without links, because a click on the notification opens the
/// page.
fn without_addresses(text: &str) -> String {
    let names_one =
        |paragraph: &str| paragraph.contains("https://") || paragraph.contains("http://");
    let kept: Vec<&str> = text.split("\n\n").filter(|paragraph| !names_one(paragraph)).collect();
    if kept.is_empty() {
        return text.to_owned();
    }
    kept.join("\n\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outbox::MessageKind;

    fn letter(subject: &str, text: &str) -> Letter {
        Letter {
            kind: MessageKind::MeetReminder,
            subject: subject.to_owned(),
            text: text.to_owned(),
            leave: None,
            page: "/painel/meets".to_owned(),
            matter: "lembrete_encontro:7".to_owned(),
        }
    }

    proptest! {
        #[test]
        fn a_payload_is_json_within_its_size(
            subject in any::<String>(), text in "(\\PC|[\"\\\\\n\u{1}é👍]){0,5000}", small in any::<bool>(),
        ) {
            let largest = if small { SMALLER } else { LARGEST };
            let payload = payload(&letter(&subject, &text), &topic("x"), largest);
            prop_assert!(payload.len() <= largest, "{}", payload.len());
            let read: serde_json::Value = serde_json::from_str(&payload).unwrap();
            prop_assert_eq!(&read["url"], "/painel/meets");
            let body = read["body"].as_str().unwrap().trim_end_matches('…').to_owned();
            prop_assert!(without_addresses(&text).starts_with(body.trim_end()));
        }
    }

    #[test]
    fn addresses_are_pressed_and_not_read() {
        let text =
            "Olá, Ana! O encontro começa em breve.\n\nEntre por aqui: https://a.example/painel";
        assert_eq!(without_addresses(text), "Olá, Ana! O encontro começa em breve.");
        assert_eq!(without_addresses("Veja https://a.example"), "Veja https://a.example");
    }

    #[test]
    fn topics_are_of_the_length_that_services_take() {
        let one = topic("lembrete_encontro:7");
        assert_eq!(one.len(), 32);
        assert_eq!(one, topic("lembrete_encontro:7"));
        assert_ne!(one, topic("lembrete_encontro:8"));
    }

    #[test]
    fn a_message_is_kept_until_it_is_worthless() {
        let now = Instant(1_000_000);
        assert_eq!(ttl_s(None, now), DAY_S);
        assert_eq!(ttl_s(Some(now.plus(300)), now), 300);
        assert_eq!(ttl_s(Some(now.minus(300)), now), 0);
        assert_eq!(ttl_s(Some(now.plus(90 * DAY_S)), now), 28 * DAY_S);
    }

    #[test]
    fn one_browser_that_took_it_is_enough() {
        let wait = |after_s| PushOutcome::Later { error: "x".to_owned(), after_s };
        let refused = || PushOutcome::Refused("não".to_owned());
        let sent = |outcomes: &[PushOutcome]| together(outcomes.to_vec());
        assert_eq!(
            sent(&[PushOutcome::Gone, PushOutcome::Taken, wait(None)]),
            SendOutcome::Accepted("aceita para 1 de 3 navegadores".to_owned())
        );
        let later = |after_s| {
            let error = "x".to_owned();
            match after_s {
                Some(after_s) => SendOutcome::Held { error, after_s, all: false },
                None => SendOutcome::Later(error),
            }
        };
        assert_eq!(sent(&[wait(Some(40)), wait(Some(9))]), later(Some(9)));
        assert_eq!(sent(&[wait(Some(40)), wait(None)]), later(None));
        assert_eq!(sent(&[refused(), wait(Some(9))]), later(Some(9)));
        assert!(matches!(sent(&[refused(), PushOutcome::Gone]), SendOutcome::Never { .. }));
        assert!(matches!(sent(&[PushOutcome::Gone]), SendOutcome::Unreachable { .. }));
        assert!(matches!(sent(&[]), SendOutcome::Unreachable { .. }));
    }

    #[test]
    fn statuses_decide() {
        for status in [404, 410] {
            assert_eq!(verdict(status, None), PushOutcome::Gone, "{status}");
        }
        assert!(matches!(verdict(400, None), PushOutcome::Refused(_)));
        for status in [406, 429, 500, 503] {
            let asked = verdict(status, Some(7));
            assert!(matches!(asked, PushOutcome::Later { after_s: Some(7), .. }), "{status}");
        }
        for status in [301, 401, 403, 418] {
            let found = verdict(status, None);
            assert!(matches!(found, PushOutcome::Later { .. }), "{status}");
        }
    }
}
