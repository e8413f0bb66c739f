//! The callers of the server: actors, not only tokens.
//!
//! An actor is made through the product itself (commands, the login page, the
//! extension's login), sends its credential with every request, and checks
//! every reply.

use std::fmt::{self, Write as _};
use std::io;
use std::sync::Mutex;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::checks;
use crate::support::client::{Client, Reply, Request};
use crate::support::site::{CLIENT_ID, CLIENT_SECRET, Person, Site, lock};

/// The credential that an actor sends with each request.
#[derive(Clone, Debug)]
enum Credential {
    None,
    /// `name=value`.
    Cookie(String),
    Bearer(String),
}

/// A caller of a [`Site`], over one kept-alive connection.
pub struct Actor<'s> {
    site: &'s Site,
    what: String,
    person: Option<Person>,
    credential: Credential,
    client: Mutex<Client>,
}

impl Site {
    /// A caller without any credential.
    pub fn anonymous(&self) -> Actor<'_> {
        Actor::new(self, "anonymous", Credential::None)
    }

    /// A caller with any text as bearer token.
    pub fn bearer(&self, token: &str) -> Actor<'_> {
        Actor::new(self, "bearer", Credential::Bearer(token.to_owned()))
    }

    /// A student (role `vip`) in the browser, logged in.
    #[track_caller]
    pub fn person(&self, name: &str) -> Actor<'_> {
        self.person_as(name, "vip")
    }

    /// A person of this role in the browser, logged in.
    #[track_caller]
    pub fn person_as(&self, name: &str, role: &str) -> Actor<'_> {
        let person = self.make_person(name, role);
        let fields = [("email", person.email.as_str()), ("senha", person.password.as_str())];
        let reply =
            self.anonymous().send(Request::new("POST", "/entrar").form(&fields)).expect(303);
        let cookie = reply
            .session_cookie()
            .unwrap_or_else(|| panic!("the login set no HttpOnly cookie\n{reply}"))
            .to_owned();
        let value = cookie.split_once('=').unwrap().1;
        self.keep_secret("session cookie", value);
        Actor::new(self, &format!("session:{role}"), Credential::Cookie(cookie)).of(person)
    }

    /// An administrator in the browser, logged in.
    #[track_caller]
    pub fn administrator(&self) -> Actor<'_> {
        self.person_as("administradora", "admin")
    }

    /// A student's browser extension, logged in.
    #[track_caller]
    pub fn extension(&self, name: &str) -> Actor<'_> {
        let person = self.make_person(name, "vip");
        let login = json!({ "email": person.email, "senha": person.password });
        let reply = self.anonymous().post("/api/ext/auth", &login).ok();
        let token = reply["token"].as_str().unwrap();
        self.keep_secret("extension token", token);
        Actor::new(self, "extension", Credential::Bearer(token.to_owned())).of(person)
    }

    /// A student's integration of the Partner API, still without a plan.
    #[track_caller]
    pub fn seller(&self, name: &str) -> Actor<'_> {
        self.partner(name, "vip", "seller")
    }

    /// A supplier's integration of the Partner API, still without a plan.
    #[track_caller]
    pub fn supplier(&self, name: &str) -> Actor<'_> {
        self.partner(name, "drop", "supplier")
    }

    /// An integration whose key has these scopes.
    #[track_caller]
    pub fn key(&self, scopes: &[&str]) -> Actor<'_> {
        self.key_with(scopes, &[])
    }

    /// An integration whose key was made with further arguments.
    #[track_caller]
    pub fn key_with(&self, scopes: &[&str], more: &[&str]) -> Actor<'_> {
        let mut arguments = vec!["key", "create", "--name", "CRM"];
        for scope in scopes {
            arguments.extend(["--scope", *scope]);
        }
        arguments.extend(more);
        let key = self.command(&arguments).ok().trim().to_owned();
        self.keep_secret("API key", &key);
        Actor::new(self, "key", Credential::Bearer(key))
    }

    #[track_caller]
    fn partner(&self, name: &str, role: &str, what: &str) -> Actor<'_> {
        let person = self.make_person(name, role);
        let arguments = ["partner", "token", "--email", &person.email, "--write"];
        let token = self.command(&arguments).ok().trim().to_owned();
        self.keep_secret("partner token", &token);
        Actor::new(self, what, Credential::Bearer(token)).of(person)
    }
}

impl<'s> Actor<'s> {
    fn new(site: &'s Site, what: &str, credential: Credential) -> Self {
        Self { site, what: what.to_owned(), person: None, credential, client: Mutex::default() }
    }

    fn of(mut self, person: Person) -> Self {
        self.person = Some(person);
        self
    }

    /// The cookie of its session.
    #[track_caller]
    pub fn cookie(&self) -> &str {
        match &self.credential {
            Credential::Cookie(cookie) => cookie,
            _ => panic!("{} has no session", self.what),
        }
    }

    /// The site on which it acts.
    pub const fn site(&self) -> &Site {
        self.site
    }

    /// The person behind it.
    #[track_caller]
    pub fn person(&self) -> &Person {
        self.person.as_ref().expect("a person stands behind it")
    }

    /// The token that it sends, for tests that write requests by hand.
    #[track_caller]
    pub fn bearer_token(&self) -> &str {
        match &self.credential {
            Credential::Bearer(token) => token,
            _ => panic!("{self} shows no token"),
        }
    }

    /// Gives its account an API plan.
    #[track_caller]
    pub fn plan(self, plan: &str) -> Self {
        let arguments = ["partner", "plan", "--email", &self.person().email];
        let arguments = [&arguments[..], &["--plan", plan]].concat();
        self.site.command(&arguments).ok();
        self
    }

    #[track_caller]
    pub fn get(&self, target: &str) -> Reply {
        self.send(Request::new("GET", target))
    }

    #[track_caller]
    pub fn post(&self, target: &str, body: &Value) -> Reply {
        self.send(Request::new("POST", target).json(body))
    }

    /// Sends with its credential and checks what holds on every reply.
    #[track_caller]
    pub fn send(&self, request: Request) -> Reply {
        let line = format!("{} {}", request.method, request.target);
        self.try_send(request).unwrap_or_else(|error| panic!("{self}: no reply to {line}: {error}"))
    }

    /// As [`Actor::send`], over a connection of its own: several threads send
    /// at the same time.
    #[track_caller]
    pub fn send_apart(&self, request: Request) -> Reply {
        let apart = Actor::new(self.site, &self.what, self.credential.clone());
        apart.send(request)
    }

    /// As [`Actor::send`], for tests in which the server may end.
    #[track_caller]
    pub fn try_send(&self, request: Request) -> io::Result<Reply> {
        let request = match &self.credential {
            Credential::None => request,
            Credential::Cookie(cookie) => request.header("Cookie", cookie),
            Credential::Bearer(token) => {
                request.header("Authorization", &format!("Bearer {token}"))
            }
        };
        let address = self.site.try_address();
        let address = address.ok_or(io::ErrorKind::NotConnected)?;
        let reply = lock(&self.client).send(address, &request)?;
        self.site.saw(&reply);
        checks::check(&request, &reply, &self.site.secrets());
        Ok(reply)
    }
}

impl fmt::Display for Actor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// A marketplace notification, signed as the marketplace signs.
pub fn signed_notification(
    resource: &str,
    topic: &str,
    user_id: u64,
    request_id: &str,
    ts: i64,
) -> Request {
    let notification = Request::new("POST", "/ml/notificacoes").json(&json!({
        "resource": resource,
        "user_id": user_id,
        "topic": topic,
        "application_id": CLIENT_ID,
        "attempts": 1,
    }));
    signed(notification, resource, request_id, ts)
}

/// A request with the signature of a notification about a resource.
pub fn signed(request: Request, resource: &str, request_id: &str, ts: i64) -> Request {
    let data_id = resource.rsplit('/').next().unwrap_or_default();
    let manifest = format!("id:{data_id};request-id:{request_id};ts:{ts};");
    let mut mac = Hmac::<Sha256>::new_from_slice(CLIENT_SECRET.as_bytes()).unwrap();
    mac.update(manifest.as_bytes());
    let digest = mac.finalize().into_bytes();
    let mut hex = String::new();
    for byte in digest {
        write!(hex, "{byte:02x}").unwrap();
    }
    request.header("X-Signature", &format!("ts={ts};v1={hex}")).header("X-Request-Id", request_id)
}
