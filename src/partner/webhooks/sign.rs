//! Secrets of endpoints, and signatures (Standard Webhooks, symmetric).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::Mac as _;

use super::MessageId;
use crate::base::{Instant, secrets};

/// Bytes of a secret.
const LENGTH: usize = 32;

/// The signing secret of an endpoint.
#[derive(Clone)]
pub struct SigningSecret([u8; LENGTH]);

impl SigningSecret {
    pub fn random() -> Self {
        Self(secrets::random())
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes to be sealed and stored.
    pub const fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text that its owner sees once.
    pub fn text(&self) -> String {
        format!("whsec_{}", BASE64.encode(self.0))
    }

    fn sign(&self, message: MessageId, at: Instant, body: &str) -> String {
        let mut mac = secrets::hmac_sha256(&self.0);
        mac.update(format!("{message}.{}.", at.0).as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()))
    }
}

/// The value of `webhook-signature`: one signature per secret.
pub fn signatures(
    secrets: &[SigningSecret],
    message: MessageId,
    at: Instant,
    body: &str,
) -> String {
    let each: Vec<String> = secrets.iter().map(|secret| secret.sign(message, at, body)).collect();
    each.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected signature was computed with Python's `hmac`.
    #[test]
    fn a_signature_covers_id_time_and_body() {
        let secret = SigningSecret::from_bytes(&[7; LENGTH]).unwrap();
        assert_eq!(secret.text(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        let id = MessageId([1; 16]);
        let signed =
            |secrets: &[SigningSecret]| signatures(secrets, id, Instant(1_795_000_000), "{}");
        assert_eq!(
            signed(std::slice::from_ref(&secret)),
            "v1,ORKc/09IRNKhZ9OiUegQdLN+5O8QZouHeQVgUfC2Yuk="
        );
        let both = signed(&[secret, SigningSecret::random()]);
        assert_eq!(both.split(' ').count(), 2, "{both}");
    }
}
