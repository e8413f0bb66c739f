//! A program that people connect.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;

pub const REDIRECT: &str = "https://assistente.example/volta";
pub const VERIFIER: &str = "um-verificador-de-que-so-o-programa-sabe-0123456789";
pub const HEALTH: &str = "/api/v1/partner/health";

/// The PKCE challenge of a verifier, which a program sends first.
pub fn challenge(verifier: &str) -> String {
    BASE64.encode(Sha256::digest(verifier.as_bytes()))
}

/// A program that registered.
#[derive(Clone)]
pub struct Program {
    pub id: String,
    pub redirect: String,
}

impl Program {
    #[track_caller]
    pub fn registered(site: &Site, name: &str, redirect: &str) -> Self {
        let said = json!({ "client_name": name, "redirect_uris": [redirect] });
        let made = site.anonymous().post("/oauth/register", &said).expect(201).json();
        Self { id: made["client_id"].as_str().unwrap().to_owned(), redirect: redirect.to_owned() }
    }

    /// The address that the program sends people to, with changes: a parameter
    /// with nothing is left out.
    pub fn address(&self, changes: &[(&str, &str)]) -> String {
        let challenge = challenge(VERIFIER);
        let mut pairs = vec![
            ("client_id", &*self.id),
            ("redirect_uri", &self.redirect),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("state", "estado"),
        ];
        for (name, value) in changes {
            pairs.retain(|(known, _)| known != name);
            if !value.is_empty() {
                pairs.push((name, value));
            }
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("/oauth/authorize?{query}")
    }

    /// The number of the request that a person decides about.
    #[track_caller]
    pub fn asks(&self, person: &Actor<'_>, changes: &[(&str, &str)]) -> String {
        let reply = person.get(&self.address(changes)).expect(303);
        let number = number(&reply);
        person.get(&page(&number)).expect(200);
        number
    }

    /// The code after a person allows everything that the program asks for.
    #[track_caller]
    pub fn code(&self, person: &Actor<'_>, changes: &[(&str, &str)]) -> String {
        let number = self.asks(person, changes);
        let code = said(&decide(person, &number, "permitir", None), "code");
        person.site().keep_secret("code", &code);
        code
    }

    #[track_caller]
    pub fn redeem(&self, site: &Site, code: &str) -> Reply {
        self.token(
            site,
            &[
                ("grant_type", "authorization_code"),
                ("code", code),
                ("code_verifier", VERIFIER),
                ("redirect_uri", &self.redirect),
            ],
        )
    }

    #[track_caller]
    pub fn renew(&self, site: &Site, refresh: &str) -> Reply {
        self.token(site, &[("grant_type", "refresh_token"), ("refresh_token", refresh)])
    }

    /// A call of the token endpoint. The harness does not learn the tokens in
    /// its answer, because every reply is searched for known secrets.
    #[track_caller]
    pub fn token(&self, site: &Site, fields: &[(&str, &str)]) -> Reply {
        let fields = [&[("client_id", &*self.id)], fields].concat();
        site.anonymous().send(Request::new("POST", "/oauth/token").form(&fields))
    }

    /// The tokens of a person who allows what the program asks for.
    #[track_caller]
    pub fn connect(&self, person: &Actor<'_>, scope: &str) -> Tokens {
        let code = self.code(person, &[("scope", scope)]);
        Tokens::of(person.site(), self.redeem(person.site(), &code))
    }
}

/// A pair of tokens.
#[derive(Clone)]
pub struct Tokens {
    pub access: String,
    pub refresh: String,
    pub scope: String,
}

impl Tokens {
    #[track_caller]
    pub fn of(site: &Site, reply: Reply) -> Self {
        let reply = reply.expect(200);
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply}");
        let body = reply.json();
        assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(1800)));
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        let (access, refresh) = (text("access_token"), text("refresh_token"));
        assert!(access.starts_with("ptk_") && access.len() == 52, "{access}");
        site.keep_secret("access token", &access);
        site.keep_secret("refresh token", &refresh);
        Self { access, refresh, scope: text("scope") }
    }

    /// The status of a call with the access token.
    #[track_caller]
    pub fn opens(&self, site: &Site) -> u16 {
        site.bearer(&self.access).get(HEALTH).status
    }
}

/// The page of a request.
pub fn page(number: &str) -> String {
    format!("/oauth/authorize?pedido={number}")
}

/// The number in the address of a request's page.
#[track_caller]
pub fn number(reply: &Reply) -> String {
    let to = reply.header("location").unwrap_or_default();
    let (page, number) = to.split_once("?pedido=").unwrap_or_else(|| panic!("{reply}"));
    assert!(page.ends_with("/oauth/authorize") && number.len() == 64, "{to}");
    number.to_owned()
}

/// Sends a person's decision on a request, as the form does.
#[track_caller]
pub fn decide(person: &Actor<'_>, number: &str, decision: &str, access: Option<&str>) -> Reply {
    let mut fields = vec![("pedido", number), ("decisao", decision)];
    fields.extend(access.map(|access| ("acesso", access)));
    person.send(Request::new("POST", "/oauth/authorize").form(&fields))
}

/// The value of a parameter in the address to which a person is redirected.
#[track_caller]
pub fn said(reply: &Reply, name: &str) -> String {
    let to = reply.header("location").unwrap_or_else(|| panic!("no redirect\n{reply}"));
    let query = to.split_once('?').unwrap_or_default().1;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no {name} in {to}")).1.into_owned()
}
