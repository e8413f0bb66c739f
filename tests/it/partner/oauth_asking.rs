//! Authorization requests of programs: what is rejected and where, what the
//! page says, and who may answer.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::html::Page;
use crate::support::oauth::{Program, REDIRECT, challenge, decide, number, page, said};
use crate::support::page_rules::policy;
use crate::support::payloads;
use crate::support::site::Site;

fn browser(request: Request) -> Request {
    request.header("Accept", "text/html")
}

/// The error is shown here, and the person is redirected nowhere.
#[track_caller]
fn told_here(reply: Reply) {
    let reply = reply.expect(400);
    assert_eq!(reply.header("location"), None, "{reply}");
}

#[test]
fn nobody_is_sent_anywhere_for_a_program_that_is_not_known_or_an_address_that_is_not_its_own() {
    let site = Site::builder().unlimited().start();
    let program = Program::registered(&site, "App", REDIRECT);
    let stranger = site.anonymous();
    let ask = |changes: &[(&str, &str)]| stranger.get(&program.address(changes));
    told_here(ask(&[("client_id", "")]));
    told_here(ask(&[("client_id", "app_00000000000000000000000000000000")]));
    told_here(ask(&[("client_id", "https://assistente.example/")]));
    told_here(ask(&[("client_id", "http://127.0.0.1:9/cliente.json")]));
    for other in [
        "https://evil.example/volta",
        "https://assistente.example/volta/",
        "https://assistente.example/volta?x=1",
        "https://assistente.example/outra/../volta",
        "https://assistente.example:8443/volta",
        "https://assistente.example@evil.example/volta",
        "https://assistente.example.evil.example/volta",
        "http://assistente.example/volta",
        "//evil.example/volta",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://assistente.example/volta#x",
        "https://assistente.example/volta\r\nX-Evil: 1",
    ] {
        told_here(ask(&[("redirect_uri", other)]));
    }
    // The same for every other fault, when the address is not the program's own.
    told_here(ask(&[("redirect_uri", "https://evil.example/"), ("response_type", "token")]));
    told_here(
        stranger.get(&format!("{}&redirect_uri=https://evil.example/", program.address(&[]))),
    );
    told_here(stranger.get(&format!("{}&client_id=app_1", program.address(&[]))));
    let html = stranger
        .send(browser(Request::new(
            "GET",
            &program.address(&[("redirect_uri", "https://evil.example/")]),
        )))
        .expect(400)
        .text();
    assert!(html.contains("Este pedido de conexão não vale"), "{html}");
    assert!(!html.contains("evil.example"), "{html}");

    let native = Program::registered(&site, "Nativo", "http://127.0.0.1:1234/volta");
    let ask = |to: &str| stranger.get(&native.address(&[("redirect_uri", to)]));
    ask("http://127.0.0.1:54321/volta").expect(303);
    ask("http://127.0.0.1/volta").expect(303);
    told_here(ask("http://127.0.0.1:54321/outra"));
    told_here(ask("http://localhost:1234/volta"));
    told_here(ask("https://127.0.0.1:1234/volta"));
}

#[test]
fn a_program_is_told_its_faults_with_its_state_and_who_says_so() {
    let site = Site::builder().unlimited().start();
    let program = Program::registered(&site, "App", REDIRECT);
    let (ana, stranger) = (site.person("ana"), site.anonymous());
    let issuer = format!("http://{}", site.address());
    for (change, fault) in [
        (("response_type", ""), "invalid_request"),
        (("response_type", "token"), "unsupported_response_type"),
        (("response_type", "id_token"), "unsupported_response_type"),
        (("response_type", "code token"), "unsupported_response_type"),
        (("response_mode", "fragment"), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "curto"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", "s256"), "invalid_request"),
        (("scope", "openid profile"), "invalid_scope"),
        (("resource", "https://outra.example/mcp"), "invalid_target"),
        (("resource", "/mcp"), "invalid_target"),
    ] {
        // Whoever is not signed in is not sent there, and has a link.
        told_here(stranger.get(&program.address(&[change])));
        let shown = stranger.send(browser(Request::new("GET", &program.address(&[change]))));
        let shown = shown.expect(400).text();
        let link = format!("href=\"{REDIRECT}?error={fault}&#38;");
        assert!(shown.contains(&link), "{change:?} {shown}");
        assert!(shown.contains("Voltar para assistente.example"), "{shown}");
        let reply = ana.get(&program.address(&[change])).expect(303);
        let to = reply.header("location").unwrap();
        assert!(to.starts_with(&format!("{REDIRECT}?error={fault}&")), "{change:?} {to}");
        assert_eq!(
            (said(&reply, "state"), said(&reply, "iss")),
            ("estado".to_owned(), issuer.clone())
        );
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    let twice = format!("{}&scope=partner:read&scope=partner:read", program.address(&[]));
    assert_eq!(said(&ana.get(&twice).expect(303), "error"), "invalid_request");
    told_here(stranger.get(&twice));
    let resource = format!("{issuer}/mcp");
    let good = stranger.get(&program.address(&[("resource", &resource)])).expect(303);
    assert!(good.header("location").unwrap().contains("pedido="), "{good}");
}

#[test]
fn a_state_comes_back_byte_for_byte() {
    let site = Site::builder().unlimited().start();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    for (sent, back) in [
        ("a%20b+c%2B%26%3D%23", "a%20b%20c%2B%26%3D%23"),
        ("%00%ff%FE%0d%0a", "%00%FF%FE%0D%0A"),
        ("%C3%A9%F0%9F%98%80~-._", "%C3%A9%F0%9F%98%80~-._"),
    ] {
        let address = format!("{}&state={sent}", program.address(&[("state", "")]));
        let number = number(&ana.get(&address).expect(303));
        ana.get(&page(&number)).expect(200);
        let reply = decide(&ana, &number, "negar", None).expect(303);
        let to = reply.header("location").unwrap();
        assert!(to.contains(&format!("&state={back}&iss=")), "{to}");
        assert_eq!(said(&reply, "error"), "access_denied");
    }
    let number = program.asks(&ana, &[("state", "")]);
    let reply = decide(&ana, &number, "negar", None).expect(303);
    assert!(!reply.header("location").unwrap().contains("state="), "{reply}");
}

#[test]
fn a_person_signs_in_sees_what_is_asked_and_decides_once() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let program = Program::registered(&site, "Assistente de vendas", REDIRECT);
    let address = program.address(&[("scope", "partner:read partner:write")]);
    let stranger = site.anonymous();
    let number = number(&stranger.get(&address).expect(303));
    let login = stranger.get(&page(&number)).expect(303);
    let login = login.header("location").unwrap();
    assert_eq!(login, format!("/entrar?volta=%2Foauth%2Fauthorize%3Fpedido%3D{number}"));
    let person = ana.person();
    let fields =
        [("email", &*person.email), ("senha", &*person.password), ("volta", &*page(&number))];
    let signed_in = stranger.send(Request::new("POST", "/entrar").form(&fields)).expect(303);
    assert_eq!(signed_in.header("location"), Some(&*page(&number)));

    let reply = ana.send(browser(Request::new("GET", &page(&number)))).expect(200);
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self' https://assistente.example;"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let html = reply.text();
    for word in [
        "Conectar Assistente de vendas?",
        "não confirmado",
        "assistente.example",
        "ana@example.com",
        "Ler as suas vendas",
        "Enviar avisos a você",
        "para onde vão os avisos das suas vendas",
        "Só ler",
        "nenhum em vigor",
    ] {
        assert!(html.contains(word), "no {word:?} in\n{html}");
    }
    assert!(!html.contains("Foi você quem começou?"), "{html}");

    // Only the person who opened the page may decide, and only in that session.
    let (rui, again) = (site.person("rui"), site.person("ana"));
    for other in [&rui, &again] {
        let reply = decide(other, &number, "permitir", None).expect(404);
        assert_eq!(reply.header("location"), None);
    }
    let unseen = decide(&ana, &"0".repeat(64), "permitir", None).expect(404);
    assert_eq!(unseen.header("location"), None);
    decide(&ana, &number, "talvez", None).expect(422);
    let reply = decide(&ana, &number, "permitir", None).expect(303);
    assert!(said(&reply, "code").starts_with("ptc_"));
    site.keep_secret("code", &said(&reply, "code"));
    assert_eq!(said(&reply, "iss"), format!("http://{}", site.address()));
    decide(&ana, &number, "permitir", None).expect(404);
    ana.get(&page(&number)).expect(404);
}

#[test]
fn a_decision_comes_from_our_own_page_and_in_time() {
    let site = Site::builder().unlimited().start();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let number = program.asks(&ana, &[]);
    let form = || {
        Request::new("POST", "/oauth/authorize")
            .form(&[("pedido", &*number), ("decisao", "permitir")])
    };
    for (name, value) in [
        ("Origin", "https://assistente.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        ana.send(form().header(name, value)).expect(403);
    }
    let reply = site.anonymous().send(form()).expect(303);
    assert_eq!(reply.header("location"), Some("/entrar"), "nobody decides without a session");
    site.clock().advance_s(600);
    decide(&ana, &number, "permitir", None).expect(404);
    ana.get(&page(&number)).expect(404);
    assert_eq!(site.stored("SELECT count(*) || '' FROM oauth_grant"), ["0"]);
}

#[test]
fn names_of_programs_are_text() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    // An address may register only few programs an hour: these names are of
    // every kind.
    for name in payloads::all().iter().step_by(11).take(19) {
        let program = Program::registered(&site, name, REDIRECT);
        let number = number(&ana.get(&program.address(&[])).expect(303));
        let html = ana.send(browser(Request::new("GET", &page(&number)))).expect(200).text();
        let mut wrong = Vec::new();
        policy(&Page::read(&html).unwrap(), &mut wrong);
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
}

#[test]
fn a_program_on_the_own_machine_is_warned_of_and_suppliers_and_staff_read_their_own_page() {
    let site = Site::builder().unlimited().start();
    let program = Program::registered(&site, "Nativo", "http://localhost:1/volta");
    let shown = |actor: &Actor<'_>| {
        let address = program.address(&[
            ("redirect_uri", "http://localhost:4567/volta"),
            ("scope", "partner:write"),
        ]);
        let number = number(&actor.get(&address).expect(303));
        let reply = actor.send(browser(Request::new("GET", &page(&number)))).expect(200);
        (number, reply)
    };
    let (_, seller) = shown(&site.person("ana"));
    assert!(seller.text().contains("Foi você quem começou?"), "{seller}");
    assert!(seller.header("content-security-policy").unwrap().contains("http://localhost:4567"));
    let zoe = site.person_as("zoe", "drop");
    let (number, supplier) = shown(&zoe);
    assert!(supplier.text().contains("Lembrar vendedores"), "{supplier}");
    assert!(decide(&zoe, &number, "permitir", None).expect(303).header("location").is_some());
    let admin = site.administrator();
    let (number, staff) = shown(&admin);
    assert!(staff.text().contains("Esta conta não tem API de parceiros"), "{staff}");
    decide(&admin, &number, "permitir", None).expect(403);
    let back = decide(&admin, &number, "negar", None).expect(303);
    assert_eq!(said(&back, "error"), "access_denied");
    assert!(back.header("location").unwrap().starts_with("http://localhost:4567/volta?"));
}

#[test]
fn the_documents_say_where_everything_is_whatever_host_was_asked() {
    let site = Site::builder()
        .unlimited()
        .config("server.base_url", "https://painel.escola.example")
        .config("server.dev_base_url", "https://dev.escola.example")
        .start();
    let stranger = site.anonymous();
    let server = stranger.get("/.well-known/oauth-authorization-server");
    assert_eq!(server.header("access-control-allow-origin"), Some("*"));
    let server = server.ok();
    assert_eq!(server["issuer"], "https://dev.escola.example");
    assert_eq!(server["authorization_endpoint"], "https://painel.escola.example/oauth/authorize");
    assert_eq!(server["token_endpoint"], "https://dev.escola.example/oauth/token");
    assert_eq!(server["registration_endpoint"], "https://dev.escola.example/oauth/register");
    assert_eq!(server["revocation_endpoint"], "https://dev.escola.example/oauth/revoke");
    for (name, value) in [
        ("code_challenge_methods_supported", json!(["S256"])),
        ("response_types_supported", json!(["code"])),
        ("grant_types_supported", json!(["authorization_code", "refresh_token"])),
        ("token_endpoint_auth_methods_supported", json!(["none"])),
        ("scopes_supported", json!(["partner:read", "partner:write"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
        ("client_id_metadata_document_supported", json!(true)),
    ] {
        assert_eq!(server[name], value, "{name}");
    }
    for (below, own) in [
        ("", "https://dev.escola.example/mcp"),
        ("/mcp", "https://dev.escola.example/mcp"),
        ("/v1/partner", "https://dev.escola.example/v1/partner"),
        ("/api/v1/partner", "https://painel.escola.example/api/v1/partner"),
    ] {
        let resource = stranger.get(&format!("/.well-known/oauth-protected-resource{below}")).ok();
        assert_eq!(resource["resource"], own);
        assert_eq!(resource["authorization_servers"], json!(["https://dev.escola.example"]));
        assert_eq!(resource["bearer_methods_supported"], json!(["header"]));
    }
    stranger.get("/.well-known/openid-configuration").expect(404);
    let program = Program::registered(&site, "App", REDIRECT);
    let asked = stranger.get(&program.address(&[])).expect(303);
    let to = asked.header("location").unwrap();
    assert!(to.starts_with("https://painel.escola.example/oauth/authorize?pedido="), "{to}");
    let denied = browser(Request::new("GET", &program.address(&[("response_type", "token")])));
    let denied = stranger.send(denied).expect(400).text();
    assert!(denied.contains("iss=https%3A%2F%2Fdev.escola.example\""), "{denied}");
    for method in ["PUT", "DELETE"] {
        stranger.send(Request::new(method, "/oauth/token")).expect(405);
    }
    let preflight = Request::new("OPTIONS", "/oauth/token").header("Origin", "https://a.example");
    let preflight = stranger.send(preflight);
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST, OPTIONS"));
    let page = Request::new("OPTIONS", "/oauth/authorize").header("Origin", "https://a.example");
    assert_eq!(stranger.send(page).header("access-control-allow-origin"), None);
    assert_eq!(
        challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
}
