//! The browsers that get messages: switched on by the browser itself
//! (`assets/js/push.js`), switched off from anywhere.

use http::header::USER_AGENT;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::alerts::PATH;
use crate::app::App;
use crate::base::{UserId, Zone, hex};
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::input::FromField;
use crate::http::{Check, Field, ForPeople, Problem, Request};
use crate::identity::Person;
use crate::messages::push::encrypt::{AUTH, BrowserKeys, POINT};
use crate::messages::push::{Device, Subscription, address, store};
use crate::panel::Answer;
use crate::profile::devices;
use crate::wire;

/// Longest name of a browser that is kept.
const LONGEST_AGENT: usize = 200;
/// The outcome that the page shows after a browser was switched on.
const LINKED: &str = "navegador_ligado";

/// What the page shows about push messages.
pub struct PushSettings {
    /// Our public key; `None` while push is off.
    pub key: Option<String>,
    /// The newest first.
    pub devices: Vec<Device>,
}

impl PushSettings {
    /// Reads a person's browsers.
    pub fn read(app: &App, tx: &ReadTx<'_>, user: UserId) -> Result<Self, Problem> {
        let key = app.messages.push_keys.get().map(|keys| keys.public().to_owned());
        let devices = match key {
            Some(_) => store::of(tx, user)?,
            None => Vec::new(),
        };
        Ok(Self { key, devices })
    }

    /// For programs.
    pub fn wire(self, zone: Zone) -> WirePush {
        let devices = self.devices.into_iter().map(|device| WireDevice::of(device, zone));
        WirePush { chave: self.key, aparelhos: devices.collect() }
    }
}

/// The id by which a browser finds its own row. It is a digest, because anybody
/// who knows the address itself can send to it.
pub fn mark(endpoint: &str) -> String {
    hex(&Sha256::digest(endpoint.as_bytes())[..16])
}

#[derive(Serialize)]
pub struct WirePush {
    /// What a browser subscribes with; null while push is off.
    chave: Option<String>,
    aparelhos: Vec<WireDevice>,
}

wire! {
    #[derive(Serialize)]
    struct WireDevice of(device: Device, zone: Zone) {
        id: String = device.id.to_string(),
        aparelho: String = devices::in_words(&device.agent),
        ligado_em: String = zone.spaced(device.created_at),
        usado_em: Option<String> = device.sent_at.map(|at| zone.spaced(at)),
    }
}

#[derive(Deserialize)]
struct SubscriptionBody {
    #[serde(default)]
    endpoint: Field<String>,
    #[serde(default)]
    keys: Field<WireKeys>,
}

/// `keys` of a browser's subscription, as sent.
#[derive(Default)]
struct WireKeys(Map<String, Value>);

impl FromField for WireKeys {
    const WANTED: &'static str = "must be an object with p256dh and auth";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            Value::Object(keys) => Some(Self(keys)),
            _ => None,
        }
    }
}

impl WireKeys {
    fn bytes(&self, name: &str, length: usize) -> Option<Vec<u8>> {
        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let text = self.0.get(name)?.as_str()?.trim_end_matches('=');
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == length).then_some(bytes)
    }
}

/// `POST /perfil/push/aparelhos`: switches messages on in the calling browser,
/// with the subscription of its push service.
pub fn add(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    if app.messages.push_keys.get().is_none() {
        return Err(Problem::conflict(ForPeople(
            "Os avisos no navegador não estão ligados nesta plataforma.",
        )));
    }
    let body: SubscriptionBody = request.json()?;
    let mut check = Check::json();
    let endpoint = check.required("endpoint", body.endpoint);
    let keys = check.required("keys", body.keys);
    if let Err(fault) = address::endpoint(&endpoint, &app.config.push.extra_hosts) {
        check.fail("endpoint", fault);
    }
    let keys = keys.bytes("p256dh", POINT).zip(keys.bytes("auth", AUTH));
    let keys = keys.and_then(|(point, auth)| BrowserKeys::new(&point, &auth));
    if keys.is_none() {
        check.fail("keys", "must hold p256dh, a key of the curve P-256, and auth, of 16 bytes");
    }
    check.finish()?;
    let Some(keys) = keys else {
        return Err(Problem::not_found());
    };
    let subscription = Subscription { endpoint, keys };
    let agent = request.header(&USER_AGENT).unwrap_or_default();
    let agent = crate::base::text::shortened(agent, LONGEST_AGENT).to_owned();
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        let added = store::add(tx, user, &subscription, &agent)?;
        let reply = if added.is_new {
            answer.made(added.device, PATH, LINKED)?
        } else {
            answer.done(added.device, PATH, LINKED)?
        };
        // The script that sends this request opens the page by itself.
        Ok(reply.noticed(PATH, LINKED))
    }))
}

/// `POST /perfil/push/aparelhos/{id}/excluir`: switches messages off in one of
/// the person's own browsers.
pub fn remove(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let device: i64 = request.id()?;
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        if !store::remove(tx, user, device)? {
            return Err(Problem::not_found());
        }
        answer.done(device, PATH, "navegador_desligado")
    }))
}
