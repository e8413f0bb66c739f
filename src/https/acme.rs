//! Getting a certificate from a directory (RFC 8555).
//!
//! The directory wants to see that each name leads here. It may look at the port of
//! HTTPS (TLS-ALPN-01) or at that of plain HTTP (HTTP-01); which of them it reaches
//! depends on the network in front of us, so the one is tried and then the other.

use std::sync::Arc;
use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;

use super::Https;
use super::directory::Client;
use super::store::Keeper;
use crate::base::Stop;

/// How often the end is asked for, and how long at most. A directory may look several
/// times, seconds apart.
const POLL: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(250))
    .backoff(1.5)
    .timeout(Duration::from_secs(90));
/// How often it is looked whether the service stops.
const LOOK: Duration = Duration::from_millis(100);
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// Why there is no certificate.
pub struct Refusal {
    /// The reason, for people.
    pub said: String,
    /// Whether the directory did not answer as it should. Otherwise it refused, which
    /// it counts.
    pub is_away: bool,
    /// Seconds for which it asked us to wait.
    pub wait_s: Option<i64>,
}

/// How the directory may see that a name leads here, the most promising first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeKind {
    Tls,
    Http,
}

impl ChallengeKind {
    const fn kind(self) -> ChallengeType {
        match self {
            Self::Tls => ChallengeType::TlsAlpn01,
            Self::Http => ChallengeType::Http01,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Tls => "TLS-ALPN-01",
            Self::Http => "HTTP-01",
        }
    }
}

/// Gets a certificate and gives it to the keeper; returns the way that led to it.
/// `None` when the service stops meanwhile.
pub fn obtain(
    https: &Https,
    ways: &[ChallengeKind],
    keeper: &mut Keeper,
    stop: &Stop,
) -> Option<Result<ChallengeKind, Refusal>> {
    let told = |said: String| Refusal { said, is_away: true, wait_s: None };
    // The directory counts what it gives, so it is not asked for what would be lost.
    if let Err(error) = keeper.try_room() {
        let said = format!(
            "nothing can be written beside the database ({error}), so no certificate was asked for"
        );
        return Some(Err(told(said)));
    }
    let client = match Client::new(https.server.acme_root.as_deref()) {
        Ok(client) => client,
        Err(problem) => return Some(Err(told(format!("server.acme_root: {problem}")))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return Some(Err(told(error.to_string()))),
    };
    let mut asking = Asking { https, client: &client, keeper };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = asking.certificate(ways) => Some(ended),
            () = stopped(stop) => None,
        }
    });
    // A call that is under way ends by itself; nobody waits for it.
    runtime.shutdown_background();
    https.forget_challenges();
    ended.map(|ended| ended.map_err(|error| refusal(&error, &client)))
}

async fn stopped(stop: &Stop) {
    while !stop.is_set() {
        tokio::time::sleep(LOOK).await;
    }
}

fn refusal(error: &Error, client: &Client) -> Refusal {
    let is_away = match error {
        Error::Api(problem) => problem.status.is_some_and(|status| status >= 500),
        _ => true,
    };
    let said = match error {
        Error::Api(problem) => {
            let detail = problem.detail.clone().unwrap_or_default();
            let kind = problem.r#type.as_deref().unwrap_or_default();
            format!("{detail} ({})", kind.rsplit(':').next().unwrap_or_default())
        }
        error => error.to_string(),
    };
    // An answer may be long, and holds what others wrote.
    let said = said.replace(char::is_control, " ");
    let said = crate::base::shortened(&said, 300).to_owned();
    Refusal { said, is_away, wait_s: client.wait_s() }
}

/// Who asks the directory, and where what it gives is kept.
struct Asking<'a> {
    https: &'a Https,
    client: &'a Client,
    keeper: &'a mut Keeper,
}

impl Asking<'_> {
    async fn certificate(&mut self, ways: &[ChallengeKind]) -> Result<ChallengeKind, Error> {
        let mut account = self.account().await?;
        let mut last = Error::Str("there is no way for the directory to look at us");
        for way in ways {
            let mut ended = order(self.https, &account, *way).await;
            if let Err(Error::Api(problem)) = &ended
                && problem.r#type.as_deref() == Some(NO_ACCOUNT)
            {
                account = self.new_account().await?;
                ended = order(self.https, &account, *way).await;
            }
            match ended {
                Ok((key, chain)) => {
                    self.keeper.keep(self.https.directory(), &key, &chain);
                    return Ok(*way);
                }
                Err(error) => {
                    tracing::info!(way = way.name(), %error, "the directory gave no certificate");
                    let is_away = matches!(&error, Error::Other(_));
                    last = error;
                    if is_away {
                        break;
                    }
                }
            }
        }
        Err(last)
    }

    async fn account(&mut self) -> Result<Account, Error> {
        match self.keeper.account(self.https.directory()) {
            Some(known) => {
                let builder = Account::builder_with_http(Box::new(self.client.clone()));
                builder.from_credentials(known).await
            }
            None => self.new_account().await,
        }
    }

    async fn new_account(&mut self) -> Result<Account, Error> {
        let (server, directory) = (&self.https.server, self.https.directory());
        let contact = format!("mailto:{}", server.acme_email);
        let contact = [&*contact];
        let asked = NewAccount {
            contact: if server.acme_email.is_empty() { &[] } else { &contact },
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let builder = Account::builder_with_http(Box::new(self.client.clone()));
        let (account, credentials) = builder.create(&asked, directory.to_owned(), None).await?;
        self.keeper.keep_account(&credentials);
        Ok(account)
    }
}

/// The key and the chain of a new certificate, as PEM.
async fn order(
    https: &Https,
    account: &Account,
    way: ChallengeKind,
) -> Result<(String, String), Error> {
    let names: Vec<Identifier> =
        https.server.acme_domains.iter().cloned().map(Identifier::Dns).collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await?;
    let mut authorizations = order.authorizations();
    while let Some(next) = authorizations.next().await {
        let mut authorization = next?;
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let mut challenge = authorization
            .challenge(way.kind())
            .ok_or(Error::Str("the directory does not look at us in this way"))?;
        let answer = challenge.key_authorization();
        match way {
            ChallengeKind::Http => https.hold_challenge(&challenge.token, answer.as_str()),
            ChallengeKind::Tls => {
                let name = challenge.identifier().to_string();
                let shown = challenge_certificate(&name, answer.digest().as_ref())
                    .map_err(|error| Error::Other(error.into()))?;
                https.tls.hold(&name, shown);
            }
        }
        challenge.set_ready().await?;
    }
    match order.poll_ready(&POLL).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) | Err(Error::Api(_)) => return Err(fault_of(&mut order).await),
        Err(error) => return Err(error),
    }
    let key = order.finalize().await?;
    let chain = order.poll_certificate(&POLL).await?;
    Ok((key, chain))
}

/// Why an order came to nothing: what the directory saw when it looked.
async fn fault_of(order: &mut Order) -> Error {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        if let Ok(state) = authorization.refresh().await
            && let Some(problem) = state.challenges.iter().find_map(|one| one.error.clone())
        {
            return Error::Api(problem);
        }
    }
    Error::Str("the directory says of no name why it was refused")
}

/// What is shown to the directory at the port of HTTPS (RFC 8737).
fn challenge_certificate(name: &str, digest: &[u8]) -> anyhow::Result<Arc<CertifiedKey>> {
    let mut params = CertificateParams::new([name.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let key = KeyPair::generate()?;
    let chain = vec![params.self_signed(&key)?.der().clone()];
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    // Made here, key and certificate belong together; the library's own check of that
    // does not know the extension, which has to be a critical one.
    Ok(Arc::new(CertifiedKey::new(chain, ring::sign::any_supported_type(&key)?)))
}
