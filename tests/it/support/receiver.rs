//! What a browser does with a push message, without a browser: its keys, its
//! subscription, and reading what was encrypted for it (RFC 8291).

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes128Gcm, Key, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey, ecdh};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::actors::Actor;
use crate::support::client::Reply;
use crate::support::site::{Builder, Site};
use crate::support::world::World;

/// The address where browsers are switched on.
pub const DEVICES: &str = "/perfil/push/aparelhos";

/// A site with the clock and the push service of the world.
pub fn with_push(world: &World) -> Builder {
    Site::builder()
        .unlimited()
        .world(world)
        .config("push.subject", "mailto:contato@example.com")
        .config("push.extra_hosts", vec![world.address().to_string()])
}

/// A browser that gets push messages.
pub struct Receiver {
    /// Its name at the push service of the sandbox.
    pub device: String,
    pub endpoint: String,
    key: SecretKey,
    auth: [u8; 16],
}

impl Receiver {
    /// A browser of this name, with keys of its own.
    pub fn new(world: &World, device: &str) -> Self {
        let seed = Sha256::digest(device.as_bytes());
        Self {
            device: device.to_owned(),
            endpoint: format!("http://{}/push/{device}", world.address()),
            key: SecretKey::from_slice(&seed).unwrap(),
            auth: seed[..16].try_into().unwrap(),
        }
    }

    fn point(&self) -> Vec<u8> {
        point(&self.key.public_key())
    }

    /// The subscription, as `PushSubscription.toJSON()` returns it.
    pub fn subscription(&self) -> Value {
        json!({
            "endpoint": self.endpoint,
            "expirationTime": null,
            "keys": { "p256dh": BASE64.encode(self.point()), "auth": BASE64.encode(self.auth) },
        })
    }

    /// Switches messages on for a person.
    #[track_caller]
    pub fn switch_on(&self, person: &Actor<'_>) -> Reply {
        person.post(DEVICES, &self.subscription())
    }

    /// The messages that it received, decrypted, in their order.
    #[track_caller]
    pub fn received(&self, world: &World) -> Vec<Value> {
        let pushed = world.pushed().into_iter();
        let mine = pushed.filter(|one| one["device"] == *self.device);
        mine.map(|one| self.read(one["body"].as_str().unwrap())).collect()
    }

    #[track_caller]
    fn read(&self, body: &str) -> Value {
        let body = BASE64.decode(body).unwrap();
        let (salt, rest) = body.split_at(16);
        let (sender, sealed) = rest[5..].split_at(65);
        let theirs = PublicKey::from_sec1_bytes(sender).unwrap();
        let shared = ecdh::diffie_hellman(self.key.to_nonzero_scalar(), theirs.as_affine());
        let about = [b"WebPush: info\0", &*self.point(), sender].concat();
        let input: [u8; 32] = expand(&self.auth, shared.raw_secret_bytes(), &about);
        let key: [u8; 16] = expand(salt, &input, b"Content-Encoding: aes128gcm\0");
        let nonce: [u8; 12] = expand(salt, &input, b"Content-Encoding: nonce\0");
        let mut text = Aes128Gcm::new(&Key::<Aes128Gcm>::from(key))
            .decrypt(&Nonce::from(nonce), sealed)
            .unwrap();
        assert_eq!(text.pop(), Some(2), "the mark of the last record");
        serde_json::from_slice(&text).unwrap()
    }
}

fn point(key: &PublicKey) -> Vec<u8> {
    key.to_sec1_point(false).as_bytes().to_vec()
}

fn expand<const N: usize>(salt: &[u8], input: &[u8], about: &[u8]) -> [u8; N] {
    let mut output = [0; N];
    Hkdf::<Sha256>::new(Some(salt), input).expand(about, &mut output).unwrap();
    output
}
