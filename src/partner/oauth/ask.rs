//! Checks a program's authorization request. The order of the checks matters:
//! before the redirect address is known to be the program's own, the person is
//! not sent there, not even with an error (RFC 6749 §4.1.2.1).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

use super::asks_to_write;
use super::parameters::Parameters;
use super::redirect::{Redirect, Targets, with_query};
use super::refusal::{Fault, Refusal};
use super::store::{Client, Pending};

const LONGEST_STATE: usize = 2_048;

/// Why a request is not shown to the person.
#[derive(Debug)]
pub enum AuthorizeError {
    /// The person sees an error page and is not redirected.
    ShowToUser(&'static str),
    /// The error is sent to the program, at an address of its own.
    RedirectToClient(ErrorRedirect),
}

/// An answer that goes to the program through the person's browser.
#[derive(Debug)]
pub struct ErrorRedirect {
    pub redirect_uri: String,
    pub state: Option<Vec<u8>>,
    pub refusal: Refusal,
}

/// The service's own values that a request is checked against.
pub struct ServerContext<'o> {
    pub issuer: &'o str,
    pub targets: &'o Targets,
    pub is_resource: &'o dyn Fn(&[u8]) -> bool,
}

/// Checks the request of a known client.
pub fn check(
    given: &Parameters,
    client: &Client,
    server: &ServerContext<'_>,
) -> Result<Pending, AuthorizeError> {
    let redirect_uri = redirect_of(given, client, server.targets)?;
    let state = given.bytes("state");
    let back = |refusal| {
        // A state that is sent twice is ignored.
        let state = given.bytes("state").ok().flatten().map(<[u8]>::to_vec);
        AuthorizeError::RedirectToClient(ErrorRedirect {
            redirect_uri: redirect_uri.clone(),
            state,
            refusal,
        })
    };
    let checked = state.and_then(|state| Ok((state, rest(given, state, server)?)));
    let (state, (challenge, may_write)) = checked.map_err(back)?;
    Ok(Pending {
        client_no: client.no,
        redirect_uri: redirect_uri.clone(),
        state: state.map(<[u8]>::to_vec),
        challenge,
        may_write,
    })
}

/// The redirect address of the answer: one that the client registered.
fn redirect_of(
    given: &Parameters,
    client: &Client,
    targets: &Targets,
) -> Result<String, AuthorizeError> {
    let Ok(asked) = given.text("redirect_uri") else {
        return Err(AuthorizeError::ShowToUser("redirect_uri is there twice or is no text"));
    };
    let own = &client.redirects.0;
    let Some(asked) = asked else {
        return match &own[..] {
            [only] if Redirect::read(only, targets).is_ok() => Ok(only.clone()),
            _ => Err(AuthorizeError::ShowToUser("redirect_uri is missing")),
        };
    };
    let named = Redirect::read(asked, targets).map_err(|_| {
        AuthorizeError::ShowToUser("redirect_uri is no address that people may be sent to")
    })?;
    // What is allowed may have changed since the client registered.
    if own.iter().any(|text| Redirect::read(text, targets).is_ok_and(|own| own.matches(&named))) {
        return Ok(asked.to_owned());
    }
    Err(AuthorizeError::ShowToUser("redirect_uri is none of those that the program registered"))
}

/// The checks whose errors are sent to the program.
fn rest(
    given: &Parameters,
    state: Option<&[u8]>,
    server: &ServerContext<'_>,
) -> Result<([u8; 32], bool), Refusal> {
    given.unrepeated()?;
    if state.is_some_and(|state| state.len() > LONGEST_STATE) {
        return Err(Refusal::request("state is too long"));
    }
    if given.required("response_type")? != "code" {
        let about = "only response_type=code is known";
        return Err(Refusal::new(Fault::UnsupportedResponseType, about));
    }
    if given.text("response_mode")?.is_some_and(|mode| mode != "query") {
        return Err(Refusal::request("only response_mode=query is known"));
    }
    if given.text("code_challenge_method")? != Some("S256") {
        return Err(Refusal::request("code_challenge_method must be S256"));
    }
    let challenge = given
        .text("code_challenge")?
        .filter(|text| text.len() == 43)
        .and_then(|text| BASE64.decode(text).ok()?.try_into().ok())
        .ok_or_else(|| Refusal::request("code_challenge must be the base64url of a SHA-256"))?;
    if !given.all("resource").all(server.is_resource) {
        let about = format!("the only resource is {}/mcp", server.issuer);
        return Err(Refusal::new(Fault::InvalidTarget, about));
    }
    let may_write = asks_to_write(given.text("scope")?.unwrap_or_default()).ok_or_else(|| {
        Refusal::new(Fault::InvalidScope, "known scopes are partner:read and partner:write")
    })?;
    Ok((challenge, may_write))
}

impl ErrorRedirect {
    /// The address that the person is redirected to.
    pub fn address(&self, issuer: &str) -> String {
        let error = [
            ("error", self.refusal.fault.name().as_bytes()),
            ("error_description", self.refusal.about.as_bytes()),
        ];
        answer(&self.redirect_uri, &error, self.state.as_deref(), issuer)
    }
}

/// The address of an answer: its parameters, the state as it was sent, and the
/// issuer (RFC 9207).
pub fn answer(
    redirect_uri: &str,
    said: &[(&str, &[u8])],
    state: Option<&[u8]>,
    issuer: &str,
) -> String {
    let mut pairs = said.to_vec();
    pairs.extend(state.map(|state| ("state", state)));
    pairs.push(("iss", issuer.as_bytes()));
    with_query(redirect_uri, &pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Json;

    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const REDIRECT: &str = "https://a.example/cb";

    fn ask(query: &str, redirects: &[&str]) -> Result<Pending, AuthorizeError> {
        let client = Client {
            no: 7,
            id: "app_1".to_owned(),
            name: "A".to_owned(),
            redirects: Json(redirects.iter().map(|&one| one.to_owned()).collect()),
            fresh_until: None,
        };
        let server = ServerContext {
            issuer: "https://dev.example",
            targets: &Targets::default(),
            is_resource: &|asked| asked == b"https://dev.example/mcp",
        };
        check(&Parameters::of(query.as_bytes()), &client, &server)
    }

    fn good() -> String {
        format!(
            "redirect_uri={REDIRECT}&response_type=code&code_challenge={CHALLENGE}\
             &code_challenge_method=S256&state=s"
        )
    }

    #[test]
    fn a_good_request_comes_to_the_person() {
        let pending = ask(&format!("{}&scope=partner:write", good()), &[REDIRECT]).unwrap();
        assert_eq!(pending.redirect_uri, REDIRECT);
        assert_eq!((pending.state.as_deref(), pending.may_write), (Some(&b"s"[..]), true));
        let without = good().replace(&format!("redirect_uri={REDIRECT}&"), "");
        assert_eq!(ask(&without, &[REDIRECT]).unwrap().redirect_uri, REDIRECT);
    }

    #[test]
    fn nobody_is_sent_to_an_address_that_is_not_the_programs() {
        for (query, own) in [
            (good(), &["https://b.example/cb"][..]),
            (good(), &["https://a.example/cb2", "https://a.example/"]),
            (good().replace(REDIRECT, "https://evil.example/"), &[REDIRECT]),
            (good().replace(REDIRECT, "javascript:alert(1)"), &[REDIRECT]),
            (format!("{}&redirect_uri={REDIRECT}", good()), &[REDIRECT]),
            (format!("{}&redirect_uri=", good()), &[REDIRECT]),
            (good().replace(&format!("redirect_uri={REDIRECT}&"), ""), &[REDIRECT, "https://b/"]),
        ] {
            assert!(matches!(ask(&query, own), Err(AuthorizeError::ShowToUser(_))), "{query}");
        }
    }

    #[test]
    fn other_faults_go_to_the_program_with_its_state() {
        for (query, fault) in [
            (good().replace("=code&", "=token&"), Fault::UnsupportedResponseType),
            (good().replace("response_type=code&", ""), Fault::InvalidRequest),
            (good().replace("S256", "plain"), Fault::InvalidRequest),
            (good().replace("&code_challenge_method=S256", ""), Fault::InvalidRequest),
            (good().replace(CHALLENGE, ""), Fault::InvalidRequest),
            (good().replace(CHALLENGE, &CHALLENGE[..42]), Fault::InvalidRequest),
            (good().replace(CHALLENGE, &format!("{}=", &CHALLENGE[..42])), Fault::InvalidRequest),
            (format!("{}&scope=openid", good()), Fault::InvalidScope),
            (format!("{}&resource=https://other/mcp", good()), Fault::InvalidTarget),
            (
                format!("{}&resource=https://dev.example/mcp&resource=https://other/", good()),
                Fault::InvalidTarget,
            ),
            (format!("{}&scope=partner:read&scope=partner:read", good()), Fault::InvalidRequest),
            (format!("{}&response_mode=fragment", good()), Fault::InvalidRequest),
            (format!("{}{}", good(), "x".repeat(2_048)), Fault::InvalidRequest),
        ] {
            let Err(AuthorizeError::RedirectToClient(back)) = ask(&query, &[REDIRECT]) else {
                panic!("{query} was not refused to the program");
            };
            assert_eq!(back.refusal.fault, fault, "{query}");
            let address = back.address("https://dev.example");
            assert!(address.starts_with(&format!("{REDIRECT}?error={}&", fault.name())));
            assert!(address.contains("&state=s"), "{address}");
            assert!(address.ends_with("&iss=https%3A%2F%2Fdev.example"), "{address}");
        }
        let Err(AuthorizeError::RedirectToClient(back)) =
            ask(&format!("{}&state=t", good()), &[REDIRECT])
        else {
            panic!("two states were taken");
        };
        assert_eq!(back.state, None);
    }
}
