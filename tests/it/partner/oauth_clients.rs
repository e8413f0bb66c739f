//! Programs that register, and programs that are described by a document.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::Request;
use crate::support::oauth::{Program, REDIRECT, Tokens, decide, number, page, said};
use crate::support::site::{Site, lock};
use crate::support::wait::until;

#[test]
fn a_program_registers_what_clients_really_send() {
    let site = Site::builder().unlimited().start();
    let said = json!({
        "client_name": "Claude Code", "redirect_uris": ["http://localhost:3118/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none", "application_type": "native",
        "scope": "partner:read partner:write", "software_id": "x", "client_uri": "https://a.example",
    });
    let reply = site.anonymous().post("/oauth/register", &said).expect(201);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    let made = reply.json();
    assert!(made["client_id"].as_str().unwrap().starts_with("app_"), "{made}");
    assert_eq!(made["client_name"], "Claude Code");
    assert_eq!(made["redirect_uris"], said["redirect_uris"]);
    assert_eq!(made["token_endpoint_auth_method"], "none", "there are no secrets");
    assert!(made["client_secret"].is_null() && made["client_id_issued_at"].is_i64());
    for (body, error) in [
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://a.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://a.example/#x"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://u:p@a.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec![REDIRECT; 11] }), "invalid_redirect_uri"),
        (
            json!({ "redirect_uris": [REDIRECT], "grant_types": ["password"] }),
            "invalid_client_metadata",
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_basic" }),
            "invalid_client_metadata",
        ),
    ] {
        let refused = site.anonymous().post("/oauth/register", &body).expect(400);
        assert_eq!(refused.json()["error"], error, "{refused}");
    }
    let broken = Request::new("POST", "/oauth/register").body("application/json", b"[");
    let refused = site.anonymous().send(broken).expect(400);
    assert_eq!(refused.json()["error"], "invalid_client_metadata");
    let large = json!({ "redirect_uris": [REDIRECT], "client_name": "a".repeat(20_000) });
    site.anonymous().post("/oauth/register", &large).expect(413);
    let app = Program::registered(&site, "Editor", "cursor://anysphere.cursor-mcp/oauth/callback");
    let ana = site.person("ana");
    let number = app.asks(&ana, &[]);
    let reply = decide(&ana, &number, "negar", None).expect(303);
    assert!(reply.header("location").unwrap().starts_with("cursor://anysphere"), "{reply}");
}

#[test]
fn nobody_is_sent_to_addresses_of_ours_and_a_name_is_seen() {
    let web = WebSite::start();
    let site = Site::builder()
        .unlimited()
        .config("server.base_url", "https://painel.escola.example")
        .config("server.dev_base_url", "https://dev.escola.example")
        .config("agents.document_hosts", vec![web.address.to_string()])
        .start();
    let stranger = site.anonymous();
    let register = |said: Value| stranger.post("/oauth/register", &said).expect(400).json();
    for own in [
        "https://painel.escola.example/entrar",
        "https://PAINEL.escola.example/",
        "https://painel.escola.example./",
        "https://painel.escola.example:8443/x",
        "https://dev.escola.example/mcp",
    ] {
        let refused = register(json!({ "redirect_uris": [REDIRECT, own] }));
        assert_eq!(refused["error"], "invalid_redirect_uri", "{own}");
    }
    for blank in ["\u{3164}", "\u{2800}\u{2800}", "\u{115f} \u{200b}", "\u{e0020}", " "] {
        let refused = register(json!({ "redirect_uris": [REDIRECT], "client_name": blank }));
        assert_eq!(refused["error"], "invalid_client_metadata", "{blank:?}");
    }
    let program = Program { id: web.id("/1.json"), redirect: REDIRECT.to_owned() };
    let mut own = document(&program.id);
    own["redirect_uris"] = json!([REDIRECT, "https://painel.escola.example/x"]);
    web.says(&own);
    stranger.get(&program.address(&[])).expect(400);
    assert_eq!(web.asked(), 1);
    let local = Site::builder().unlimited().start();
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let own = format!("http://{host}:{}/entrar", local.address().port());
        let said = json!({ "redirect_uris": [own] });
        local.anonymous().post("/oauth/register", &said).expect(400);
    }
    // Nor is a program on the same machine at every port.
    let native = Program::registered(&local, "Nativo", "http://127.0.0.1:1/volta");
    let own = format!("http://127.0.0.1:{}/volta", local.address().port());
    local.anonymous().get(&native.address(&[("redirect_uri", &own)])).expect(400);
}

#[test]
fn an_address_registers_few_programs_an_hour() {
    let site = Site::builder().unlimited().start();
    for index in 0..20 {
        Program::registered(&site, &format!("App {index}"), REDIRECT);
    }
    let body = json!({ "redirect_uris": [REDIRECT] });
    let refused = site.anonymous().post("/oauth/register", &body).expect(429);
    assert_eq!(refused.json()["error"], "temporarily_unavailable");
    assert_eq!(site.stored("SELECT count(*) || '' FROM oauth_client"), ["20"]);
    site.clock().advance_s(3_600);
    Program::registered(&site, "App", REDIRECT);
}

#[test]
fn an_address_calls_the_token_endpoint_so_often_a_minute() {
    let site = Site::builder().config("limits.requests", 5).start();
    let program = Program::registered(&site, "App", REDIRECT);
    let call = || program.token(&site, &[("grant_type", "refresh_token"), ("refresh_token", "x")]);
    for _ in 0..4 {
        call().expect(400);
    }
    let refused = call().expect(429);
    assert_eq!(refused.json()["error"], "temporarily_unavailable");
    assert!(refused.header("retry-after").is_some(), "{refused}");
}

#[test]
fn programs_that_nobody_connects_are_forgotten_and_the_others_stay() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let used = Program::registered(&site, "Usado", REDIRECT);
    Program::registered(&site, "Sem uso", REDIRECT);
    let tokens = used.connect(&ana, "partner:read");
    used.code(&ana, &[]);
    used.asks(&ana, &[]);
    let count = |table: &str| site.stored(&format!("SELECT count(*) || '' FROM {table}"));
    assert_eq!(count("oauth_grant"), ["2"]);
    site.clock().advance_s(25 * 3_600);
    until("what is over is removed", Duration::from_secs(30), || {
        (count("oauth_client") == ["1"] && count("oauth_request") == ["0"]).then_some(())
    });
    assert_eq!(
        (count("oauth_grant"), count("oauth_token")),
        (vec!["1".to_owned()], vec!["0".to_owned()])
    );
    Tokens::of(&site, used.renew(&site, &tokens.refresh));
    site.clock().advance_s(91 * 86_400);
    until("the rest is removed too", Duration::from_secs(30), || {
        (count("oauth_client") == ["0"] && count("oauth_grant") == ["0"]).then_some(())
    });
}

/// A web site that gives every request the same answer and counts the requests.
struct WebSite {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<String>>,
}

impl WebSite {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(String::new())));
        let (count, text) = (Arc::clone(&asked), Arc::clone(&answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                    head.push(byte[0]);
                }
                let answer = lock(&text).clone();
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        Self { address, asked, answer }
    }

    fn id(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers with a document from now on.
    fn says(&self, document: &Value) {
        self.answers("200 OK", "application/json", "", &document.to_string());
    }

    fn answers(&self, status: &str, media: &str, more: &str, body: &str) {
        *lock(&self.answer) = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{body}",
            body.len()
        );
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn document(id: &str) -> Value {
    json!({
        "client_id": id, "client_name": "Documentado", "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
    })
}

#[test]
fn a_program_is_known_by_its_document() {
    let web = WebSite::start();
    let site = Site::builder()
        .unlimited()
        .config("agents.document_hosts", vec![web.address.to_string()])
        .start();
    let ana = site.person("ana");
    let program = Program { id: web.id("/cliente.json"), redirect: REDIRECT.to_owned() };
    web.says(&document(&program.id));
    let shown = number(&ana.get(&program.address(&[])).expect(303));
    let html = Request::new("GET", &page(&shown)).header("Accept", "text/html");
    let html = ana.send(html).expect(200).text();
    assert!(html.contains("Documentado") && html.contains("confirmado por"), "{html}");
    assert!(html.contains(&web.address.to_string()), "{html}");
    let tokens = program.connect(&ana, "partner:read");
    Tokens::of(&site, program.renew(&site, &tokens.refresh));
    assert_eq!(web.asked(), 1, "it is kept for a while");

    // The document is fetched again, and its new content counts.
    site.clock().advance_s(301);
    let mut changed = document(&program.id);
    changed["redirect_uris"] = json!(["https://assistente.example/nova"]);
    web.says(&changed);
    ana.get(&program.address(&[])).expect(400);
    let moved = Program { redirect: "https://assistente.example/nova".to_owned(), ..program };
    let reply = decide(&ana, &moved.asks(&ana, &[]), "negar", None);
    assert_eq!(said(&reply, "error"), "access_denied");
    assert_eq!(web.asked(), 2);
}

#[test]
fn documents_that_are_not_what_they_should_be_are_refused() {
    let web = WebSite::start();
    let site = Site::builder()
        .unlimited()
        .config("agents.document_hosts", vec![web.address.to_string()])
        .start();
    let stranger = site.anonymous();
    let ask = |path: &str| {
        let program = Program { id: web.id(path), redirect: REDIRECT.to_owned() };
        stranger.get(&program.address(&[])).expect(400)
    };
    web.says(&document(&web.id("/outro.json")));
    ask("/1.json");
    let asked = web.asked();
    ask("/1.json");
    assert_eq!(web.asked(), asked, "what failed is not asked for again at once");
    let of = |path: &str, name: &str, value: Value| {
        let mut document = document(&web.id(path));
        document[name] = value;
        document
    };
    web.says(&of("/2.json", "redirect_uris", json!(["http://evil.example/"])));
    ask("/2.json");
    web.says(&of("/3.json", "token_endpoint_auth_method", json!("client_secret_post")));
    ask("/3.json");
    web.says(&of("/4.json", "client_name", json!("a".repeat(11 * 1024))));
    ask("/4.json");
    let good = document(&web.id("/5.json")).to_string();
    web.answers("200 OK", "text/html", "", &good);
    ask("/5.json");
    let to = format!("Location: {}\r\n", web.id("/6.json"));
    web.answers("302 Found", "application/json", &to, &good);
    let asked = web.asked();
    ask("/6.json");
    assert_eq!(web.asked(), asked + 1, "a redirect is not followed");
    web.answers("404 Not Found", "application/json", "", &good);
    ask("/7.json");
    web.answers("200 OK", "application/json", "", "{");
    ask("/8.json");
    assert_eq!(site.stored("SELECT count(*) || '' FROM oauth_client"), ["0"]);
}

#[test]
fn nobody_has_us_ask_inside() {
    let web = WebSite::start();
    let site = Site::builder().unlimited().start();
    let stranger = site.anonymous();
    let port = web.address.port();
    for id in [
        format!("http://127.0.0.1:{port}/c.json"),
        format!("https://127.0.0.1:{port}/c.json"),
        "https://127.0.0.1/c.json".to_owned(),
        "https://localhost/c.json".to_owned(),
        "https://2130706433/c.json".to_owned(),
        "https://[::1]/c.json".to_owned(),
        "https://[::ffff:127.0.0.1]/c.json".to_owned(),
        "https://10.0.0.1/c.json".to_owned(),
        "https://100.64.0.1/c.json".to_owned(),
        "https://169.254.169.254/latest/meta-data/".to_owned(),
        "https://[fd00::1]/c.json".to_owned(),
        "https://[fe80::1]/c.json".to_owned(),
        "https://[64:ff9b::7f00:1]/c.json".to_owned(),
        format!("https://127.0.0.1:{port}@a.example/c.json"),
        "https://a.example\\@127.0.0.1/c.json".to_owned(),
        "file:///etc/passwd".to_owned(),
        "https://a.example/../c.json".to_owned(),
    ] {
        let program = Program { id: id.clone(), redirect: REDIRECT.to_owned() };
        let reply = stranger.get(&program.address(&[]));
        assert_eq!((reply.status, reply.header("location")), (400, None), "{id}\n{reply}");
    }
    assert_eq!(web.asked(), 0);
}
