//! The agent endpoint: both eras of the protocol, the tools of each role, what
//! calls cost and who may make them.

use serde_json::{Map, Value, json};

use crate::support::actors::Actor;
use crate::support::agents::{MCP, call, message, result, tools};
use crate::support::client::{Reply, Request};
use crate::support::oauth::Program;
use crate::support::site::Site;

const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// The same for the stateless version of the protocol, with its headers.
fn modern(method: &str, params: &Value) -> Request {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = Request::new("POST", MCP)
        .json(&message(method, &params))
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", method);
    match params["name"].as_str() {
        Some(name) => request.header("Mcp-Name", name),
        None => request,
    }
}

/// Status and code of an error.
fn error(reply: &Reply) -> (u16, i64) {
    (reply.status, reply.json()["error"]["code"].as_i64().unwrap_or_default())
}

fn site() -> Site {
    Site::builder().unlimited().start()
}

/// Behind a proxy the service is one of the Internet, although it listens on
/// loopback alone: pages of a person's own machine are strangers there.
#[test]
fn a_proxy_in_front_ends_the_trust_in_pages_of_this_machine() {
    let ping = message("ping", &json!({}));
    for (setting, value) in [
        ("server.trusted_proxies", toml::Value::from(vec!["127.0.0.1"])),
        ("server.base_url", "https://painel.escola.example".into()),
        ("server.dev_base_url", "https://dev.escola.example".into()),
    ] {
        let own = "http://localhost:5173";
        let site = Site::builder()
            .config(setting, value)
            .config("agents.allowed_origins", vec![own])
            .start();
        let from = |origin: &str| {
            let request = Request::new("POST", MCP).json(&ping).header("Origin", origin);
            site.anonymous().send(request)
        };
        for origin in ["http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:80"] {
            let reply = from(origin).expect(403);
            assert_eq!(reply.header("access-control-allow-origin"), None, "{setting} {reply}");
        }
        for origin in [own, "https://claude.ai"] {
            let reply = from(origin).expect(401);
            assert_eq!(reply.header("access-control-allow-origin"), Some(origin), "{setting}");
        }
    }
}

/// What SDKs do: they ask for the scope that the challenge names, no more.
#[test]
fn an_assistant_that_asks_as_the_challenge_says_has_every_tool_of_its_role() {
    let site = Site::builder().unlimited().start();
    site.supplier("sol").plan("pro");
    site.seller("ana").plan("pro");
    let challenge = site.anonymous().post(MCP, &message("ping", &json!({}))).expect(401);
    let challenge = challenge.header("www-authenticate").unwrap().to_owned();
    let scope = challenge.split("scope=\"").nth(1).unwrap().split('"').next().unwrap();
    let metadata = site.anonymous().get("/.well-known/oauth-protected-resource/mcp").ok();
    assert_eq!(metadata["scopes_supported"], json!(scope.split(' ').collect::<Vec<_>>()));
    for (person, count, read) in
        [(site.person_as("sol", "drop"), 26, 13), (site.person("ana"), 33, 20)]
    {
        let program = Program::registered(&site, "Assistente", crate::support::oauth::REDIRECT);
        let tokens = program.connect(&person, scope);
        assert_eq!(tools(&site.bearer(&tokens.access)).len(), count, "{scope}");
        // The person may give less.
        let number = program.asks(&person, &[("scope", scope)]);
        let reply = crate::support::oauth::decide(&person, &number, "permitir", Some("leitura"));
        let code = crate::support::oauth::said(&reply, "code");
        site.keep_secret("code", &code);
        let narrow = crate::support::oauth::Tokens::of(&site, program.redeem(&site, &code));
        assert_eq!(tools(&site.bearer(&narrow.access)).len(), read);
    }
}

#[test]
fn both_eras_begin_on_one_address() {
    let site = site();
    let ana = site.seller("ana").plan("pro");
    let begin = |version: &str| {
        let client = json!({ "name": "tests", "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        result(&ana, "initialize", &params)
    };
    for version in LEGACY {
        let begun = begin(version);
        assert_eq!(begun["protocolVersion"], version);
        assert_eq!(begun["capabilities"], json!({ "tools": {} }));
        assert_eq!(begun["serverInfo"]["name"], "seller-platform");
        assert!(begun["instructions"].as_str().unwrap().contains("health"));
    }
    for unknown in ["1999-01-01", "2024-11-05", MODERN] {
        assert_eq!(begin(unknown)["protocolVersion"], LEGACY[0]);
    }
    assert_eq!(result(&ana, "ping", &json!({})), json!({}));

    let discovered = ana.send(modern("server/discover", &json!({}))).expect(200).json();
    let discovered = &discovered["result"];
    assert_eq!(discovered["supportedVersions"], json!([MODERN]));
    assert_eq!(discovered["resultType"], "complete");
    let server = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "seller-platform");
    let listed = ana.send(modern("tools/list", &json!({}))).expect(200).json();
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 33);
    // Each version rejects the methods of the other.
    assert_eq!(error(&ana.send(modern("initialize", &json!({})))), (404, -32601));
    let old = ana.post(MCP, &message("server/discover", &json!({})));
    assert_eq!(error(&old), (200, -32601));
    // Both reject what we do not offer.
    for method in ["resources/list", "prompts/list", "logging/setLevel", "tasks/list", ""] {
        assert_eq!(error(&ana.post(MCP, &message(method, &json!({})))), (200, -32601));
        assert_eq!(error(&ana.send(modern(method, &json!({})))), (404, -32601));
    }
}

#[test]
fn identifiers_come_back_as_they_were_written() {
    let site = site();
    let ana = site.seller("ana").plan("pro");
    let send =
        |body: &str| ana.send(Request::new("POST", MCP).body("application/json", body.as_bytes()));
    for id in ["0", "-7", r#""\u0061""#, "123456789012345678901234567890", r#""""#] {
        let reply = send(&format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#));
        assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    for id in ["null", "1.5", "1e3", "true", "[1]", "{}"] {
        let reply = send(&format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#));
        assert_eq!(error(&reply), (400, -32600), "{id}");
    }
}

#[test]
fn what_is_no_message_is_refused_and_what_wants_no_answer_gets_none() {
    let site = site();
    let ana = site.seller("ana").plan("pro");
    let send =
        |media: &str, body: &str| ana.send(Request::new("POST", MCP).body(media, body.as_bytes()));
    let json = "application/json";
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(99),
        "]".repeat(99)
    );
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (media, body, status, code) in [
        (json, "", 400, -32700),
        (json, "{", 400, -32700),
        (json, "{\"jsonrpc\":\"2.0\"}}", 400, -32700),
        (json, "[]", 400, -32600),
        (json, &format!("[{ping}]"), 400, -32600),
        (json, "7", 400, -32600),
        (json, "{}", 400, -32600),
        (json, r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (json, r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, 400, -32600),
        (json, r#"{"jsonrpc":"2.0","id":1,"method":7}"#, 400, -32600),
        (json, r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400, -32602),
        (json, &deep, 400, -32600),
        ("text/plain", ping, 415, 415),
        ("application/x-www-form-urlencoded", ping, 415, 415),
    ] {
        assert_eq!(error(&send(media, body)), (status, code), "{body}");
    }
    for told in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"no/such/thing","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
    ] {
        let reply = send(json, told).expect(202);
        assert_eq!(reply.text(), "");
    }
    let accepting = |accept: &str| {
        let request = Request::new("POST", MCP).body(json, ping.as_bytes());
        ana.send(request.header("Accept", accept)).status
    };
    for accept in ["*/*", "application/json", "text/event-stream, application/json;q=0.5"] {
        assert_eq!(accepting(accept), 200, "{accept}");
    }
    for accept in ["text/event-stream", "text/html", ""] {
        assert_eq!(accepting(accept), 406, "{accept}");
    }
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#,
        "a".repeat(256 * 1024)
    );
    assert_eq!(error(&send(json, &large)), (413, 413));
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        let reply = ana.send(Request::new(method, MCP)).expect(405);
        assert_eq!(reply.header("allow"), Some("POST, OPTIONS"));
    }
    // The protocol no longer has sessions: their headers have no effect.
    let session = Request::new("POST", MCP).body(json, ping.as_bytes());
    let reply = ana.send(session.header("Mcp-Session-Id", "abc").header("Last-Event-ID", "1"));
    assert_eq!(reply.expect(200).header("mcp-session-id"), None);
}

/// Calls `health` with a `_meta`, unless it is null, and with these headers.
fn call_with(actor: &Actor<'_>, meta: &Value, headers: &[(&str, &str)]) -> (u16, i64) {
    let mut params = json!({ "name": "health" });
    if !meta.is_null() {
        params["_meta"] = meta.clone();
    }
    let request = Request::new("POST", MCP).json(&message("tools/call", &params));
    let with = |request: Request, (name, value): &(&str, &str)| request.header(name, value);
    error(&actor.send(headers.iter().fold(request, with)))
}

fn meta(version: &Value, capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

const FUTURE: &str = "2030-01-01";

#[test]
fn the_headers_of_the_stateless_era_agree_with_the_body() {
    let site = site();
    let ana = site.seller("ana").plan("pro");
    let good = meta(&json!(MODERN), &json!({}));
    let version = |version| ("MCP-Protocol-Version", version);
    let (modern, method, name) =
        (version(MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "health"));
    let packed = ("Mcp-Name", "=?base64?aGVhbHRo?=");
    for name in [name, packed] {
        assert_eq!(call_with(&ana, &good, &[modern, method, name]), (200, 0));
    }
    // A header that is missing, repeated or different.
    let others: [&[(&str, &str)]; 8] = [
        &[method, name],
        &[version(LEGACY[0]), method, name],
        &[modern, modern, method, name],
        &[modern, name],
        &[modern, ("Mcp-Method", "tools/list"), name],
        &[modern, method],
        &[modern, method, ("Mcp-Name", "list_orders")],
        &[modern, method, ("Mcp-Name", "=?base64?*?=")],
    ];
    for headers in others {
        assert_eq!(call_with(&ana, &good, headers), (400, -32020), "{headers:?}");
    }
    let incomplete =
        [Value::Null, meta(&json!(MODERN), &Value::Null), meta(&json!(2026), &json!({}))];
    for meta in incomplete {
        assert_eq!(call_with(&ana, &meta, &[modern, method, name]), (400, -32602), "{meta}");
    }
    let future = meta(&json!(FUTURE), &json!({}));
    assert_eq!(call_with(&ana, &future, &[version(FUTURE), method, name]), (400, -32022));
    assert_eq!(call_with(&ana, &Value::Null, &[version(FUTURE)]), (400, -32022));
    let unknown = Request::new("POST", MCP).json(&message("ping", &json!({})));
    let unknown = ana.send(unknown.header("MCP-Protocol-Version", "2030-01-01")).json();
    assert_eq!(unknown["error"]["data"]["requested"], "2030-01-01");
    assert_eq!(unknown["error"]["data"]["supported"].as_array().unwrap().len(), 4);
    for version in LEGACY {
        let request = Request::new("POST", MCP).json(&message("ping", &json!({})));
        ana.send(request.header("MCP-Protocol-Version", version)).expect(200);
    }
}

#[test]
fn the_tools_are_the_operations_of_the_role() {
    let site = site();
    let (ana, sol) = (site.seller("ana").plan("pro"), site.supplier("sol").plan("pro"));
    let document = site.anonymous().get("/openapi.json").ok();
    let mut operations: Vec<(&str, &str, &Value)> = crate::support::openapi::operations(&document);
    // Those for sample data are tools of test tokens.
    operations.retain(|(path, ..)| !path.contains("/sandbox/"));
    // A supplier gets the list of tools also before the first seller.
    let all: Map<String, Value> = tools(&ana).into_iter().chain(tools(&sol)).collect();
    assert_eq!(all.len(), operations.len());
    assert_eq!((tools(&ana).len(), tools(&sol).len()), (33, 26));
    for (path, method, operation) in operations {
        let name = operation["operationId"].as_str().unwrap();
        let tool = &all[name];
        assert!(
            name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        );
        assert!(!tool["title"].as_str().unwrap().is_empty());
        let said = tool["description"].as_str().unwrap();
        assert!(said.contains("Use it") && said.len() > 100, "{name}: {said}");
        let hints = &tool["annotations"];
        let destroys =
            ["_un", "remove_webhook", "change_webhook"].iter().any(|one| name.contains(one));
        assert_eq!(hints["readOnlyHint"], json!(method == "get"), "{name}");
        let replaces = ["set_stock", "adjust_stock", "set_product_price", "answer_question"];
        let destroys = destroys || replaces.contains(&name);
        assert_eq!(hints["destructiveHint"], json!(destroys), "{name}");
        let once = ["/notify", "/remind", "/stock/adjust", "/webhooks/change", "/webhooks/test"];
        let makes = method == "post" && path.ends_with("/webhooks");
        let repeats = !makes && !once.iter().any(|part| path.contains(part));
        assert_eq!(hints["idempotentHint"], json!(repeats), "{name}");
        let is_file = ["get_label", "get_labels", "get_invoice"].contains(&name);
        let outside = [
            "/notify",
            "/remind",
            "/ml/",
            "/questions/answer",
            "/webhooks/change",
            "/webhooks/test",
        ];
        let is_outside = is_file || outside.iter().any(|part| path.contains(part)) || makes;
        assert_eq!(hints["openWorldHint"], json!(is_outside), "{name}");
        assert_eq!(hints["title"], tool["title"]);
        for schema in ["inputSchema", "outputSchema"] {
            let schema = &tool[schema];
            if schema.is_null() {
                assert!(is_file || path.contains("/ml/"), "{name} says nothing of its answer");
                continue;
            }
            assert_eq!(schema["type"], "object", "{name}");
            jsonschema::draft202012::meta::validate(schema).unwrap();
            assert!(!schema.to_string().contains("$ref"), "{name} refers to what is not there");
        }
    }
    let cursor = ana.post(MCP, &message("tools/list", &json!({ "cursor": "" })));
    assert_eq!(error(&cursor), (200, -32602));
    // A role cannot call the tools of another role.
    for (actor, name) in [(&ana, "drop_health"), (&sol, "health"), (&ana, "x"), (&ana, "")] {
        let reply = actor.post(MCP, &message("tools/call", &json!({ "name": name })));
        assert_eq!(error(&reply), (200, -32602), "{name}");
    }
    for params in [json!({}), json!({ "name": 7 }), json!({ "name": "health", "arguments": [] })] {
        assert_eq!(error(&ana.post(MCP, &message("tools/call", &params))), (200, -32602));
    }
    // Without a seller the call fails, with an error for the model.
    let alone = call(&sol, "drop_health", &json!({}));
    assert_eq!(alone["isError"], true);
    assert!(alone["content"][0]["text"].as_str().unwrap().contains("no seller is linked"));
}

#[test]
fn calls_count_alike_by_either_door() {
    let site = Site::builder()
        .config("partner.plans.starter.per_minute", 6)
        .config("partner.plans.starter.quota", 8)
        .start();
    let ana = site.seller("ana").plan("starter");
    let left =
        |reply: &Reply| -> u64 { reply.header("x-ratelimit-remaining").unwrap().parse().unwrap() };
    let tool = |actor: &Actor<'_>| {
        actor.post(MCP, &message("tools/call", &json!({ "name": "list_orders" })))
    };
    assert_eq!(left(&ana.get("/v1/partner/orders").expect(200)), 5);
    assert_eq!(left(&tool(&ana).expect(200)), 4);
    // An error of its own counts as well.
    let wrong = json!({ "name": "list_orders", "arguments": { "limit": 0 } });
    assert_eq!(left(&ana.post(MCP, &message("tools/call", &wrong)).expect(200)), 3);
    // A message that calls no tool has a window of its own, and uses no quota.
    for remaining in (0..6).rev() {
        let listed = ana.post(MCP, &message("tools/list", &json!({})));
        assert_eq!(left(&listed.expect(200)), remaining);
    }
    let refused = ana.post(MCP, &message("tools/list", &json!({})));
    assert_eq!(error(&refused), (429, 429));
    assert_eq!(refused.json()["id"], 7);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(left(&tool(&ana).expect(200)), 2);
    for _ in 0..2 {
        tool(&ana).expect(200);
    }
    let refused = tool(&ana);
    assert_eq!(error(&refused), (429, 429));
    assert_eq!(refused.json()["error"]["data"]["code"], "rate_limited");
    assert_eq!(ana.get("/v1/partner/orders").expect(429).code(), "rate_limited");
    // Both share the quota of the month.
    site.clock().advance_s(61);
    for _ in 0..2 {
        tool(&ana).expect(200);
    }
    let spent = tool(&ana);
    assert_eq!(error(&spent), (429, 429));
    assert_eq!(spent.json()["error"]["data"]["code"], "quota_exceeded");
    assert_eq!(ana.get("/v1/partner/orders").expect(429).code(), "quota_exceeded");
    // Listing the tools still works.
    ana.post(MCP, &message("tools/list", &json!({}))).expect(200);
    let hub = site.person("ana");
    let hub = crate::support::cron::json_of(&hub, "/painel/parceiro");
    assert_eq!(hub["usadas"], 8, "{hub}");
}

#[test]
fn who_may_not_call_is_told_so_before_the_message_is_read() {
    let site = site();
    let ana = site.seller("ana");
    let garbage =
        |actor: &Actor<'_>| actor.send(Request::new("POST", MCP).body("application/json", b"{"));
    let nobody = garbage(&site.anonymous());
    assert_eq!(error(&nobody), (401, 401));
    assert!(nobody.header("www-authenticate").unwrap().starts_with("Bearer"), "{nobody}");
    assert_eq!(error(&garbage(&site.bearer("ptk_0"))), (401, 401));
    // Without a plan another token would not help, so there is no challenge.
    let poor = garbage(&ana);
    assert_eq!(error(&poor), (402, 402));
    assert_eq!(poor.header("www-authenticate"), None);
    let ana = ana.plan("pro");
    crate::support::wait::until("the plan is known", std::time::Duration::from_secs(10), || {
        (garbage(&ana).status == 400).then_some(())
    });
    // Neither a session nor a token in the address opens it.
    let token = ana.bearer_token().to_owned();
    let ping = message("ping", &json!({}));
    site.person("ana").post(MCP, &ping).expect(401);
    site.anonymous().post(&format!("{MCP}?access_token={token}"), &ping).expect(401);
    site.extension("ana").post(MCP, &ping).expect(401);
    // Pages of other origins cannot call it through a person's browser.
    let from =
        |origin: &str| ana.send(Request::new("POST", MCP).json(&ping).header("Origin", origin));
    for origin in ["https://evil.example.com", "null", "https://claude.ai.evil.example.com"] {
        let reply = from(origin);
        assert_eq!(error(&reply), (403, 403), "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    for origin in ["https://claude.ai", "https://chatgpt.com", "http://localhost:6274"] {
        let reply = from(origin).expect(200);
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin));
        let preflight = Request::new("OPTIONS", MCP)
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "authorization,mcp-protocol-version");
        let reply = site.anonymous().send(preflight).expect(204);
        let allowed = reply.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
        assert!(allowed.contains("mcp-protocol-version") && allowed.contains("mcp-method"));
    }
}

#[test]
fn an_app_that_may_read_sees_and_calls_what_reads() {
    let site = site();
    let ana = site.seller("ana").plan("pro");
    let person = site.person("ana");
    let connected = |scope: &str| {
        let app = Program::registered(&site, "Assistente", "http://127.0.0.1/volta");
        site.bearer(&app.connect(&person, scope).access)
    };
    let (reader, actor) = (connected("partner:read"), connected("partner:read partner:write"));
    assert_eq!((tools(&reader).len(), tools(&actor).len()), (20, 33));
    assert!(!tools(&reader).contains_key("notify_seller"));
    assert_eq!(call(&reader, "list_orders", &json!({}))["isError"], false);
    let notify = |actor: &Actor<'_>| {
        actor.post(MCP, &message("tools/call", &json!({ "name": "notify_seller" })))
    };
    let refused = notify(&reader);
    assert_eq!((error(&refused), refused.json()["id"].as_i64()), ((403, 403), Some(7)));
    let challenge = refused.header("www-authenticate").unwrap();
    for part in ["insufficient_scope", "partner:write", "/oauth-protected-resource/mcp"] {
        assert!(challenge.contains(part), "{challenge}");
    }
    // A caller who may write learns what is wrong with the arguments.
    assert_eq!(notify(&actor).expect(200).json()["result"]["isError"], true);
    // None of these calls counts against the quota of the month.
    let used = ana.get("/v1/partner/usage").expect(200).json()["used"].clone();
    assert_eq!(used, 1);
    let nobody = site.anonymous().post(MCP, &message("ping", &json!({}))).expect(401);
    let challenge = nobody.header("www-authenticate").unwrap();
    assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp"), "{challenge}");
}
