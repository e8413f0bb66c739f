//! Programs that people connect: what they get for a code, how it is renewed,
//! and what ends it. The security list of RFC 9700, as far as it is about
//! tokens.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::oauth::{HEALTH, Program, REDIRECT, Tokens, VERIFIER, decide, page, said};
use crate::support::site::Site;
use crate::support::wait::until;

const NOTIFY: &str = "/api/v1/partner/notify";
const DAY_S: i64 = 86_400;

#[track_caller]
fn refused(reply: Reply, status: u16, error: &str) {
    let reply = reply.expect(status);
    assert_eq!(reply.json()["error"], error, "{reply}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{reply}");
}

#[track_caller]
fn hub(actor: &Actor<'_>) -> Value {
    let path = "/painel/parceiro";
    actor.send(Request::new("GET", path).header("Accept", "application/json")).expect(200).json()
}

/// A site with a person who has a plan.
fn started() -> Site {
    let site = Site::builder().unlimited().start();
    site.person("ana");
    site.seller("ana").plan("pro");
    site
}

#[test]
fn an_app_reads_and_acts_for_its_person_until_it_is_disconnected() {
    let site = started();
    let ana = site.person("ana");
    let program = Program::registered(&site, "Assistente", REDIRECT);
    let tokens = program.connect(&ana, "partner:read partner:write");
    assert_eq!(tokens.scope, "partner:read partner:write");
    let app = site.bearer(&tokens.access);
    for path in [HEALTH, "/v1/partner/orders"] {
        let reply = app.get(path).expect(200);
        assert!(reply.header("x-ratelimit-limit").is_some(), "{reply}");
    }
    assert_eq!(app.get(HEALTH).ok()["token"]["name"], "Assistente");
    let notice = json!({ "channel": "telegram", "event": "custom", "title": "a", "body": "b" });
    assert_eq!(app.post(NOTIFY, &notice).expect(400).code(), "channel_not_connected");

    let seen = until("its use is known", Duration::from_secs(20), || {
        let seen = hub(&ana)["aplicativos"][0].clone();
        seen["ultimo_uso"].is_string().then_some(seen)
    });
    assert_eq!(seen["nome"], "Assistente");
    assert_eq!(seen["acesso"], "partner:read partner:write");
    assert_eq!(seen["ultimo_endereco"], "127.0.0.1");
    assert_eq!(hub(&ana)["usadas"], 4, "an app's calls by REST count like any other");
    crate::support::agents::call(&app, "list_orders", &json!({}));
    assert_eq!(hub(&ana)["usadas"], 4, "what an assistant asks costs no quota");
    crate::support::agents::call(&site.seller("ana"), "list_orders", &json!({}));
    assert_eq!(hub(&ana)["usadas"], 5, "a personal token costs quota there too");
    let html = ana.get("/painel/parceiro").expect(200).text();
    assert!(html.contains("Aplicativos conectados") && html.contains("Assistente"), "{html}");

    let end = format!("/painel/parceiro/conexoes/{}/revogar", seen["id"].as_str().unwrap());
    assert!(html.contains(&format!("action=\"{end}\"")), "{html}");
    site.person("rui").post(&end, &json!({})).expect(404);
    ana.post(&end, &json!({})).expect(200);
    assert_eq!(app.get(HEALTH).expect(401).code(), "unauthorized");
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");
    assert_eq!(hub(&ana)["aplicativos"], json!([]));
    ana.post(&end, &json!({})).expect(404);
    let audit = site.stored("SELECT action FROM audit WHERE object_kind = 'aplicativo' ORDER BY 1");
    assert_eq!(audit, ["aplicativo.conectar", "aplicativo.desconectar"]);
}

#[test]
fn an_app_that_may_only_read_is_told_what_it_lacks() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "Leitor", REDIRECT));
    let number = program.asks(&ana, &[("scope", "partner:read partner:write")]);
    let code = said(&decide(&ana, &number, "permitir", Some("leitura")), "code");
    site.keep_secret("code", &code);
    let tokens = Tokens::of(&site, program.redeem(&site, &code));
    assert_eq!(tokens.scope, "partner:read", "the person gave less than was asked for");
    let app = site.bearer(&tokens.access);
    app.get(HEALTH).expect(200);
    let refused = app.post(NOTIFY, &json!({})).expect(403);
    assert_eq!(refused.code(), "insufficient_scope");
    let metadata = format!(
        "resource_metadata=\"http://{}/.well-known/oauth-protected-resource/api/v1/partner\"",
        site.address()
    );
    let narrow = format!(
        "Bearer error=\"insufficient_scope\", scope=\"partner:read partner:write\", {metadata}"
    );
    assert_eq!(refused.header("www-authenticate"), Some(&*narrow));

    let none = site.anonymous().get(HEALTH).expect(401);
    let first = format!("Bearer scope=\"partner:read partner:write\", {metadata}");
    assert_eq!(none.header("www-authenticate"), Some(&*first));
    let wrong = site.bearer("ptk_0").get("/v1/partner/health").expect(401);
    let again = narrow
        .replace("insufficient_scope", "invalid_token")
        .replace("resource/api/v1/partner", "resource/v1/partner");
    assert_eq!(wrong.header("www-authenticate"), Some(&*again));
    let none = site.person("bia");
    let unpaid = program.connect(&none, "partner:read");
    let reply = site.bearer(&unpaid.access).get(HEALTH).expect(402);
    assert_eq!(reply.header("www-authenticate"), None, "no consent helps without a plan");
}

#[test]
fn a_token_of_an_app_opens_the_partner_api_alone_and_stands_in_the_header_alone() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let tokens = program.connect(&ana, "partner:read");
    let app = site.bearer(&tokens.access);
    for path in ["/api/ext/me", "/api/ext/ml/check"] {
        app.get(path).expect(401);
    }
    app.post("/api/v1/alunos/suspender", &json!({ "email": "ana@example.com" })).expect(401);
    let json = |path: &str| Request::new("GET", path).header("Accept", "application/json");
    app.send(json("/painel/parceiro")).expect(401);
    let in_query = format!("{HEALTH}?access_token={}", tokens.access);
    // The token is neither accepted nor shown again.
    assert_eq!(site.anonymous().get(&in_query).status, 401);
    let in_query = format!("/oauth/token?refresh_token={}", tokens.refresh);
    let fields = [("grant_type", "refresh_token"), ("client_id", &*program.id)];
    let reply = site.anonymous().send(Request::new("POST", &in_query).form(&fields));
    refused(reply, 400, "invalid_request");
    // A refresh token is no access token.
    site.bearer(&tokens.refresh).get(HEALTH).expect(401);
    assert_eq!(tokens.opens(&site), 200);
}

/// Programs have no secret. One that sends a secret is told so, and loses nothing.
#[test]
fn a_secret_is_refused_where_nobody_has_one() {
    let site = started();
    let program = Program::registered(&site, "App", REDIRECT);
    let code = program.code(&site.person("ana"), &[]);
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("code_verifier", VERIFIER),
        ("redirect_uri", REDIRECT),
    ];
    for path in ["/oauth/token", "/oauth/revoke"] {
        let basic = Request::new("POST", path).form(&fields).header("Authorization", "Basic YTpi");
        let reply = site.anonymous().send(basic);
        assert_eq!(reply.header("www-authenticate"), Some("Basic realm=\"oauth\""), "{reply}");
        refused(reply, 401, "invalid_client");
        let secret = [&fields[..], &[("client_id", &*program.id), ("client_secret", "x")]].concat();
        let reply = site.anonymous().send(Request::new("POST", path).form(&secret));
        refused(reply, 401, "invalid_client");
    }
    for resource in ["/mcp", "/v1/partner", "/api/v1/partner/"] {
        let resource = format!("http://{}{resource}", site.address());
        program.asks(&site.person("ana"), &[("resource", &resource)]);
    }
    Tokens::of(&site, program.redeem(&site, &code));
}

#[test]
fn a_code_is_good_once_for_its_program_its_address_and_its_secret() {
    let site = started();
    let ana = site.person("ana");
    let program = Program::registered(&site, "App", REDIRECT);
    let other = Program::registered(&site, "Outro", REDIRECT);
    let code = program.code(&ana, &[]);
    refused(other.redeem(&site, &code), 400, "invalid_grant");
    let with = |changed: (&str, &str)| {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT),
        ];
        fields.retain(|(name, _)| *name != changed.0);
        if !changed.1.is_empty() {
            fields.push(changed);
        }
        program.token(&site, &fields)
    };
    let wrong = VERIFIER.replace('u', "v");
    refused(with(("code_verifier", &wrong)), 400, "invalid_grant");
    refused(with(("code_verifier", "")), 400, "invalid_request");
    refused(with(("redirect_uri", "https://assistente.example/volta2")), 400, "invalid_grant");
    refused(with(("resource", "https://outra.example/mcp")), 400, "invalid_target");
    refused(with(("client_id", "app_0")), 400, "invalid_request");
    let nobody = Program { id: "app_0".to_owned(), redirect: REDIRECT.to_owned() };
    refused(nobody.redeem(&site, &code), 401, "invalid_client");
    for kind in [
        "password",
        "client_credentials",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
    ] {
        refused(program.token(&site, &[("grant_type", kind)]), 400, "unsupported_grant_type");
    }
    let json = Request::new("POST", "/oauth/token").json(&json!({ "grant_type": "refresh_token" }));
    refused(site.anonymous().send(json), 400, "invalid_request");

    // None of that used the code up. Its second use ends what the first one gave.
    let tokens = Tokens::of(&site, program.redeem(&site, &code));
    assert_eq!(tokens.opens(&site), 200);
    refused(program.redeem(&site, &code), 400, "invalid_grant");
    assert_eq!(tokens.opens(&site), 401);
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");
    let ended = site.stored("SELECT before FROM audit WHERE action = 'aplicativo.encerrar'");
    assert!(ended.len() == 1 && ended[0].contains("usado duas vezes"), "{ended:?}");

    let code = program.code(&ana, &[]);
    site.clock().advance_s(60);
    refused(program.redeem(&site, &code), 400, "invalid_grant");
}

#[test]
fn fifty_redemptions_of_a_code_leave_at_most_one_and_then_none() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let code = program.code(&ana, &[]);
    let living = at_once(&site, || program.redeem(&site, &code));
    assert!(living.len() <= 1, "{} pairs of tokens for one code", living.len());
    for tokens in &living {
        assert_eq!(tokens.opens(&site), 401, "the second use ended it");
    }
    assert_eq!(hub(&ana)["aplicativos"], json!([]));
}

#[test]
fn fifty_renewals_with_one_token_leave_no_two_that_live() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let first = program.connect(&ana, "partner:read");
    let renewed = at_once(&site, || program.renew(&site, &first.refresh));
    assert_eq!(renewed.len(), 1, "pairs of tokens for one refresh token");
    refused(program.renew(&site, &renewed[0].refresh), 400, "invalid_grant");
    assert_eq!((first.opens(&site), renewed[0].opens(&site)), (401, 401));
}

/// The tokens from fifty calls at the same time.
fn at_once(site: &Site, call: impl Fn() -> Reply + Sync) -> Vec<Tokens> {
    let left = AtomicUsize::new(50);
    let take = || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..10)
            .map(|_| {
                scope.spawn(|| {
                    let mut replies = Vec::new();
                    while take().is_ok() {
                        replies.push(call());
                    }
                    replies
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(replies.len(), 50);
    let good = replies.into_iter().filter(|reply| reply.status != 400);
    good.map(|reply| Tokens::of(site, reply)).collect()
}

#[test]
fn a_refresh_token_is_good_once_and_an_older_one_ends_the_connection() {
    let site = started();
    let ana = site.person("ana");
    let program = Program::registered(&site, "App", REDIRECT);
    let other = Program::registered(&site, "Outro", REDIRECT);
    let first = program.connect(&ana, "partner:write");
    refused(other.renew(&site, &first.refresh), 400, "invalid_grant");
    let renewal = [("grant_type", "refresh_token"), ("refresh_token", &*first.refresh)];
    let with = |more: (&str, &str)| program.token(&site, &[&renewal[..], &[more]].concat());
    refused(with(("scope", "openid")), 400, "invalid_scope");
    refused(with(("resource", "https://outra.example/mcp")), 400, "invalid_target");
    let resource = format!("http://{}/mcp", site.address());
    let narrow = Tokens::of(&site, with(("resource", &resource)));
    assert_eq!(narrow.scope, "partner:read partner:write");
    let renewal = [("grant_type", "refresh_token"), ("refresh_token", &*narrow.refresh)];
    let read = Tokens::of(
        &site,
        program.token(&site, &[&renewal[..], &[("scope", "partner:read")]].concat()),
    );
    assert_eq!(read.scope, "partner:read");
    site.bearer(&read.access).post(NOTIFY, &json!({})).expect(403);
    // The connection itself still has the scope that the person gave.
    let whole = Tokens::of(&site, program.renew(&site, &read.refresh));
    assert_eq!(whole.scope, "partner:read partner:write");
    assert_eq!((first.opens(&site), whole.opens(&site)), (200, 200));

    // Even an old refresh token is recognised as part of its connection.
    refused(program.renew(&site, &first.refresh), 400, "invalid_grant");
    assert_eq!((read.opens(&site), whole.opens(&site)), (401, 401));
    refused(program.renew(&site, &whole.refresh), 400, "invalid_grant");

    let reader = program.connect(&ana, "partner:read");
    let renewal = [("grant_type", "refresh_token"), ("refresh_token", &*reader.refresh)];
    let wide = program.token(&site, &[&renewal[..], &[("scope", "partner:write")]].concat());
    refused(wide, 400, "invalid_scope");
    assert_eq!(reader.opens(&site), 200, "asking for too much ends nothing");
}

#[test]
fn connections_end_by_time() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let mut tokens = program.connect(&ana, "partner:read");
    site.clock().advance_s(1_799);
    assert_eq!(tokens.opens(&site), 200);
    site.clock().advance_s(1);
    assert_eq!(tokens.opens(&site), 401, "half an hour is over");
    // Four renewals of 22 days: the fifth is beyond 90.
    for _ in 0..4 {
        site.clock().advance_s(22 * DAY_S);
        tokens = Tokens::of(&site, program.renew(&site, &tokens.refresh));
    }
    site.clock().advance_s(2 * DAY_S);
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");

    let ana = site.person("ana");
    let idle = program.connect(&ana, "partner:read");
    site.clock().advance_s(30 * DAY_S - 1);
    let idle = Tokens::of(&site, program.renew(&site, &idle.refresh));
    site.clock().advance_s(30 * DAY_S);
    refused(program.renew(&site, &idle.refresh), 400, "invalid_grant");
}

#[test]
fn whoever_holds_a_token_may_end_it() {
    let site = started();
    let ana = site.person("ana");
    let program = Program::registered(&site, "App", REDIRECT);
    let other = Program::registered(&site, "Outro", REDIRECT);
    let tokens = program.connect(&ana, "partner:read");
    let revoke = |fields: &[(&str, &str)]| {
        site.anonymous().send(Request::new("POST", "/oauth/revoke").form(fields))
    };
    refused(revoke(&[]), 400, "invalid_request");
    revoke(&[("token", "unknown")]).expect(200);
    refused(revoke(&[("token", &tokens.access), ("client_id", &other.id)]), 400, "invalid_grant");
    assert_eq!(tokens.opens(&site), 200);
    revoke(&[("token", &tokens.access), ("client_id", &program.id)]).expect(200);
    assert_eq!(tokens.opens(&site), 401);
    let tokens = Tokens::of(&site, program.renew(&site, &tokens.refresh));
    assert_eq!(tokens.opens(&site), 200);
    revoke(&[("token", &tokens.refresh), ("token_type_hint", "access_token")]).expect(200);
    assert_eq!(tokens.opens(&site), 401, "a refresh token takes its access tokens along");
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");
    revoke(&[("token", &tokens.refresh)]).expect(200);
}

#[test]
fn who_is_suspended_or_gets_another_password_has_no_connected_apps() {
    let site = started();
    let program = Program::registered(&site, "App", REDIRECT);
    let tokens = program.connect(&site.person("ana"), "partner:read");
    let waiting = program.code(&site.person("ana"), &[]);
    let changed = ["user", "password", "--email", "ana@example.com", "--password-stdin"];
    site.command(&changed).stdin("outra senha comprida").ok();
    until("the password is another", Duration::from_secs(20), || {
        (tokens.opens(&site) == 401).then_some(())
    });
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");
    refused(program.redeem(&site, &waiting), 400, "invalid_grant");

    site.seller("rui").plan("pro");
    let rui = site.person("rui");
    let tokens = program.connect(&rui, "partner:read");
    assert_eq!(tokens.opens(&site), 200);
    let key = site.key(&["write"]);
    key.post("/api/v1/alunos/suspender", &json!({ "email": "rui@example.com" })).expect(200);
    assert_eq!(tokens.opens(&site), 401);
    key.post("/api/v1/alunos/reativar", &json!({ "email": "rui@example.com" })).expect(200);
    assert_eq!(tokens.opens(&site), 401, "what was ended stays ended");
    refused(program.renew(&site, &tokens.refresh), 400, "invalid_grant");
}

#[test]
fn an_operator_sees_and_ends_what_an_account_connected() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App <b>", REDIRECT));
    let tokens = program.connect(&ana, "partner:read");
    let admin = site.administrator();
    let id = site.stored("SELECT user_id || '' FROM user WHERE email = 'ana@example.com'");
    let page = format!("/admin/parceiros/{}", id[0]);
    let html = admin.get(&page).expect(200).text();
    assert!(html.contains("App &#60;b&#62;"), "{html}");
    let json = Request::new("GET", &page).header("Accept", "application/json");
    let grant = admin.send(json).ok()["aplicativos"][0]["id"].as_str().unwrap().to_owned();
    admin.post(&format!("{page}/aplicativos/999/desconectar"), &json!({})).expect(404);
    admin.post(&format!("{page}/aplicativos/{grant}/desconectar"), &json!({})).expect(200);
    assert_eq!(tokens.opens(&site), 401);
}

#[test]
fn secrets_are_digests_in_the_file_and_nothing_in_the_log() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let number = program.asks(&ana, &[("state", "um-estado-que-se-reconhece")]);
    let page = ana.get(&page(&number)).expect(200).text();
    let (_, form) = page.split_once("name=\"envio\" value=\"").unwrap();
    // As a browser sends it, so that the answer is stored for a second press.
    let fields = [("envio", &form[..32]), ("pedido", &*number), ("decisao", "permitir")];
    let press = || ana.send(Request::new("POST", "/oauth/authorize").form(&fields)).expect(303);
    let (first, second) = (press(), press());
    assert_eq!(first.header("location"), second.header("location"), "pressed twice, given once");
    let code = said(&first, "code");
    let tokens = Tokens::of(&site, program.redeem(&site, &code));
    let renewed = Tokens::of(&site, program.renew(&site, &tokens.refresh));
    assert_eq!(renewed.opens(&site), 200);
    let log = site.log();
    site.stop();
    let file = std::fs::read(site.database()).unwrap();
    let secrets =
        [&code, &tokens.access, &tokens.refresh, &renewed.access, &renewed.refresh, &number];
    for secret in secrets {
        assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
        assert!(!log.contains(&**secret), "{secret}");
    }
    assert!(!log.contains("um-estado-que-se-reconhece"), "{log}");
    site.start_again();
    assert_eq!(renewed.opens(&site), 200, "what was given survives a restart");
}

#[test]
fn of_too_many_connections_those_not_used_end() {
    let site = started();
    let (ana, program) = (site.person("ana"), Program::registered(&site, "App", REDIRECT));
    let first = program.connect(&ana, "partner:read");
    for _ in 0..29 {
        program.connect(&ana, "partner:read");
    }
    assert_eq!(first.opens(&site), 200);
    until("its use is written", Duration::from_secs(20), || {
        let apps = hub(&ana)["aplicativos"].clone();
        let apps = apps.as_array().unwrap();
        (apps.len() == 30 && apps[29]["ultimo_uso"].is_string()).then_some(())
    });
    site.clock().advance_s(5);
    let last = program.connect(&ana, "partner:read");
    assert_eq!(hub(&ana)["aplicativos"].as_array().unwrap().len(), 30);
    assert_eq!(last.opens(&site), 200);
}
