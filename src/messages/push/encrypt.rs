//! Messages encrypted to a browser (RFC 8291), as one record of the content
//! coding `aes128gcm` (RFC 8188).

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes128Gcm, Key, Nonce};
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey, ecdh};
use sha2::Sha256;

use crate::base::secrets;

/// Length of a public key, uncompressed.
pub const POINT: usize = 65;
/// Length of a browser's secret.
pub const AUTH: usize = 16;
/// Size of a record; a message is always one.
const RECORD: u32 = 4096;
/// Delimiter after the text of the last record.
const LAST: u8 = 2;
const SALT: usize = 16;

/// The keys of a browser's subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserKeys {
    public: PublicKey,
    auth: [u8; AUTH],
}

impl BrowserKeys {
    /// Keys as a browser gives them: `p256dh` must be a point of the curve.
    pub fn new(p256dh: &[u8], auth: &[u8]) -> Option<Self> {
        let is_uncompressed = p256dh.len() == POINT && p256dh[0] == 4;
        Some(Self {
            public: PublicKey::from_sec1_bytes(p256dh).ok().filter(|_| is_uncompressed)?,
            auth: auth.try_into().ok()?,
        })
    }

    /// The public key as the browser gave it.
    pub fn p256dh(&self) -> Vec<u8> {
        point(&self.public)
    }

    /// The secret as the browser gave it.
    pub const fn auth(&self) -> [u8; AUTH] {
        self.auth
    }
}

/// A public key as it is sent: uncompressed.
pub fn point(key: &PublicKey) -> Vec<u8> {
    key.to_sec1_point(false).as_bytes().to_vec()
}

/// A new random private key.
pub fn new_key() -> SecretKey {
    loop {
        // About one of 2^32 random values is not a valid key.
        if let Ok(key) = SecretKey::from_slice(&secrets::random::<32>()) {
            return key;
        }
    }
}

/// The body of a request that carries a text to a browser.
pub fn encrypt(text: &[u8], to: &BrowserKeys) -> Vec<u8> {
    encrypt_with(text, to, &new_key(), secrets::random())
}

/// The same with a key and a salt that must be used once only.
fn encrypt_with(text: &[u8], to: &BrowserKeys, own: &SecretKey, salt: [u8; SALT]) -> Vec<u8> {
    let own_point = point(&own.public_key());
    let shared = ecdh::diffie_hellman(own.to_nonzero_scalar(), to.public.as_affine());
    let about = [b"WebPush: info\0", &*to.p256dh(), &own_point].concat();
    let input: [u8; 32] = expand(&to.auth, shared.raw_secret_bytes(), &about);
    let key: [u8; 16] = expand(&salt, &input, b"Content-Encoding: aes128gcm\0");
    let nonce: [u8; 12] = expand(&salt, &input, b"Content-Encoding: nonce\0");
    let record = [text, &[LAST]].concat();
    let sealed = Aes128Gcm::new(&Key::<Aes128Gcm>::from(key))
        .encrypt(&Nonce::from(nonce), &*record)
        .expect("the cipher takes messages of this size");
    let length = u8::try_from(own_point.len()).unwrap_or(u8::MAX);
    [&salt[..], &RECORD.to_be_bytes(), &[length], &own_point, &sealed].concat()
}

fn expand<const N: usize>(salt: &[u8], input: &[u8], about: &[u8]) -> [u8; N] {
    let mut output = [0; N];
    Hkdf::<Sha256>::new(Some(salt), input).expand(about, &mut output).expect("the output is short");
    output
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        BASE64.decode(text.replace(char::is_whitespace, "")).unwrap()
    }

    /// RFC 8291, section 5 and appendix A.
    #[test]
    fn the_example_of_the_standard() {
        let keys = BrowserKeys::new(
            &bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ),
            &bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        );
        let own = SecretKey::from_slice(&bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"));
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let body = encrypt_with(
            b"When I grow up, I want to be a watermelon",
            &keys.unwrap(),
            &own.unwrap(),
            salt,
        );
        assert_eq!(
            BASE64.encode(body),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
             mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
             pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    /// What a browser does.
    fn decrypt(body: &[u8], own: &SecretKey, auth: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(SALT);
        let (record, rest) = rest.split_at(4);
        assert_eq!(record, 4096_u32.to_be_bytes());
        assert_eq!(usize::from(rest[0]), POINT);
        let (sender, sealed) = rest[1..].split_at(POINT);
        let theirs = PublicKey::from_sec1_bytes(sender).unwrap();
        let shared = ecdh::diffie_hellman(own.to_nonzero_scalar(), theirs.as_affine());
        let about = [b"WebPush: info\0", &*point(&own.public_key()), sender].concat();
        let input: [u8; 32] = expand(auth, shared.raw_secret_bytes(), &about);
        let key: [u8; 16] = expand(salt, &input, b"Content-Encoding: aes128gcm\0");
        let nonce: [u8; 12] = expand(salt, &input, b"Content-Encoding: nonce\0");
        let mut text = Aes128Gcm::new(&Key::<Aes128Gcm>::from(key))
            .decrypt(&Nonce::from(nonce), sealed)
            .unwrap();
        assert_eq!(text.pop(), Some(LAST));
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_browser_reads_what_was_encrypted_to_it(
            text in prop::collection::vec(any::<u8>(), 0..3993), auth in any::<[u8; AUTH]>(),
        ) {
            let own = new_key();
            let keys = BrowserKeys::new(&point(&own.public_key()), &auth).unwrap();
            let body = encrypt(&text, &keys);
            prop_assert!(body.len() <= 4096, "{}", body.len());
            prop_assert_eq!(decrypt(&body, &own, &auth), text);
        }
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let good = point(&new_key().public_key());
        assert!(BrowserKeys::new(&good, &[0; 16]).is_some());
        assert!(BrowserKeys::new(&good, &[0; 15]).is_none());
        assert!(BrowserKeys::new(&good[..64], &[0; 16]).is_none());
        assert!(BrowserKeys::new(&[], &[0; 16]).is_none());
        let mut beside = good.clone();
        beside[64] ^= 1;
        assert!(BrowserKeys::new(&beside, &[0; 16]).is_none(), "off the curve");
        let mut hybrid = good;
        hybrid[0] = 6;
        assert!(BrowserKeys::new(&hybrid, &[0; 16]).is_none());
    }
}
