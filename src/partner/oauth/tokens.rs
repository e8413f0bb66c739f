//! The rules of the token endpoint: a code gets the first tokens, a refresh
//! token gets the next ones, and using either twice ends the grant.
//!
//! Each request runs in one write transaction. A refusal that ends a grant is
//! returned as a normal value, not as an error, so that the transaction commits.
//! Decisions oauth-4, oauth-5.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::parameters::Parameters;
use super::refusal::{Fault, Refusal};
use super::store::{self, Grant};
use super::{ACCESS_S, asks_to_write, family_of, new_family, new_refresh, scope};
use crate::audit::{self, Act, Actor};
use crate::base::TokenHash;
use crate::db::{DbError, WriteTx};

/// The credential of a token request.
pub enum Presented {
    Code { code: TokenHash, verifier: String, redirect_uri: Option<String> },
    Refresh { family: TokenHash, token: TokenHash, own_family: String, may_write: Option<bool> },
}

pub struct TokenRequest {
    client_id: String,
    presented: Presented,
}

#[derive(Serialize)]
pub struct Issued {
    access_token: String,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: String,
    scope: &'static str,
}

/// Reads a request for tokens.
pub fn read(
    given: &Parameters,
    is_resource: &dyn Fn(&[u8]) -> bool,
    issuer: &str,
) -> Result<TokenRequest, Refusal> {
    given.unrepeated()?;
    let grant_type = given.required("grant_type")?;
    if !matches!(grant_type, "authorization_code" | "refresh_token") {
        let about = "known are authorization_code and refresh_token";
        return Err(Refusal::new(Fault::UnsupportedGrantType, about));
    }
    let client_id = given.required("client_id")?.to_owned();
    if !given.all("resource").all(is_resource) {
        let about = format!("the resource is {issuer}/mcp, or an address of the Partner API");
        return Err(Refusal::new(Fault::InvalidTarget, about));
    }
    let presented = if grant_type == "authorization_code" {
        let verifier = given.required("code_verifier")?;
        if !is_verifier(verifier) {
            let about = "code_verifier must be 43 to 128 unreserved characters";
            return Err(Refusal::request(about));
        }
        Presented::Code {
            code: TokenHash::of(given.required("code")?),
            verifier: verifier.to_owned(),
            redirect_uri: given.text("redirect_uri")?.map(str::to_owned),
        }
    } else {
        let token = given.required("refresh_token")?;
        let family = family_of(token).ok_or(UNKNOWN_REFRESH)?;
        let may_write = given.text("scope")?.map(|list| {
            asks_to_write(list).ok_or_else(|| {
                Refusal::new(Fault::InvalidScope, "known are partner:read and partner:write")
            })
        });
        Presented::Refresh {
            family: TokenHash::of(family),
            token: TokenHash::of(token),
            own_family: family.to_owned(),
            may_write: may_write.transpose()?,
        }
    };
    Ok(TokenRequest { client_id, presented })
}

const UNKNOWN_CODE: Refusal = Refusal::grant("the code is unknown, over or another client's");
const UNKNOWN_REFRESH: Refusal =
    Refusal::grant("the refresh token is unknown, over or another client's");

/// Whether a text is a verifier as RFC 7636 §4.1 allows it.
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Whether a challenge was made from this verifier.
fn proves(verifier: &str, challenge: &[u8; 32]) -> bool {
    let digest: [u8; 32] = Sha256::digest(verifier.as_bytes()).into();
    digest.ct_eq(challenge).into()
}

/// Issues tokens, or returns why not.
pub fn issue(
    tx: &WriteTx<'_>,
    wanted: &TokenRequest,
    actor: &Actor,
) -> Result<Result<Issued, Refusal>, DbError> {
    if store::client(tx, &wanted.client_id)?.is_none() {
        let about = "this client_id is unknown; register again";
        return Ok(Err(Refusal::new(Fault::InvalidClient, about)));
    }
    match &wanted.presented {
        Presented::Code { code, verifier, redirect_uri } => {
            let found = store::by_code(tx, code)?;
            let own = found.filter(|grant| grant.client_id == wanted.client_id);
            let Some(grant) = own else { return Ok(Err(UNKNOWN_CODE)) };
            redeem(tx, &grant, verifier, redirect_uri.as_deref(), actor)
        }
        Presented::Refresh { family, token, own_family, may_write } => {
            let found = store::by_family(tx, family)?;
            let own = found.filter(|grant| grant.client_id == wanted.client_id);
            let Some(grant) = own else { return Ok(Err(UNKNOWN_REFRESH)) };
            renew(tx, &grant, token, own_family, *may_write, actor)
        }
    }
}

fn redeem(
    tx: &WriteTx<'_>,
    grant: &Grant,
    verifier: &str,
    redirect_uri: Option<&str>,
    actor: &Actor,
) -> Result<Result<Issued, Refusal>, DbError> {
    if grant.is_connected {
        end(tx, grant, "o código foi usado duas vezes", actor)?;
        return Ok(Err(Refusal::grant("the code was used before; what it gave is revoked")));
    }
    if grant.ends_at <= tx.now() {
        return Ok(Err(UNKNOWN_CODE));
    }
    if redirect_uri.is_some_and(|sent| sent != grant.redirect_uri) {
        return Ok(Err(Refusal::grant("redirect_uri is not the one that the code was sent to")));
    }
    if !proves(verifier, &grant.challenge) {
        return Ok(Err(Refusal::grant("code_verifier does not fit the challenge")));
    }
    let family = new_family();
    let refresh = new_refresh(&family);
    if !store::connect(tx, grant, &TokenHash::of(&family), &TokenHash::of(&refresh))? {
        return Ok(Err(UNKNOWN_CODE));
    }
    issued(tx, grant, grant.may_write, refresh).map(Ok)
}

fn renew(
    tx: &WriteTx<'_>,
    grant: &Grant,
    token: &TokenHash,
    family: &str,
    asked: Option<bool>,
    actor: &Actor,
) -> Result<Result<Issued, Refusal>, DbError> {
    if grant.ends_at <= tx.now() {
        return Ok(Err(UNKNOWN_REFRESH));
    }
    let is_newest = grant.refresh.is_some_and(|newest| newest.ct_eq(&token.0).into());
    if !is_newest {
        end(tx, grant, "um token de renovação foi usado duas vezes", actor)?;
        let about = "the refresh token was used before; the connection is revoked";
        return Ok(Err(Refusal::grant(about)));
    }
    if asked == Some(true) && !grant.may_write {
        return Ok(Err(Refusal::new(Fault::InvalidScope, "the owner gave partner:read alone")));
    }
    let next = new_refresh(family);
    if !store::rotate(tx, grant, token, &TokenHash::of(&next))? {
        return Ok(Err(UNKNOWN_REFRESH));
    }
    issued(tx, grant, asked.unwrap_or(grant.may_write), next).map(Ok)
}

fn issued(
    tx: &WriteTx<'_>,
    grant: &Grant,
    may_write: bool,
    refresh_token: String,
) -> Result<Issued, DbError> {
    Ok(Issued {
        access_token: store::give_access(tx, grant.id, may_write)?,
        token_type: "Bearer",
        expires_in: ACCESS_S,
        refresh_token,
        scope: scope(may_write),
    })
}

/// Ends a grant whose code or refresh token was used twice: two programs have it.
fn end(tx: &WriteTx<'_>, grant: &Grant, why: &str, actor: &Actor) -> Result<(), DbError> {
    #[derive(Serialize)]
    struct Ended<'a> {
        motivo: &'a str,
        conta: String,
    }
    store::end_grant(tx, grant.id)?;
    let act = Act {
        action: "aplicativo.encerrar",
        object: "aplicativo",
        object_id: grant.id.to_string(),
        object_name: &grant.client_name,
    };
    let ended = Ended { motivo: why, conta: grant.user.to_string() };
    audit::note(tx, actor, &act, &ended, ())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

    use super::*;

    #[test]
    fn a_verifier_proves_its_challenge() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = BASE64.decode("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        let challenge = challenge.try_into().unwrap();
        assert!(is_verifier(verifier) && proves(verifier, &challenge));
        assert!(!proves(&verifier.replace('d', "e"), &challenge));
        for bad in [&verifier[..42], "", &"a".repeat(129), &format!("{}+", "a".repeat(43))] {
            assert!(!is_verifier(bad), "{bad}");
        }
    }

    #[test]
    fn requests_are_read_strictly() {
        let verifier = "a".repeat(43);
        let refresh = new_refresh(&new_family());
        let fault = |body: &str| {
            let given = Parameters::of(body.as_bytes());
            let read = read(&given, &|asked| asked == b"r", "https://dev.example");
            read.err().map(|refusal| refusal.fault)
        };
        let code =
            format!("grant_type=authorization_code&client_id=c&code=x&code_verifier={verifier}");
        let renewal = format!("grant_type=refresh_token&client_id=c&refresh_token={refresh}");
        assert_eq!(fault(&code), None);
        assert_eq!(fault(&format!("{code}&resource=r")), None);
        assert_eq!(fault(&renewal), None);
        assert_eq!(fault(&format!("{renewal}&scope=partner:read")), None);
        for (body, expected) in [
            (String::new(), Fault::InvalidRequest),
            ("grant_type=password&username=a&password=b".to_owned(), Fault::UnsupportedGrantType),
            ("grant_type=client_credentials&client_id=c".to_owned(), Fault::UnsupportedGrantType),
            ("grant_type=implicit".to_owned(), Fault::UnsupportedGrantType),
            (code.replace("client_id=c&", ""), Fault::InvalidRequest),
            (code.replace("&code=x", ""), Fault::InvalidRequest),
            (code.replace(&verifier, ""), Fault::InvalidRequest),
            (code.replace(&verifier, &verifier[..42]), Fault::InvalidRequest),
            (format!("{code}&code=y"), Fault::InvalidRequest),
            (format!("{code}&resource=other"), Fault::InvalidTarget),
            (format!("{renewal}&resource=other"), Fault::InvalidTarget),
            (renewal.replace(&refresh, "ptr_x"), Fault::InvalidGrant),
            (format!("{renewal}&scope=openid"), Fault::InvalidScope),
        ] {
            assert_eq!(fault(&body), Some(expected), "{body}");
        }
    }
}
