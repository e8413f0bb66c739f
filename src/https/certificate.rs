//! A certificate with its key, as handshakes need it.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::x509::{self, Facts};

/// Most bytes of a file with certificates or a key.
const MOST_BYTES: u64 = 1 << 20;

/// A certificate with its key.
#[derive(Clone)]
pub struct Certificate {
    pub key: Arc<CertifiedKey>,
    pub facts: Facts,
}

/// Reads a chain, the certificate first, and its key, both PEM. What is wrong is said
/// of the files by these names.
pub fn read(
    chain_name: &str,
    chain: &[u8],
    key_name: &str,
    key: &[u8],
) -> Result<Certificate, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| format!("{chain_name} cannot be read: {error}"))?;
    let own = chain.first().ok_or_else(|| format!("{chain_name} holds no certificate (PEM)"))?;
    let facts =
        x509::read(own).ok_or_else(|| format!("{chain_name} holds a damaged certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| format!("{key_name} holds no private key without a password: {error}"))?;
    let key =
        CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(
            |error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    format!(
                        "the key in {key_name} does not belong to the certificate in {chain_name}"
                    )
                }
                error => format!("{key_name} and {chain_name} cannot be used: {error}"),
            },
        )?;
    Ok(Certificate { key: Arc::new(key), facts })
}

pub fn read_files(chain: &Path, key: &Path) -> Result<Certificate, String> {
    let (chain_bytes, key_bytes) = (bytes(chain)?, bytes(key)?);
    let (chain, key) = (chain.display().to_string(), key.display().to_string());
    read(&chain, &chain_bytes, &key, &key_bytes)
}

/// The bytes of a file; one that is missing or too large is said.
pub fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
