//! Our identity at push services (RFC 8292): one key pair for the installation,
//! and one signed token for each service, valid for some hours.
//!
//! Browsers bind a subscription to the public key. With another key no device
//! can be reached any more.

use parking_lot::Mutex;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use p256::SecretKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};

use super::encrypt::{new_key, point};
use crate::base::text::{from_hex, hex};
use crate::base::{Instant, Secret};

/// How long a token is valid. Services reject more than 24 hours.
const LIFE_S: i64 = 12 * 3600;
/// How long a token is reused. This is shorter than its validity, so that no
/// token expires in transit.
const USE_S: i64 = 11 * 3600;
/// Most tokens in the cache. There are few services, but clients choose the
/// host names.
const REMEMBERED: usize = 64;

/// The installation's key pair.
pub struct Keys {
    signing: SigningKey,
    /// The public key in base64url, as browsers and services need it.
    public: String,
    tokens: Mutex<HashMap<String, Token>>,
}

struct Token {
    /// The header that carries it.
    header: String,
    made_at: Instant,
}

impl Keys {
    /// A new pair, and its private key in the stored form.
    pub fn generate() -> (Secret, Self) {
        let private = new_key();
        (Secret::new(hex(&private.to_bytes())), Self::of(private))
    }

    /// The pair of a stored private key.
    pub fn from_kept(secret: &Secret) -> Option<Self> {
        SecretKey::from_slice(&from_hex(secret.reveal())?).ok().map(Self::of)
    }

    fn of(private: SecretKey) -> Self {
        Self {
            public: BASE64.encode(point(&private.public_key())),
            signing: private.into(),
            tokens: Mutex::default(),
        }
    }

    /// The public key, 87 characters of base64url.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The `Authorization` of a request to the service whose origin is
    /// `audience`.
    pub fn authorization(&self, audience: &str, subject: &str, now: Instant) -> String {
        let mut tokens = self.tokens.lock();
        // A token from the future is not used: the clock was set back.
        let is_good = |token: &&Token| (0..USE_S).contains(&(now.0 - token.made_at.0));
        if let Some(token) = tokens.get(audience).filter(is_good) {
            return token.header.clone();
        }
        if tokens.len() >= REMEMBERED {
            tokens.clear();
        }
        let token = self.token(audience, subject, now);
        let header = format!("vapid t={token}, k={}", self.public);
        tokens.insert(audience.to_owned(), Token { header: header.clone(), made_at: now });
        header
    }

    fn token(&self, audience: &str, subject: &str, now: Instant) -> String {
        let header = BASE64.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let claims = serde_json::json!({
            "aud": audience,
            "exp": now.plus(LIFE_S).0,
            "sub": subject,
        });
        let signed = format!("{header}.{}", BASE64.encode(claims.to_string()));
        let signature: Signature = self.signing.sign(signed.as_bytes());
        format!("{signed}.{}", BASE64.encode(signature.to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::VerifyingKey;
    use p256::ecdsa::signature::Verifier as _;

    use super::*;

    const FCM: &str = "https://fcm.googleapis.com";

    fn parts(authorization: &str) -> (String, String) {
        let rest = authorization.strip_prefix("vapid t=").unwrap();
        let (token, key) = rest.split_once(", k=").unwrap();
        (token.to_owned(), key.to_owned())
    }

    #[test]
    fn a_token_says_who_for_whom_and_until_when_and_verifies() {
        let (kept, keys) = Keys::generate();
        let said = keys.authorization(FCM, "mailto:a@example.com", Instant(1_000_000));
        let (token, key) = parts(&said);
        assert_eq!((key.len(), &*key), (87, keys.public()));
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let key = VerifyingKey::from_sec1_bytes(&BASE64.decode(key).unwrap()).unwrap();
        let signature = Signature::from_slice(&BASE64.decode(signature).unwrap()).unwrap();
        key.verify(signed.as_bytes(), &signature).unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let json = |part: &str| -> serde_json::Value {
            serde_json::from_slice(&BASE64.decode(part).unwrap()).unwrap()
        };
        assert_eq!(json(header), serde_json::json!({ "typ": "JWT", "alg": "ES256" }));
        assert_eq!(
            json(claims),
            serde_json::json!({
                "aud": FCM, "exp": 1_000_000 + 12 * 3600, "sub": "mailto:a@example.com",
            })
        );
        // The stored form restores the same pair.
        assert_eq!(Keys::from_kept(&kept).unwrap().public(), keys.public());
    }

    #[test]
    fn a_token_is_used_for_some_hours_and_by_one_service() {
        let (_, keys) = Keys::generate();
        let at = |audience, now| {
            parts(&keys.authorization(audience, "https://a.example", Instant(now))).0
        };
        let first = at(FCM, 1_000_000);
        assert_eq!(at(FCM, 1_000_000 + 11 * 3600 - 1), first);
        assert_ne!(at("https://web.push.apple.com", 1_000_000), first);
        assert_ne!(at(FCM, 1_000_000 + 11 * 3600), first);
        // A clock that was set back.
        let ahead = at(FCM, 2_000_000);
        assert_ne!(at(FCM, 1_000_000), ahead);
    }

    #[test]
    fn what_is_kept_must_be_a_key() {
        for kept in ["", "zz", "00", &"0".repeat(64), &"f".repeat(64)] {
            assert!(Keys::from_kept(&Secret::new(kept)).is_none(), "{kept}");
        }
    }
}
